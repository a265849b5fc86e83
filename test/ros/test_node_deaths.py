"""kill -9 of each node of a free-running launch in turn, over real DDS and in one run.

Each time the others report it, the vehicle brakes when its driver is gone, and the node is restarted and
rejoins; in the end there is a recording to the last second.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry

from proving_ground.interfaces.fields import read_stamp
from proving_ground.launching.process_list import node_processes
from proving_ground.recording.reading import open_bag

pytestmark = pytest.mark.slow  # ten nodes are killed, one after the other

# Slow enough for a busy machine, and not to arrive before all have died.
RATE = "rate:=0.7"
ALL_NODES = """
version: 1
description: across a plain with the observer in the loop
world: {named: {name: flat}}
vehicle: {fidelity: single_track}
driver:
  to_goal: {sensing: lidar, pose: observer, planner: {max_speed_mps: 3.0}}
duration_s: 300.0
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
  - lidar: {preset: spinning_32, columns: 128, rate_hz: 5.0}
observer: {kind: vehicle}
criteria:
  - {channel: x_m, statistic: maximum, at_least: 10.0}
"""
DRIVES_MPS = 1.0
BRAKED_MPS = 0.5  # less than at a death
LAST_NS = 1_000_000_000  # that may be missing at the end of a recording


class Run:
    """A launch, the motion of its vehicle and the health of its nodes."""

    def __init__(self, graph: Any, folder: Path) -> None:
        (folder / "plain.yaml").write_text(ALL_NODES)
        command = [sys.executable, "-m", "proving_ground", "launch", "./plain.yaml", RATE, "sync:=false"]
        command += ["cockpit:=true", "--show"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        self._graph = graph
        self.launch = graph.start_command(command, cwd=folder, env=environment)
        self.truth = graph.collect(Odometry, "/ground_truth/odom")
        self._diagnostics = graph.collect(DiagnosticArray, "/diagnostics")

    @property
    def speed(self) -> float:
        return float(self.truth[-1].twist.twist.linear.x) if self.truth else 0.0

    @property
    def time_ns(self) -> int:
        return read_stamp(self.truth[-1].header.stamp)

    def ids(self) -> dict[str, int]:
        """Process ids of the live nodes, by name."""
        return node_processes(self.launch.popen.pid)

    def silence(self, node: str) -> None:
        """Stop a node before it is killed: a launch restarts one too soon for others to miss it."""
        os.kill(self.ids()[node], signal.SIGSTOP)
        self._diagnostics.clear()

    def kill(self, node: str) -> None:
        os.kill(self.ids()[node], signal.SIGKILL)
        self.wait(lambda: f"node {node} was killed by SIGKILL" in self.launch.output, f"the launcher to miss {node}")
        self._diagnostics.clear()

    def wait(self, condition: Any, what: str) -> None:
        self._graph.wait_until(condition, what, 60.0)

    def wait_for_words(self, node: str, words: str) -> None:
        """Wait for a text of a node on /diagnostics since it was silenced or killed."""
        self.wait(lambda: self.says(node, words), f"{node} to say {words!r}")

    def says(self, node: str, words: str) -> bool:
        found = (status for message in self._diagnostics for status in message.status if status.name == f"/{node}")
        return any(words in text for status in found for text in (status.message, *(v.value for v in status.values)))

    def wait_until_back(self, *nodes: str) -> None:
        """Wait until the nodes report again, and the vehicle drives."""
        for node in nodes:
            self.wait_for_words(node, "")
        self._diagnostics.clear()
        self.wait_for_words("referee", "running")  # misses no node
        self.wait(lambda: self.speed > DRIVES_MPS, f"the vehicle to drive after the death of {', '.join(nodes)}")

    def wait_until_braked(self, before: float) -> None:
        self.wait(lambda: self.speed < before - BRAKED_MPS, "the vehicle to brake")


def test_each_killed_node_is_reported_and_comes_back_until_the_vehicle_is_killed(graph: Any, tmp_path: Path) -> None:
    run = Run(graph, tmp_path)
    run.wait(lambda: run.speed > DRIVES_MPS, "the vehicle to drive")
    nodes = run.ids()

    run.kill("terrain")  # nobody needs it meanwhile
    for sensor in ("imu", "gps", "encoders"):
        run.silence(sensor)
        run.wait_for_words("observer", f"{sensor}: silent")
        run.kill(sensor)
        run.wait_for_words(sensor, "")

    for needed in ("lidar", "observer"):
        run.wait(lambda: run.speed > DRIVES_MPS, "the vehicle to drive")
        before = run.speed
        run.silence(needed)
        run.wait_until_braked(before)
        run.kill(needed)
        run.wait_until_back(needed)

    run.kill("monitor")
    run.kill("cockpit")  # nobody needs them to drive
    run.wait_until_back("cockpit")

    before, recorder_died_ns = run.speed, run.time_ns
    run.kill("recorder")  # nobody needs it either
    run.silence("planner")
    run.wait_until_braked(before)
    run.kill("planner")
    run.wait_until_back("planner")
    run.wait(lambda: run.time_ns > recorder_died_ns + 2 * LAST_NS, "something to record")

    last = run.ids()
    run.kill("vehicle")
    assert run.launch.popen.wait(60.0) == 1
    print(run.launch.output)
    for node in set(nodes) - {"vehicle", "referee"}:
        assert f"node {node} was killed by SIGKILL; restarting it" in run.launch.output
    assert "node vehicle was killed by SIGKILL; stopping the others" in run.launch.output
    assert "the run did not complete" in run.launch.output
    assert not [node for node, number in last.items() if Path(f"/proc/{number}").exists()]

    folder = tmp_path / "runs/plain_ros"
    bag = open_bag(folder)
    try:
        times = [log_ns for _, log_ns, _ in bag.messages(["/ground_truth/odom"])]
    finally:
        bag.close()
    lacking_ns, gap_at = max((late - early, early) for early, late in pairwise(times))
    assert gap_at > recorder_died_ns - LAST_NS
    assert times[-1] > run.time_ns - LAST_NS
    assert "the recording lacks " in run.launch.output
    events = json.loads((folder / "metrics.json").read_text())["events"]
    (gap,) = (event for event in events if event["words"] == "gap in the recording")
    assert gap["length_s"] == pytest.approx(lacking_ns * 1e-9, abs=0.1)  # stamps, and times of arrival
    assert any((event["kind"], event["words"]) == ("silence", "of /odometry/filtered") for event in events)
    # Of some nodes: a small one may be back before it is missed.
    assert any("no report from" in event["words"] for event in events)
