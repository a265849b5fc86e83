"""Latency from /joy to /cmd_vel through the teleop node, beside a bare rclpy node that only answers.

Three processes over DDS: this one publishes a Joy and waits for the answer, from the teleop executable and from a bare
node in turn, so that both are measured under the same load; the trip is publish to callback.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import TwistStamped
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import Joy

from proving_ground.launching.node_process import node_command
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain
from proving_ground.settings import SettingsError

WARM_UP = 50
TRIPS = 500
PAUSE_S = 0.01  # sticks are moved at about this rate, and teleop caps its own at 200 Hz
ANSWER_WAIT_S = 1.0
START_WAIT_S = 20.0
MOST_TRIES = 5

_BARE_NODE = """
import rclpy
from geometry_msgs.msg import TwistStamped
from sensor_msgs.msg import Joy
rclpy.init()
node = rclpy.create_node("bare")
publisher = node.create_publisher(TwistStamped, "bare_cmd_vel", 10)
node.create_subscription(Joy, "bare_joy", lambda message: publisher.publish(TwistStamped()), 10)
try:
    rclpy.spin(node)
except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
    pass
"""


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Median and 95th percentile of both trips [ms] and their ratio."""
    with private_domain() as domain:
        os.environ.update(domain)
        # Commands come from reception alone: the timer at its slowest, and no stop messages while idle.
        parameters = ["--ros-args", "-p", "publish_rate_hz:=1.0", "-p", "idle_output:=never"]
        commands = [node_command("teleop", parameters), [sys.executable, "-c", _BARE_NODE]]
        processes = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in commands]
        try:
            trips = _measure(say)
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait()
    teleop, bare = (sorted(values) for values in trips)
    return {
        "latency_ms": statistics.median(teleop),
        "latency_p95_ms": teleop[int(0.95 * len(teleop))],
        "bare_ms": statistics.median(bare),
        "bare_p95_ms": bare[int(0.95 * len(bare))],
        "ratio": statistics.median(teleop) / statistics.median(bare),
        "trips": len(teleop),
    }


def _measure(say: Callable[[str], None]) -> tuple[list[float], list[float]]:
    rclpy.init(args=[])
    try:
        node = rclpy.create_node("teleop_benchmark")
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        through_teleop = _Trip(node, executor, "joy", "cmd_vel")
        through_bare = _Trip(node, executor, "bare_joy", "bare_cmd_vel")
        say("waiting for both nodes")
        for trip in (through_teleop, through_bare):
            trip.wait_for_partner()
        say(f"{TRIPS} trips each, in turn")
        results: tuple[list[float], list[float]] = ([], [])
        for number in range(WARM_UP + TRIPS):
            pair = through_teleop.once_ms(), through_bare.once_ms()
            if number >= WARM_UP:
                results[0].append(pair[0])
                results[1].append(pair[1])
        return results
    finally:
        rclpy.try_shutdown()


class _Trip:
    """Publishes a Joy and waits for the answer on another topic."""

    def __init__(self, node: Any, executor: SingleThreadedExecutor, out: str, back: str) -> None:
        self._node, self._executor, self._back = node, executor, back
        self._publisher = node.create_publisher(Joy, out, qos.RELIABLE)
        node.create_subscription(TwistStamped, back, self._on_answer, qos.RELIABLE)
        self._answered_at = 0.0

    def wait_for_partner(self) -> None:
        deadline = time.monotonic() + START_WAIT_S
        while not (self._publisher.get_subscription_count() and self._node.count_publishers(self._back)):
            if time.monotonic() > deadline:
                raise SettingsError(f"bench teleop: no node answers on {self._back} within {START_WAIT_S:g} s")
            self._executor.spin_once(timeout_sec=0.05)

    def once_ms(self) -> float:
        for _ in range(MOST_TRIES):
            time.sleep(PAUSE_S)
            # Hold button and forward: a driving command, which teleop publishes on reception.
            message = Joy(axes=[0.0, 1.0, 1.0, 0.0, 0.0, 1.0], buttons=[0, 0, 0, 0, 1, 0])
            self._answered_at = 0.0
            started = time.perf_counter()
            self._publisher.publish(message)
            while not self._answered_at and time.perf_counter() - started < ANSWER_WAIT_S:
                self._executor.spin_once(timeout_sec=ANSWER_WAIT_S)
            if self._answered_at:  # else discovery was still one-sided: try again
                return 1e3 * (self._answered_at - started)
        raise SettingsError(f"bench teleop: the node that answers on {self._back} has gone")

    def _on_answer(self, message: TwistStamped) -> None:
        self._answered_at = time.perf_counter()
