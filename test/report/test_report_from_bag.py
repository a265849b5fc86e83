"""Records of runs read from bags: channels, estimates, diagnostics, and invalid messages."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pytest

from proving_ground.recording.estimate_bag import SIDESLIP, EstimateBag
from proving_ground.recording.types import new, stamp
from proving_ground.recording.writing import BagWriter
from proving_ground.report.compared import compared
from proving_ground.report.from_bag import (
    ACTUATION,
    DIAGNOSTICS,
    ESTIMATE,
    JOINTS,
    WHEEL_TRUTH,
    channels_from_bag,
    record_from_bag,
)
from proving_ground.report.page import run_page
from proving_ground.report.run_record import RunRecord
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.scenarios.lock_step import Run
from proving_ground.settings import SettingsError


def test_channels_of_a_bag_are_those_of_the_run(drive: Path, record: RunRecord) -> None:
    found = channels_from_bag(drive.parent / "bag")

    _, ours, theirs = np.intersect1d(
        np.rint(record.channels["time_s"] * 1e3), np.rint(found["time_s"] * 1e3), return_indices=True
    )
    assert len(ours) >= 400
    wanted = {name for name in CHANNELS if name.partition(".")[0].endswith(("_m", "_rad", "mps", "mps2", "radps"))}
    wanted -= {name for name in wanted if name.startswith(("spring", "sinkage", "wheel_angle"))}
    for name in (wanted | {"throttle", "brake", "engine_speed_rpm"}) - {"time_s"}:
        # Nine digits in the table; the bag has all, but ends an instant earlier, which filters notice.
        near = 2e-5 if name.startswith("seat_weighted") else 1e-6
        np.testing.assert_allclose(found[name][theirs], record.channels[name][ours], rtol=1e-6, atol=near, err_msg=name)
    # The Pitman arm follows the steering wheel with its own rate.
    assert np.abs(found["steering"][theirs] - record.channels["steering"][ours]).max() < 0.2


def test_channels_that_a_bag_does_not_have_are_left_out(drive: Path, tmp_path: Path) -> None:
    bag = tmp_path / "bag"
    _copy(drive.parent / "bag", bag, without=(WHEEL_TRUTH, JOINTS))

    found = channels_from_bag(bag)
    assert "wheel_load_n.front_left" not in found
    assert "spring_compression_m.front_left" not in found
    assert "gear" not in found

    page = run_page(record_from_bag(bag))
    assert "Wheel load" not in page
    assert "Lateral acceleration" in page
    assert "Not judged" in page


def test_joints_estimates_and_diagnostics_of_a_bag_are_used(
    tmp_path: Path, drive: Path, unwatched: Run, record: RunRecord
) -> None:
    copy = tmp_path / "copy"
    _copy_with_more(drive.parent / "bag", copy, unwatched, record.start_ns)

    found = record_from_bag(copy)

    for corner in ("front_left", "rear_right"):
        name = f"spring_compression_m.{corner}"
        there = np.interp(record.channels["time_s"], found.channels["time_s"], found.channels[name])
        np.testing.assert_allclose(there, record.channels[name], atol=1e-5)
    assert found.kind == "ros"
    by_bag, by_run = ({q.name: q for q in compared(item)} for item in (found, record))
    assert by_bag["x"].rms == pytest.approx(by_run["x"].rms, rel=0.05)
    # Both are of the same point; the bag's standard deviation comes from the twist's covariance.
    assert by_bag["Sideslip"].rms == pytest.approx(by_run["Sideslip"].rms, rel=0.05)
    assert np.median(by_bag["Sideslip"].deviation) == pytest.approx(np.median(by_run["Sideslip"].deviation), rel=0.05)
    assert [(event.kind, event.words) for event in found.events] == [
        ("observer", "aligned"),
        ("diagnostics", "/vehicle: warning: slow <b>"),
        ("observer", "dead reckoning"),
    ]
    assert found.events[2].time_s == pytest.approx(2.0, abs=0.02)
    assert found.innovations["gyro"].nis.tolist() == [1.25, 1.25]


def test_a_bag_without_truth_is_one_clear_line(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as bag:
        bag.write("/words", new("std_msgs/msg/String", "hello"), 1)

    with pytest.raises(SettingsError, match="has no /ground_truth/odom"):
        record_from_bag(tmp_path / "bag")


def test_invalid_messages_are_left_out_and_reported(tmp_path: Path, drive: Path) -> None:
    copy = tmp_path / "copy"

    def spoil(topic: str, data: bytes) -> bytes:
        return data[:10] if topic == ACTUATION else data

    _copy(drive.parent / "bag", copy, spoil)

    found = record_from_bag(copy)

    assert "throttle" not in found.channels
    assert any(ACTUATION in remark for remark in found.remarks)


def _copy(
    source: Path,
    target: Path,
    change: Callable[[str, bytes], bytes] = lambda topic, data: data,
    more: Callable[[BagWriter], None] | None = None,
    without: Collection[str] = (),
) -> None:
    from proving_ground.recording.reading import open_bag

    bag = open_bag(source)
    with BagWriter(target) as writer:
        topics = [topic for topic in bag.topics if topic not in without]
        for topic in topics:
            writer.announce(topic, bag.topics[topic])
        for topic, log_ns, data in bag.messages(topics):
            writer.write_bytes(topic, change(topic, data), log_ns)
        if more is not None:
            more(writer)
    bag.close()


def _copy_with_more(source: Path, target: Path, result: Run, start_ns: int) -> None:
    """Copy with other /joint_states, /odometry/filtered and /diagnostics."""

    def add(writer: BagWriter) -> None:
        names = [f"{corner}_lower_arm" for corner in ("front_left", "front_right", "rear_left", "rear_right")]
        for time, seen in zip(result.time, result.history, strict=True):
            time_ns = start_ns + round(float(time) * 1e9)
            head = new("std_msgs/msg/Header", stamp(time_ns), "")
            zeros = np.zeros(4)
            writer.write(
                JOINTS, new("sensor_msgs/msg/JointState", head, names, seen["arm_angle"], zeros, zeros), time_ns
            )
        EstimateBag(writer).write(result.estimates)
        for seconds, node, level, words, values in (
            (0.5, "/observer", 0, "aligned", {"status": "aligned", "nis gyro": "1.25"}),
            (1.0, "/vehicle", 1, "slow <b>", {}),
            (1.5, "/vehicle", 1, "slow <b>", {}),
            (2.0, "/observer", 1, "whatever", {"status": "dead reckoning", "nis gyro": "1.25", "nis wheels": "nan"}),
        ):
            time_ns = start_ns + round(seconds * 1e9)
            pairs = [new("diagnostic_msgs/msg/KeyValue", key, value) for key, value in values.items()]
            status = new("diagnostic_msgs/msg/DiagnosticStatus", level, node, words, "proving_ground", pairs)
            head = new("std_msgs/msg/Header", stamp(0), "")
            writer.write(DIAGNOSTICS, new("diagnostic_msgs/msg/DiagnosticArray", head, [status]), time_ns)

    _copy(source, target, more=add, without=(JOINTS, ESTIMATE, SIDESLIP, DIAGNOSTICS))
