"""Bags of runs: what is written is what the nodes publish, and what is damaged is read as far as it is intact."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer

from scenarios.bags import to_messages, types
from scenarios.bags.estimate_bag import EstimateBag
from scenarios.bags.fixed import bag_datum, bag_mounts
from scenarios.bags.reading import open_bag
from scenarios.bags.recording import Recording
from scenarios.bags.stream import Stream
from scenarios.bags.to_messages import WHEELS
from scenarios.bags.topics import choose_topics
from scenarios.bags.types import from_bytes, to_bytes
from scenarios.bags.writing import BagWriter
from scenarios.cli import main
from scenarios.lock_step import LockStep
from scenarios.scenario import load_scenario
from sensors.from_messages import (
    PEDALS,
    UNKNOWN_VARIANCE,
    TruthPose,
    actuation_sample,
    encoder_sample,
    gps_sample,
    imu_sample,
    stamp_ns,
    truth_pose,
    velocity_sample,
    wheels_sample,
)
from sensors.gps import DEFAULT_DATUM
from sensors.joining import PATIENCE_NS, Joiner
from sensors.samples import LIDAR_POINT, DriveTruth, EncoderSample, GpsSample, ImuSample
from sensors.streams import stream
from settings import SettingsError
from state_observer.vehicle.layout import ESTIMATE
from vehicle_dynamics.base_motion import BaseMotion

NOW_NS = 1_767_225_600_123_456_789
LATENCY_NS = 100_000_000
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
  - imu: {preset: industrial_mems, has_attitude: true, mount_rpy_deg: [0.0, 0.0, 90.0]}
  - gps: {preset: low_cost, rate_hz: 10, latency_s: 0.1}
  - encoders: {preset: seed}
  - lidar: {preset: spinning_16, rate_hz: 5}
"""


class Recorded(NamedTuple):
    """A bag, and what went into it."""

    path: Path
    heard: list[tuple[str, Any]]  # names and samples in the order of arrival


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    file = folder / "made.yaml"
    file.write_text(SCENARIO)
    scenario, heard = load_scenario(file), []
    with BagWriter(folder / "bag") as writer:
        recording = Recording(writer)

        def listen(name: str, sample: Any) -> None:
            heard.append((name, sample))
            recording.sample(name, sample)

        runner = LockStep(scenario, folder, listener=listen)
        recording.watch(runner, scenario.start.time_ns())
        runner.run()
    return Recorded(folder / "bag", heard)


def imu() -> ImuSample:
    values = stream(1, "test", "imu").normal(size=6)
    return ImuSample(NOW_NS, values[:3], values[3:], 1e-4, 1e-2, np.array([0.0, 0.0, 0.6, 0.8]), 1e-3, 2e-3, False)


def gps(quality: int = 4) -> GpsSample:
    variance, velocity = np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 0.1])
    course = 0.6435011087932844 if quality else None  # atan2(3, 4), clockwise from north
    return GpsSample(
        NOW_NS, quality, 43.1, -8.2, 12.5, variance, velocity, np.array([0.1, 0.2, 0.3]), 5.0, course, 0, 0.0
    )


def encoders() -> EncoderSample:
    wheels = stream(1, "test", "wheels").normal(size=(3, 4))
    return EncoderSample(NOW_NS, *wheels, -0.1, 0.4, 2e5, 150.0, np.array([0.01, -0.02]))


