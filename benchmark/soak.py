"""An hour of all nodes over DDS: memory of each process, lost steps, and drift of /clock against the requested factor.

    python -m benchmark.soak [SECONDS]

The vehicle drives through the town by LIDAR and observer, to the goal and back again for the requested time,
while a recorder writes all but clouds; a line is printed each minute. Status 1 when a process grew by more than
GROWTH_MB after its first two minutes, when a node was restarted, when the clock fell behind or dropped time that
it could not catch up with, and when the vehicle gave up a goal or reached none.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Pose, PoseStamped
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Header

from planner.progress import Status
from proving_ground.interfaces.fields import read_stamp
from proving_ground.launching.process_list import node_processes
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain
from terrain.world import World
from terrain.worlds import load_world

GROWTH_MB = 50.0
START_S = 300.0  # kernels may have to be compiled
SETTLED_S = 120.0
LOOK_EVERY_S = 60.0
DRIFT = 0.001  # of the time that passed
WORLD = "urban"
ARGUMENTS = ("navigate", f"world:={WORLD}", "sensing:=lidar", "pose_source:=observer", "to_world_goal:=true")
AT_REST = {Status.ARRIVED.value, Status.FAILED.value, Status.NO_GOAL.value}


class Watch:
    """Observes a run, and sends goals to a vehicle without one."""

    def __init__(self, world: World) -> None:
        self._node = rclpy.create_node("soak")
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self._node)
        assert world.goal is not None
        self._goals = itertools.cycle([world.start, world.goal])
        self._goal_pose = self._node.create_publisher(PoseStamped, "/goal_pose", qos.RELIABLE)
        self._node.create_subscription(Clock, "/clock", self._on_clock, qos.SENSOR)
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, qos.RELIABLE)
        self._clock_at = -1
        self.time_ns = 0
        self.largest_step_ns = 0  # of /clock
        self.arrivals = self.failures = 0
        self.overruns, self.given_up = "?", "0"  # [-], [s]: late steps, and time never caught up with

    def spin_once(self) -> None:
        """Process arriving messages."""
        self._executor.spin_once(timeout_sec=0.1)

    def _on_clock(self, message: Clock) -> None:
        now = read_stamp(message.clock)
        if self.time_ns:
            self.largest_step_ns = max(self.largest_step_ns, now - self.time_ns)
        self.time_ns = now

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            values = {item.key: item.value for item in status.values}
            self.overruns = values.get("overruns", self.overruns)
            self.given_up = values.get("given_up_s", self.given_up)
            if "to_go_m" in values and values["status"] in AT_REST and self.time_ns > self._clock_at + 5 * 10**9:
                self._send_on(values["status"], values["reason"])

    def _send_on(self, status: str, reason: str) -> None:
        self.arrivals += status == Status.ARRIVED.value
        if status == Status.FAILED.value:
            self.failures += 1
            print(f"  at {self.time_ns * 1e-9:.0f} s: {reason}", flush=True)
        self._clock_at = self.time_ns
        goal = next(self._goals)
        pose = Pose(position=Point(x=goal.x, y=goal.y))
        self._goal_pose.publish(PoseStamped(header=Header(frame_id="map"), pose=pose))


def memory_mb(parents: Iterable[int]) -> dict[str, float]:
    """Memory of these processes and of the nodes that they have started, by name and process.

    Proportional set size: nodes of a launch share most of what they have imported.
    """
    found = {}
    for parent in parents:
        for name, process in {"launch": parent, **node_processes(parent)}.items():
            with contextlib.suppress(OSError, StopIteration):
                lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
                size_kb = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
                found[f"{name}[{process}]"] = size_kb / 1024.0
    return found


def main(seconds: float) -> int:
    """Run all nodes for this many seconds and print what grows; returns the exit status."""
    with private_domain() as domain, tempfile.TemporaryDirectory() as folder:
        os.environ.update(domain)
        os.environ.pop("FASTDDS_BUILTIN_TRANSPORTS", None)  # the users' default
        command = [sys.executable, "-m", "proving_ground", "launch", *ARGUMENTS]
        record = [sys.executable, "-m", "proving_ground", "record", "--exclude", "/lidar/.*", "--out", f"{folder}/bag"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        children = [subprocess.Popen(words, **silent) for words in (command, record)]  # type: ignore[call-overload]
        try:
            return _watch([child.pid for child in children], seconds)
        finally:
            for child in children:
                child.send_signal(signal.SIGINT)
            for child in children:
                child.wait()


def _watch(launchers: list[int], seconds: float) -> int:
    rclpy.init(args=[])
    watch = Watch(load_world(WORLD))
    limit = time.monotonic() + START_S
    while not watch.time_ns:
        watch.spin_once()
        if time.monotonic() > limit:
            print("NOT SOUND: no /clock")
            return 1
    settled: dict[str, float] = {}
    began, first = time.monotonic(), watch.time_ns
    next_look, faults = LOOK_EVERY_S, set()
    while (passed := time.monotonic() - began) < seconds:
        watch.spin_once()
        if passed < next_look:
            continue
        next_look += LOOK_EVERY_S
        now = memory_mb(launchers)
        if not settled and passed >= min(SETTLED_S, 0.5 * seconds):
            settled = now
        drift = (watch.time_ns - first) * 1e-9 - passed
        grown = {name: value - settled.get(name, value) for name, value in now.items()}
        faults |= {f"{name} grew by {value:.0f} MB" for name, value in grown.items() if value > GROWTH_MB}
        if settled and set(settled) != set(now):
            faults.add("nodes were restarted")
        if abs(drift) > max(DRIFT * passed, 0.1):
            faults.add("the clock fell behind")
        if float(watch.given_up) > 0.0:
            faults.add("steps were lost")
        words = ", ".join(f"{name} {value:.0f} ({grown[name]:+.1f})" for name, value in sorted(now.items()))
        print(
            f"{passed / 60:5.1f} min: clock {drift:+.3f} s, steps up to {watch.largest_step_ns / 1e6:.0f} ms; "
            f"{watch.arrivals} arrivals, {watch.failures} failures; {watch.overruns} late steps, "
            f"lost {watch.given_up} s; MB: {words}",
            flush=True,
        )
    if watch.failures or not watch.arrivals:
        faults.add(f"{watch.arrivals} arrivals, {watch.failures} goals given up")
    print("sound" if not faults else f"NOT SOUND: {'; '.join(sorted(faults))}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0))
