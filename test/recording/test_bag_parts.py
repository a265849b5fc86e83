"""A recording in parts, as left by a recorder that was killed and restarted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from proving_ground.launching.ros_run import judge_bag
from proving_ground.recording.parts import next_free, parts
from proving_ground.recording.playback import BagSource
from proving_ground.recording.reading import Bag, Message, open_bag
from proving_ground.recording.writing import BagWriter
from proving_ground.scenarios.refereeing import SILENT_S, TIMING, Attendance
from proving_ground.settings.units import NS_PER_S
from recorded_run import record

TRUTH = "/ground_truth/odom"
SCENARIO = """
version: 1
description: straight on
world: {flat: {}}
start: {speed_mps: 5.0}
driver: {straight: {speed_mps: 5.0}}
duration_s: 4.0
criteria:
  - {channel: x_m, statistic: end, at_least: 15.0}
  - {channel: x_m, statistic: maximum, at_least: 15.0}
"""
CAN_BREAK = "  - {channel: speed_mps, statistic: maximum, at_most: 9.0}\n"
BROKEN = "  - {channel: speed_mps, statistic: maximum, at_most: 2.0}\n"
CAN_BE_MET = "  - {channel: speed_mps, statistic: maximum, at_least: 9.0}\n"
IN_THE_GAP = "  - {channel: speed_mps, statistic: minimum, from_s: 1.8, to_s: 2.2, at_least: 1.0}\n"
GAP_S = (1.5, 2.5)  # of the run, not recorded


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of four seconds."""
    folder = tmp_path_factory.mktemp("whole")
    return record(folder / "straight.yaml", SCENARIO)


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    """A run's folder whose recorder died at 1.5 s, and wrote again from 2.5 s on."""
    folder = tmp_path / "run"
    _copy(whole, folder / "bag", 0.0, GAP_S[0])
    _copy(whole, folder / "bag_2", GAP_S[1], 9.0)
    (folder / "bag/metadata.yaml").unlink()
    file = next((folder / "bag").glob("*.mcap"))
    file.write_bytes(file.read_bytes()[:-2000])  # its index is missing
    (folder / TIMING).write_text('{"wall_s": 4.0, "real_time_factor": 1.0, "simulated_s": 4.0}')
    return folder


def _copy(whole: Path, target: Path, start_s: float, stop_s: float) -> None:
    bag = open_bag(whole)
    try:
        start_ns, stop_ns = (bag.start_ns + round(time_s * NS_PER_S) for time_s in (start_s, stop_s))
        with BagWriter(target) as writer:
            for topic, kind in bag.topics.items():
                writer.announce(topic, kind)
            for topic, log_ns, data in bag.messages(bag.topics, start_ns, stop_ns):
                writer.write_bytes(topic, data, log_ns)
    finally:
        bag.close()


@pytest.fixture
def bag(run: Path) -> Iterator[Bag]:
    found = open_bag(run)
    yield found
    found.close()


def _truth(bag: Bag) -> list[Message]:
    return list(bag.messages([TRUTH]))


def test_parts_are_in_the_order_in_which_they_were_begun(tmp_path: Path) -> None:
    for name in ("bag_10", "bag_2", "bag", "bag_monday", "bag_02"):
        (tmp_path / name).mkdir()
    assert [part.name for part in parts(tmp_path)] == ["bag", "bag_2", "bag_10"]
    assert next_free(tmp_path / "bag").name == "bag_3"
    assert next_free(tmp_path / "drive").name == "drive"


def test_a_run_is_read_through_all_parts_of_its_recording(whole: Path, bag: Bag) -> None:
    one = open_bag(whole)
    start_ns = one.start_ns
    expected = [message for message in _truth(one) if not 1.5 <= (message[1] - start_ns) / NS_PER_S < 2.5]
    one.close()
    found = _truth(bag)
    assert [message[1] for message in found] == sorted(message[1] for message in found)
    assert found == [message for message in expected if message in found]
    assert len(expected) - len(found) < 0.1 * len(expected)  # lost by the cut
    assert bag.counts[TRUTH] == len(found)
    assert (bag.end_ns - bag.start_ns) / NS_PER_S == pytest.approx(4.0, abs=0.1)


