"""Scenarios over real DDS, from start to verdict, as `proving-ground launch SCENARIO` runs them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from nav_msgs.msg import Odometry

from scenarios.bags.reading import open_bag
from scenarios.cli import main
from scenarios.node_process import node_command
from scenarios.ros_run import judge_bag, run_over_ros
from settings import SettingsError

SHORT = """
version: 1
description: {words}
world: {{flat: {{}}}}
start: {{speed_mps: 5.0}}
driver: {{straight: {{speed_mps: 5.0}}}}
duration_s: {seconds}
criteria:
  - {{channel: speed_mps, statistic: mean, at_least: {least}}}
  - {{channel: collision_n, statistic: maximum, at_most: 0.0}}
"""

LANE_CHANGE = """
version: 1
description: to the left lane and back
world: {flat: {}}
start: {speed_mps: 15.0}
driver: {lane_change: {speed_mps: 15.0, change_at_s: 2.0, lasting_s: 3.0, back_at_s: 7.0}}
duration_s: 13.0
criteria:
  - {channel: y_m, statistic: maximum, at_least: 3.4, at_most: 4.4}
  - {channel: y_m, statistic: end, at_least: -0.3, at_most: 0.3}
  - {channel: roll_rad, statistic: maximum, at_most: 0.1}
  - {channel: wheel_load_n.front_left, statistic: minimum, at_least: 1000.0}
"""


def _launch(graph: Any, folder: Path, *words: str) -> Any:
    command = [sys.executable, "-m", "scenarios.cli", "launch", *words]
    return graph.start_command(command, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def _scenario(folder: Path, words: str = "a test", seconds: float = 3.0, least: float = 3.0) -> str:
    (folder / "short.yaml").write_text(SHORT.format(words=words, seconds=seconds, least=least))
    return "./short.yaml"


def _end(launch: Any, seconds: float = 120.0) -> int:
    status: int = launch.popen.wait(seconds)
    print(launch.output)
    return status


def test_a_lane_change_passes_over_dds_and_leaves_bag_and_report(graph: Any, tmp_path: Path) -> None:
    """As the scenario lane_change, in a quarter of its time."""
    (tmp_path / "change.yaml").write_text(LANE_CHANGE)
    launch = _launch(graph, tmp_path, "./change.yaml")
    assert _end(launch) == 0
    folder = tmp_path / "runs/change_ros"
    figures = json.loads((folder / "metrics.json").read_text())
    assert figures["passed"] is True
    assert figures["timing"]["real_time_factor"] == pytest.approx(1.0, abs=0.2)
    assert "change: PASSED" in launch.output
    assert "passed" in (folder / "report.html").read_text().lower()
    bag = open_bag(folder)
    try:
        stamps = [log_ns for _, log_ns, _ in bag.messages(["/ground_truth/odom"])]
    finally:
        bag.close()
    assert len(stamps) == pytest.approx(1300, abs=30)


def test_ctrl_c_leaves_no_process_and_a_bag_that_can_be_read(graph: Any, tmp_path: Path) -> None:
    launch = _launch(graph, tmp_path, _scenario(tmp_path, seconds=100.0))
    truth = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: len(truth) > 50, "the vehicle to drive", 60.0)
    launch.popen.send_signal(signal.SIGINT)
    assert _end(launch, 30.0) == 1  # did not come to its end
    assert "did not come to its end" in launch.output
    assert not _processes_of(tmp_path)


def test_a_script_that_is_killed_drives_again_and_a_killed_referee_ends_a_run_that_nobody_else_may_enter(
    graph: Any, tmp_path: Path
) -> None:
    """While the script is away nothing is commanded: the vehicle brakes."""
    launch = _launch(graph, tmp_path, _scenario(tmp_path, seconds=100.0))
    truth = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: len(truth) > 50, "the vehicle to drive", 60.0)

    with pytest.raises(SettingsError, match="another launch runs in it"):
        run_over_ros(str(tmp_path / "short.yaml"), {"out": str(tmp_path / "runs/short_ros")}, False)
    os.kill(_processes_of(tmp_path, "script")[0], signal.SIGKILL)
    graph.wait_until(lambda: truth[-1].twist.twist.linear.x < 4.0, "the vehicle to brake")
    graph.wait_until(lambda: truth[-1].twist.twist.linear.x > 4.5, "the vehicle to drive again", 60.0)
    os.kill(_processes_of(tmp_path, "referee")[0], signal.SIGKILL)

    assert _end(launch) == 1
    assert "node script was killed by SIGKILL; starting it again" in launch.output
    assert "node referee was killed by SIGKILL; stopping the others" in launch.output
    assert "the run did not come to its end" in launch.output
    assert (tmp_path / "runs/short_ros/bag/metadata.yaml").exists()  # the recorder closed it


def _processes_of(folder: Path, executable: str = "") -> list[int]:
    """Ids of the nodes that were started in a folder."""
    code = node_command(executable, [])[2] if executable else "sys.path[:]"
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if code.encode() in (process / "cmdline").read_bytes() and (process / "cwd").readlink() == folder:
                found.append(int(process.name))
    return found


def test_a_bag_that_is_not_of_a_launch_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data/bag_2").mkdir(parents=True)
    (tmp_path / "data/bag_2/precious.mcap").write_text("mine")
    _scenario(tmp_path)
    with pytest.raises(SettingsError, match="is of no launch"):
        run_over_ros(str(tmp_path / "short.yaml"), {"out": str(tmp_path / "data")}, False)
    assert (tmp_path / "data/bag_2/precious.mcap").exists()


@pytest.mark.parametrize("words", ["rate:=nan", "rate:=-1", "duration:=1e9", "planner:=arcs"])
def test_wrong_values_are_told_before_any_node_starts(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _scenario(tmp_path)
    assert main(["launch", str(tmp_path / "short.yaml"), words]) == 2
    told = capsys.readouterr()
    assert "starting" not in told.out
    assert len((told.out + told.err).strip().splitlines()) == 1


def test_a_criterion_that_cannot_be_judged_is_not_met(tmp_path: Path) -> None:
    """A bag of other people's has no loads of wheels."""
    from scenarios.bags.recording import Recording
    from scenarios.bags.writing import BagWriter
    from scenarios.lock_step import LockStep
    from scenarios.refereeing import TIMING
    from scenarios.scenario import load_scenario

    path = tmp_path / "loads.yaml"
    text = SHORT.format(words="loads", seconds=1.0, least=1.0)
    path.write_text(text.replace("collision_n", "wheel_load_n.front_left").replace("at_most: 0.0", "at_least: 0.0"))
    scenario, folder = load_scenario(path), tmp_path / "run"
    with BagWriter(folder / "bag") as writer:
        recording = Recording(writer)
        runner = LockStep(scenario, tmp_path, listener=recording.sample)
        recording.watch(runner, scenario.start.time_ns())
        runner.run()
    (folder / TIMING).write_text('{"wall_s": 1.0, "real_time_factor": 1.0, "simulated_s": 1.0}')
    assert judge_bag(path, folder, {}) == 1
    path.write_text(
        SHORT.format(words="loads", seconds=1.0, least=1.0)
        .replace("collision_n", "speed_mps")
        .replace("at_most: 0.0", "at_most: 9.0")
    )
    assert judge_bag(path, folder, {}) == 0
    (folder / TIMING).write_text('{"wall_s": 1.0, "real_time_factor": 1.0, "simulated_s": 8.0}')
    assert judge_bag(path, folder, {}) == 1  # most of the run is not in the bag
