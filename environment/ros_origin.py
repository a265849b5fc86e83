"""Origin of ROS 2: a sourced installation, or the wheels on PyPI."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from environment.errors import SetupError

WHEELS = "wheels"
NEWEST_PYTHON_WITH_WHEELS = (3, 14)

# Set by the wheels' own start-up hook, which then does nothing in child processes. Those of another
# interpreter would miss their library path, so the set-up passes it to no child.
WHEEL_GUARD = "_ROS_WHEELS_BOOTSTRAP_COMPLETE"


def ros_origin(variables: Mapping[str, str], venv: Path) -> str:
    """The name of the sourced ROS distribution, or WHEELS.

    ROS_DISTRO alone does not count: container images set it for shells that have nothing sourced.
    """
    distro = variables.get("ROS_DISTRO", "")
    prefixes = [entry for entry in variables.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if entry]
    foreign_prefixes = [entry for entry in prefixes if Path(entry) != venv]
    return distro if distro and (foreign_prefixes or _finds_rclpy()) else WHEELS


def check_origin(origin: str) -> None:
    """Raise SetupError for an origin of ROS that cannot work with this interpreter on this machine."""
    if origin == WHEELS:
        _check_wheels_exist()
    elif not _finds_rclpy():
        raise SetupError(
            f"ROS 2 {origin} is sourced, but {sys.executable} ({platform.python_version()}) has no rclpy",
            f"make PYTHON=/usr/bin/python3 venv, or sudo apt install ros-{origin}-rclpy, or use a shell without ROS",
        )


def child_variables(origin: str) -> dict[str, str]:
    """Environment variables for the commands of the set-up."""
    variables = dict(os.environ)
    variables.update(PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1", PIP_USER="0")
    for name in ("PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"):
        variables.pop(name, None)
    if origin == WHEELS:
        variables.pop(WHEEL_GUARD, None)
    return variables


def _finds_rclpy() -> bool:
    return importlib.util.find_spec("rclpy") is not None


def _check_wheels_exist() -> None:
    source_ros = "install ROS 2 Jazzy, `source /opt/ros/jazzy/setup.bash`, and run the same command again"
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise SetupError(
            f"no ROS 2 is sourced, and its wheels exist only for Linux on x86_64, not {platform.machine()}",
            source_ros,
        )
    if sys.version_info[:2] > NEWEST_PYTHON_WITH_WHEELS:
        raise SetupError(
            f"no ROS 2 is sourced, and its wheels do not exist for Python {platform.python_version()}",
            f"make PYTHON=python3.12 venv, or {source_ros}",
        )
