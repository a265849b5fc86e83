"""Fixtures of several test folders: message checks, the package installed by pip into its own folder, scenarios."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from layers import layer_of

# Read when a message module is imported, so it must be set before any test module is.
os.environ["ROS_PYTHON_CHECK_FIELDS"] = "1"

# A shell ignores Ctrl-C in what it starts in the background, and child processes of tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[1]
IGNORED = shutil.ignore_patterns(".venv", ".git", "build", "install", "log", "*.egg-info", "__pycache__", ".*_cache")
PLAIN = """version: 1
description: a test
world:
  flat: {friction: 0.8}
driver:
  straight: {speed_mps: 5.0}
duration_s: 1.0
"""
NO_NODES = {  # rclpy.init() raises an error
    "ROS_SECURITY_ENABLE": "true",
    "ROS_SECURITY_STRATEGY": "Enforce",
    "ROS_SECURITY_KEYSTORE": "none_for_a_pure_test",
}


@pytest.hookimpl(tryfirst=True)  # before `-m` selects
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its layer. Files with slow tests come first, so that no worker is left alone with one."""
    for item in items:
        item.add_marker(layer_of(item))
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Pure tests and their child processes start no node: security is enforced, and there are no keys."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("pure"):
            for name, value in NO_NODES.items():
                patch.setenv(name, value)
        return (yield)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository in which to build."""
    folder = tmp_path_factory.mktemp("checkout") / "proving_ground"
    shutil.copytree(ROOT, folder, ignore=IGNORED)
    return folder


@pytest.fixture(scope="session")
def pip_prefix(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix into which `pip install .` has put the package."""
    prefix = tmp_path_factory.mktemp("prefix")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed", "--prefix", str(prefix)]
    command = [sys.executable, "-m", "pip", "install", *options, "."]
    result = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert result.returncode == 0, result.stdout
    return prefix


@pytest.fixture(scope="session")
def pip_environment(pip_prefix: Path) -> dict[str, str]:
    """Environment variables under which that installation is used."""
    packages = next(pip_prefix.glob("lib/python3.*/site-packages"))
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return dict(os.environ, PATH=path, PYTHONPATH=str(packages), AMENT_PREFIX_PATH=str(pip_prefix), PYTHONSAFEPATH="1")


@pytest.fixture
def scenario_text() -> str:
    """A scenario that is valid."""
    return PLAIN


@pytest.fixture
def write_scenario(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a scenario file."""

    def write(text: str) -> Path:
        path = tmp_path / "made.yaml"
        path.write_text(text)
        return path

    return write
