"""`proving-ground observe` over bags with missing topics, and over damaged ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer

from observed_bags import Output, copied, metrics, run, without
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import store

# Missing topics.


def test_without_gps_velocity_the_heading_comes_later(drive: Path, tmp_path: Path, capsys: Output) -> None:
    bag = copied(drive, tmp_path / "copy", without("/gps/vel"))

    assert run(bag, tmp_path / "out") == 0

    assert "velocity: the bag has no /gps/vel" in capsys.readouterr().out
    found = metrics(tmp_path / "out")
    assert found["used"]["gps_velocity"] == 0
    assert found["rmse"]["position_xy_m"] < found["gps_rmse_xy_m"]


def test_without_actuation_the_ins_is_used_and_reported(drive: Path, tmp_path: Path, capsys: Output) -> None:
    bag = copied(drive, tmp_path / "copy", without("/vehicle/actuation"))

    assert run(bag, tmp_path / "out") == 0

    assert "observer: ins, because the vehicle's model needs actuation" in capsys.readouterr().out
    found = metrics(tmp_path / "out")
    assert found["observer"] == "ins"
    assert found["used"]["wheels"] > 0
    assert found["rmse"]["position_xy_m"] < found["gps_rmse_xy_m"]


def test_a_vehicle_observer_without_actuation_is_rejected(drive: Path, tmp_path: Path, capsys: Output) -> None:
    bag = copied(drive, tmp_path / "copy", without("/vehicle/actuation"))

    assert run(bag, tmp_path / "out", "--observer", "vehicle") == 2

    assert "needs actuation" in capsys.readouterr().err
    assert not (tmp_path / "out" / "estimate").exists()


def test_only_fix_and_imu_are_enough_for_an_ins(drive: Path, tmp_path: Path) -> None:
    keep = ("/imu/data_raw", "/gps/fix", "/gps/vel")
    bag = copied(drive, tmp_path / "copy", lambda topic, message: (topic, message) if topic in keep else None)

    assert run(bag, tmp_path / "out") == 0

    found = metrics(tmp_path / "out")
    assert found["observer"] == "ins"
    assert found["rmse"] is None
    assert "truth: none; errors are not known" in found["remarks"]
    assert any("its position in base_link is not in the bag" in line for line in found["remarks"])


@pytest.mark.parametrize(
    ("gone", "options", "words"),
    [
        (["/gps/fix"], [], "nothing to observe with: fix: the bag has no /gps/fix"),
        (["/imu/data_raw"], ["--observer", "ins"], "an INS needs an IMU: imu: the bag has no /imu/data_raw"),
    ],
)
def test_too_few_topics_are_reported_in_one_line(
    drive: Path, tmp_path: Path, capsys: Output, gone: list[str], options: list[str], words: str
) -> None:
    bag = copied(drive, tmp_path / "copy", without(*gone))

    assert run(bag, tmp_path / "out", *options) == 2

    error = capsys.readouterr().err.splitlines()[-1:]
    assert words in error[0]


def test_a_bag_without_datum_is_compared_after_a_shift(drive: Path, observed: Path, tmp_path: Path) -> None:
    bag = copied(drive, tmp_path / "copy", without("/ground_truth/datum"))

    assert run(bag, tmp_path / "out") == 0

    found, before = metrics(tmp_path / "out"), metrics(observed)
    # The first fix is near the start, 20 m east and 10 m south of the world's origin.
    assert math.dist(found["truth_shifted_by_m"][:2], (-20.0, 10.0)) < 8.0
    # The truth is then only known by the median of 70 fixes: 1.26 sigma/sqrt(70) = 0.2 m in each direction.
    assert found["rmse"]["position_xy_m"] < before["rmse"]["position_xy_m"] + 0.8
    assert found["rmse"]["heading_deg"] == pytest.approx(before["rmse"]["heading_deg"], abs=0.01)


def test_a_given_datum_moves_the_estimate_and_not_the_errors(drive: Path, observed: Path, tmp_path: Path) -> None:
    assert run(drive, tmp_path / "out", "--datum", "43.49", "-8.25", "10.0") == 0

    found = metrics(tmp_path / "out")
    assert abs(found["truth_shifted_by_m"][1]) > 100.0
    assert found["rmse"]["position_xy_m"] == pytest.approx(metrics(observed)["rmse"]["position_xy_m"], abs=0.01)


# Damaged bags.


def test_of_a_truncated_bag_the_beginning_is_observed(drive: Path, tmp_path: Path, capsys: Output) -> None:
    whole = (drive / "drive.mcap").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "cut.mcap").write_bytes(whole[: int(0.8 * len(whole))])

    assert run(tmp_path / "cut", tmp_path / "out") == 1

    assert "cut.mcap: ends early; what is intact is used" in capsys.readouterr().out
    found = metrics(tmp_path / "out")
    assert found["rmse"]["position_xy_m"] < found["gps_rmse_xy_m"]


def test_nan_in_messages_is_rejected_and_counted(drive: Path, tmp_path: Path) -> None:
    seen = {"/imu/data_raw": 0, "/gps/fix": 0, "/wheels/joint_states": 0, "/ground_truth/odom": 0}

    def spoil(topic: str, message: Any) -> tuple[str, Any]:
        if topic in seen:
            seen[topic] += 1
            if seen[topic] % 10 == 0:
                if topic == "/imu/data_raw":
                    message.angular_velocity.y = math.nan
                elif topic == "/gps/fix":
                    message.latitude = math.inf
                elif topic == "/ground_truth/odom":
                    message.pose.pose.position.x = math.nan
                else:
                    message.velocity = np.array([0.0, 0.0, math.nan, 0.0])
        return topic, message

    bag = copied(drive, tmp_path / "copy", spoil)

    assert run(bag, tmp_path / "out") == 0

    found = metrics(tmp_path / "out")
    rejected = {name: found["rejected"][f"{name}: not finite"] for name in ("imu", "gps", "encoders")}
    assert rejected == {"imu": 140, "gps": seen["/gps/fix"] // 10, "encoders": 140}
    assert found["messages_rejected"] == {"/ground_truth/odom: position is not finite": 140}
    assert found["rmse"]["position_xy_m"] < found["gps_rmse_xy_m"]


def test_single_absurd_stamps_do_no_harm(drive: Path, observed: Path, tmp_path: Path) -> None:
    count = 0

    def spoil(topic: str, message: Any) -> tuple[str, Any]:
        nonlocal count
        if topic == "/imu/data_raw":
            count += 1
            if count in (300, 700):
                message.header.stamp.sec = 7 if count == 300 else 2**31 - 1
        return topic, message

    bag = copied(drive, tmp_path / "copy", spoil)

    assert run(bag, tmp_path / "out") == 0

    found = metrics(tmp_path / "out")
    assert found["messages_rejected"] == {"/imu/data_raw: absurd stamp": 2}
    assert found["restarts"] == 0
    assert found["rmse"]["position_xy_m"] == pytest.approx(metrics(observed)["rmse"]["position_xy_m"], abs=0.05)


def test_a_topic_of_the_wrong_type_is_not_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--imu", "/gps/fix") == 0

    assert "imu: /gps/fix is of type sensor_msgs/msg/NavSatFix, not sensor_msgs/msg/Imu" in capsys.readouterr().out
    assert metrics(tmp_path / "out")["used"]["gyro"] == 0


def test_messages_that_are_not_of_their_type_are_left_out(drive: Path, tmp_path: Path) -> None:
    bag = open_bag(drive)
    with Writer(tmp_path / "copy", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        made = {topic: writer.add_connection(topic, kind, typestore=store()) for topic, kind in bag.topics.items()}
        samples = 0
        for topic, log_ns, data in bag.messages(list(bag.topics)):
            samples += topic == "/imu/data_raw"
            spoilt = topic == "/imu/data_raw" and samples > 480
            writer.write(made[topic], log_ns, data[: len(data) // 2] if spoilt else data)

    assert run(tmp_path / "copy", tmp_path / "out") == 0

    found = metrics(tmp_path / "out")
    assert sum(found["messages_rejected"].values()) > 500
    assert found["rmse"]["position_xy_m"] < found["gps_rmse_xy_m"]


@pytest.mark.parametrize("prepare", ["missing", "empty"])
def test_a_missing_bag_is_reported_in_one_line(tmp_path: Path, capsys: Output, prepare: str) -> None:
    if prepare == "empty":
        (tmp_path / "bag").mkdir()

    assert run(tmp_path / "bag", tmp_path / "out") == 2

    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("proving-ground observe: ")


def test_an_observer_that_never_starts_says_why(drive: Path, tmp_path: Path, capsys: Output) -> None:
    fixes = 0

    def lose(topic: str, message: Any) -> tuple[str, Any]:
        nonlocal fixes
        fixes += topic == "/gps/fix"
        if topic == "/gps/fix" and fixes > 1:
            message.status.status = -1
        return topic, message

    bag = copied(drive, tmp_path / "copy", lose)

    assert run(bag, tmp_path / "out") == 2

    error = capsys.readouterr().err
    assert "the observer never started: gps: no fix" in error
    assert not (tmp_path / "out" / "estimate").exists()
