"""The examples, run as a user would run them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from nav_msgs.msg import Odometry

EXAMPLES = Path(__file__).parents[2] / "examples"
START_WAIT_S = 90.0  # compiles, where that was never done


def test_autonomy_of_ones_own_drives_to_its_goal_by_cmd_vel_alone(graph: Any) -> None:
    arguments = ["world:=urban", "real_time_factor:=2.0", "imu:=none", "gps:=none", "encoders:=none"]
    graph.start_command([sys.executable, "-m", "scenarios.cli", "launch", "sensors", *arguments])
    odometry = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: odometry, "the vehicle", START_WAIT_S)

    autonomy = graph.start_command([sys.executable, str(EXAMPLES / "own_autonomy.py"), "40", "-2"])
    graph.wait_until(lambda: not autonomy.is_running(), "its arrival", START_WAIT_S)

    assert autonomy.wait() == 0
    assert autonomy.output.strip().splitlines()[-1] == "arrived"
    assert odometry[-1].pose.pose.position.x == pytest.approx(40.0, abs=3.0)
    assert odometry[-1].pose.pose.position.y == pytest.approx(-2.0, abs=0.5)
    assert max(message.twist.twist.linear.x for message in odometry) == pytest.approx(4.0, abs=0.5)


def test_example_of_own_autonomy_is_under_60_lines() -> None:
    assert len((EXAMPLES / "own_autonomy.py").read_text().splitlines()) < 60
