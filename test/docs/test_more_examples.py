"""The examples beyond test/ros/test_examples.py, run as a user would run them."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import rclpy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from proving_ground.launching.node_process import node_command
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain

EXAMPLES = Path(__file__).parents[2] / "examples"


def said_by(name: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_lock_step_is_driven_by_hand_in_few_lines() -> None:
    said = said_by("step_by_step.py")

    cones, widest, off = (float(text) for text in re.findall(r"(\d+) cones.*?([\d.]+) m to.*?([\d.]+) cm off", said)[0])
    assert cones == 6  # 25 s at 6 m/s, less the start, within the limits of drive-by-wire
    assert widest == pytest.approx(1.8, abs=0.3)
    assert off < 5.0
    assert len((EXAMPLES / "step_by_step.py").read_text().splitlines()) <= 60


def test_an_agent_learns_to_keep_its_lane() -> None:
    said = said_by("learning_agent.py")

    before, after = (float(text) for text in re.findall(r"cost ([\d.]+) before, ([\d.]+) after", said)[0])
    assert after < 0.2 * before
    assert said.count("generation") == 6


def test_a_stack_that_sends_twists_follows_its_waypoints(monkeypatch: pytest.MonkeyPatch) -> None:
    waypoints = [(25.0, 0.0), (45.0, 10.0), (45.0, 30.0)]
    with private_domain() as domain:
        for name, value in domain.items():
            monkeypatch.setenv(name, value)
        vehicle = subprocess.Popen(node_command("vehicle", ["--ros-args", "-p", "real_time_factor:=3.0"]))
        stack, received = None, Ear()
        try:
            received.wait_until(lambda: received.odometry, "the vehicle")
            positions = [f"{x:g},{y:g}" for x, y in waypoints]
            command = [sys.executable, str(EXAMPLES / "cmd_vel_stack.py"), *positions]
            stack = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ.copy())
            received.wait_until(lambda: stack.poll() is not None, "its arrival")
            said, _ = stack.communicate()
        finally:
            for process in (stack, vehicle):
                if process is not None and process.poll() is None:
                    process.terminate()
                    process.wait(20.0)
            received.close()

    assert stack.returncode == 0
    assert said.strip() == "arrived"
    track = [(message.pose.pose.position.x, message.pose.pose.position.y) for message in received.odometry]
    assert [min(math.dist(point, position) for position in track) < 6.0 for point in waypoints] == [True] * 3
    assert math.dist(track[-1], waypoints[-1]) < 3.0
    assert 1.0 < max(message.linear.x for message in received.commands) <= 4.0


class Ear:
    """Subscribes to the topics between vehicle and stack."""

    def __init__(self) -> None:
        self.context = Context()
        rclpy.init(args=[], context=self.context)
        self._node = rclpy.create_node("ear", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self._node)
        self.odometry: list[Any] = []
        self.commands: list[Any] = []
        self._node.create_subscription(Odometry, "ground_truth/odom", self.odometry.append, qos.RELIABLE)
        self._node.create_subscription(Twist, "cmd_vel", self.commands.append, qos.RELIABLE)

    def wait_until(self, condition: Any, what: str, seconds: float = 90.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
            self._executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self.context)
