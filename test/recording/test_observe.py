"""`proving-ground observe` over an intact bag: estimate, figures, pictures, and topics of other names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from observed_bags import Output, copied, metrics, run
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.reading import open_bag
from proving_ground.recording.types import from_bytes, store, to_bytes


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
