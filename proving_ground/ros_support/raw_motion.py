"""Motion messages read from their bytes: only what read_odometry and read_accel need, at a tenth of the cost.

rclpy makes Python objects of all fields, the covariances of an odometry included. Bytes in another encoding than the
usual one (CDR, little-endian) are left to rclpy.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message

from proving_ground.interfaces import topics

_PLAIN: Final = b"\x00\x01"  # CDR, little-endian
_CONTENT: Final = 4  # where alignment begins
_STAMP: Final = struct.Struct("<iI")
_LENGTH: Final = struct.Struct("<I")
_SIX: Final = struct.Struct("<6d")
_SEVEN: Final = struct.Struct("<7d")
_COVARIANCE: Final = 36 * 8


class _Stamp(NamedTuple):
    sec: int
    nanosec: int


class _Header(NamedTuple):
    stamp: _Stamp
    frame_id: str


class _Vector(NamedTuple):
    x: float
    y: float
    z: float


class _Quaternion(NamedTuple):
    x: float
    y: float
    z: float
    w: float


class _Pose(NamedTuple):
    position: _Vector
    orientation: _Quaternion


class _Pair(NamedTuple):
    linear: _Vector
    angular: _Vector


class _WithPose(NamedTuple):
    pose: _Pose


class _WithTwist(NamedTuple):
    twist: _Pair


class _Odometry(NamedTuple):
    header: _Header
    child_frame_id: str
    pose: _WithPose
    twist: _WithTwist


class _Accel(NamedTuple):
    header: _Header
    accel: _Pair


def odometry_of(data: bytes) -> Any:
    """What is needed of a nav_msgs/Odometry; raises ValueError for bytes that are too short."""
    if data[:2] != _PLAIN:
        return deserialize_message(data, Odometry)
    try:
        header, at = _header(data)
        child, at = _text(data, at)
        at = _aligned(at)
        x, y, z, *rotation = _SEVEN.unpack_from(data, at)
        pose = _Pose(_Vector(x, y, z), _Quaternion(*rotation))
        twist = _pair(data, at + _SEVEN.size + _COVARIANCE)
    except struct.error as error:
        raise ValueError(f"is too short: {error}") from None
    return _Odometry(header, child, _WithPose(pose), _WithTwist(twist))


def accel_of(data: bytes) -> Any:
    """What is needed of a geometry_msgs/AccelStamped; raises ValueError for bytes that are too short."""
    if data[:2] != _PLAIN:
        return deserialize_message(data, AccelStamped)
    try:
        header, at = _header(data)
        return _Accel(header, _pair(data, _aligned(at)))
    except struct.error as error:
        raise ValueError(f"is too short: {error}") from None


READERS: Final[dict[str, Callable[[bytes], Any]]] = {  # by type
    topics.TRUTH_ODOM.type: odometry_of,
    topics.TRUTH_ACCEL.type: accel_of,
}


def _header(data: bytes) -> tuple[_Header, int]:
    """The header, and where it ends."""
    frame, at = _text(data, _CONTENT + _STAMP.size)
    return _Header(_Stamp(*_STAMP.unpack_from(data, _CONTENT)), frame), at


def _text(data: bytes, at: int) -> tuple[str, int]:
    at += -at % 4
    (length,) = _LENGTH.unpack_from(data, at)  # with its closing 0
    begin = at + _LENGTH.size
    return data[begin : begin + length - 1].decode("utf-8", "replace"), begin + length


def _aligned(at: int) -> int:
    return int(at + (_CONTENT - at) % 8)


def _pair(data: bytes, at: int) -> _Pair:
    x, y, z, *angular = _SIX.unpack_from(data, at)
    return _Pair(_Vector(x, y, z), _Vector(*angular))
