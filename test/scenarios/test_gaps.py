"""Gaps of a recording or a topic: how they are reported, and which criteria they leave open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proving_ground.cli.main import main
from proving_ground.interfaces.message_types import WRENCH
from proving_ground.launching.ros_run import judge_bag, judged
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import header, new
from proving_ground.recording.writing import BagWriter
from proving_ground.report.from_bag import ACCEL, ACTUATION, COLLISION, ESTIMATE, recorded
from proving_ground.report.run_record import save_run
from proving_ground.scenarios.gaps import Gap, Missing, gaps
from proving_ground.scenarios.judging import is_open, judge_around
from proving_ground.scenarios.metrics import Finding, judge
from proving_ground.scenarios.refereeing import TIMING
from proving_ground.scenarios.scenario import Criterion
from proving_ground.settings.units import NS_PER_S
from recorded_run import record

DRIVE = """version: 1
description: a drive with an observer
world:
  named: {name: flat}
start: {x_m: 20.0, y_m: 20.0, speed_mps: 5.0}
driver:
  straight: {speed_mps: 5.0}
duration_s: 5.0
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost}
  - encoders: {preset: quadrature}
observer: {kind: vehicle}
criteria:
  - {channel: speed_mps, statistic: maximum, at_most: 9.0}
"""
LENGTH_S = 5.0
ERROR = "  - {channel: estimate_error_m, statistic: maximum, at_most: 9.0}\n"
Span = tuple[float, float]


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with drive.yaml and a bag of its run, estimates too."""
    folder = tmp_path_factory.mktemp("drive")
    record(folder / "drive.yaml", DRIVE)
    return folder


@pytest.fixture
def without(drive: Path, tmp_path: Path) -> Callable[..., Path]:
    """Makes the folder of a run over ROS whose bag has a gap in a topic."""

    def make(topic: str, silent: Span, more: Callable[[BagWriter, int], None] | None = None) -> Path:
        bag = open_bag(drive / "bag")
        start_ns = bag.start_ns
        with BagWriter(tmp_path / "run/bag") as writer:
            for name, kind in bag.topics.items():
                writer.announce(name, kind)
            for name, log_ns, data in bag.messages(bag.topics):
                if name != topic or not silent[0] < (log_ns - start_ns) / NS_PER_S < silent[1]:
                    writer.write_bytes(name, data, log_ns)
            if more is not None:
                more(writer, start_ns)
        bag.close()
        _say_length(tmp_path / "run", LENGTH_S)
        return tmp_path / "run"

    return make


def _say_length(folder: Path, seconds: float) -> None:
    (folder / TIMING).write_text(f'{{"wall_s": 4.0, "real_time_factor": 1.0, "simulated_s": {seconds}}}')


def _judged(folder: Path, text: str, **given: str) -> dict[str, Any]:
    path = folder.parent / "drive.yaml"
    path.write_text(text)
    status = judge_bag(path, folder, given)
    found: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    assert status == (0 if found["passed"] else 1)
    return found


def _figures(folder: Path, text: str) -> dict[str, Any]:
    """The same figures without a page, whose pictures take most of the time."""
    path = folder.parent / "drive.yaml"
    path.write_text(text)
    save_run(folder, judged(path, folder, {})[0])
    found: dict[str, Any] = json.loads((folder / "metrics.json").read_text())
    return found


# Nodes that die in a synchronous run, where nothing is missing afterwards


