"""Every version is pinned, so that the set-up is the same tomorrow."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest

from environment.requirements import for_system_numpy, requirement_lines, requirement_name, with_system_numpy

FOLDER = Path(__file__).resolve().parents[2] / "environment"
FILES = sorted(path.name for path in FOLDER.glob("*.txt"))
PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[a-z]+\])?==[0-9][A-Za-z0-9.]*( *;.*)?")


def lines(file: str) -> list[str]:
    return requirement_lines((FOLDER / file).read_text())


@pytest.mark.parametrize("file", FILES)
def test_every_requirement_is_pinned_to_one_version(file: str) -> None:
    assert [line for line in lines(file) if not PINNED.fullmatch(line)] == []


@pytest.mark.parametrize("file", FILES)
def test_no_name_is_pinned_twice_under_the_same_condition(file: str) -> None:
    keys = [(requirement_name(line), line.partition(";")[2].strip()) for line in lines(file)]
    assert len(keys) == len(set(keys))


def test_each_jazzy_package_has_its_real_package_pinned_beside_it() -> None:
    names = {requirement_name(line) for line in lines("requirements-ros-jazzy.txt")}
    thin = {name for name in names if name.startswith("ros-jazzy-")}
    assert {name.replace("ros-jazzy-", "ros-") for name in thin} <= names


def test_comments_and_blank_lines_are_not_requirements() -> None:
    assert requirement_lines("# why\n\nPyYAML==6.0.3  # because\n") == ["PyYAML==6.0.3"]


def test_sourced_ros_keeps_its_numpy(tmp_path: Path) -> None:
    copy = with_system_numpy(FOLDER / "requirements.txt", tmp_path)

    wanted = requirement_lines(copy.read_text())
    numpy = [line for line in wanted if requirement_name(line) == "numpy"]
    assert numpy == [f"numpy=={importlib.metadata.version('numpy')}"]
    assert "PyYAML==6.0.3" in wanted


@pytest.mark.parametrize(("version", "has_pinocchio"), [("1.26.4", False), ("2.4.6", True)])
def test_engine_incompatible_with_the_systems_numpy_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, has_pinocchio: bool
) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: version)

    wanted = requirement_lines(for_system_numpy(FOLDER / "requirements-engines.txt", tmp_path).read_text())

    assert f"numpy=={version}" in wanted
    assert any(requirement_name(line) == "pin" for line in wanted) == has_pinocchio
    assert any(requirement_name(line) == "mujoco-core" for line in wanted)
