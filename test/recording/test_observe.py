"""`proving-ground observe`: an observer over bags, intact and damaged, ours and foreign."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from proving_ground.cli.main import main
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.observe_settings import load_either, settings_text
from proving_ground.recording.reading import open_bag
from proving_ground.recording.sqlite_scan import SqliteScan
from proving_ground.recording.types import from_bytes, store, to_bytes
from proving_ground.settings import SettingsError
from state_observer.kinds import INS
from state_observer.vehicle.settings import InsSettings, VehicleObserverSettings

Change = Callable[[str, Any], "tuple[str, Any] | None"]
Output = pytest.CaptureFixture[str]

# Stands, drives off, bends to the left and to the right, stops: 60 m. The GPS is late by 0.1 s.
SCENARIO = """version: 1
description: a short drive
world:
  flat: {friction: 0.8}
start: {x_m: 20.0, y_m: -10.0, heading_deg: 35.0}
driver:
  program:
    time_s:   [0.0, 1.0, 1.5, 6.0, 6.5, 9.0, 9.5, 12.0, 12.5, 14.0]
    steering: [0.0, 0.0, 0.0, 0.0, 0.3, 0.3, -0.25, -0.25, 0.0, 0.0]
    throttle: [0.0, 0.0, 0.3, 0.3, 0.15, 0.15, 0.2, 0.2, 0.0, 0.0]
    brake:    [0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4]
duration_s: 14.0
seed: 3
sensors:
  - imu: {preset: industrial_mems}
  - gps: {preset: low_cost, latency_s: 0.1}
  - encoders: {preset: hall_40}
"""


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bag of that drive."""
    folder = tmp_path_factory.mktemp("drive")
    (folder / "drive.yaml").write_text(SCENARIO)
    arguments = ["--out", str(folder / "out"), "--no-pictures", "--bag", str(folder / "drive")]
    assert main(["run", str(folder / "drive.yaml"), *arguments]) == 0
    return folder / "drive"


@pytest.fixture(scope="module")
def observed(drive: Path) -> Path:
    """Results of `observe`."""
    out = drive.parent / "observed"
    assert main(["observe", str(drive), "--out", str(out)]) == 0
    return out


def metrics(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "metrics.json").read_text())
    return found


def copied(
    source: Path, target: Path, change: Change = lambda topic, message: (topic, message),
    storage: StoragePlugin = StoragePlugin.MCAP,
) -> Path:  # fmt: skip
    """The bag with messages and topics changed, or left out."""
    bag = open_bag(source)
    with Writer(target, version=9, storage_plugin=storage) as writer:
        made: dict[str, Any] = {}
        for topic, log_ns, data in bag.messages(list(bag.topics)):
            changed = change(topic, from_bytes(data, bag.topics[topic]))
            if changed is None:
                continue
            name, message = changed
            if name not in made:
                made[name] = writer.add_connection(name, message.__msgtype__, typestore=store())
            writer.write(made[name], log_ns, to_bytes(message))
    return target


def without(*topics: str) -> Change:
    return lambda topic, message: None if topic in topics else (topic, message)


def run(bag: Path, out: Path, *options: str) -> int:
    return main(["observe", str(bag), "--out", str(out), "--no-pictures", *options])


def test_the_estimate_is_better_than_the_gps(observed: Path) -> None:
    found = metrics(observed)

    assert found["gps_rmse_xy_m"] > 1.0
    # Fixes of 1.786 m RMS over 10 s at 5 Hz, averaged along a path that wheels and gyroscopes know well: 0.25 m.
    assert found["rmse"]["position_xy_m"] < 0.5 * found["gps_rmse_xy_m"]
    assert found["rmse"]["speed_mps"] < 0.15
    assert found["rmse"]["heading_deg"] < 2.0
    assert found["rmse"]["sideslip_deg"] < 1.0
    assert found["observer"] == "vehicle"
    assert found["truth_shifted_by_m"] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_figures_of_the_observer_are_written(observed: Path) -> None:
    found = metrics(observed)

    assert found["used"]["gps_position"] > 40
    assert 0.5 < found["nis"]["gps_position"] < 2.0  # mean of about 130 squares of normal numbers, +- 4 deviations
    assert found["replays"] > 0  # the GPS is late
    assert found["real_time_factor"] > 0.0
    assert [item["status"] for item in found["status"]][:1] == ["starting"]
    assert found["status"][-1]["status"] == "aligned"
    assert found["mounts"]["gps_xyz_m"] == [0.3, 0.0, 1.9]
    assert found["remarks"] == []


