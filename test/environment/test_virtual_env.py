"""The set-up keeps or rebuilds .venv, and never touches a foreign one."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from environment.errors import SetupError
from environment.ros_origin import WHEELS
from environment.runner import Runner
from environment.steps import Step
from environment.virtual_env import STEP_NAME, VirtualEnv, check_interpreter

FACTS = {"python": "3.11", "ros": WHEELS}


@pytest.fixture
def finished(tmp_path: Path) -> VirtualEnv:
    """An environment whose creation succeeded, with only the files that decisions depend on."""
    venv = VirtualEnv(tmp_path / ".venv")
    venv.state.mkdir(parents=True)
    venv.python.parent.mkdir()
    venv.python.symlink_to(sys.executable)
    step = Step(STEP_NAME, "virtual environment", 1, lambda runner: None, facts=FACTS)
    venv.stamps.write(step, step.fingerprint())
    return venv


def test_finished_environment_is_kept(finished: VirtualEnv) -> None:
    assert finished.rebuild_reason(FACTS) is None


def test_missing_environment_needs_no_rebuild_reason(tmp_path: Path) -> None:
    assert VirtualEnv(tmp_path / ".venv").rebuild_reason(FACTS) is None


def test_incomplete_environment_is_rebuilt(finished: VirtualEnv) -> None:
    (finished.state / f"{STEP_NAME}.stamp").unlink()
    assert finished.rebuild_reason(FACTS) == "its creation did not finish"


def test_environment_whose_python_is_gone_is_rebuilt(finished: VirtualEnv) -> None:
    finished.python.unlink()
    finished.python.symlink_to("/nowhere/python3.11")
    assert finished.rebuild_reason(FACTS) == "the Python 3.11 it was made with is gone"


def test_environment_of_another_minor_version_is_rebuilt(finished: VirtualEnv) -> None:
    reason = finished.rebuild_reason({"python": "3.12", "ros": WHEELS})
    assert reason == "it was made with Python 3.11, now Python 3.12 is used"


def test_sourcing_ros_rebuilds_the_environment(finished: VirtualEnv) -> None:
    reason = finished.rebuild_reason({"python": "3.11", "ros": "jazzy"})
    assert reason == "it was made without a sourced ROS 2, now it is over a sourced ROS 2 jazzy"


def test_foreign_environment_is_rejected(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    with pytest.raises(SetupError, match="was not made by this set-up"):
        VirtualEnv(tmp_path / ".venv").check_ownership()


def test_empty_folder_may_be_used(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    VirtualEnv(tmp_path / ".venv").check_ownership()


@pytest.mark.build
def test_creation_empties_the_old_one_and_discards_its_stamps(finished: VirtualEnv, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").touch()
    (finished.path / "link").symlink_to(outside)
    (finished.path / "lib").mkdir()
    (finished.state / "ros-wheels.stamp").touch()

    finished.create(Runner(tmp_path, tmp_path / "log", os.environ), WHEELS)

    assert not list(finished.state.glob("*.stamp"))
    assert not (finished.path / "link").exists()
    assert (outside / "file").exists()
    assert finished.has_working_python()


def test_missing_venv_module_is_reported_with_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ensurepip" else real(name))
    with pytest.raises(SetupError) as caught:
        check_interpreter(Runner(tmp_path, tmp_path / "log", os.environ), WHEELS)
    assert "no venv module" in caught.value.cause
    assert "sudo apt install python3-venv" in caught.value.remedy