def assert_same(one: Any, other: Any) -> None:
    for name, a, b in zip(one._fields, one, other, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


# Samples and messages.


@pytest.mark.parametrize("has_attitude", [True, False])
def test_an_imu_sample_comes_back_from_its_message(has_attitude: bool) -> None:
    message = to_messages.imu_message(imu(), "imu_link", has_attitude=has_attitude)

    back = imu_sample(from_bytes(to_bytes(message), types.IMU))

    nothing = {"attitude": None, "attitude_variance": 0.0, "heading_variance": 0.0}
    assert_same(back, imu() if has_attitude else imu()._replace(**nothing))


@pytest.mark.parametrize("quality", [1, 2, 4])
def test_a_fix_and_its_velocity_come_back_as_one_sample(quality: int) -> None:
    fix = from_bytes(to_bytes(to_messages.fix_message(gps(quality), "gps_link")), types.FIX)
    velocity = from_bytes(to_bytes(to_messages.velocity_message(gps(quality), "map")), types.VELOCITY)

    assert_same(gps_sample(fix, velocity_sample(velocity)), gps(quality))


def test_a_fix_without_velocity_has_one_that_observers_leave_out() -> None:
    back = gps_sample(to_messages.fix_message(gps(), "gps_link"), None)

    assert (back.velocity_variance == UNKNOWN_VARIANCE).all()
    assert back.course is None
    np.testing.assert_array_equal(back.variance, gps().variance)


def test_no_fix_stays_no_fix() -> None:
    assert gps_sample(to_messages.fix_message(gps(0), "gps_link"), None).quality == 0


def test_wheels_and_actuation_come_back_as_one_sample() -> None:
    wheels = from_bytes(to_bytes(to_messages.wheels_message(encoders())), types.JOINTS)
    actuation = from_bytes(to_bytes(to_messages.actuation_message(encoders())), types.JOINTS)

    back = encoder_sample(wheels_sample(wheels, WHEELS), actuation_sample(actuation, PEDALS))

    assert_same(back, encoders())


def test_joints_in_another_order_are_found_by_name() -> None:
    message = to_messages.wheels_message(encoders())
    for name in ("position", "velocity", "effort"):
        setattr(message, name, getattr(message, name)[::-1].copy())
    message.name = message.name[::-1]

    np.testing.assert_array_equal(wheels_sample(message, WHEELS).angle, encoders().wheel_angle)


def test_truth_comes_back() -> None:
    motion = BaseMotion((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8), (4.0, 0.1, 0.0), (0.0, 0.1, 0.2), (0.0,) * 3, (0.0,) * 3)
    data = to_bytes(to_messages.truth_odometry(NOW_NS, motion, "map", "base_link"))

    assert truth_pose(from_bytes(data, types.ODOMETRY)) == (NOW_NS, *motion[:4])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda m: setattr(m.header.stamp, "nanosec", 2_000_000_000), "stamp has nanosec 2000000000"),
        (lambda m: m.angular_velocity_covariance.__setitem__(0, -1.0), "has no rates"),
    ],
)
def test_an_imu_message_that_is_no_sample_is_refused(spoil: Callable[[Any], None], words: str) -> None:
    message = to_messages.imu_message(imu(), "imu_link")
    spoil(message)
    with pytest.raises(ValueError, match=words):
        imu_sample(message)


def test_joints_that_lack_a_wheel_are_refused_by_its_name() -> None:
    message = to_messages.wheels_message(encoders())
    message.name[2] = "spare"
    with pytest.raises(ValueError, match="has no rear_left_wheel"):
        wheels_sample(message, WHEELS)


def test_bytes_of_another_type_are_refused() -> None:
    with pytest.raises(ValueError, match="not a sensor_msgs/msg/Imu"):
        from_bytes(b"\x00\x01\x00\x00abc", types.IMU)


def test_messages_are_value_for_value_those_of_the_nodes() -> None:
    serialize = pytest.importorskip("rclpy.serialization").serialize_message
    from ros_support import sensor_messages as nodes
    from ros_support.time import ns_to_stamp
    from ros_support.vehicle_messages import FrameNames, TruthMessages

    points = np.zeros(3, LIDAR_POINT)
    points["x"], points["ring"] = (1.0, 2.0, 3.0), (0, 1, 2)
    motion = BaseMotion((1.0, 2.0, 3.0), (0.0, 0.0, 0.6, 0.8), (4.0, 0.1, 0.0), (0.0, 0.1, 0.2), (1.0,) * 3, (2.0,) * 3)
    truth, stamp = TruthMessages(FrameNames("map", "odom", "base_link", "")), ns_to_stamp(NOW_NS)
    pairs = [
        (nodes.imu_to_msg(imu(), "a", has_attitude=True), to_messages.imu_message(imu(), "a", has_attitude=True)),
        (nodes.imu_to_msg(imu(), "a", has_attitude=False), to_messages.imu_message(imu(), "a")),
        (nodes.fix_to_msg(gps(), "a"), to_messages.fix_message(gps(), "a")),
        (nodes.fix_to_msg(gps(0), "a"), to_messages.fix_message(gps(0), "a")),
        (nodes.gps_velocity_to_msg(gps(), "a"), to_messages.velocity_message(gps(), "a")),
        (nodes.wheels_to_msg(encoders(), WHEELS), to_messages.wheels_message(encoders())),
        (nodes.actuation_to_msg(encoders()), to_messages.actuation_message(encoders())),
        (nodes.CloudMessages("a").cloud(NOW_NS, points), to_messages.cloud_message(NOW_NS, points, "a")),
        (truth.odometry(stamp, motion), to_messages.truth_odometry(NOW_NS, motion, "map", "base_link")),
        (truth.accel(stamp, motion), to_messages.truth_accel(NOW_NS, motion, "base_link")),
    ]
    for theirs, ours in pairs:
        same = from_bytes(serialize(theirs), ours.__msgtype__)  # read and written once more: padding is anybody's
        assert bytes(to_bytes(same)) == bytes(to_bytes(ours)), type(theirs).__name__


