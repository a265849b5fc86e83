"""Scenarios over real DDS, from start to verdict, as `proving-ground launch SCENARIO` runs them."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from std_srvs.srv import SetBool

from proving_ground.cli.main import main
from proving_ground.interfaces import topics
from proving_ground.interfaces.diagnostics_codec import HARDWARE_ID
from proving_ground.launching.launch_folder import CLAIM
from proving_ground.launching.process_list import node_processes
from proving_ground.launching.ros_run import judge_bag, run_over_ros
from proving_ground.recording.reading import open_bag
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.scenarios.refereeing import TIMING
from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_file

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

ROLLING = """
version: 1
description: an observer that may know its start, in a vehicle that rolls at it
world: {flat: {}}
start: {speed_mps: 20.0}
driver: {straight: {speed_mps: 20.0}}
duration_s: 100.0
sensors: [{imu: {}}, {gps: {}}, {encoders: {}}]
observer: {kind: vehicle}
"""

LANE_CHANGE = """
version: 1
description: to the left lane and back, with an observer that knows where and how fast it began and has no GPS
world: {flat: {}}
start: {x_m: 40.0, speed_mps: 15.0}
sensors: [{imu: {}}, {gps: {}}, {encoders: {preset: quadrature}}]
faults: [{sensor: gps, kind: outage, start_s: 0.0, length_s: 60.0}]
observer: {kind: vehicle}
driver: {lane_change: {speed_mps: 15.0, change_at_s: 2.0, lasting_s: 3.0, back_at_s: 7.0}}
duration_s: 13.0
criteria:
  - {channel: y_m, statistic: maximum, at_least: 3.4, at_most: 4.4}
  - {channel: y_m, statistic: end, at_least: -0.3, at_most: 0.3}
  - {channel: roll_rad, statistic: maximum, at_most: 0.1}
  - {channel: wheel_load_n.front_left, statistic: minimum, at_least: 1000.0}
  - {channel: estimate_error_m, statistic: maximum, at_most: 1.0}
