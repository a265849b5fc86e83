"""Motion messages read from their bytes: the same as by rclpy, to the bit."""

from __future__ import annotations

import pytest
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message

from proving_ground.interfaces.fields import set_quaternion, set_stamp, set_vector
from proving_ground.interfaces.motion_codec import read_accel, read_odometry
from proving_ground.ros_support.raw_motion import accel_of, odometry_of

TIME_NS = 1_767_225_600_123_456_789
NAMES = ["", "a", "map", "odom", "robot_1/base_link", "fünf"]


@pytest.mark.parametrize("frame", NAMES)
@pytest.mark.parametrize("child", NAMES)
def test_odometry_is_that_of_the_message(frame: str, child: str) -> None:
    message = Odometry(child_frame_id=child)
    message.header.frame_id = frame
    set_stamp(message.header.stamp, TIME_NS)
    set_vector(message.pose.pose.position, (1.1, -0.0, 1e-310))
    set_quaternion(message.pose.pose.orientation, (0.5, -0.5, 0.5, -0.5))
    set_vector(message.twist.twist.linear, (-3.3, 0.1, 0.7))
    set_vector(message.twist.twist.angular, (0.2, 0.3, -0.9))
    message.pose.covariance[:] = 2.0
    message.twist.covariance[:] = 3.0

    found = odometry_of(serialize_message(message))

    assert repr(read_odometry(found)) == repr(read_odometry(message))
    assert (found.header.frame_id, found.child_frame_id) == (frame, child)


@pytest.mark.parametrize("frame", NAMES)
def test_acceleration_is_that_of_the_message(frame: str) -> None:
    message = AccelStamped()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, TIME_NS)
    set_vector(message.accel.linear, (-3.3, 0.1, -0.0))
    set_vector(message.accel.angular, (0.2, 0.3, -0.9))

    found = accel_of(serialize_message(message))

    assert repr(read_accel(found)) == repr(read_accel(message))
    assert (found.header.stamp.sec, found.header.stamp.nanosec) == divmod(TIME_NS, 10**9)


@pytest.mark.parametrize("unpack", [odometry_of, accel_of])
@pytest.mark.parametrize("length", [4, 10, 40])
def test_bytes_that_end_early_are_rejected(unpack: object, length: int) -> None:
    data = serialize_message(Odometry() if unpack is odometry_of else AccelStamped())

    with pytest.raises(ValueError, match="too short"):
        unpack(data[:length])  # type: ignore[operator]
