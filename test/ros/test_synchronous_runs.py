"""Synchronous runs over real DDS: the same run as in lock-step, whatever happens to the nodes' processes."""

from __future__ import annotations

import functools
import json
import math
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from sensor_msgs.msg import PointCloud2
from simulation_interfaces.msg import SimulationState

from proving_ground.interfaces.fields import read_stamp
from proving_ground.launching.process_list import node_processes
from proving_ground.ros_support.point_cloud import cloud_to_points
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.refereeing import HASHES, TIMING
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings.share import share_file
from running_vehicle import PERIOD_NS
from standard_client import OK, StandardClient, pose

pytestmark = pytest.mark.slow  # whole launches

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


@functools.cache
def _in_lock_step(text: str) -> dict[str, dict[str, str]]:
    """Hashes of a scenario's run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "own.yaml"
        path.write_text(text)
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
    assert " late" not in launch.output  # no kernel is compiled or loaded after its node was ready
    return json.loads((path.parent / "run" / HASHES).read_text())


@pytest.fixture(params=[SCRIPTED, FAULTY, CHANGING, ALL_PARTS], ids=["script", "faults", "changes", "all parts"])
def scenario(request: Any, tmp_path: Path) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(request.param)
    return path


def test_a_run_over_dds_is_the_run_in_lock_step_to_the_bit(graph: Any, scenario: Path) -> None:
    expected = _in_lock_step(scenario.read_text())

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

    assert _hashes(graph, path, launch) == _in_lock_step(ALL_PARTS)


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


@pytest.mark.parametrize(
    ("stopped", "words"), [("script", "waiting for script"), ("vehicle", "the vehicle has not reported")]
)
def test_a_run_that_stands_still_says_why_and_fails(graph: Any, tmp_path: Path, stopped: str, words: str) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SCRIPTED)
    launch = _launch(graph, path, "duration:=3600", "standstill:=2")
    graph.wait_until(lambda: "time runs" in launch.output, "time to run", RUN_S)

    os.kill(node_processes(launch.popen.pid)[stopped], signal.SIGSTOP)
    graph.wait_until(lambda: not launch.is_running(), "the end of a run that stands still", RUN_S)

    assert launch.wait() != 0
    assert words in launch.output
    assert words in json.loads((path.parent / "run" / TIMING).read_text())["given_up"]


def test_a_run_that_is_paused_and_stepped_is_the_run_in_lock_step(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(ALL_PARTS)
    launch, client = _launch(graph, path), StandardClient(graph)
    graph.wait_until(lambda: "time runs" in launch.output, "time to run", RUN_S)

    assert client.set_state(SimulationState.STATE_PAUSED) == OK
    before_ns = read_stamp(client.where().header.stamp)
    client.do("StepSimulation", steps=30)
    assert read_stamp(client.where().header.stamp) == before_ns + 30 * PERIOD_NS
    client.do("StepSimulation")
    assert read_stamp(client.where().header.stamp) == before_ns + 31 * PERIOD_NS
    assert client.set_state(SimulationState.STATE_PLAYING) == OK

    assert _hashes(graph, path, launch) == _in_lock_step(ALL_PARTS)


def test_nodes_in_step_follow_resets_spawned_obstacles_and_worlds(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(ALL_PARTS)
    launch, client = _launch(graph, path, "duration:=3600"), StandardClient(graph)
    clouds = graph.collect(PointCloud2, "/lidar/points")
    estimates = graph.collect(Odometry, "/odometry/filtered")
    graph.wait_until(lambda: "time runs" in launch.output and clouds, "time to run", RUN_S)

    def sees_wall() -> bool:
        """Whether the last cloud has points on a wall, whose front is 5 m ahead, well above the ground."""
        points = cloud_to_points(clouds[-1]).reshape(-1)
        x, y, z = (points[axis] for axis in "xyz")
        return bool(((abs(x - 4.0) < 2.0) & (abs(y) < 0.9) & (abs(z) < 0.5)).any())

    assert client.set_state(SimulationState.STATE_STOPPED) == OK  # reset and paused
    assert client.set_state(SimulationState.STATE_PAUSED) == OK
    start = client.where()
    at, q = start.pose.position, start.pose.orientation
    ahead_x, ahead_y = 1.0 - 2.0 * (q.y**2 + q.z**2), 2.0 * (q.x * q.y + q.z * q.w)
    client.do("StepSimulation", steps=40)
    assert not sees_wall()
    wall = pose(at.x + 5.5 * ahead_x, at.y + 5.5 * ahead_y)
    client.do("SpawnEntity", name="wall", uri="box?length_m=1&width_m=4&height_m=5", initial_pose=wall)
    client.do("StepSimulation", steps=40)
    graph.wait_until(sees_wall, "the wall in a cloud", RUN_S)
    assert read_stamp(client.where().header.stamp) == read_stamp(start.header.stamp) + 80 * PERIOD_NS

    client.do("ResetSimulation")
    assert read_stamp(client.where().header.stamp) == read_stamp(start.header.stamp)
    client.do("StepSimulation", steps=40)  # everybody is in step again
    graph.wait_until(lambda: not sees_wall(), "a cloud without the wall", RUN_S)

    client.do("LoadWorld", uri="flat")  # whose start is elsewhere; the simulation is stopped then
    assert client.set_state(SimulationState.STATE_PAUSED) == OK
    for _ in range(2):  # at once, and after a reset
        estimates.clear()
        client.do("StepSimulation", steps=40)
        here = client.where().pose.position
        graph.wait_until(lambda: estimates, "an estimate", RUN_S)
        found = estimates[-1].pose.pose.position
        assert math.hypot(found.x - here.x, found.y - here.y) < 0.5
        client.do("ResetSimulation")
    assert client.set_state(SimulationState.STATE_PLAYING) == OK
    later_ns = read_stamp(start.header.stamp) + 80 * PERIOD_NS
    graph.wait_until(lambda: read_stamp(client.where().header.stamp) > later_ns, "time to run on", RUN_S)


def test_a_slow_stack_from_outside_drives_the_same_run_each_time(graph: Any, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(SHORT.replace("4.0", "1.0") + "driver: {straight: {}}\n")

    def drive() -> Any:
        launch = _launch(graph, path, "wait_for:=cmd_vel")
        graph.start_command([sys.executable, str(STACK)], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        return _hashes(graph, path, launch)

    assert drive() == drive()
