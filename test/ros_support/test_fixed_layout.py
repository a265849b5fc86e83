"""Views of messages as bytes: the same as rclpy's messages, to the bit, read and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import AccelStamped, PolygonStamped, PoseWithCovarianceStamped, TwistStamped
from nav_msgs.msg import Odometry, Path
from numpy.testing import assert_array_equal
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu, JointState, NavSatFix, PointCloud2
from std_msgs.msg import Bool, Char, Float32MultiArray, Header, Int8, MultiArrayDimension, String, UInt16, UInt64
from visualization_msgs.msg import Marker, MarkerArray

from proving_ground.interfaces.fields import set_quaternion, set_stamp, set_vector
from proving_ground.interfaces.motion_codec import read_accel, read_odometry
from proving_ground.interfaces.sensor_codec import fill_joints, name_joints
from proving_ground.ros_support.fixed_layout import MOST_LAYOUTS, Layout, Reader, View, as_published, fixed

TIME_NS = 1_767_225_600_123_456_789
NAMES = ["", "a", "map", "odom", "robot_1/base_link", "fünf"]
WHOLE = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64}


def _joints() -> JointState:
    message = JointState(header=Header(frame_id="car"))
    name_joints(message, ["a", "joint_two", "fünf"])
    return message


def _marker() -> Marker:
    message = Marker(ns="arcs", text="seven", mesh_resource="")
    message.header.frame_id = "odom"
    return message


MESSAGES = [
    AccelStamped(header=Header(frame_id="base_link")), Bool(), Char(), Header(frame_id="map"),
    Imu(header=Header(frame_id="imu_link")), Int8(), JointState(), _joints(),
    MarkerArray(markers=[_marker(), _marker()]),
    MultiArrayDimension(label="wheel"), NavSatFix(header=Header(frame_id="gps")), Path(), PolygonStamped(),
    Odometry(header=Header(frame_id="map"), child_frame_id="base_link"), PoseWithCovarianceStamped(),
    PointCloud2(header=Header(frame_id="lidar")), TwistStamped(header=Header(frame_id="x")), UInt16(), UInt64(),
    Float32MultiArray(data=[1.0, 2.0, 3.0]),
]  # fmt: skip


def _walk(message: Any, draw: Callable[[str], Any], target: Any, name: str, kind: str) -> None:
    """Draw one field of a message and set it in a target with the same attributes."""
    value = getattr(message, name)
    if hasattr(value, "get_fields_and_field_types"):
        _fill(value, draw, getattr(target, name))
    elif isinstance(value, list) and value and hasattr(value[0], "get_fields_and_field_types"):
        for part, other in zip(value, getattr(target, name), strict=True):
            _fill(part, draw, other)
    elif "string" not in kind and not isinstance(value, list):
        plain = kind.removeprefix("sequence<").split(">")[0].split("[")[0]
        drawn = [draw(plain) for _ in value] if hasattr(value, "__len__") else draw(plain)
        setattr(message, name, drawn)
        setattr(target, name, drawn)


def _fill(message: Any, draw: Callable[[str], Any], target: Any) -> None:
    for name, kind in message.get_fields_and_field_types().items():
        _walk(message, draw, target, name, kind)


def _assert_equal(view: Any, message: Any) -> None:
    for name in message.get_fields_and_field_types():
        value, found = getattr(message, name), getattr(view, name)
        if hasattr(value, "get_fields_and_field_types"):
            _assert_equal(found, value)
        elif isinstance(value, list) and value and hasattr(value[0], "get_fields_and_field_types"):
            for part, other in zip(value, found, strict=True):
                _assert_equal(other, part)
        else:
            assert_array_equal(found, value)


@pytest.mark.parametrize("empty", MESSAGES, ids=lambda message: type(message).__name__)
@pytest.mark.parametrize("seed", [1, 2])
def test_view_reads_and_writes_what_the_message_does(empty: Any, seed: int) -> None:
    random = np.random.default_rng(seed)

    def draw(kind: str) -> Any:
        if kind == "boolean":
            return bool(random.integers(2))
        if kind in WHOLE:
            low = 0 if kind.startswith("u") else -(2 ** (WHOLE[kind] - 1))
            return low + int(random.integers(2 ** (WHOLE[kind] - 1)))
        return float(np.float32(random.normal() * 1e3))

    message = deserialize_message(serialize_message(empty), type(empty))
    view = fixed(message)
    assert isinstance(view, View)

    _fill(message, draw, view)

    assert deserialize_message(bytes(view), type(message)) == message
    read = Reader(type(message))
    read(bytes(view))
    again = read(serialize_message(message))
    assert isinstance(again, View)
    _assert_equal(again, message)


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
    read = Reader(Odometry)

    for _ in range(2):  # the first is read by rclpy
        found = read(serialize_message(message))

        assert repr(read_odometry(found)) == repr(read_odometry(message))
        assert (found.header.frame_id, found.child_frame_id) == (frame, child)


def test_reader_follows_other_frames_and_lengths() -> None:
    read = Reader(JointState)
    for names in (["a"], ["b"], ["a", "b"], ["c"], ["d"], ["a"], ["e"], []):
        message = JointState(header=Header(frame_id="x"))
        name_joints(message, names)
        fill_joints(message, TIME_NS, *[np.arange(1.0, 1.0 + len(names))] * 3)

        found = read(serialize_message(message))

        assert list(found.name) == names
        assert_array_equal(found.effort, message.effort)
    assert len(read._layouts) == MOST_LAYOUTS


def test_views_of_a_reader_are_independent() -> None:
    read = Reader(AccelStamped)
    messages = [AccelStamped() for _ in range(3)]
    for count, message in enumerate(messages):
        set_vector(message.accel.linear, (float(count), 0.0, 0.0))

    views = [read(serialize_message(message)) for message in messages]

    assert [read_accel(view)[0][0] for view in views] == [0.0, 1.0, 2.0]


def test_a_view_keeps_the_number_of_values() -> None:
    view = fixed(_joints())

    with pytest.raises(ValueError, match="must have 3 numbers"):
        view.position = [1.0, 2.0]


def test_a_message_with_nothing_to_write_is_published_as_it_is() -> None:
    message = String(data="text")

    assert as_published(message) is message
    assert deserialize_message(as_published(fixed(message)), String) == message


def test_no_memory_of_the_process_is_in_the_padding() -> None:
    message = Odometry(header=Header(frame_id="map"), child_frame_id="b")

    assert len({bytes(Layout(message).writable()) for _ in range(20)}) == 1


@pytest.mark.parametrize("kind", [Odometry, JointState])
@pytest.mark.parametrize("length", [0, 1, 4, 10, 30])
def test_bytes_that_end_early_are_rejected(kind: type, length: int) -> None:
    message = kind(header=Header(frame_id="map"))
    read = Reader(kind)
    for _ in range(2):
        with pytest.raises(ValueError, match="cannot be read"):
            read(serialize_message(message)[:length])
        read(serialize_message(message))
