"""launch/teleop.launch.py under ROS's own launch, where that is installed."""

from __future__ import annotations

import importlib
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import Twist


def has_ros_launch() -> bool:
    """Our own launch/ folder imports as an empty namespace package: only LaunchDescription identifies the real one."""
    try:
        importlib.import_module("launch_ros.actions")
        return hasattr(importlib.import_module("launch"), "LaunchDescription")
    except ImportError:
        return False


pytestmark = pytest.mark.skipif(
    not has_ros_launch(), reason="ROS's launch and launch_ros are not installed; they are not on PyPI"
)

RUN = """
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

service = LaunchService()
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [tuple(word.split(":=")) for word in sys.argv[2:]]
service.include_launch_description(IncludeLaunchDescription(source, launch_arguments=arguments))
sys.exit(service.run())
"""


def test_launch_file_starts_the_nodes_with_their_parameters_and_ends_them_together(
    graph: Any, pip_prefix: Path, pip_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in pip_environment.items():
        if name not in ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE", "FASTDDS_BUILTIN_TRANSPORTS"):
            monkeypatch.setenv(name, value)
    file = pip_prefix / "share/proving_ground/launch/teleop.launch.py"

    launch = graph.start_command([sys.executable, "-c", RUN, str(file), "pad:=playstation", "stamped:=false"])
    commands = graph.collect(Twist, "/cmd_vel")
    graph.wait_until(lambda: commands, "a Twist from teleop")
    graph.wait_until(lambda: {"joystick", "teleop"} <= set(graph.node.get_node_names()), "both nodes")
    launch.popen.send_signal(signal.SIGINT)

    assert launch.wait() == 0
    assert "Traceback" not in launch.output
    assert launch.output.count("process has finished cleanly") == 2