def test_estimates_written_many_at_a_time_are_odometry_messages(tmp_path: Path) -> None:
    rows = np.zeros(3, ESTIMATE)
    rows["time_ns"] = NOW_NS + 4_000_000 * np.arange(3)
    numbers = stream(1, "test", "rows")
    for name in ("position", "attitude", "velocity", "turn", "covariance"):
        rows[name] = numbers.normal(size=rows[name].shape)

    with BagWriter(tmp_path / "estimate") as writer:
        EstimateBag(writer).write(rows)

    with Reader(tmp_path / "estimate") as reader:
        found = [
            from_bytes(data, types.ODOMETRY)
            for item, _, data in reader.messages()
            if item.topic == "/odometry/filtered"
        ]
    assert [stamp_ns(message) for message in found] == rows["time_ns"].tolist()
    last = found[-1]
    assert (last.header.frame_id, last.child_frame_id) == ("map", "base_link")
    assert last.pose.pose.position.z == rows["position"][2, 2]
    np.testing.assert_array_equal(last.pose.covariance.reshape(6, 6), rows["covariance"][2, :6, :6])
    np.testing.assert_array_equal(last.twist.covariance.reshape(6, 6), rows["covariance"][2, 6:, 6:])
    assert last.twist.twist.angular.z == rows["turn"][2, 2]