"""


def _launch(graph: Any, folder: Path, *words: str) -> Any:
    command = [sys.executable, "-m", "proving_ground", "launch", *words]
    return graph.start_command(command, cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def _scenario(folder: Path, words: str = "a test", seconds: float = 3.0, least: float = 3.0) -> str:
    (folder / "short.yaml").write_text(SHORT.format(words=words, seconds=seconds, least=least))
    return "./short.yaml"


def _end(launch: Any, seconds: float = 120.0) -> int:
    try:
        status: int = launch.popen.wait(seconds)
    finally:
        print(launch.output)
    return status


def test_a_lane_change_passes_over_dds_and_leaves_bag_and_report(graph: Any, tmp_path: Path) -> None:
    """The scenario lane_change in a quarter of its time."""
    (tmp_path / "change.yaml").write_text(LANE_CHANGE)
    launch = _launch(graph, tmp_path, "./change.yaml", "rate:=0")
    assert _end(launch) == 0
    folder = tmp_path / "runs/change_ros"
    figures = json.loads((folder / "metrics.json").read_text())
    assert figures["passed"] is True
    assert "change: PASSED" in launch.output
    assert "passed" in (folder / "report.html").read_text().lower()
    bag = open_bag(folder)
    try:
        stamps = [log_ns for _, log_ns, _ in bag.messages(["/ground_truth/odom"])]
    finally:
        bag.close()
    assert len(stamps) == pytest.approx(1300, abs=30)


def test_a_motion_that_diverges_ends_the_run(graph: Any, tmp_path: Path) -> None:
    """The tyres of the vehicle are far too stiff for its time step."""
    numbers = share_file("config/vehicles/hmmwv_chrono.yaml").read_text()
    assert numbers.count("damping_nspm: 3931.684976") == 1
    (tmp_path / "stiff.yaml").write_text(numbers.replace("damping_nspm: 3931.684976", "damping_nspm: 900000.0"))
    text = SHORT.format(words="a kerb at speed", seconds=3600.0, least=3.0).replace("speed_mps: 5.0", "speed_mps: 30.0")
    text = text.replace("flat: {}", "flat: {bump_start_m: 5.0, bump_length_m: 0.3, bump_height_m: 0.8}")
    (tmp_path / "short.yaml").write_text(text + "vehicle: {model: ./stiff.yaml, step_s: 0.002}\n")
    launch = _launch(graph, tmp_path, "./short.yaml")
    assert _end(launch) == 1
    assert "giving up after" in launch.output
    assert "the motion diverged at" in launch.output
    assert "the run did not complete" in launch.output


def test_ctrl_c_leaves_no_process_and_a_bag_that_can_be_read(graph: Any, tmp_path: Path) -> None:
    launch = _launch(graph, tmp_path, _scenario(tmp_path, seconds=100.0))
    truth = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: len(truth) > 50, "the vehicle to drive", 60.0)
    nodes = node_processes(launch.popen.pid)
    assert set(nodes) >= {"vehicle", "script", "recorder", "referee"}
    launch.popen.send_signal(signal.SIGINT)
    assert _end(launch, 30.0) == 1  # the run was not completed
    assert "did not complete" in launch.output
    assert not any(Path(f"/proc/{process}").exists() for process in nodes.values())


def test_a_script_that_is_killed_drives_again_and_a_killed_referee_ends_a_run_that_nobody_else_may_enter(
    graph: Any, tmp_path: Path
) -> None:
    """Without the script nothing is commanded where time runs free, and the vehicle brakes."""
    launch = _launch(graph, tmp_path, _scenario(tmp_path, seconds=100.0), "sync:=false")
    truth = graph.collect(Odometry, "/ground_truth/odom")
    graph.wait_until(lambda: len(truth) > 50, "the vehicle to drive", 60.0)

    with pytest.raises(SettingsError, match="another launch runs in it"):
        run_over_ros(str(tmp_path / "short.yaml"), {"out": str(tmp_path / "runs/short_ros")}, False)
    os.kill(node_processes(launch.popen.pid)["script"], signal.SIGKILL)
    graph.wait_until(lambda: truth[-1].twist.twist.linear.x < 4.0, "the vehicle to brake")
    graph.wait_until(lambda: truth[-1].twist.twist.linear.x > 4.5, "the vehicle to drive again", 60.0)
    os.kill(node_processes(launch.popen.pid)["referee"], signal.SIGKILL)

    assert _end(launch) == 1
    assert "node script was killed by SIGKILL; restarting it" in launch.output
    assert "node referee was killed by SIGKILL; stopping the others" in launch.output
    assert "the run did not complete" in launch.output
    assert (tmp_path / "runs/short_ros/bag/metadata.yaml").exists()  # the recorder closed it


def test_a_bag_that_is_not_of_a_launch_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data/bag_2").mkdir(parents=True)
    (tmp_path / "data/bag_2/precious.mcap").write_text("mine")
    _scenario(tmp_path)
    with pytest.raises(SettingsError, match="was not written by a launch"):
        run_over_ros(str(tmp_path / "short.yaml"), {"out": str(tmp_path / "data")}, False)
    assert (tmp_path / "data/bag_2/precious.mcap").exists()


class Others:
    """Peers of the referee: an observer's health, and a vehicle whose answers get lost at first."""

    def __init__(self, graph: Any) -> None:
        self.asked = 0
        self.elapsed_ns, self.x, self.speed = 0, 0.0, 20.0
        self._health = graph.node.create_publisher(DiagnosticArray, "/diagnostics", qos.RELIABLE)
        self._odometry = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
        graph.node.create_service(SetBool, "/simulation/pause", self._on_pause)
        graph.node.create_timer(0.05, self._publish)

    def _on_pause(self, request: Any, response: Any) -> Any:
        self.asked += 1
        if self.asked == 1:
            raise InterruptedError("no answer")
        response.success = True
        return response

    def _publish(self) -> None:
        status = DiagnosticStatus(name="/observer", hardware_id=HARDWARE_ID)
        self._health.publish(DiagnosticArray(status=[status]))
        if self.asked > 1:
            self.elapsed_ns += 1_000_000
            message = Odometry()
            message.header.stamp = ns_to_stamp(1_767_225_600_000_000_000 + self.elapsed_ns)
            message.pose.pose.position.x, message.twist.twist.linear.x = self.x, self.speed
            message.pose.pose.orientation.w = 1.0
            self._odometry.publish(message)