def test_the_estimate_is_a_bag_at_250_hz_with_covariances(observed: Path) -> None:
    with Reader(observed / "estimate") as reader:
        messages = [(item.topic, from_bytes(data, item.msgtype)) for item, _, data in reader.messages()]
    odometry = [message for topic, message in messages if topic == "/odometry/filtered"]
    times = np.array([read_stamp(message.header.stamp) for message in odometry])

    assert len(odometry) == metrics(observed)["estimates"]
    assert (np.diff(times) == 4_000_000).all()
    values = np.array([message.pose.covariance.reshape(6, 6) for message in odometry])
    np.testing.assert_allclose(values, values.transpose(0, 2, 1), rtol=1e-9, atol=1e-12)
    assert (np.diagonal(values, axis1=1, axis2=2) > 0.0).all()
    assert {topic for topic, _ in messages} == {
        "/odometry/filtered", "/observer/sideslip", "/observer/sideslip_std", "/observer/status",
    }  # fmt: skip


def test_the_difference_to_the_estimate_in_the_bag_is_reported(drive: Path, observed: Path, tmp_path: Path) -> None:
    """Used as the live estimate, the truth gives the same difference as the errors."""

    def as_estimate(topic: str, message: Any) -> tuple[str, Any]:
        return ("/odometry/filtered" if topic == "/ground_truth/odom" else topic), message

    run(copied(drive, tmp_path / "bag", as_estimate), tmp_path / "out")

    off, errors = metrics(tmp_path / "out")["off_live_estimate"], metrics(observed)["rmse"]
    assert off["position_xy_m"] == pytest.approx(errors["position_xy_m"], rel=1e-6)
    assert off["heading_deg"] == pytest.approx(errors["heading_deg"], rel=1e-6)
    assert metrics(observed)["off_live_estimate"] is None


