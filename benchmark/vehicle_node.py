"""Timing of the vehicle node: jitter of /clock, lost steps, CPU; beside a bare loop that only publishes.

Three processes over DDS: the vehicle node at real-time factor 1, a plain rclpy loop that publishes the same two topics
at the same rate and computes nothing, and this one, which subscribes to both. Jitter is that of arrival in a callback.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from proving_ground.interfaces.fields import read_stamp
from proving_ground.launching.node_process import node_command
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain
from proving_ground.settings import SettingsError
from proving_ground.settings.text_table import text_table

SECONDS = 60.0
SETTLE_S = 2.0
START_WAIT_S = 90.0  # a cold cache: kernels are compiled
PERIOD_NS = 10_000_000
DEEP = QoSProfile(depth=1000)  # a late callback here must not look like a lost step there

_BARE_LOOP = """
import time, rclpy
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
rclpy.init()
node = rclpy.create_node("bare")
best_effort = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
clock = node.create_publisher(Clock, "/bare/clock", best_effort)
odometry = node.create_publisher(Odometry, "/bare/odom", 10)
began, tick = time.monotonic(), 0
try:
    while True:
        stamp = Time(sec=tick // 100, nanosec=tick % 100 * 10_000_000)
        clock.publish(Clock(clock=stamp))
        message = Odometry()
        message.header.stamp = stamp
        odometry.publish(message)
        tick += 1
        time.sleep(max(began + 0.01 * tick - time.monotonic(), 0.0))
except KeyboardInterrupt:
    pass
"""


class _Received:
    """Arrival and stamp of each message of a topic [ns]."""

    def __init__(self, node: Any, message_type: type, topic: str, profile: QoSProfile) -> None:
        self.arrivals: list[int] = []
        self.stamps: list[int] = []
        node.create_subscription(message_type, topic, self._process, profile)

    def _process(self, message: Any) -> None:
        self.arrivals.append(time.monotonic_ns())
        self.stamps.append(read_stamp(message.clock if isinstance(message, Clock) else message.header.stamp))

    def clear(self) -> None:
        self.arrivals.clear()
        self.stamps.clear()

    def lost(self) -> int:
        """Periods without a message between the first and the last."""
        return round((self.stamps[-1] - self.stamps[0]) / PERIOD_NS) + 1 - len(self.stamps)

    def figures(self, name: str) -> dict[str, float]:
        """Pace, and jitter of intervals and against the line of simulation time over real time."""
        arrivals, stamps = np.array(self.arrivals, float), np.array(self.stamps, float)
        late = arrivals - arrivals[0] - (stamps - stamps[0])
        return {
            f"{name}_real_time_factor": float(np.ptp(stamps) / np.ptp(arrivals)),
            **_percentiles(f"{name}_interval", np.diff(arrivals) - np.diff(stamps)),
            **_percentiles(f"{name}_jitter", late - np.median(late)),
        }


def _percentiles(name: str, deviations: NDArray[np.float64]) -> dict[str, float]:
    p50, p99, most = np.percentile(np.abs(deviations) * 1e-6, [50.0, 99.0, 100.0])
    return {f"{name}_p50_ms": float(p50), f"{name}_p99_ms": float(p99), f"{name}_max_ms": float(most)}


def run(say: Callable[[str], None], seconds: float = SECONDS) -> dict[str, float]:
    """Jitter of both clocks [ms], lost steps, pace, and share of a core of both processes [%]."""
    with private_domain() as domain:
        os.environ.update(domain)
        commands = {"node": node_command("vehicle", []), "bare": [sys.executable, "-c", _BARE_LOOP]}
        processes = {name: subprocess.Popen(item, stderr=subprocess.DEVNULL) for name, item in commands.items()}
        try:
            return _measure(say, {name: process.pid for name, process in processes.items()}, seconds)
        finally:
            for process in processes.values():
                process.terminate()
            for process in processes.values():
                process.wait()


def show(figures: Mapping[str, float]) -> str:
    """Table of the vehicle node's figures beside those of the bare loop."""
    names = [key.removeprefix("bare_") for key in figures if key.startswith("bare_")]
    rows = [[name, f"{figures[f'node_{name}']:.3f}", f"{figures[f'bare_{name}']:.3f}"] for name in names]
    return text_table(["figure", "vehicle node", "bare loop"], rows) + f"\nmeasured for {figures['seconds']:g} s"


def _measure(say: Callable[[str], None], pids: dict[str, int], seconds: float) -> dict[str, float]:
    rclpy.init(args=[])
    try:
        node = rclpy.create_node("vehicle_benchmark")
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        clocks = {
            "node": _Received(node, Clock, "/clock", qos.CLOCK),
            "bare": _Received(node, Clock, "/bare/clock", qos.CLOCK),
        }
        states = {
            "node": _Received(node, Odometry, "/ground_truth/odom", DEEP),
            "bare": _Received(node, Odometry, "/bare/odom", DEEP),
        }
        everything = [*clocks.values(), *states.values()]
        say("waiting for both processes")
        _spin(executor, START_WAIT_S, lambda: all(item.stamps for item in everything))
        if not all(item.stamps for item in everything):
            raise SettingsError(f"bench node: the vehicle node is silent for {START_WAIT_S:g} s")
        _spin(executor, SETTLE_S)
        for item in everything:
            item.clear()
        say(f"listening for {seconds:g} s")
        before, began = {name: cpu_seconds(pid) for name, pid in pids.items()}, time.monotonic()
        _spin(executor, seconds)
        elapsed = time.monotonic() - began
        figures: dict[str, float] = {"seconds": seconds}
        for name, pid in pids.items():
            figures |= clocks[name].figures(name)
            figures[f"{name}_lost_steps"] = states[name].lost()
            figures[f"{name}_lost_clock_messages"] = clocks[name].lost()
            figures[f"{name}_cpu_percent"] = 100.0 * (cpu_seconds(pid) - before[name]) / elapsed
        return figures
    finally:
        rclpy.try_shutdown()


def _spin(executor: SingleThreadedExecutor, seconds: float, is_done: Callable[[], bool] = lambda: False) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not is_done():
        executor.spin_once(timeout_sec=0.1)


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))
