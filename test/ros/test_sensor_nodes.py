"""Sensor nodes in separate processes, over real DDS; the truth comes from the test, or from a whole launch."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pynmea2
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped, TwistWithCovarianceStamped
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from sensor_msgs.msg import Imu, JointState, LaserScan, NavSatFix, NavSatStatus, PointCloud2
from std_msgs.msg import String, UInt32
from tf2_msgs.msg import TFMessage

from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.joints import TRUTH_ACTUATION as ACTUATION
from proving_ground.ros_support import qos
from proving_ground.ros_support.point_cloud import cloud_to_points
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.share import share_file
from proving_ground.settings.units import NS_PER_S
from sensors.gps import DEFAULT_DATUM

START_NS = 1_767_225_600 * NS_PER_S
PERIOD_NS = 10_000_000
# As in tf2's listeners: every node publishes its own frames on one topic.
MANY_LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
START_WAIT_S = 90.0  # includes compilation with a cold cache


class Truth:
    """The test as the vehicle: standing, or driving along x."""

    def __init__(self, graph: Any, speed: float = 0.0) -> None:
        self._graph, self._speed = graph, speed
        self.time_ns = START_NS
        self._odom = graph.node.create_publisher(Odometry, "/ground_truth/odom", qos.RELIABLE)
        self._accel = graph.node.create_publisher(AccelStamped, "/ground_truth/accel", qos.RELIABLE)
        self._drive = graph.node.create_publisher(JointState, "/ground_truth/actuation", qos.RELIABLE)
        self._resets = graph.node.create_publisher(UInt32, "/simulation/resets", qos.LATCHED)
        self.publish_reset(0)

    def wait_for_listener(self) -> None:
        self._graph.wait_until(self._odom.get_subscription_count, "a sensor that listens", START_WAIT_S)
        self._graph.spin_for(0.5)

    def publish_reset(self, count: int) -> None:
        self._resets.publish(UInt32(data=count))

    def publish(self, x: float | None = None) -> None:
        """Publish one instant and advance to the next."""
        stamp, seconds = ns_to_stamp(self.time_ns), (self.time_ns - START_NS) / NS_PER_S
        odometry = Odometry(child_frame_id="base_link")
        odometry.header.stamp = stamp
        odometry.pose.pose.position.x = self._speed * seconds if x is None else x
        odometry.twist.twist.linear.x = self._speed
        accel = AccelStamped()
        accel.header.stamp = stamp
        drive = JointState(name=list(ACTUATION))
        drive.header.stamp = stamp
        drive.position = [self._speed * seconds / 0.47] * 4 + [0.1, 0.2, 0.3, 0.0]
        drive.velocity = [self._speed / 0.47] * 4 + [0.0, 0.0, 0.0, 150.0]
        drive.effort = [200.0] * 4 + [0.0] * 4
        self._odom.publish(odometry)
        self._accel.publish(accel)
        self._drive.publish(drive)
        self.time_ns += PERIOD_NS

    def publish_until(self, condition: Callable[[], Any], what: str) -> None:
        """Publish instants at some hundred a second until the condition holds."""

        def go_on() -> bool:
            if condition():
                return True
            self.publish()
            return False

        self._graph.wait_until(go_on, what)


def set_parameters(graph: Any, node: str, **values: Any) -> Any:
    client = graph.node.create_client(SetParameters, f"/{node}/set_parameters")
    request = SetParameters.Request(
        parameters=[Parameter(key, value=value).to_parameter_msg() for key, value in values.items()]
    )
    return graph.call(client, request).results


def words(diagnostics: list[Any], name: str) -> str:
    return str([s.values for message in diagnostics for s in message.status if name in s.name][-1:])


def test_imu_keeps_the_conventions_of_rep_145_and_fails_when_a_fault_is_set(graph: Any) -> None:
    process = graph.start("imu", "--ros-args", "-p", "has_attitude:=true", "-p", "frames.prefix:=truck/")
    truth = Truth(graph)
    raw, data = graph.collect(Imu, "/imu/data_raw", qos.SENSOR), graph.collect(Imu, "/imu/data", qos.SENSOR)
    fixed = graph.collect(TFMessage, "/tf_static", qos.LATCHED)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    truth.wait_for_listener()
    truth.publish_until(lambda: len(raw) > 20 and len(data) > 20 and fixed, "samples and the mount")

    assert raw[0].header.frame_id == "truck/imu_link"
    assert read_stamp(raw[0].header.stamp) % PERIOD_NS == 0
    assert np.mean([message.linear_acceleration.z for message in raw]) == pytest.approx(9.81, abs=0.1)
    assert raw[0].orientation_covariance[0] == -1.0
    assert all(value > 0.0 for value in data[0].orientation_covariance[::4])
    assert all(value > 0.0 for value in raw[0].linear_acceleration_covariance[::4])
    (mount,) = fixed[-1].transforms
    assert (mount.header.frame_id, mount.child_frame_id) == ("truck/base_link", "truck/imu_link")

    assert all(result.successful for result in set_parameters(graph, "imu", fault="nan", fault_channel="gyro"))
    truth.publish_until(lambda: math.isnan(raw[-1].angular_velocity.x), "a broken gyro")
    assert math.isfinite(raw[-1].linear_acceleration.z)
    truth.publish_until(lambda: "fault on purpose: nan" in words(diagnostics, "imu"), "a report of the fault")
    (rejected,) = set_parameters(graph, "imu", fault_channel="giro")
    assert not rejected.successful
    assert "fault_channel: must be the beginning of one of gyro_x" in rejected.reason
    assert all(result.successful for result in set_parameters(graph, "imu", fault="none"))
    truth.publish_until(lambda: math.isfinite(raw[-1].angular_velocity.x), "a working gyro")

    process.popen.send_signal(signal.SIGINT)
    assert process.wait() == 0
    assert "Traceback" not in process.output


def test_parameters_set_before_the_first_truth_are_kept(graph: Any) -> None:
    graph.start("imu")
    truth = Truth(graph)
    raw = graph.collect(Imu, "/imu/data_raw", qos.SENSOR)
    truth.wait_for_listener()

    changed = set_parameters(graph, "imu", fault="bias", fault_channel="gyro_z", fault_value=1.0)
    assert [result.reason for result in changed if not result.successful] == []
    truth.publish_until(lambda: len(raw) > 20, "samples")

    # A bias far beyond the noise, from the first sample on.
    assert all(message.angular_velocity.z == pytest.approx(1.0, abs=0.1) for message in raw)


def test_reset_or_time_that_goes_back_repeats_the_noise(graph: Any) -> None:
    graph.start("imu", "--ros-args", "-p", "seed:=7")
    truth = Truth(graph)
    raw = graph.collect(Imu, "/imu/data_raw", qos.SENSOR)
    truth.wait_for_listener()

    def first_after(begin: Callable[[], None]) -> float:
        raw.clear()
        begin()
        graph.spin_for(0.3)
        truth.publish()
        graph.wait_until(lambda: raw, "a sample")
        return float(raw[0].angular_velocity.x)

    first = first_after(lambda: None)
    second = first_after(lambda: None)
    assert second != first
    assert first_after(lambda: truth.publish_reset(1)) == first

    def go_back() -> None:
        truth.time_ns -= 5 * NS_PER_S
        truth.publish()  # one stamp alone might be a stray

    assert first_after(go_back) == first


def test_truth_that_is_not_finite_is_rejected_and_reported(graph: Any) -> None:
    graph.start("gps", "--ros-args", "-p", "rate_hz:=50.0")
    truth = Truth(graph)
    fixes = graph.collect(NavSatFix, "/gps/fix", qos.SENSOR)
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    truth.wait_for_listener()

    truth.publish(x=math.nan)
    truth.publish_until(lambda: len(fixes) > 3, "fixes")
    graph.wait_until(lambda: "ground_truth/odom rejected" in words(diagnostics, "gps"), "a report of it")

    assert all(math.isfinite(fix.latitude) for fix in fixes)


def test_gps_reports_a_missing_fix_and_its_sentences_are_read_by_another_library(graph: Any) -> None:
    graph.start("gps", "--ros-args", "-p", "rate_hz:=10.0", "-p", "fault_script:=['outage 1.0 1.0']")
    truth = Truth(graph, speed=5.0)
    fixes = graph.collect(NavSatFix, "/gps/fix", qos.SENSOR)
    velocities = graph.collect(TwistWithCovarianceStamped, "/gps/vel", qos.SENSOR)
    sentences = graph.collect(String, "/gps/nmea", qos.SENSOR)
    datum = graph.collect(NavSatFix, "/ground_truth/datum", qos.LATCHED)
    truth.wait_for_listener()
    truth.publish_until(lambda: truth.time_ns > START_NS + 4 * NS_PER_S and len(fixes) > 20, "fixes of four seconds")

    seconds = [(read_stamp(fix.header.stamp) - START_NS) / NS_PER_S for fix in fixes]
    assert not [time for time in seconds if 1.05 < time < 1.95]
    assert {fix.status.status for fix in fixes} == {NavSatStatus.STATUS_FIX}
    assert {fix.position_covariance_type for fix in fixes} == {NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN}
    assert velocities[-1].header.frame_id == "map"
    assert velocities[-1].twist.twist.linear.x == pytest.approx(5.0, abs=0.5)
    assert [(position.latitude, position.longitude, position.altitude) for position in datum] == [DEFAULT_DATUM]
    read = [pynmea2.parse(message.data, check=True) for message in sentences]
    assert {type(sentence).__name__ for sentence in read} == {"GGA", "RMC"}
    assert read[0].latitude == pytest.approx(fixes[0].latitude, abs=1e-9)


def test_encoders_reject_other_joints_and_publish_actuation(graph: Any) -> None:
    graph.start("encoders")
    truth = Truth(graph, speed=3.0)
    wheels = graph.collect(JointState, "/wheels/joint_states", qos.SENSOR)
    actuation = graph.collect(JointState, "/vehicle/actuation", qos.SENSOR)
    truth.wait_for_listener()
    truth.publish_until(lambda: len(wheels) > 100 and len(actuation) > 100, "a second of readings")

    assert wheels[-1].name == list(ACTUATION[:4])
    assert np.mean([message.velocity[0] for message in wheels[50:]]) == pytest.approx(3.0 / 0.47, rel=0.05)
    reading = dict(zip(actuation[-1].name, zip(actuation[-1].position, actuation[-1].effort, strict=True), strict=True))
    assert reading["steering"][0] == pytest.approx(0.1, abs=0.02)
    assert reading["brake"][1] > 1e5


@pytest.mark.parametrize(
    ("node", "argument", "reason"),
    [
        ("gps", "world:=urbn", "did you mean urban"),
        ("lidar", "fault_script:=['melt 1 2']", "fault_script: 'melt 1 2': kind: must be one of freeze"),
        ("imu", "fault_script:=['bias 1 2 3 up']", "channel: must be the beginning of one of gyro_x"),
        ("imu", "rate_hz:=.nan", "rate_hz: must be a number from 0.1 to 1000"),
        ("encoders", "frame:=/x", "frame: must not begin with '/'"),
    ],
)
def test_bad_settings_end_a_sensor_with_one_line(graph: Any, node: str, argument: str, reason: str) -> None:
    process = graph.start(node, "--ros-args", "-p", argument)
    assert process.wait() == 2
    assert reason in process.output
    assert len(process.output.strip().splitlines()) == 1


@pytest.mark.shared_memory
def test_large_clouds_are_not_lost_in_transport(graph: Any) -> None:
    preset = str(share_file("config/sensors/lidar/spinning_64.yaml"))
    graph.start("lidar", "--ros-args", "--params-file", preset, "-p", "world:=urban", "-p", "own_body:=absent")
    truth = Truth(graph)
    clouds = graph.collect(PointCloud2, "/lidar/points", qos.SENSOR)
    scans = graph.collect(LaserScan, "/lidar/scan", qos.SENSOR)
    truth.wait_for_listener()
    truth.publish_until(lambda: len(scans) > 20, "twenty turns")
    graph.wait_until(lambda: len(clouds) >= len(scans) - 1, "as many clouds as planar scans")

    assert len(clouds[-1].data) > 1_000_000


TOPICS = {
    "/imu/data_raw": Imu,
    "/gps/fix": NavSatFix,
    "/gps/vel": TwistWithCovarianceStamped,
    "/gps/nmea": String,
    "/wheels/joint_states": JointState,
    "/vehicle/actuation": JointState,
    "/lidar/points": PointCloud2,
    "/lidar/scan": LaserScan,
}


def test_launch_with_all_sensors_fills_a_bag_that_other_decoders_read(graph: Any, tmp_path: Path) -> None:
    launch = graph.start_command([sys.executable, "-m", "proving_ground", "launch", "sensors", "world:=urban"])
    received: dict[str, list[bytes]] = {topic: [] for topic in TOPICS}
    for topic, kind in TOPICS.items():
        graph.node.create_subscription(kind, topic, received[topic].append, qos.SENSOR, raw=True)
    fixed = graph.collect(TFMessage, "/tf_static", MANY_LATCHED)
    graph.wait_until(
        lambda: all(received.values()) and len(received["/lidar/points"]) > 10, "all sensors", START_WAIT_S
    )
    graph.wait_until(
        lambda: {"imu_link", "gps_link", "lidar_link"} <= {t.child_frame_id for m in fixed for t in m.transforms},
        "the mounts",
    )
    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0

    store = get_typestore(Stores.ROS2_JAZZY)
    bag = tmp_path / "bag"
    with Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, kind in TOPICS.items():
            name = f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"
            connection = writer.add_connection(topic, name, typestore=store)
            for number, data in enumerate(received[topic]):
                writer.write(connection, START_NS + number, data)

    with Reader(bag) as recorded:
        seen: dict[str, list[Any]] = {topic: [] for topic in TOPICS}
        for connection, _, data in recorded.messages():
            seen[connection.topic].append(store.deserialize_cdr(data, connection.msgtype))
    assert {topic: len(messages) for topic, messages in seen.items()} == {t: len(d) for t, d in received.items()}
    cloud = seen["/lidar/points"][-1]
    points = cloud_to_points(cloud)
    assert cloud.header.frame_id == "lidar_link"
    assert len(points[0]) > 5000
    assert all(np.isfinite(points[name]).all() for name in "xyz")
    assert np.ptp(points["time"]) == pytest.approx(0.1, abs=0.01)
    assert set(np.unique(points["ring"])) <= set(range(16))
    lowest = points["z"].min() + 2.0  # above base_link
    assert lowest == pytest.approx(0.0, abs=0.3)
    assert seen["/gps/fix"][-1].status.status >= 0
    gravity = [message.linear_acceleration.z for message in seen["/imu/data_raw"]]
    assert np.mean(gravity) == pytest.approx(9.81, abs=0.2)

    with (bag / "bag.mcap").open("rb") as file:
        decoded = [
            (channel.topic, message)
            for _, channel, _, message in make_reader(
                file, decoder_factories=[DecoderFactory()]
            ).iter_decoded_messages()
        ]
    last = dict(decoded)
    assert len(decoded) == sum(map(len, received.values()))
    assert last["/lidar/points"].width == cloud.width
    assert last["/gps/fix"].latitude == seen["/gps/fix"][-1].latitude
    assert pynmea2.parse(last["/gps/nmea"].data, check=True)
