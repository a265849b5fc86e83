"""The examples, run as a user would run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header

from proving_ground.ros_support import qos
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S

EXAMPLES = Path(__file__).parents[2] / "examples"
START_NS = 1_767_225_600 * NS_PER_S
START_WAIT_S = 90.0  # includes compilation with a cold cache


def test_own_autonomy_drives_to_its_goal_by_cmd_vel_alone(graph: Any) -> None:
    arguments = ["world:=urban", "imu:=none", "gps:=none", "encoders:=none"]
    graph.start_command([sys.executable, "-m", "proving_ground", "launch", "sensors", *arguments])
    odometry = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: odometry, "the vehicle", START_WAIT_S)

    autonomy = graph.start_command([sys.executable, str(EXAMPLES / "own_autonomy.py"), "40", "-2"])
    graph.wait_until(lambda: not autonomy.is_running(), "its arrival", START_WAIT_S)

    assert autonomy.wait() == 0
    assert autonomy.output.strip().splitlines()[-1] == "arrived"
    assert odometry[-1].pose.pose.position.x == pytest.approx(40.0, abs=3.0)
    assert odometry[-1].pose.pose.position.y == pytest.approx(-2.0, abs=0.5)
    assert max(message.twist.twist.linear.x for message in odometry) == pytest.approx(4.0, abs=0.5)


def test_own_autonomy_stops_when_its_scan_falls_silent(graph: Any) -> None:
    commands = graph.collect(Twist, "/cmd_vel")
    odometry = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
    scans = graph.node.create_publisher(LaserScan, "/lidar/scan", qos.SENSOR)
    graph.start_command([sys.executable, str(EXAMPLES / "own_autonomy.py"), "400", "0"])
    graph.wait_until(lambda: odometry.get_subscription_count() and scans.get_subscription_count(), "it", START_WAIT_S)

    def publish(ticks: range, has_scan: bool) -> None:
        for tick in ticks:
            stamp = ns_to_stamp(START_NS + tick * 20_000_000)
            message = Odometry(header=Header(stamp=stamp))
            message.pose.pose.orientation.w = 1.0
            odometry.publish(message)
            if has_scan and tick % 5 == 0:
                scans.publish(LaserScan(header=Header(stamp=stamp), range_max=100.0))
            graph.spin_for(0.02)

    publish(range(50), has_scan=True)
    graph.wait_until(lambda: commands and commands[-1].linear.x > 3.0, "driving")
    publish(range(50, 90), has_scan=False)
    graph.wait_until(lambda: commands[-1].linear.x == 0.0, "a stop")
    publish(range(90, 110), has_scan=True)
    graph.wait_until(lambda: commands[-1].linear.x > 3.0, "driving on")


@pytest.mark.parametrize("name", ["own_autonomy.py", "cmd_vel_stack.py"])
def test_an_example_without_arguments_prints_its_usage(name: str) -> None:
    done = subprocess.run([sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, timeout=60.0)
    assert done.returncode == 1
    assert done.stderr.startswith(f"usage: {name} X")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("remap", "topic"), [("__node:=mine", "/ground_truth/odom"), ("odometry:=odometry/filtered", "/odometry/filtered")]
)
def test_a_stack_uses_the_truth_unless_remapped(graph: Any, remap: str, topic: str) -> None:
    graph.start_command([sys.executable, str(EXAMPLES / "cmd_vel_stack.py"), "30,0", "--ros-args", "-r", remap])
    graph.wait_until(lambda: graph.node.count_subscribers(topic) == 1, f"it to listen to {topic}", START_WAIT_S)
    assert graph.node.count_subscribers("/ground_truth/odom") == (topic == "/ground_truth/odom")


def test_example_of_own_autonomy_is_under_60_lines() -> None:
    assert len((EXAMPLES / "own_autonomy.py").read_text().splitlines()) < 60
