"""An hour of all nodes over DDS: memory of each process, lost steps, and drift of /clock against the factor asked for.

    python -m benchmark.soak [SECONDS]

The vehicle is parked in the town with all sensors, observer and planner, and a recorder; a line is printed each minute.
Status 1 when a process grew by more than GROWTH_MB after its first two minutes, or the clock fell behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock

from ros_support import qos
from ros_support.domain import private_domain
from ros_support.time import stamp_to_ns

GROWTH_MB = 50.0
SETTLED_S = 120.0
LOOK_EVERY_S = 60.0
DRIFT = 0.001  # of the time that passed
ARGUMENTS = ("navigate", "world:=urban", "sensing:=lidar", "pose_source:=observer", "to_world_goal:=true")


def memory_mb(parent: int) -> dict[str, float]:
    """Resident memory of the processes that a launcher has started, by node."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError, ValueError):
            status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            if int(status["PPid"]) == parent:
                words = (process / "cmdline").read_bytes().decode().split("\0")
                name = next(word.removeprefix("__node:=") for word in words if word.startswith("__node:="))
                found[name] = int(status["VmRSS"].split()[0]) / 1024.0
    return found


def main(seconds: float) -> int:
    """Exit status."""
    with private_domain() as domain, tempfile.TemporaryDirectory() as folder:
        os.environ.update(domain)
        os.environ.pop("FASTDDS_BUILTIN_TRANSPORTS", None)  # as users have it
        command = [sys.executable, "-m", "scenarios.cli", "launch", *ARGUMENTS]
        record = [sys.executable, "-m", "scenarios.cli", "record", "--exclude", "/lidar/.*", "--out", f"{folder}/bag"]
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        children = [subprocess.Popen(words, **silent) for words in (command, record)]  # type: ignore[call-overload]
        try:
            return _watch(children[0].pid, seconds)
        finally:
            for child in children:
                child.send_signal(signal.SIGINT)
            for child in children:
                child.wait()


def _watch(launcher: int, seconds: float) -> int:
    rclpy.init(args=[])
    node = rclpy.create_node("soak")
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    times: list[int] = []
    lost: dict[str, str] = {}

    def on_diagnostics(message: DiagnosticArray) -> None:
        for status in message.status:
            lost.update({item.key: item.value for item in status.values if item.key in ("lost_steps", "overruns")})

    node.create_subscription(Clock, "/clock", lambda message: times.append(stamp_to_ns(message.clock)), qos.SENSOR)
    node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, qos.RELIABLE)
    while not times:
        executor.spin_once(timeout_sec=1.0)
    settled: dict[str, float] = {}
    began, first = time.monotonic(), times[-1]
    next_look, is_sound = LOOK_EVERY_S, True
    while (passed := time.monotonic() - began) < seconds:
        executor.spin_once(timeout_sec=0.1)
        del times[:-1]
        if passed < next_look:
            continue
        next_look += LOOK_EVERY_S
        now = memory_mb(launcher)
        if not settled and passed >= min(SETTLED_S, 0.5 * seconds):
            settled = now
        grown = {name: value - settled.get(name, value) for name, value in now.items()}
        drift = (times[-1] - first) * 1e-9 - passed
        is_sound = all(value < GROWTH_MB for value in grown.values()) and abs(drift) < max(DRIFT * passed, 0.1)
        words = ", ".join(f"{name} {value:.0f} ({grown[name]:+.1f})" for name, value in sorted(now.items()))
        print(f"{passed / 60:5.1f} min: clock {drift:+.3f} s; MB: {words}; {lost}", flush=True)
    print("sound" if is_sound else "NOT SOUND")
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0))