@pytest.mark.parametrize("frame", ["map", "odom"])
def test_an_estimate_in_a_bag_without_datum_is_moved_like_the_truth_and_one_of_another_frame_is_not_compared(
    drive: Path, tmp_path: Path, capsys: Output, frame: str
) -> None:
    source, target = open_bag(drive), tmp_path / "bag"
    with Writer(target, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        made: dict[str, Any] = {}
        for topic, log_ns, data in source.messages(list(source.topics)):
            message = from_bytes(data, source.topics[topic])
            names = {"/ground_truth/odom": ["/ground_truth/odom", "/odometry/filtered"], "/ground_truth/datum": []}
            for name in names.get(topic, [topic]):
                if name == "/odometry/filtered":
                    message.header.frame_id = frame
                if name not in made:
                    made[name] = writer.add_connection(name, message.__msgtype__, typestore=store())
                writer.write(made[name], log_ns, to_bytes(message))

    assert run(target, tmp_path / "out") == 0

    found = metrics(tmp_path / "out")
    if frame == "map":
        assert found["off_live_estimate"]["position_xy_m"] == pytest.approx(found["rmse"]["position_xy_m"], rel=1e-6)
        assert "off the estimate in the bag: " in capsys.readouterr().out
    else:
        assert found["off_live_estimate"] is None
        assert "/odometry/filtered: is in frame 'odom', not 'map', and is not compared" in found["remarks"]


def test_pictures_are_drawn(observed: Path) -> None:
    for name in ("position", "velocity", "path", "errors", "innovations"):
        assert (observed / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_second_time_replaces_the_first(drive: Path, observed: Path) -> None:
    first = metrics(observed)

    assert run(drive, observed) == 0

    assert metrics(observed)["rmse"] == first["rmse"]
    assert open_bag(observed / "estimate").counts["/odometry/filtered"] == first["estimates"]


def test_a_folder_that_is_not_a_bag_is_not_replaced(drive: Path, tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "estimate").mkdir()
    (tmp_path / "estimate" / "thesis.txt").write_text("years of work")

    assert run(drive, tmp_path) == 2

    assert "exists already and is not a bag" in capsys.readouterr().err
    assert (tmp_path / "estimate" / "thesis.txt").exists()


def test_sqlite_gives_the_same_to_the_bit(drive: Path, observed: Path, tmp_path: Path) -> None:
    bag = copied(drive, tmp_path / "copy", storage=StoragePlugin.SQLITE3)

    assert run(bag, tmp_path / "out") == 0

    assert metrics(tmp_path / "out")["rmse"] == metrics(observed)["rmse"]


def test_other_topics_and_joints_are_named_by_options(drive: Path, observed: Path, tmp_path: Path) -> None:
    names = {"/imu/data_raw": "/a", "/gps/fix": "/b", "/gps/vel": "/c", "/wheels/joint_states": "/d"}
    names |= {"/vehicle/actuation": "/e", "/ground_truth/odom": "/f"}

    def rename(topic: str, message: Any) -> tuple[str, Any]:
        if topic == "/wheels/joint_states":
            message.name = ["w1", "w2", "w3", "w4"]
        if topic == "/vehicle/actuation":
            message.name = [f"my_{name}" for name in message.name]
        return names.get(topic, topic), message

    bag = copied(drive, tmp_path / "copy", rename)
    options = ["--imu", "/a", "--fix", "/b", "--velocity", "c", "--wheels", "/d", "--actuation", "/e", "--truth", "/f"]
    options += ["--wheel-names", "w1,w2,w3,w4", "--actuation-names", "my_steering,my_throttle,my_brake,my_engine"]

    assert run(bag, tmp_path / "out", *options) == 0

    assert metrics(tmp_path / "out")["rmse"] == metrics(observed)["rmse"]


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


# Settings and tuning.


def test_tuning_writes_settings_that_load_and_are_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--observer", "ins", "--tune", "force_mps2") == 0

    tuning = metrics(tmp_path / "out")["tuning"]
    assert tuning["after"] <= tuning["before"]
    tuned = load_either(str(tmp_path / "out" / "tuned.yaml"))
    assert isinstance(tuned, InsSettings)
    before, after = INS.load().noise, tuned.noise
    assert (after.gyro_radps, after.gyro_bias_radps2) == (before.gyro_radps, before.gyro_bias_radps2)
    wanted = tuning["steps"][-1][1] if tuning["steps"] else before.force_mps2
    assert after.force_mps2 == pytest.approx(wanted)
    assert tuned.mounts.gps_xyz_m == (0.3, 0.0, 1.9)
    assert run(drive, tmp_path / "again", "--observer", str(tmp_path / "out" / "tuned.yaml")) == 0
    assert metrics(tmp_path / "again")["rmse"] == metrics(tmp_path / "out")["rmse"]


def test_an_unknown_parameter_is_reported_in_one_line(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--tune", "charm") == 2
    assert "--tune: parameters: unknown charm" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["vehicle", "ins"])
def test_settings_come_back_from_their_text(tmp_path: Path, kind: str) -> None:
    settings = load_either(kind)
    (tmp_path / "own.yaml").write_text(settings_text(settings))

    assert load_either(str(tmp_path / "own.yaml")) == settings
    assert isinstance(settings, InsSettings if kind == "ins" else VehicleObserverSettings)


@pytest.mark.parametrize("name", ["magic", "nowhere.yaml"])
def test_invalid_settings_are_rejected(name: str) -> None:
    with pytest.raises(SettingsError):
        load_either(name)


def test_three_names_for_four_wheels_are_rejected(drive: Path, tmp_path: Path, capsys: Output) -> None:
    assert run(drive, tmp_path / "out", "--wheel-names", "a,b,c") == 2
    assert "--wheel-names a,b,c: must be 4 names separated by commas" in capsys.readouterr().err


# Invalid options.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--datum", "nan", "0", "0"], "--datum: latitude_deg"),
        (["--datum", "91", "0", "0"], "--datum: latitude_deg"),
        (["--datum", "43", "inf", "0"], "--datum: longitude_deg"),
        (["--datum", "43", "8", "inf"], "--datum: altitude_m"),
        (["--gps-at", "inf", "0", "0"], "--gps-at: gps_xyz_m"),
        (["--gps-at", "100", "0", "0"], "--gps-at: gps_xyz_m"),
        (["--imu-at", "0", "nan", "0"], "--imu-at: imu_xyz_m"),
        (["--wheel-names", "a,b,c,d"], "--wheel-names a,b,c,d: /wheels/joint_states has no joint a, but front_left"),
        (["--actuation-names", "a,b,c,d"], "--actuation-names a,b,c,d: /vehicle/actuation has no joint a, but steer"),
    ],
)
def test_absurd_options_are_reported_in_one_line(
    drive: Path, tmp_path: Path, capsys: Output, options: list[str], words: str
) -> None:
    assert run(drive, tmp_path / "out", *options) == 2

    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error
    assert not (tmp_path / "out" / "estimate").exists()