def test_bags_need_no_ros() -> None:
    code = (
        "import sys, scenarios.observe, scenarios.bags.recording\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('rclpy', 'sensor_msgs', 'nav_msgs')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# A run's bag.


def test_a_run_is_written_on_the_topics_of_the_nodes(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)

    assert bag.topics == {
        "/tf_static": "tf2_msgs/msg/TFMessage",
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
        "/lidar/points": "sensor_msgs/msg/PointCloud2",
        "/lidar/scan": "sensor_msgs/msg/LaserScan",
    }
    sent = Counter(name for name, _ in recorded.heard)
    assert (bag.counts["/imu/data_raw"], bag.counts["/gps/fix"]) == (sent["imu"], sent["gps"])
    assert (bag.counts["/lidar/points"], bag.counts["/ground_truth/odom"]) == (sent["lidar"], 200)
    assert bag.remarks == []


def test_a_bag_read_back_has_the_samples_that_went_in(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)
    arrivals = list(Stream(bag, choose_topics(bag.topics, {}, print)))
    back = [item for _, item in arrivals if not isinstance(item, TruthPose)]

    heard = [sample for name, sample in recorded.heard if name != "lidar"]
    assert len(back) == len(heard)
    for kind in (ImuSample, EncoderSample, GpsSample):
        ours, theirs = ([item for item in items if isinstance(item, kind)] for items in (heard, back))
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

    assert [type(item) for item in first] == [EncoderSample, ImuSample, TruthPose]
    assert len({item.time_ns for item in first}) == 1


def test_log_time_is_arrival_and_stamp_is_the_sample_s_own(recorded: Recorded) -> None:
    bag = open_bag(recorded.path)
    late: dict[str, set[int]] = {"/gps/fix": set(), "/imu/data_raw": set(), "/ground_truth/odom": set()}
    for topic, log_ns, data in bag.messages(list(late)):
        late[topic].add(log_ns - stamp_ns(from_bytes(data, bag.topics[topic])))
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
    scan = next(sample for name, sample in recorded.heard if name == "lidar")
    _, _, data = next(open_bag(recorded.path).messages(["/lidar/points"]))
    cloud = from_bytes(data, types.CLOUD)

    points = np.frombuffer(cloud.data.tobytes(), LIDAR_POINT)
    np.testing.assert_array_equal(points, scan.points)


def test_recording_changes_nothing_of_a_run(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "made.yaml").write_text(SCENARIO)
    heard: list[tuple[str, Any]] = []
    LockStep(
        load_scenario(tmp_path / "made.yaml"), tmp_path, listener=lambda name, sample: heard.append((name, sample))
    ).run()

    assert [name for name, _ in heard] == [name for name, _ in recorded.heard]
    for (_, one), (_, other) in zip(heard, recorded.heard, strict=True):
        if not isinstance(one, ImuSample | EncoderSample | GpsSample):
            continue
        assert_same(one, other)


def test_a_run_without_sensors_has_its_truth_in_a_bag(
    tmp_path: Path, write_scenario: Callable[[str], Path], scenario_text: str
) -> None:
    path = write_scenario(scenario_text)

    assert main(["run", str(path), "--out", str(tmp_path / "out"), "--no-pictures", "--bag", str(tmp_path / "b")]) == 0

    names = {f"/ground_truth/{name}" for name in ("odom", "accel", "actuation")}
    assert open_bag(tmp_path / "b").counts == dict.fromkeys(names, 100)


def test_a_bag_does_not_replace_what_is_there(
    tmp_path: Path, write_scenario: Callable[[str], Path], scenario_text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b").mkdir()

    assert main(["run", str(write_scenario(scenario_text)), "--out", str(tmp_path), "--bag", str(tmp_path / "b")]) == 2

    error = capsys.readouterr().err
    assert "exists already" in error
    assert error.count("\n") == 1


def test_a_bag_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    def break_off() -> None:
        with BagWriter(tmp_path / "bag") as writer:
            writer.write("/text", to_messages.text_message("a"), NOW_NS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def fill() -> None:
        with BagWriter(tmp_path / "bag") as writer:
            writer.announce("/text", types.TEXT)
            monkeypatch.setattr(Writer, "write", refuse)
            writer.write("/text", to_messages.text_message("a"), NOW_NS)

    with pytest.raises(SettingsError, match="cannot be written: No space left on device"):
        fill()
    assert list(tmp_path.iterdir()) == []


# Damage.


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
        made = {
            topic: writer.add_connection(topic, kind, typestore=types.store()) for topic, kind in bag.topics.items()
        }
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


def test_metadata_that_is_no_yaml_does_not_stop_anybody(recorded: Recorded, tmp_path: Path) -> None:
    (tmp_path / "any.mcap").write_bytes((recorded.path / "bag.mcap").read_bytes())
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information: [")

    bag = open_bag(tmp_path)

    assert bag.counts == open_bag(recorded.path).counts
    assert len(bag.remarks) == 1
    assert "cannot be read as a whole" in bag.remarks[0]


def test_sqlite_is_read_like_mcap(recorded: Recorded, tmp_path: Path) -> None:
    bag = open_bag(recorded.path)
    with Writer(tmp_path / "copy", version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
        made = {
            topic: writer.add_connection(topic, kind, typestore=types.store()) for topic, kind in bag.topics.items()
        }
        for topic, log_ns, data in bag.messages(list(bag.topics)):
            writer.write(made[topic], log_ns, data)

    assert _messages(tmp_path / "copy") == _messages(recorded.path)
    assert _messages(tmp_path / "copy" / "copy.db3") == _messages(recorded.path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "metadata.yaml: is missing"),
        (b"", "is no MCAP file"),
        (b"\x89MCAP0\r\n", "ends early"),
        (b"\x89MCAP0\r\n" + bytes(range(256)) * 10, "damaged"),
        (b"hello" * 100, "is no MCAP file"),
    ],
)
def test_nothing_to_read_is_one_line(tmp_path: Path, content: bytes | None, words: str) -> None:
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


# Pairs, stamps, topics.


class Timed(NamedTuple):
    time_ns: int


def test_a_pair_is_whole_as_soon_as_its_second_comes() -> None:
    joiner: Joiner[Timed, Timed] = Joiner(10, has_second=True)
    assert joiner.first(100, Timed(100)) == []
    assert joiner.second(101, Timed(100)) == [(Timed(100), Timed(100))]


def test_a_first_whose_second_never_comes_goes_alone() -> None:
    joiner: Joiner[Timed, Timed] = Joiner(10, has_second=True)
    joiner.second(0, Timed(5))
    assert joiner.first(100, Timed(100)) == []
    late = 101 + PATIENCE_NS
    assert joiner.first(late, Timed(late)) == [(Timed(100), None)]
    assert joiner.complete() == [(Timed(late), None)]


def test_the_nearest_of_several_is_taken() -> None:
    joiner: Joiner[Timed, Timed] = Joiner(10, has_second=True)
    for time_ns in (90, 97, 105):
        joiner.second(0, Timed(time_ns))
    assert joiner.first(0, Timed(100)) == [(Timed(100), Timed(97))]


def test_without_seconds_nobody_waits() -> None:
    joiner: Joiner[Timed, Timed] = Joiner(10, has_second=False)
    assert joiner.first(0, Timed(100)) == [(Timed(100), None)]


def _imu_bag(path: Path, times: list[tuple[int, int]]) -> Stream:
    with BagWriter(path) as writer:
        for time_ns, log_ns in times:
            writer.write("/imu/data_raw", to_messages.imu_message(imu()._replace(time_ns=time_ns), "a"), log_ns)
    return Stream(open_bag(path), {"imu": "/imu/data_raw"})


def test_an_absurd_stamp_is_refused_and_all_others_taken(tmp_path: Path) -> None:
    times = [(NOW_NS + k, NOW_NS + k) for k in range(40)]
    times[20] = (NOW_NS + 3600 * 10**9, NOW_NS + 20)
    times[30] = (7, NOW_NS + 30)

    found = _imu_bag(tmp_path / "b", times)

    assert len(list(found)) == 38
    assert found.refused == {"/imu/data_raw: absurd stamp": 2}


def test_time_that_jumps_for_good_is_believed(tmp_path: Path) -> None:
    before = [(NOW_NS + k, NOW_NS + k) for k in range(100)]
    after = [(NOW_NS - 3600 * 10**9 + k, NOW_NS + 100 + k) for k in range(60)]

    found = list(_imu_bag(tmp_path / "b", before + after))

    assert len(found) == 160 - 19
    assert found[-1].item.time_ns == after[-1][0]


def test_stamps_of_a_simulation_are_not_of_the_clock_of_arrival(tmp_path: Path) -> None:
    assert _imu_bag(tmp_path / "a", [(NOW_NS, NOW_NS + 5_000_000)]).is_one_clock
    assert not _imu_bag(tmp_path / "b", [(12_500_000_000, NOW_NS)]).is_one_clock


def test_topics_are_found_by_type_and_what_is_missing_is_said() -> None:
    there = {"/x/imu": types.IMU, "/ublox/fix": types.FIX, "/odom_twist": types.VELOCITY, "/js": types.JOINTS}
    said: list[str] = []

    chosen = choose_topics(there, {"wheels": "/js"}, said.append)

    assert chosen == {"imu": "/x/imu", "fix": "/ublox/fix", "wheels": "/js"}
    assert "velocity: the bag has no /gps/vel; of its type are /odom_twist, choose with --velocity" in said
    assert "truth: the bag has no /ground_truth/odom" in said


def test_a_topic_of_a_wrong_type_is_said_and_not_used() -> None:
    said: list[str] = []
    assert choose_topics({"/gps/fix": types.IMU}, {"fix": "/gps/fix", "imu": "/nowhere"}, said.append) == {}
    assert "fix: /gps/fix is of type sensor_msgs/msg/Imu, not sensor_msgs/msg/NavSatFix; it is not used" in said
    assert "imu: the bag has no /nowhere" in said


def test_truth_of_encoders_has_the_order_of_its_names() -> None:
    drive = DriveTruth(np.arange(4.0), np.arange(4.0) + 10.0, 0.1, 0.2, 0.3, 99.0)
    message = to_messages.truth_actuation(NOW_NS, drive, np.arange(4.0) + 20.0)
    assert message.position[message.name.index("brake")] == 0.3
    assert message.velocity[message.name.index("engine")] == 99.0
    assert message.effort[message.name.index("rear_right_wheel")] == 13.0
