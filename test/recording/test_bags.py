"""Bags of runs: they contain what the nodes publish, and damaged ones are read as far as they are intact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from proving_ground.cli.main import main
from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.samples import Motion
from proving_ground.interfaces.sensor_codec import fill_datum
from proving_ground.recording.fixed import bag_datum, bag_mounts
from proving_ground.recording.reading import open_bag
from proving_ground.recording.stream import Stream
from proving_ground.recording.topics import choose_topics
from proving_ground.recording.types import empty, from_bytes, new, store
from proving_ground.recording.writing import BagWriter
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.scenario import load_scenario
from proving_ground.settings import SettingsError
from recorded_run import record
from sensors.gps import DEFAULT_DATUM
from sensors.samples import LIDAR_POINT, EncoderSample, GpsSample, ImuSample
from some_samples import NOW_NS, assert_same

LATENCY_NS = 100_000_000


def text(words: str) -> Any:
    return new(types.TEXT, words)


def datum(time_ns: int) -> Any:
    message = empty(types.FIX, "map")
    fill_datum(message, time_ns, DEFAULT_DATUM)
    return message


SCENARIO = """version: 1
description: all sensors for a bag
world:
  flat: {friction: 0.8}
start: {speed_mps: 5.0}
driver:
  straight: {speed_mps: 5.0}
duration_s: 2.0
seed: 5
sensors:
  - imu: {preset: industrial_mems, has_attitude: true, mount: {xyz_m: [1.7, 0.0, 0.8], rpy_deg: [0.0, 0.0, 90.0]}}
  - gps: {preset: low_cost, rate_hz: 10, latency_s: 0.1}
  - encoders: {preset: hall_40}
  - lidar: {preset: spinning_16, rate_hz: 5}
