"""Choice of the ROS 2 to use, and rejection of others before anything is made."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from environment import ros_origin
from environment.errors import SetupError
from environment.ros_origin import WHEEL_GUARD, WHEELS, check_origin, child_variables

VENV = Path("/repository/.venv")


@pytest.fixture
def rclpy_is_there(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setattr(ros_origin, "_finds_rclpy", lambda: request.param)


def with_rclpy(there: bool) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rclpy_is_there", [there], indirect=True)


@with_rclpy(True)
@pytest.mark.usefixtures("rclpy_is_there")
@pytest.mark.parametrize(
    ("variables", "origin"),
    [
        ({"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/jazzy"}, "jazzy"),
        ({"ROS_DISTRO": "jazzy"}, "jazzy"),
        ({}, WHEELS),  # a user's pip-installed rclpy is not a ROS installation
    ],
)
def test_sourced_ros_is_used_where_python_finds_rclpy(variables: dict[str, str], origin: str) -> None:
    assert ros_origin.ros_origin(variables, VENV) == origin


@with_rclpy(False)
@pytest.mark.usefixtures("rclpy_is_there")
@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"ROS_DISTRO": "jazzy"},  # a container image that sets the name for every shell
        {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": str(VENV)},  # our own environment is not a foreign ROS
    ],
)
def test_wheels_are_used_where_nothing_is_sourced(variables: dict[str, str]) -> None:
    assert ros_origin.ros_origin(variables, VENV) == WHEELS


@with_rclpy(False)
@pytest.mark.usefixtures("rclpy_is_there")
def test_sourced_ros_for_another_python_is_rejected_with_the_remedy() -> None:
    sourced = {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/jazzy"}
    with pytest.raises(SetupError, match="has no rclpy") as caught:
        check_origin(ros_origin.ros_origin(sourced, VENV))
    assert "PYTHON=/usr/bin/python3" in caught.value.remedy


def test_machine_without_wheels_is_sent_to_a_ros_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(SetupError, match="only for Linux on x86_64, not aarch64") as caught:
        check_origin(WHEELS)
    assert "source /opt/ros/jazzy/setup.bash" in caught.value.remedy


def test_children_do_not_inherit_the_guard_of_the_wheels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WHEEL_GUARD, "1")
    assert WHEEL_GUARD not in child_variables(WHEELS)
    assert WHEEL_GUARD in child_variables("jazzy")
