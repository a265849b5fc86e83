"""A node's command line is read before rcl sees it."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import proving_ground.ros_support.names
from planner.teleop import TeleopSettings
from proving_ground.ros_support.arguments import check_ros_arguments, parse_ros_arguments
from proving_ground.settings import SettingsError


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(proving_ground.ros_support.names).failed == 0


def test_name_namespace_files_and_parameters_are_found() -> None:
    words = (
        "x -p not:=ros --ros-args -r __ns:=/truck --params-file a.yaml -r __node:=drive -p expo:=1 -r a:=b -- -p n:=1"
    )

    parsed = parse_ros_arguments(words.split(), "teleop")

    assert parsed.node_name == "/truck/drive"
    assert parsed.params_files == (Path("a.yaml"),)
    assert parsed.params == (("expo", "1"),)


def test_violated_relation_between_a_file_and_the_command_line_names_the_location(tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text("teleop:\n  ros__parameters:\n    turbo_speed_mps: 5.0\n")
    arguments = ["--ros-args", "--params-file", str(path)]

    check_ros_arguments(arguments, "teleop", TeleopSettings)
    with pytest.raises(SettingsError) as rejection:
        check_ros_arguments([*arguments, "-p", "max_speed_mps:=6"], "teleop", TeleopSettings)

    assert str(rejection.value) == f"{path}:3: turbo_speed_mps: must be at least max_speed_mps (6), got 5"


def test_later_file_can_correct_an_earlier_one(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("/**:\n  ros__parameters:\n    max_speed_mps: 20\n")
    second.write_text("/**:\n  ros__parameters:\n    turbo_speed_mps: 30\n")

    check_ros_arguments(["--ros-args", "--params-file", str(first), "--params-file", str(second)], "t", TeleopSettings)