def test_report_names_restarted_nodes_and_the_longest_standstill(
    without: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = without("", (0.0, 0.0))
    timing = {"wall_s": 9.0, "real_time_factor": 0.5, "simulated_s": LENGTH_S}
    incidents = {"restarted": ["gps", "imu"], "longest_wait_s": 4.25, "longest_wait_for": "imu, observer"}
    (folder / TIMING).write_text(json.dumps(timing | incidents))

    _judged(folder, DRIVE + ERROR)

    printed, page = capsys.readouterr().out, (folder / "report.html").read_text()
    for words in (
        "restarted during the run: gps, imu",
        "time stood still for 4.2 s at most, waiting for imu, observer",
    ):
        assert words in printed
        assert words in page


def test_report_says_why_a_run_was_given_up(without: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = without("", (0.0, 0.0))
    (folder / TIMING).write_text(json.dumps({"given_up": "time has stood still for 61 s, waiting for imu"}))

    assert not _judged(folder, DRIVE + ERROR)["passed"]
    assert "given up: time has stood still for 61 s, waiting for imu" in capsys.readouterr().out


# An observer that dies


@pytest.mark.parametrize(("silent", "length_s"), [((1.0, 3.0), 2.0), ((3.0, 9.0), 2.0), ((-1.0, 3.5), 3.5)])
def test_a_run_whose_observer_was_dead_does_not_pass(
    without: Callable[..., Path], capsys: pytest.CaptureFixture[str], silent: Span, length_s: float
) -> None:
    found = _judged(without(ESTIMATE, silent), DRIVE + ERROR)

    assert found["passed"] is None
    assert [item.get("open", False) for item in found["criteria"]] == [False, True]
    (gap,) = (event for event in found["events"] if event["kind"] == "silence")
    assert gap["words"] == f"of {ESTIMATE}"
    assert gap["length_s"] == pytest.approx(length_s, abs=0.1)
    output = capsys.readouterr().out
    assert f"{ESTIMATE} lacks {length_s:.1f} s: from " in output
    assert "1 of 2 criteria depend on what is missing" in output
    assert "drive: NOT JUDGED" in output


def test_a_run_with_a_live_observer_passes(without: Callable[..., Path]) -> None:
    found = _figures(without(ESTIMATE, (0.0, 0.0)), DRIVE + ERROR)

    assert found["passed"] is True
    assert found["remarks"] == []


def test_an_observer_that_initialises_itself_may_begin_late_and_that_is_reported(
    without: Callable[..., Path],
) -> None:
    """The same holds in lock-step, where its channels are those of the first estimate until then."""
    text = DRIVE.replace("{kind: vehicle}", "{kind: vehicle, knows_start: false}")

    found = _figures(without(ESTIMATE, (-1.0, 3.5)), text + ERROR)

    assert found["passed"] is True
    assert found["remarks"] == ["the first estimate came at 3.5 s; before that, its error is taken as the first one's"]


def test_a_criterion_on_the_time_after_a_silence_is_judged(without: Callable[..., Path]) -> None:
    late = ERROR.replace("maximum,", "maximum, from_s: 3.5,")

    assert _figures(without(ESTIMATE, (1.0, 3.0)), DRIVE + late)["passed"] is True


def test_an_observer_without_sensors_leaves_its_criteria_open_in_lock_step_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = [f"  - {{sensor: {name}, kind: outage, start_s: 1.0}}\n" for name in ("imu", "gps", "encoders")]
    path = tmp_path / "drive.yaml"
    path.write_text(DRIVE.replace("duration_s: 5.0", "duration_s: 3.0") + ERROR + "faults:\n" + "".join(faults))

    assert main(["run", str(path), "--out", str(tmp_path / "out"), "--no-pictures"]) == 1

    output = capsys.readouterr().out
    assert "open  maximum of estimate_error_m" in output
    assert "the observer lacks 2.0 s: from 1.0 to 3.0 s" in output
    assert output.splitlines()[-1].startswith("NOT JUDGED")


# Other topics


@pytest.mark.parametrize(
    ("topic", "channel"),
    [(ACTUATION, "throttle"), (ACTUATION, "wheel_speed_radps.rear_left"), (ACCEL, "up_acceleration_mps2")],
)
def test_a_topic_that_falls_silent_leaves_its_own_channels_open(
    without: Callable[..., Path], topic: str, channel: str
) -> None:
    more = f"  - {{channel: {channel}, statistic: maximum, at_most: 100.0}}\n"

    found = _figures(without(topic, (1.0, 3.0)), DRIVE + more)

    assert found["passed"] is None
    assert [item.get("open", False) for item in found["criteria"]] == [False, True]
    assert any(remark.startswith(f"{topic} lacks 2.0 s") for remark in found["remarks"])


def test_interpolation_across_a_gap_is_not_evidence(without: Callable[..., Path]) -> None:
    """The straight line from 5 before the gap to 5 after it is not a mean of 5."""
    record, lacking = recorded(without(ACTUATION, (1.0, 3.0)))
    middle = Criterion(channel="wheel_speed_radps.rear_left", statistic="maximum", from_s=1.5, to_s=2.5, at_least=0.0)

    (finding,) = judge_around([middle], record.channels, None, lacking)

    assert judge([middle], record.channels, None)[0].passed
    assert finding.is_open
    assert not finding.passed
    assert finding.plain()["value"] is None


# The end


def test_what_is_missing_at_the_end_leaves_open_what_it_could_have_decided(without: Callable[..., Path]) -> None:
    folder = without(ESTIMATE, (0.0, 0.0))
    _say_length(folder, 9.0)
    known = DRIVE.replace("maximum, at_most", "maximum, to_s: 4.0, at_most")

    found = _figures(folder, known)
    assert found["passed"] is True
    assert "the bag has 5.0 of 9.0 s" in found["remarks"]
    assert [event["time_s"] for event in found["events"] if event["kind"] == "recording"] == [
        pytest.approx(5.0, abs=0.1)
    ]
    unknown = ("end, at_least: 0.0", "maximum, at_least: 30.0", "mean, from_s: 6.0, at_least: 0.0")
    text = known + "".join(f"  - {{channel: speed_mps, statistic: {words}}}\n" for words in unknown)
    found = _figures(folder, text)
    assert found["passed"] is None
    assert [item.get("open", False) for item in found["criteria"]] == [False, True, True, True]


# The rule

GAP = [Gap(3.0, 5.0)]
AT_START = [Gap(0.0, 5.0, has_before=False)]
AT_END = [Gap(5.0, 9.0, has_after=False)]


@pytest.mark.parametrize(
    ("words", "value", "missing", "expected"),
    [
        ({"statistic": "end", "at_least": 0.0}, 1.0, GAP, False),
        ({"statistic": "end", "at_least": 0.0, "to_s": 4.0}, 1.0, GAP, True),
        ({"statistic": "end", "at_least": 2.0, "to_s": 4.0}, 1.0, GAP, True),
        ({"statistic": "end", "at_least": 2.0}, 1.0, GAP, False),
        ({"statistic": "end", "at_least": 0.0}, 1.0, AT_END, True),
        ({"statistic": "end", "at_least": 0.0, "to_s": 5.0}, 1.0, AT_END, False),
        ({"statistic": "maximum", "at_least": 0.0}, 1.0, GAP, False),
        ({"statistic": "maximum", "at_least": 2.0}, 1.0, GAP, True),
        ({"statistic": "maximum", "at_least": 2.0, "to_s": 3.0}, 1.0, GAP, False),
        ({"statistic": "maximum", "at_most": 2.0}, 1.0, GAP, True),
        ({"statistic": "maximum", "at_most": 0.5}, 1.0, GAP, False),
        ({"statistic": "maximum", "at_most": 2.0, "from_s": 5.0}, 1.0, GAP, False),
        ({"statistic": "minimum", "at_least": 0.0}, 1.0, GAP, True),
        ({"statistic": "minimum", "at_least": 2.0}, 1.0, GAP, False),
        ({"statistic": "minimum", "at_most": 2.0}, 1.0, GAP, False),
        ({"statistic": "minimum", "at_most": 0.5}, 1.0, GAP, True),
        ({"statistic": "mean", "at_most": 2.0}, 1.0, GAP, True),
        ({"statistic": "mean", "at_most": 0.5}, 1.0, GAP, True),
        ({"statistic": "rms", "at_most": 0.5}, 1.0, GAP, True),
        ({"statistic": "reference_peak", "at_most": 0.5}, 1.0, GAP, True),
        ({"statistic": "mean", "at_most": 2.0, "to_s": 3.0}, 1.0, GAP, False),
        ({"statistic": "mean", "at_most": 2.0, "from_s": 3.5, "to_s": 4.5}, np.nan, GAP, True),
        ({"statistic": "mean", "at_most": 2.0, "to_s": 0.0}, np.nan, AT_START, True),
        ({"statistic": "mean", "at_most": 2.0, "from_s": 9.5}, np.nan, AT_END, False),  # the run never got there
    ],
)
def test_a_gap_leaves_open_what_it_could_have_decided(
    words: dict[str, Any], value: float, missing: list[Gap], expected: bool
) -> None:
    criterion = Criterion(channel="speed_mps", **words)
    is_met = criterion.at_least <= value <= criterion.at_most
    assert is_open(Finding(criterion, value, is_met), missing) is expected


def test_a_criterion_that_no_gap_touches_is_judged_as_usual() -> None:
    time = np.arange(0.0, 10.0, 0.1)
    found = {"time_s": time, "speed_mps": time, "throttle": time}
    lacking = Missing(of_channels={"throttle": GAP})
    criteria = [Criterion(channel=name, statistic="mean", at_most=9.0) for name in ("speed_mps", "throttle")]

    assert [finding.mark for finding in judge_around(criteria, found, None, lacking)] == ["pass", "open"]


def test_a_recording_at_a_slow_rate_has_no_gaps() -> None:
    assert gaps(np.arange(0.0, 10.0, 1.0), -1.0, 12.0) == []
    assert gaps(np.zeros(0)) == []


def test_one_message_leaves_a_gap_on_either_side() -> None:
    assert [(gap.start_s, gap.end_s) for gap in gaps(np.array([4.0]), 0.0, 9.0)] == [(0.0, 4.0), (4.0, 9.0)]


# The report


def test_the_report_of_a_run_over_ros_has_goal_collisions_and_arguments_and_its_events_are_in_order(
    without: Callable[..., Path],
) -> None:
    def collide(writer: BagWriter, start_ns: int) -> None:
        time_ns = start_ns + NS_PER_S
        push = new("geometry_msgs/msg/Vector3", 5000.0, 0.0, 0.0)
        wrench = new("geometry_msgs/msg/Wrench", push, new("geometry_msgs/msg/Vector3", 0.0, 0.0, 0.0))
        writer.write(COLLISION, new(WRENCH, header(time_ns, "base_link"), wrench), time_ns)

    folder = without(ACCEL, (2.0, 3.0), collide)
    to_goal = DRIVE.replace(
        "straight: {speed_mps: 5.0}", "to_goal: {goal: {x_m: 60.0, y_m: 30.0}, sensing: terrain, pose: truth}"
    )
    faults = "faults:\n  - {sensor: gps, kind: outage, start_s: 4.0, length_s: 0.5}\n"

    found = _judged(folder, to_goal + faults, planner="dstar_lite", rate="2.0", observer="", seed="")

    assert found["goal"] == [60.0, 30.0]
    events = [event for event in found["events"] if event["kind"] != "observer"]
    assert [event["kind"] for event in events] == ["collision", "silence", "fault"]
    assert "5 kN" in events[0]["words"]
    assert found["arguments"] == {"planner": "dstar_lite", "rate": "2.0"}
    page = (folder / "report.html").read_text()
    assert "planner:=dstar_lite, rate:=2.0" in page
