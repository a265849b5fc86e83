"""The observer node with the vehicle and its sensors, each a separate process, over real DDS."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped, Twist, TwistWithCovarianceStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu, JointState, NavSatFix
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.joints import DRIVE, WHEELS
from proving_ground.interfaces.motion_codec import FORCE_COLUMNS
from proving_ground.ros_support import qos
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S

START_WAIT_S = 150.0  # includes compilation with a cold cache


def figures(diagnostics: list[Any]) -> dict[str, str]:
    statuses = [status for message in diagnostics for status in message.status if "observer" in status.name]
    return {item.key: item.value for item in statuses[-1].values} if statuses else {}


def vector(message: Any) -> Any:
    return np.array([message.x, message.y, message.z])


def rotation(message: Any) -> Rotation:
    return Rotation.from_quat([message.x, message.y, message.z, message.w])


def test_observer_follows_the_vehicle_owns_the_frames_and_takes_a_pose(graph: Any) -> None:
    arguments = ["world:=urban", "lidar:=none", "gps:=low_cost", "encoders:=quadrature"]
    launch = graph.start_command([sys.executable, "-m", "proving_ground", "launch", "observer", *arguments])
    truth, estimates = graph.collect(Odometry, "/ground_truth/odom"), graph.collect(Odometry, "/odometry/filtered")
    sideslip = graph.collect(Float64, "/observer/sideslip")
    forces = graph.collect(Float64MultiArray, "/observer/tyre_forces")
    transforms, diagnostics = graph.collect(TFMessage, "/tf", qos.TF), graph.collect(DiagnosticArray, "/diagnostics")
    commands = graph.node.create_publisher(Twist, "/cmd_vel", qos.RELIABLE)
    poses = graph.node.create_publisher(PoseWithCovarianceStamped, "/initialpose", qos.RELIABLE)
    graph.wait_until(lambda: truth and figures(diagnostics).get("status") == "starting", "all nodes", START_WAIT_S)

    pose = PoseWithCovarianceStamped()
    pose.header.frame_id = "map"
    pose.pose.pose.position.x, pose.pose.pose.position.y, pose.pose.pose.orientation.w = 10.0, -2.0, 1.0
    pose.pose.covariance[[0, 7, 35]] = 0.01, 0.01, 0.001
    graph.wait_until(poses.get_subscription_count, "a subscriber of poses")
    repeating = graph.node.create_timer(0.5, lambda: poses.publish(pose))  # rejected until the first sample has arrived
    graph.wait_until(lambda: estimates, "the first estimate")
    repeating.cancel()
    command = Twist()
    command.linear.x = 4.0
    timer = graph.node.create_timer(0.05, lambda: commands.publish(command))
    graph.wait_until(lambda: truth[-1].pose.pose.position.x > 25.0, "15 m of driving")
    timer.cancel()
    graph.wait_until(lambda: "aligned" in figures(diagnostics).get("status", ""), "alignment")

    def pairs() -> list[tuple[Any, Any]]:
        true = {read_stamp(m.header.stamp): m.pose.pose.position for m in truth}
        return [(m.pose.pose.position, true[t]) for m in estimates if (t := read_stamp(m.header.stamp)) in true]

    graph.wait_until(lambda: len(pairs()) > 100, "estimates of times that the truth has")
    off = np.array([(a.x - b.x, a.y - b.y) for a, b in pairs()])
    assert float(np.sqrt((off**2).sum(axis=1).mean())) < 1.0  # the GPS alone: 1.8 m
    assert estimates[-1].header.frame_id == "map"
    assert estimates[-1].child_frame_id == "base_link"
    covariance = np.reshape(estimates[-1].pose.covariance, (6, 6))
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert all(math.isfinite(message.data) for message in sideslip)
    assert forces[-1].layout.dim[1].label == ",".join(FORCE_COLUMNS)
    load = np.reshape(forces[-1].data, (4, -1))[:, 0]
    assert load.sum() == pytest.approx(25_240.0, rel=0.1)  # 2573 kg
    edges = {(t.header.frame_id, t.child_frame_id) for m in transforms for t in m.transforms}
    assert {("map", "odom"), ("odom", "base_link")} <= edges
    poses_by_time = {read_stamp(m.header.stamp): m.pose.pose for m in estimates}
    both = [m for m in transforms if {t.child_frame_id for t in m.transforms} == {"odom", "base_link"}]
    frames = [m for m in both if read_stamp(m.transforms[0].header.stamp) in poses_by_time][-1]
    by_child = {t.child_frame_id: t for t in frames.transforms}
    spot = poses_by_time[read_stamp(by_child["odom"].header.stamp)]
    rotations = {child: rotation(t.transform.rotation) for child, t in by_child.items()}
    shifts = {child: vector(t.transform.translation) for child, t in by_child.items()}
    assert shifts["odom"] + rotations["odom"].apply(shifts["base_link"]) == pytest.approx(
        vector(spot.position), abs=1e-6
    )
    assert (rotations["odom"] * rotations["base_link"] * rotation(spot.orientation).inv()).magnitude() < 1e-6
    publishers = graph.node.get_publishers_info_by_topic("/tf")
    assert {item.node_name for item in publishers} == {"vehicle", "observer"}
    assert {"nis gps_position", "gated wheels", "busy_share"} <= set(figures(diagnostics))

    client = graph.node.create_client(Trigger, "/observer/reset")
    assert graph.call(client, Trigger.Request()).success
    graph.wait_until(lambda: "restarts: requested" in launch.output, "a new beginning")
    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0
    assert "Traceback" not in launch.output


def test_bad_samples_and_poses_are_rejected_with_a_reason(graph: Any) -> None:
    graph.start("observer", "--ros-args", "-p", "kind:=ins")
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    imu = graph.node.create_publisher(Imu, "/imu/data_raw", qos.SENSOR)
    poses = graph.node.create_publisher(PoseWithCovarianceStamped, "/initialpose", qos.RELIABLE)
    graph.wait_until(lambda: figures(diagnostics), "the observer", START_WAIT_S)
    graph.wait_until(imu.get_subscription_count, "a subscriber of the IMU")

    bad = Imu()
    bad.header.stamp.sec = 1_767_225_600
    bad.angular_velocity.x = math.nan
    for _ in range(5):
        imu.publish(bad)
    graph.wait_until(lambda: "imu: not finite" in str(figures(diagnostics)), "a report of NaN")
    elsewhere = PoseWithCovarianceStamped()
    elsewhere.header.frame_id = "odom"
    poses.publish(elsewhere)
    graph.wait_until(
        lambda: "initialpose rejected: is in frame 'odom'" in str(figures(diagnostics)), "a report of the frame"
    )


# A straight drive to the east at 5 m/s, without a vehicle: sensors at 50 Hz, fixes at 5 Hz.

SPEED, RADIUS = 5.0, 0.46
LATITUDE, LONGITUDE = 43.483, -8.242  # of the level world's origin, about
BEGIN_NS = 1_767_225_600 * NS_PER_S
PERIOD_NS = NS_PER_S // 50


class Sensors:
    """Publishes the sensor messages of such a drive."""

    def __init__(self, graph: Any, *without: str) -> None:
        types = {
            "/imu/data_raw": Imu, "/gps/fix": NavSatFix, "/gps/vel": TwistWithCovarianceStamped,
            "/wheels/joint_states": JointState, "/vehicle/actuation": JointState,
        }  # fmt: skip
        self._graph = graph
        self._publishers = {
            topic: graph.node.create_publisher(kind, topic, qos.RELIABLE)
            for topic, kind in types.items()
            if topic not in without
        }

    def wait_for_ears(self, *topics: str) -> None:
        for topic in topics or ("/imu/data_raw", "/gps/fix", "/gps/vel", "/wheels/joint_states"):
            if topic in self._publishers:
                self._graph.wait_until(self._publishers[topic].get_subscription_count, f"a subscriber of {topic}")

    def play(self, seconds: float, first_s: float = 0.0, change: Callable[[Any], None] = lambda message: None) -> None:
        """Publish as fast as the observer can receive without loss: about real time."""
        for count in range(round(first_s * 50), round((first_s + seconds) * 50)):
            for topic, message in drive_messages(count):
                if topic in self._publishers:
                    change(message)
                    self._publishers[topic].publish(message)
            self._graph.spin_for(0.015)


def drive_messages(count: int) -> Iterator[tuple[str, Any]]:
    stamp, way = ns_to_stamp(BEGIN_NS + count * PERIOD_NS), SPEED * count / 50.0
    wheels = JointState(name=WHEELS, position=[way / RADIUS] * 4, velocity=[SPEED / RADIUS] * 4, effort=[0.0] * 4)
    # Throttle and engine speed that hold about 5 m/s; the filter estimates the rest as a disturbance.
    pedals = JointState(name=DRIVE, position=[0.0, 0.1, 0.0, 0.0], velocity=[0.0, 0.0, 0.0, 110.0], effort=[0.0] * 4)
    imu = Imu()
    # Slightly different: equal samples would look like a frozen sensor.
    imu.linear_acceleration.z, imu.angular_velocity.x = 9.80665, 1e-6 * (count % 7)
    found: list[tuple[str, Any]] = [("/wheels/joint_states", wheels), ("/vehicle/actuation", pedals)]
    found.append(("/imu/data_raw", imu))
    if count % 10 == 0:
        fix, moves = NavSatFix(latitude=LATITUDE, altitude=50.0), TwistWithCovarianceStamped()
        fix.longitude = LONGITUDE + way / (111_320.0 * math.cos(math.radians(LATITUDE)))
        fix.status.status = 0
        fix.position_covariance[[0, 4, 8]], fix.position_covariance_type = (0.01, 0.01, 0.04), 2
        moves.twist.twist.linear.x = SPEED
        moves.twist.covariance[[0, 7, 14]] = 0.0025
        found += [("/gps/fix", fix), ("/gps/vel", moves)]
    for topic, message in found:
        message.header.stamp = stamp
        yield topic, message


@pytest.fixture
def estimates(graph: Any) -> list[Any]:
    found: list[Any] = graph.collect(Odometry, "/odometry/filtered")
    return found


def started(graph: Any, *parameters: str, kind: str = "ins", without: tuple[str, ...] = ()) -> tuple[Any, Any, Any]:
    """The node, its diagnostics and connected sensors."""
    options = [word for text in (f"kind:={kind}", *parameters) for word in ("-p", text)]
    process = graph.start("observer", "--ros-args", *options)
    diagnostics, sensors = graph.collect(DiagnosticArray, "/diagnostics"), Sensors(graph, *without)
    graph.wait_until(lambda: figures(diagnostics), "the observer", START_WAIT_S)
    sensors.wait_for_ears()
    return process, diagnostics, sensors


def driven(sensors: Sensors, estimates: list[Any]) -> float:
    """Drive until estimates come steadily, which takes long with a cold kernel cache; the time then [s]."""
    for second in range(60):
        before = len(estimates)
        sensors.play(1.0, float(second))
        if second >= 2 and len(estimates) - before > 40:
            return second + 1.0
    return pytest.fail("no estimates")


def seconds_of(estimates: list[Any]) -> list[float]:
    return [(read_stamp(message.header.stamp) - BEGIN_NS) / NS_PER_S for message in estimates]


def test_a_bag_that_plays_again_is_observed_again(graph: Any, estimates: list[Any]) -> None:
    process, _, sensors = started(graph)
    driven(sensors, estimates)
    first = len(estimates)

    sensors.play(3.0)
    graph.spin_for(0.5)

    again = seconds_of(estimates[first:])
    assert sum(second < 3.0 for second in again) > 100
    assert "restarts: time went back" in process.output
    assert "Traceback" not in process.output


def test_a_stray_stamp_does_not_stop_the_estimates(graph: Any, estimates: list[Any]) -> None:
    process, _, sensors = started(graph)

    def stray(message: Any) -> None:
        if isinstance(message, Imu):
            message.header.stamp = ns_to_stamp(read_stamp(message.header.stamp) + 3600 * NS_PER_S)

    at = driven(sensors, estimates)
    first = len(estimates)
    sensors.play(0.02, at, stray)
    sensors.play(1.0, at + 0.02)

    graph.wait_until(lambda: seconds_of(estimates)[-1] > at + 0.9, "the last estimate")
    assert max(seconds_of(estimates)) < at + 1.1
    assert len(estimates) - first > 40
    assert "restarts: " not in process.output


def test_silence_of_all_inputs_is_reported(graph: Any, estimates: list[Any]) -> None:
    _, diagnostics, sensors = started(graph)
    driven(sensors, estimates)

    graph.wait_until(lambda: figures(diagnostics).get("status") == "dead reckoning", "dead reckoning")
    assert "imu: silent" in figures(diagnostics)["warnings"]
    graph.wait_until(lambda: figures(diagnostics).get("status") == "invalid", "an invalid estimate")


def test_a_simulation_that_stands_still_is_not_silent(graph: Any, estimates: list[Any]) -> None:
    _, diagnostics, sensors = started(graph)
    clock = graph.node.create_publisher(Clock, "/clock", qos.SENSOR)
    at = driven(sensors, estimates)
    paused = Clock(clock=ns_to_stamp(BEGIN_NS + round(at) * NS_PER_S))
    timer = graph.node.create_timer(0.02, lambda: clock.publish(paused))

    graph.spin_for(4.0)
    assert figures(diagnostics)["status"] in ("aligning", "aligned")
    assert "silent" not in figures(diagnostics)["warnings"]

    paused.clock = ns_to_stamp(BEGIN_NS + (round(at) + 6) * NS_PER_S)  # runs on, without sensors
    graph.wait_until(lambda: figures(diagnostics).get("status") == "invalid", "an invalid estimate")
    timer.cancel()


def test_absurd_poses_are_rejected_and_the_node_lives_on(graph: Any, estimates: list[Any]) -> None:
    process, diagnostics, sensors = started(graph)
    poses = graph.node.create_publisher(PoseWithCovarianceStamped, "/initialpose", qos.RELIABLE)
    graph.wait_until(poses.get_subscription_count, "a subscriber of poses")
    at = driven(sensors, estimates)

    for words, position, variance in (
        ("far from the datum", 1e300, 0.0),
        ("negative", 0.0, -1.0),
        ("not finite", 0.0, math.nan),
    ):
        pose = PoseWithCovarianceStamped()
        pose.pose.pose.orientation.w = 1.0
        pose.pose.pose.position.x, pose.pose.covariance[0] = position, variance
        poses.publish(pose)

        graph.wait_until(lambda words=words: words in figures(diagnostics).get("pose", ""), f"a reason: {words}")
        before = len(estimates)
        sensors.play(1.0, at)
        at += 1.0
        assert len(estimates) > before
        assert process.is_running()


def test_missing_topics_are_reported_and_rejection_warnings_end(graph: Any) -> None:
    _, diagnostics, sensors = started(graph, without=("/gps/vel", "/wheels/joint_states"))

    def spoil(message: Any) -> None:
        if isinstance(message, Imu):
            message.angular_velocity.x = math.nan

    sensors.play(0.5, 0.0, spoil)
    graph.wait_until(lambda: "imu: not finite" in figures(diagnostics).get("samples", ""), "a report of NaN")
    sensors.play(3.0, 0.5)
    graph.wait_until(lambda: "gps/vel: none has come" in figures(diagnostics)["warnings"], "a report of velocities")
    assert "wheels/joint_states: none has come" in figures(diagnostics)["warnings"]
    assert "imu/data_raw" not in figures(diagnostics)["warnings"]

    graph.wait_until(lambda: figures(diagnostics)["samples"].startswith("OK"), "an end of the warning")
    assert int(figures(diagnostics)["rejected imu: not finite"]) > 0


def test_wheels_without_actuation_are_rejected(graph: Any) -> None:
    _, diagnostics, sensors = started(graph, kind="vehicle", without=("/vehicle/actuation",))

    sensors.play(4.0)

    graph.wait_until(lambda: "vehicle/actuation: none has come" in figures(diagnostics)["warnings"], "a report of it")
    found = figures(diagnostics)
    assert int(found["rejected wheels/joint_states: no actuation near its time"]) > 50
    assert int(found["used wheels"]) == 0
    assert int(found["used gps_position"]) > 0


def test_load_latency_and_delay_are_reported(graph: Any, estimates: list[Any]) -> None:
    _, diagnostics, sensors = started(graph)
    now_ns = graph.node.get_clock().now().nanoseconds

    def dated_now(message: Any) -> None:
        message.header.stamp = ns_to_stamp(read_stamp(message.header.stamp) - BEGIN_NS + now_ns)

    sensors.play(3.0, 0.0, dated_now)
    graph.wait_until(lambda: estimates and "latency_ms" in figures(diagnostics), "latency")

    found = [{item.key: item.value for item in s.values} for m in diagnostics for s in m.status if "observer" in s.name]
    latencies = [float(item["latency_ms"]) for item in found if item.get("latency_ms", "unknown") != "unknown"]
    delays = [float(v) for item in found for k, v in item.items() if k == "delay_ms imu/data_raw" and v != "unknown"]
    assert latencies
    assert min(latencies) > 0.0
    assert delays
    # Of all threads of the process: it may have more than one, but this work is far from a core.
    assert all(0.0 <= float(item["busy_share"]) < 4.0 for item in found)
