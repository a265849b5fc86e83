"""Synchronous runs over real DDS: the same run as in lock-step, whatever happens to the nodes' processes."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray

from proving_ground.launching.process_list import node_processes
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.refereeing import HASHES, TIMING
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings.share import share_file

RUN_S = 240.0  # wall time; a bound for a busy machine
STOPPED_S = 0.5
STACK = Path(__file__).with_name("slow_stack.py")
SHORT = "version: 1\ndescription: along a lane\nduration_s: 4.0\nworld: {flat: {}}\nstart: {speed_mps: 10.0}\n"
SCRIPTED = SHORT + "driver: {lane_change: {speed_mps: 10.0, change_at_s: 0.5, lasting_s: 1.5, back_at_s: 2.0}}\n"
FAULTY = (
    SCRIPTED.replace("4.0", "1.5")
    + """faults:
  - {actuator: throttle, kind: slow, value: 0.3}
  - {actuator: steering, kind: stuck, start_s: 0.7, length_s: 0.3}
  - {actuator: brake, kind: offset, value: 0.1, start_s: 1.0, length_s: 0.4}
"""
)
CHANGING = (
    SCRIPTED.replace("4.0", "1.5")
    + """vehicle: {model: hmmwv, payload_kg: 100.0}
changes:
  - {what: friction, at_s: 0.3, value: 0.4}
  - {what: payload_kg, at_s: 0.6, value: 800.0}
  - {what: tyre_pressure_pa, at_s: 0.9, value: 90000.0, wheels: rear}
"""
)
LONG = share_file("config/benchmark/parity.yaml").read_text()  # all parts
ALL_PARTS = LONG.replace("duration_s: 12.0", "duration_s: 4.0")


def _in_lock_step(path: Path) -> dict[str, dict[str, str]]:
    runner = LockStep(load_scenario(path))
    digests = runner.hashed()
    runner.run()
    runner.finish_instant()
    return {name: digest.texts() for name, digest in digests.items()}


def _launch(graph: Any, path: Path, *words: str) -> Any:
    out = path.parent / "run"
    command = [sys.executable, "-m", "proving_ground", "launch", f"./{path.name}", "rate:=0", "record:=false"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return graph.start_command([*command, f"out:={out}", *words], cwd=path.parent, env=environment)


def _hashes(graph: Any, path: Path, launch: Any) -> Any:
    graph.wait_until(lambda: not launch.is_running(), "the end of the run", RUN_S)
    print(launch.output)
    assert "SIGSEGV" not in launch.output
    return json.loads((path.parent / "run" / HASHES).read_text())


@pytest.fixture(params=[SCRIPTED, FAULTY, CHANGING, ALL_PARTS], ids=["script", "faults", "changes", "all parts"])
def scenario(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(request.param)
    return path


def test_a_run_over_dds_is_the_run_in_lock_step_to_the_bit(graph: Any, scenario: Path) -> None:
    expected = _in_lock_step(scenario)

    assert _hashes(graph, scenario, _launch(graph, scenario)) == expected


def test_nodes_that_are_stopped_for_a_while_change_nothing(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(ALL_PARTS)
    launch = _launch(graph, path)
    graph.wait_until(lambda: "time runs" in launch.output, "time to run", RUN_S)

    for name, process in node_processes(launch.popen.pid).items():
        if name != "referee" and launch.is_running():
            os.kill(process, signal.SIGSTOP)
            graph.spin_for(STOPPED_S)
            os.kill(process, signal.SIGCONT)

    assert _hashes(graph, path, launch) == _in_lock_step(path)


def test_each_killed_node_stops_time_until_it_is_back(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(LONG)
    launch = _launch(graph, path)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    graph.wait_until(lambda: "time runs" in launch.output, "time to run", RUN_S)

    def awaited() -> str:
        """Whom the vehicle waits for, by its latest report."""
        said = [status for message in diagnostics for status in message.status if status.name == "/vehicle"]
        values = {item.key: item.value for item in said[-1].values} if said else {}
        return str(values.get("awaited", "")) if float(values.get("awaited_s", "0")) > 1.0 else ""

    names = ("imu", "gps", "encoders", "lidar", "observer", "planner")
    for name in names:
        os.kill(node_processes(launch.popen.pid)[name], signal.SIGKILL)
        graph.wait_until(lambda name=name: name in awaited(), f"the vehicle to name {name}, which it waits for", RUN_S)
        graph.wait_until(lambda: not awaited(), "time to go on", RUN_S)
    graph.wait_until(lambda: not launch.is_running(), "the run to go on to its end", RUN_S)

    assert "over:" in launch.output
    assert launch.output.count("was killed by SIGKILL; restarting it") == 6
    timing = json.loads((path.parent / "run" / TIMING).read_text())
    assert timing["restarted"] == sorted(names)
    assert timing["longest_wait_s"] > 1.0
    assert set(timing["longest_wait_for"].split(", ")) & set(names)


def test_a_slow_stack_from_outside_drives_the_same_run_each_time(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SHORT.replace("4.0", "1.0") + "driver: {straight: {}}\n")

    def drive() -> Any:
        launch = _launch(graph, path, "wait_for:=cmd_vel")
        graph.start_command([sys.executable, str(STACK)], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        return _hashes(graph, path, launch)

    assert drive() == drive()