def test_the_referee_repeats_requests_and_sends_the_current_pose_to_the_observer_once_the_vehicle_is_slow(
    graph: Any, tmp_path: Path
) -> None:
    others, poses = Others(graph), graph.collect(PoseWithCovarianceStamped, "/initialpose")
    words = ("sends_start:=true", "wait_for:=[observer]", f"out:={tmp_path}")
    referee = graph.start("referee", "--ros-args", *(word for item in words for word in ("-p", item)))
    with pytest.raises(InterruptedError):
        graph.wait_until(lambda: others.asked, "the first question", 60.0)
    assert not (tmp_path / TIMING).exists()

    graph.wait_until(lambda: "time runs" in referee.output, "the second question")
    assert others.asked == 2
    assert (tmp_path / TIMING).exists()
    graph.spin_for(1.2)
    assert not poses  # the pose would be stale on arrival

    others.x, others.speed = 33.0, 0.1
    graph.wait_until(lambda: poses, "a pose")
    assert poses[0].pose.pose.position.x == 33.0


def test_results_of_the_run_before_are_kept_when_a_node_cannot_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The vehicle cannot stand on its ground, which only its node finds out."""
    name, run = _scenario(tmp_path), tmp_path / "runs/short_ros"
    text = (tmp_path / "short.yaml").read_text()
    assert "flat: {}" in text
    (tmp_path / "short.yaml").write_text(text.replace("flat: {}", "flat: {slope_x: 2.0}"))
    (run / "bag").mkdir(parents=True)
    for file in (CLAIM, TIMING, "report.html", "bag/bag_0.mcap"):
        (run / file).write_text("old")
    monkeypatch.chdir(tmp_path)
    with private_domain() as domain:
        for key, value in domain.items():
            monkeypatch.setenv(key, value)
        assert main(["launch", name]) == 2
    assert "time never ran; what the run before left is kept" in capsys.readouterr().out
    assert {str(item.relative_to(run)) for item in run.rglob("*")} == {
        CLAIM,
        TIMING,
        "report.html",
        "bag",
        "bag/bag_0.mcap",
    }
    assert (run / "bag/bag_0.mcap").read_text() == "old"


@pytest.mark.parametrize("words", ["rate:=nan", "rate:=-1", "duration:=1e9", "planner:=arcs", "seed:=-1"])
def test_wrong_values_are_reported_before_any_node_starts(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _scenario(tmp_path)
    assert main(["launch", str(tmp_path / "short.yaml"), words]) == 2
    output = capsys.readouterr()
    assert "starting" not in output.out
    assert len((output.out + output.err).strip().splitlines()) == 1


class WithoutWheels:
    """A foreign bag, without wheel loads."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write(self, topic: str, *rest: Any) -> None:
        if topic != topics.TRUTH_WHEELS.absolute:
            self._writer.write(topic, *rest)


def test_a_criterion_that_cannot_be_judged_is_not_met(tmp_path: Path) -> None:
    """A foreign bag has no wheel loads."""
    from proving_ground.recording.recording import Recording
    from proving_ground.recording.writing import BagWriter
    from proving_ground.scenarios.lock_step import LockStep
    from proving_ground.scenarios.scenario import load_scenario

    path = tmp_path / "loads.yaml"
    text = SHORT.format(words="loads", seconds=1.0, least=1.0)
    path.write_text(text.replace("collision_n", "wheel_load_n.front_left").replace("at_most: 0.0", "at_least: 0.0"))
    scenario, folder = load_scenario(path), tmp_path / "run"
    with BagWriter(folder / "bag") as writer:
        recording = Recording(WithoutWheels(writer))  # type: ignore[arg-type]
        runner = LockStep(scenario, listener=recording.sample)
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