"""


class Recorded(NamedTuple):
    """A bag, and what went into it."""

    path: Path
    received: list[tuple[str, Any]]  # names and samples in the order of arrival


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    received: list[tuple[str, Any]] = []
    bag = record(folder / "made.yaml", SCENARIO, on_sample=lambda name, sample: received.append((name, sample)))
    return Recorded(bag, received)


def test_a_run_is_written_on_the_topics_of_the_nodes(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)

    assert bag.topics == {
        "/clock": "rosgraph_msgs/msg/Clock",
        "/tf": "tf2_msgs/msg/TFMessage",
        "/tf_static": "tf2_msgs/msg/TFMessage",
        "/joint_states": "sensor_msgs/msg/JointState",
        "/robot_description": "std_msgs/msg/String",
        "/simulation/resets": "std_msgs/msg/UInt32",
        "/ground_truth/collision": "geometry_msgs/msg/WrenchStamped",
        "/ground_truth/wheels": "sensor_msgs/msg/JointState",
        "/ground_truth/datum": "sensor_msgs/msg/NavSatFix",
        "/ground_truth/odom": "nav_msgs/msg/Odometry",
        "/ground_truth/accel": "geometry_msgs/msg/AccelStamped",
        "/ground_truth/actuation": "sensor_msgs/msg/JointState",
        "/imu/data_raw": "sensor_msgs/msg/Imu",
        "/imu/data": "sensor_msgs/msg/Imu",
        "/gps/fix": "sensor_msgs/msg/NavSatFix",
        "/gps/vel": "geometry_msgs/msg/TwistWithCovarianceStamped",
        "/gps/nmea": "std_msgs/msg/String",
        "/wheels/joint_states": "sensor_msgs/msg/JointState",
        "/vehicle/actuation": "sensor_msgs/msg/JointState",
        "/vehicle/pedals": "sensor_msgs/msg/JointState",
        "/lidar/points": "sensor_msgs/msg/PointCloud2",
        "/lidar/scan": "sensor_msgs/msg/LaserScan",
    }
    sent = Counter(name for name, _ in recorded.received)
    assert (bag.counts["/imu/data_raw"], bag.counts["/gps/fix"]) == (sent["imu"], sent["gps"])
    assert (bag.counts["/lidar/points"], bag.counts["/ground_truth/odom"]) == (sent["lidar"], 200)
    assert bag.remarks == []


def test_a_bag_read_back_has_the_samples_that_went_in(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)
    arrivals = list(Stream(bag, choose_topics(bag.topics, {}, print)))
    back = [item for _, item in arrivals if not isinstance(item, Motion)]

    received = [sample for name, sample in recorded.received if name != "lidar"]
    assert len(back) == len(received)
    for kind in (ImuSample, EncoderSample, GpsSample):
        ours, theirs = ([item for item in items if isinstance(item, kind)] for items in (received, back))
        for sent, found in zip(ours, theirs, strict=True):
            if kind is GpsSample:
                assert_same(found._replace(satellites=sent.satellites, hdop=sent.hdop), sent)
            elif kind is ImuSample:  # from data_raw, which has no attitude
                nothing = {name: getattr(found, name) for name in ("attitude", "attitude_variance", "heading_variance")}
                assert_same(found, sent._replace(**nothing))
            else:
                assert_same(found, sent)


def test_what_arrives_together_comes_in_the_order_of_the_observers(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)
    first = [item for _, item in Stream(bag, choose_topics(bag.topics, {}, print))][:3]

    assert [type(item) for item in first] == [EncoderSample, ImuSample, Motion]
    assert len({item.time_ns for item in first}) == 1


def test_log_time_is_arrival_and_stamp_is_the_sample_s_own(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)
    late: dict[str, set[int]] = {"/gps/fix": set(), "/imu/data_raw": set(), "/ground_truth/odom": set()}
    for topic, log_ns, data in bag.messages(list(late)):
        late[topic].add(log_ns - read_stamp(from_bytes(data, bag.topics[topic]).header.stamp))
    assert late == {"/gps/fix": {LATENCY_NS}, "/imu/data_raw": {0}, "/ground_truth/odom": {0}}


def test_another_library_reads_the_same(recorded: Recorded) -> None:
    read = pytest.importorskip("mcap_ros2.reader").read_ros2_messages
    (file,) = recorded.path.glob("*.mcap")
    theirs = Counter(item.channel.topic for item in read(str(file)))
    first = next(item for item in read(str(file), topics=["/imu/data_raw"]))

    bag = open_bag(recorded.path)
    assert theirs == bag.counts
    ours = from_bytes(next(bag.messages(["/imu/data_raw"]))[2], types.IMU)
    assert first.ros_msg.angular_velocity.x == ours.angular_velocity.x
    assert first.ros_msg.header.frame_id == "imu_link"


def test_mounts_and_datum_are_in_the_bag(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)

    mounts = bag_mounts(bag)
    assert mounts["gps_link"].xyz_m == (0.3, 0.0, 1.9)
    assert mounts["imu_link"].rpy_deg == pytest.approx((0.0, 0.0, 90.0))
    assert bag_datum(bag) == DEFAULT_DATUM


def test_points_of_a_cloud_are_those_of_the_scan(recorded: Recorded) -> None:
    scan = next(sample for name, sample in recorded.received if name == "lidar")
    _, _, data = next(open_bag(recorded.path).messages(["/lidar/points"]))
    cloud = from_bytes(data, types.CLOUD)

    points = np.frombuffer(cloud.data.tobytes(), LIDAR_POINT)
    np.testing.assert_array_equal(points, scan.points)


def test_recording_changes_nothing_of_a_run(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "made.yaml").write_text(SCENARIO)
    received: list[tuple[str, Any]] = []
    LockStep(load_scenario(tmp_path / "made.yaml"), listener=lambda name, sample: received.append((name, sample))).run()

    assert [name for name, _ in received] == [name for name, _ in recorded.received]
    for (_, one), (_, other) in zip(received, recorded.received, strict=True):
        if not isinstance(one, ImuSample | EncoderSample | GpsSample):
            continue
        assert_same(one, other)


def test_a_run_without_sensors_has_its_truth_in_a_bag(
    tmp_path: Path, write_scenario: Callable[[str], Path], scenario_text: str
) -> None:
    path = write_scenario(scenario_text)

    assert main(["run", str(path), "--out", str(tmp_path / "out"), "--no-pictures", "--bag", str(tmp_path / "b")]) == 0

    often = {f"/ground_truth/{name}" for name in ("odom", "accel", "actuation", "wheels")} | {"/clock", "/joint_states"}
    often |= {"/vehicle/pedals"}
    once = {"/ground_truth/collision", "/robot_description", "/simulation/resets", "/tf_static"}
    assert open_bag(tmp_path / "b").counts == dict.fromkeys(often, 100) | dict.fromkeys(once, 1) | {"/tf": 50}


def test_a_bag_does_not_replace_an_existing_folder(
    tmp_path: Path, write_scenario: Callable[[str], Path], scenario_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b").mkdir()

    assert main(["run", str(write_scenario(scenario_text)), "--out", str(tmp_path), "--bag", str(tmp_path / "b")]) == 2

    error = capsys.readouterr().err
    assert "exists already" in error
    assert error.count("\n") == 1


def test_an_unfinished_bag_does_not_appear(tmp_path: Path) -> None:
    def break_off() -> None:
        with BagWriter(tmp_path / "bag") as writer:
            writer.write("/text", text("a"), NOW_NS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def reject(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def fill() -> None:
        with BagWriter(tmp_path / "bag") as writer:
            writer.announce("/text", types.TEXT)
            monkeypatch.setattr(Writer, "write", reject)
            writer.write("/text", text("a"), NOW_NS)

    with pytest.raises(SettingsError, match="cannot be written: No space left on device"):
        fill()
    assert list(tmp_path.iterdir()) == []


def _messages(path: Path) -> list[tuple[str, int, bytes]]:
    bag = open_bag(path)
    return list(bag.messages(["/imu/data_raw", "/gps/fix"]))


@pytest.mark.parametrize("share", [0.35, 0.5, 0.77, 0.9999])
def test_of_a_truncated_file_the_beginning_is_read(recorded: Recorded, tmp_path: Path, share: float) -> None:
    whole = (recorded.path / "bag.mcap").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "cut.mcap").write_bytes(whole[: int(share * len(whole))])

    bag = open_bag(tmp_path / "cut")
    found, all_of_it = list(bag.messages(["/imu/data_raw", "/gps/fix"])), _messages(recorded.path)

    assert 0 < len(found) <= len(all_of_it)
    assert Counter(found) <= Counter(all_of_it)
    assert [log_ns for _, log_ns, _ in found] == sorted(log_ns for _, log_ns, _ in found)
    assert any("what is intact is used" in line or "ends early" in line for line in bag.remarks)


def test_of_a_truncated_file_with_packed_chunks_the_whole_ones_are_read(recorded: Recorded, tmp_path: Path) -> None:
    bag = open_bag(recorded.path)
    writer = Writer(tmp_path / "packed", version=9, storage_plugin=StoragePlugin.MCAP)
    writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
    with writer:
        made = {topic: writer.add_connection(topic, kind, typestore=store()) for topic, kind in bag.topics.items()}
        for topic, log_ns, data in bag.messages(list(bag.topics)):
            writer.write(made[topic], log_ns, data)
    file = tmp_path / "packed" / "packed.mcap"
    assert _messages(tmp_path / "packed") == _messages(recorded.path)

    whole = file.read_bytes()
    file.write_bytes(whole[: int(0.8 * len(whole))])

    found = _messages(tmp_path / "packed")
    assert 0 < len(found) < len(_messages(recorded.path))
    assert found == _messages(recorded.path)[: len(found)]


def test_a_damaged_chunk_is_left_out_and_the_rest_read(recorded: Recorded, tmp_path: Path) -> None:
    spoilt = bytearray((recorded.path / "bag.mcap").read_bytes())
    at, chunks = len(b"\x89MCAP0\r\n"), []
    while spoilt[at] != 0x0F:  # end of the data
        chunks += [at] if spoilt[at] == 0x06 else []
        at += 9 + int.from_bytes(spoilt[at + 1 : at + 9], "little")
    second = chunks[1] + 9
    spoilt[second + 24 : second + 28] = b"abcd"  # a checksum that is wrong
    (tmp_path / "bag.mcap").write_bytes(spoilt)

    bag = open_bag(tmp_path / "bag.mcap")
    found = list(bag.messages(["/imu/data_raw", "/gps/fix"]))

    assert 0 < len(found) < len(_messages(recorded.path))
    assert any("damaged" in line for line in bag.remarks)


def test_a_bag_without_metadata_is_read_whole(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "any.mcap").write_bytes((recorded.path / "bag.mcap").read_bytes())

    bag = open_bag(tmp_path)

    assert bag.counts == open_bag(recorded.path).counts
    assert bag.remarks == ["metadata.yaml: is missing"]


def test_files_of_a_bag_without_metadata_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "split").mkdir()
    for number in range(12):
        with BagWriter(tmp_path / str(number)) as writer:
            time_ns = NOW_NS + number
            writer.write("/gps/fix", datum(time_ns), time_ns)
        (tmp_path / str(number) / f"{number}.mcap").rename(tmp_path / "split" / f"split_{number}.mcap")

    times = [log_ns for _, log_ns, _ in open_bag(tmp_path / "split").messages(["/gps/fix"])]

    assert times == [NOW_NS + number for number in range(12)]


def test_metadata_that_is_not_yaml_does_not_prevent_reading(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "any.mcap").write_bytes((recorded.path / "bag.mcap").read_bytes())
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information: [")

    bag = open_bag(tmp_path)

    assert bag.counts == open_bag(recorded.path).counts
    assert len(bag.remarks) == 1
    assert "cannot be read as a whole" in bag.remarks[0]


def test_sqlite_is_read_like_mcap(recorded: Recorded, tmp_path: Path) -> None:
    bag = open_bag(recorded.path)
    with Writer(tmp_path / "copy", version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        made = {topic: writer.add_connection(topic, kind, typestore=store()) for topic, kind in bag.topics.items()}
        for topic, log_ns, data in bag.messages(list(bag.topics)):
            writer.write(made[topic], log_ns, data)

    assert _messages(tmp_path / "copy") == _messages(recorded.path)
    assert _messages(tmp_path / "copy" / "copy.db3") == _messages(recorded.path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "metadata.yaml: is missing"),
        (b"", "is not an MCAP file"),
        (b"\x89MCAP0\r\n", "ends early"),
        (b"\x89MCAP0\r\n" + bytes(range(256)) * 10, "damaged"),
        (b"hello" * 100, "is not an MCAP file"),
    ],
)
def test_nothing_to_read_is_reported_in_one_line(tmp_path: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / "x.mcap").write_bytes(content)
    with pytest.raises(SettingsError, match=words) as caught:
        open_bag(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_bag_that_was_closed_without_messages_is_empty(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag"):
        pass
    with pytest.raises(SettingsError, match="no messages: is empty"):
        open_bag(tmp_path / "bag")