def test_wheels_of_other_names_are_reported_and_not_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    def rename(topic: str, message: Any) -> tuple[str, Any]:
        if topic == "/wheels/joint_states":
            message.name = ["w1", "w2", "w3", "w4"]
        return topic, message

    bag = copied(drive, tmp_path / "copy", rename)

    assert run(bag, tmp_path / "out") == 0

    said = capsys.readouterr().out
    assert "wheels: /wheels/joint_states has no joint front_left_wheel, but w1, w2, w3, w4; it is not used" in said
    assert "observer: ins, because the vehicle's model needs wheels" in said
    assert metrics(tmp_path / "out")["observer"] == "ins"


def test_an_absurd_mount_of_the_bag_is_not_used(drive: Path, tmp_path: Path, capsys: Output) -> None:
    def move(topic: str, message: Any) -> tuple[str, Any]:
        if topic == "/tf_static":
            for link in message.transforms:
                link.transform.translation.x += 1000.0
        return topic, message

    bag = copied(drive, tmp_path / "copy", move)

    assert run(bag, tmp_path / "out") == 0

    assert "fix: its position in base_link is absurd in the bag" in capsys.readouterr().out
    assert metrics(tmp_path / "out")["mounts"]["gps_xyz_m"] == [0.3, 0.0, 1.9]


# Damaged sqlite3.


def scanned(file: Path) -> tuple[list[Any], str]:
    scan = SqliteScan(file)
    return list(scan.messages()), scan.damage


@pytest.fixture(scope="module")
def database(drive: Path) -> bytes:
    """The drive as sqlite3."""
    (file,) = copied(drive, drive.parent / "database", storage=StoragePlugin.SQLITE3).glob("*.db3")
    return file.read_bytes()


def test_a_whole_database_is_read_as_the_library_reads_it(database: bytes, drive: Path, tmp_path: Path) -> None:
    (tmp_path / "whole.db3").write_bytes(database)

    found, damage = scanned(tmp_path / "whole.db3")

    bag = open_bag(drive)
    assert damage == ""
    assert [(item.topic, item.log_ns, item.data) for item in found] == [
        (topic, log_ns, bytes(data)) for topic, log_ns, data in bag.messages(list(bag.topics))
    ]


@pytest.mark.parametrize("share", [0.99, 0.8, 0.5, 0.2])
def test_of_a_truncated_database_the_beginning_is_read(database: bytes, tmp_path: Path, share: float) -> None:
    (tmp_path / "whole.db3").write_bytes(database)
    whole, _ = scanned(tmp_path / "whole.db3")
    (tmp_path / "cut.db3").write_bytes(database[: int(share * len(database))])

    found, damage = scanned(tmp_path / "cut.db3")

    assert damage == "ends early"
    assert len(found) > (share - 0.1) * len(whole)
    assert set(found) <= set(whole)


def test_of_a_database_with_damaged_pages_all_others_are_read(database: bytes, tmp_path: Path) -> None:
    (tmp_path / "whole.db3").write_bytes(database)
    whole, _ = scanned(tmp_path / "whole.db3")
    middle = len(database) // 2 // 4096 * 4096
    (tmp_path / "holed.db3").write_bytes(database[:middle] + b"\xaa" * 4096 + database[middle + 4096 :])

    found, damage = scanned(tmp_path / "holed.db3")

    assert damage.endswith("messages are damaged")
    assert 0.9 * len(whole) < len(found) < len(whole)
    assert set(found) <= set(whole)


@pytest.mark.parametrize("content", [b"", b"years of work" * 1000, b"SQLite format 3\x00" + bytes(5000)])
def test_a_file_that_is_not_a_database_has_no_messages(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "none.db3").write_bytes(content)

    found, damage = scanned(tmp_path / "none.db3")

    assert found == []
    assert damage
