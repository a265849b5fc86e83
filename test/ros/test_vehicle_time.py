"""The vehicle node's time over real DDS: exact, paused, stepped, reset, and as fast as possible."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from std_srvs.srv import SetBool, Trigger

from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos
from proving_ground.settings.units import NS_PER_S
from running_vehicle import PERIOD_NS, Car, Sender, twist, vector

START_NS = 1767225600 * NS_PER_S  # 2026-01-01
EACH = QoSProfile(depth=1000)  # none is lost while the test is not scheduled


def test_time_is_exact_and_odometry_agrees_with_itself(graph: Any) -> None:
    car = Car(graph, "-p", "start.speed_mps:=5.0", "-p", "start.heading_deg:=90.0")
    clock = graph.collect(Clock, "/clock", qos.CLOCK)
    accelerations = graph.collect(AccelStamped, "/ground_truth/accel", EACH)
    car.odometry = graph.collect(Odometry, "/ground_truth/odom", EACH)
    Sender(graph, "/cmd_vel", twist(6.0, 0.6))
    car.wait_for(lambda: len(car.odometry) > 250, "two and a half seconds")

    times = [read_stamp(message.clock) for message in clock]
    assert all((value - START_NS) % PERIOD_NS == 0 for value in times)
    assert all(after > before for before, after in itertools.pairwise(times))
    assert len(graph.node.get_publishers_info_by_topic("/clock")) == 1
    stamps = np.array([read_stamp(message.header.stamp) for message in car.odometry])
    assert set(np.diff(stamps)) == {PERIOD_NS}

    positions = np.array([vector(message.pose.pose.position) for message in car.odometry])
    attitudes = Rotation.from_quat([_quaternion(message.pose.pose.orientation) for message in car.odometry])
    velocities = np.array([vector(message.twist.twist.linear) for message in car.odometry])  # in base_link
    world = attitudes.apply(velocities)
    travelled = np.cumsum(0.5 * (world[1:] + world[:-1]) * 0.01, axis=0)
    # Semi-implicit Euler moves by the new velocity, so that half a step times the change of velocity is left over.
    np.testing.assert_allclose(positions[1:] - positions[0], travelled, atol=0.5e-3 * 12.0)
    assert velocities[-1][0] > 4.0
    assert abs(velocities[-1][1]) < 1.0  # not world axes, in which it drives to the left
    rotation = (attitudes[0].inv() * attitudes[-1]).as_rotvec()[2]
    rates = np.array([message.twist.twist.angular.z for message in car.odometry])
    assert rotation == pytest.approx(np.sum(0.5 * (rates[1:] + rates[:-1])) * 0.01, abs=5e-3)
    first = car.odometry[0]
    assert (first.header.frame_id, first.child_frame_id) == ("map", "base_link")
    covariance = np.reshape(first.pose.covariance, (6, 6))
    assert np.linalg.eigvalsh(covariance).min() > 0.0
    assert accelerations[-1].header.frame_id == "base_link"
    published = {read_stamp(message.header.stamp): vector(message.accel.linear) for message in accelerations}
    by_differences = (world[2:] - world[:-2]) / 0.02
    pairs = [
        (attitude.apply(published[stamp]), found)
        for stamp, attitude, found in zip(stamps[1:-1], attitudes[1:-1], by_differences, strict=True)
        if stamp in published
    ]
    assert len(pairs) > 100
    # Springs and carcasses swing between samples: the mean square shows a wrong axis or position, single values do not.
    assert np.sqrt(np.mean([np.square(mine - found) for mine, found in pairs])) < 0.2  # [m/s^2]


def test_pause_step_and_reset(graph: Any) -> None:
    car = Car(graph)
    clock = graph.collect(Clock, "/clock", qos.CLOCK)
    Sender(graph, "/cmd_vel", twist(3.0))
    car.wait_for(lambda: car.odometry[-1].pose.pose.position.x > 0.0, "some way")

    rejected = car.call(Trigger, "step", Trigger.Request())
    assert not rejected.success
    assert "paused" in rejected.message

    stands_at, count = car.pause(), len(car.odometry)
    clock.clear()
    car.wait_for(lambda: len(clock) >= 3, "/clock while paused")
    assert {read_stamp(message.clock) for message in clock} == {stands_at}
    assert len(car.odometry) == count
    car.wait_for_words("paused")

    assert car.call(Trigger, "step", Trigger.Request()).success
    car.wait_for(lambda: len(car.odometry) > count, "the step")
    assert car.time_ns == stands_at + PERIOD_NS

    assert car.call(Trigger, "reset", Trigger.Request()).success
    assert car.call(Trigger, "step", Trigger.Request()).success
    car.wait_for(lambda: car.time_ns > stands_at + PERIOD_NS, "the step after the reset")
    assert car.time_ns == stands_at + 2 * PERIOD_NS
    assert abs(car.odometry[-1].pose.pose.position.x) < 0.01  # base_link is where it started

    assert car.call(SetBool, "pause", SetBool.Request(data=False)).success
    car.wait_for(lambda: car.speed > 1.0, "driving on")
    assert all(b.header.stamp != a.header.stamp for a, b in itertools.pairwise(car.odometry))


def test_unpaced_vehicle_still_answers_and_its_time_only_grows(graph: Any) -> None:
    car = Car(graph)
    assert "must be a number from 0 to 100" in set_factor(graph, -1.0).reason
    assert set_factor(graph, 0.0).successful  # as fast as possible
    client = graph.node.create_client(Trigger, "/simulation/step")
    at = car.time_ns

    answers = [graph.call(client, Trigger.Request()) for _ in range(10)]
    car.wait_for(lambda: car.time_ns > at + 20 * NS_PER_S, "20 simulated seconds")

    assert not any(answer.success for answer in answers)  # it is not paused
    stamps = [read_stamp(message.header.stamp) for message in car.odometry]
    assert all(after > before for before, after in itertools.pairwise(stamps))


def set_factor(graph: Any, factor: float) -> Any:
    client = graph.node.create_client(SetParameters, "/vehicle/set_parameters")
    parameter = Parameter("real_time_factor", value=factor).to_parameter_msg()
    return graph.call(client, SetParameters.Request(parameters=[parameter])).results[0]


def _quaternion(message: Any) -> tuple[float, float, float, float]:
    return message.x, message.y, message.z, message.w
