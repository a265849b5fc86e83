"""The observer node with the vehicle and its sensors, each a process of its own, over real DDS."""

from __future__ import annotations

import math
import signal
import sys
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped, Twist
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import Imu
from std_msgs.msg import Float64, Float64MultiArray
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from ros_support import qos
from ros_support.observer_messages import FORCE_COLUMNS
from ros_support.time import stamp_to_ns

START_WAIT_S = 150.0  # compiles, where that was never done


def figures(diagnostics: list[Any]) -> dict[str, str]:
    statuses = [status for message in diagnostics for status in message.status if "observer" in status.name]
    return {item.key: item.value for item in statuses[-1].values} if statuses else {}


def vector(message: Any) -> Any:
    return np.array([message.x, message.y, message.z])


def rotation(message: Any) -> Rotation:
    return Rotation.from_quat([message.x, message.y, message.z, message.w])


def test_observer_follows_the_vehicle_owns_the_frames_and_takes_a_pose(graph: Any) -> None:
    arguments = ["world:=urban", "lidar:=none", "gps:=low_cost", "encoders:=quadrature"]
    launch = graph.start_command([sys.executable, "-m", "scenarios.cli", "launch", "observer", *arguments])
    truth, told = graph.collect(Odometry, "/ground_truth/odom"), graph.collect(Odometry, "/odometry/filtered")
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
    graph.wait_until(poses.get_subscription_count, "an ear for poses")
    telling = graph.node.create_timer(0.5, lambda: poses.publish(pose))  # refused until the first sample has come
    graph.wait_until(lambda: told, "the first estimate")
    telling.cancel()
    command = Twist()
    command.linear.x = 4.0
    timer = graph.node.create_timer(0.05, lambda: commands.publish(command))
    graph.wait_until(lambda: truth[-1].pose.pose.position.x > 25.0, "15 m of driving")
    timer.cancel()
    graph.wait_until(lambda: "aligned" in figures(diagnostics).get("status", ""), "alignment")

    true = {stamp_to_ns(m.header.stamp): m.pose.pose.position for m in truth}
    pairs = [(m.pose.pose.position, true[t]) for m in told if (t := stamp_to_ns(m.header.stamp)) in true]
    assert len(pairs) > 100
    off = np.array([(a.x - b.x, a.y - b.y) for a, b in pairs])
    assert float(np.sqrt((off**2).sum(axis=1).mean())) < 1.0  # the GPS alone: 1.8 m
    assert told[-1].header.frame_id == "map"
    assert told[-1].child_frame_id == "base_link"
    covariance = np.reshape(told[-1].pose.covariance, (6, 6))
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert all(math.isfinite(message.data) for message in sideslip)
    assert forces[-1].layout.dim[1].label == ",".join(FORCE_COLUMNS)
    load = np.reshape(forces[-1].data, (4, -1))[:, 0]
    assert load.sum() == pytest.approx(25_240.0, rel=0.1)  # 2573 kg
    edges = {(t.header.frame_id, t.child_frame_id) for m in transforms for t in m.transforms}
    assert {("map", "odom"), ("odom", "base_link")} <= edges
    frames = [m for m in transforms if {t.child_frame_id for t in m.transforms} == {"odom", "base_link"}][-1]
    by_child = {t.child_frame_id: t for t in frames.transforms}
    (spot,) = (m.pose.pose for m in told if m.header.stamp == by_child["odom"].header.stamp)
    turns = {child: rotation(t.transform.rotation) for child, t in by_child.items()}
    shifts = {child: vector(t.transform.translation) for child, t in by_child.items()}
    assert shifts["odom"] + turns["odom"].apply(shifts["base_link"]) == pytest.approx(vector(spot.position), abs=1e-6)
    assert (turns["odom"] * turns["base_link"] * rotation(spot.orientation).inv()).magnitude() < 1e-6
    publishers = graph.node.get_publishers_info_by_topic("/tf")
    assert {item.node_name for item in publishers} == {"vehicle", "observer"}
    assert {"nis gps_position", "gated wheels", "busy_share"} <= set(figures(diagnostics))

    client = graph.node.create_client(Trigger, "/observer/reset")
    assert graph.call(client, Trigger.Request()).success
    graph.wait_until(lambda: "begins anew, as asked" in launch.output, "a new beginning")
    launch.popen.send_signal(signal.SIGINT)
    assert launch.wait() == 0
    assert "Traceback" not in launch.output


def test_bad_samples_and_poses_are_refused_with_a_reason(graph: Any) -> None:
    graph.start("observer", "--ros-args", "-p", "kind:=ins")
    diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
    imu = graph.node.create_publisher(Imu, "/imu/data_raw", qos.SENSOR)
    poses = graph.node.create_publisher(PoseWithCovarianceStamped, "/initialpose", qos.RELIABLE)
    graph.wait_until(lambda: figures(diagnostics), "the observer", START_WAIT_S)
    graph.wait_until(imu.get_subscription_count, "an ear for the IMU")

    bad = Imu()
    bad.header.stamp.sec = 1_767_225_600
    bad.angular_velocity.x = math.nan
    for _ in range(5):
        imu.publish(bad)
    graph.wait_until(lambda: "imu: not finite" in str(figures(diagnostics)), "a word on NaN")
    elsewhere = PoseWithCovarianceStamped()
    elsewhere.header.frame_id = "odom"
    poses.publish(elsewhere)
    graph.wait_until(
        lambda: "initialpose refused: is in frame 'odom'" in str(figures(diagnostics)), "a word on the frame"
    )