def test_gaps_between_parts_are_reported_with_their_length(bag: Bag) -> None:
    words = "; ".join(bag.remarks)
    assert "bag: metadata.yaml: is missing" in words
    assert "bag_2: goes on 1." in words
    assert "after the end of bag" in words


def test_a_replay_goes_on_across_the_parts(run: Path, bag: Bag) -> None:
    source = BagSource(bag, [TRUTH], {})
    after = next(source.after(bag.start_ns + 2 * NS_PER_S))
    assert (after[1] - bag.start_ns) / NS_PER_S == pytest.approx(2.5, abs=0.05)


def test_one_part_alone_is_a_bag(run: Path) -> None:
    second = open_bag(run / "bag_2")
    assert (second.end_ns - second.start_ns) / NS_PER_S == pytest.approx(1.5, abs=0.1)
    assert not second.remarks
    second.close()


def test_a_part_without_messages_is_reported_and_left_out(run: Path) -> None:
    (run / "bag_3").mkdir()
    (run / "bag_3/bag_3_0.mcap").write_bytes(b"")
    found = open_bag(run)
    assert any(line.startswith("bag_3: no messages") for line in found.remarks)
    assert (found.end_ns - found.start_ns) / NS_PER_S == pytest.approx(4.0, abs=0.1)
    found.close()


def test_recordings_of_two_runs_are_not_joined(whole: Path, run: Path) -> None:
    _copy(whole, run / "bag_3", 0.0, 9.0)
    found, one = open_bag(run), open_bag(whole)
    assert found.remarks == ["what was recorded before bag_3 is of an earlier run, and left out"]
    assert len(_truth(found)) == len(_truth(one))
    found.close()
    one.close()


@pytest.mark.parametrize(
    ("more", "status", "verdict", "passed"),
    [
        ("", 0, "PASSED", True),
        (CAN_BREAK, 1, "NOT JUDGED", None),
        (CAN_BE_MET, 1, "NOT JUDGED", None),
        (IN_THE_GAP, 1, "NOT JUDGED", None),
        (BROKEN, 1, "FAILED", False),
        (BROKEN + CAN_BREAK, 1, "FAILED", False),
    ],
    ids=["untouched", "can break", "can be met", "in the gap", "broken", "broken and open"],
)
def test_a_run_is_judged_on_what_was_recorded_and_a_criterion_that_the_gap_could_have_decided_stays_open(
    run: Path, capsys: pytest.CaptureFixture[str], more: str, status: int, verdict: str, passed: bool | None
) -> None:
    path = run.parent / "straight.yaml"
    path.write_text(SCENARIO + more)
    assert judge_bag(path, run, {}) == status
    output = capsys.readouterr().out
    assert "the recording lacks 1." in output
    assert "judged on the rest" in output
    assert output.splitlines()[-1] == f"straight: {verdict}"
    found = json.loads((run / "metrics.json").read_text())
    assert found["passed"] is passed
    (gap,) = (event for event in found["events"] if event["kind"] == "recording")
    assert gap["time_s"] + gap["length_s"] == pytest.approx(2.5, abs=0.05)
    page = (run / "report.html").read_text()
    assert "the recording lacks 1." in page
    assert ("· open" in page) == (passed is None or "9.0" in more)


def test_a_node_that_no_longer_reports_is_missed_until_it_is_back() -> None:
    attendance = Attendance()
    attendance.on_report("gps", 0.0)
    attendance.on_report("imu", 2.0)
    assert attendance.silent(SILENT_S) == []
    assert attendance.silent(SILENT_S + 1.0) == ["gps"]
    attendance.on_report("gps", SILENT_S + 1.0)
    assert attendance.silent(SILENT_S + 1.5) == []
