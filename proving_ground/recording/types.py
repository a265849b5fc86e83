"""Standard messages without ROS: the classes of ROS 2 Jazzy that the rosbags library has, to and from bytes."""

from __future__ import annotations

import functools
from typing import Any, Final

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.typesys import Stores, get_typestore

from proving_ground.settings.units import NS_PER_S

IMU: Final = "sensor_msgs/msg/Imu"
FIX: Final = "sensor_msgs/msg/NavSatFix"
VELOCITY: Final = "geometry_msgs/msg/TwistWithCovarianceStamped"
JOINTS: Final = "sensor_msgs/msg/JointState"
ODOMETRY: Final = "nav_msgs/msg/Odometry"
ACCEL: Final = "geometry_msgs/msg/AccelStamped"
WRENCH: Final = "geometry_msgs/msg/WrenchStamped"
CLOUD: Final = "sensor_msgs/msg/PointCloud2"
SCAN: Final = "sensor_msgs/msg/LaserScan"
TEXT: Final = "std_msgs/msg/String"
NUMBER: Final = "std_msgs/msg/Float64"
TRANSFORMS: Final = "tf2_msgs/msg/TFMessage"


_FOREVER = QosTime(9223372036, 854775807)


def _qos(depth: int, reliability: QosReliability, durability: QosDurability) -> Qos:
    history, liveliness = QosHistory.KEEP_LAST, QosLiveliness.AUTOMATIC
    return Qos(history, depth, reliability, durability, _FOREVER, _FOREVER, liveliness, _FOREVER, False)


# As proving_ground.ros_support.qos has them: a replay offers what the nodes offered.
SENSOR_QOS = _qos(5, QosReliability.BEST_EFFORT, QosDurability.VOLATILE)
STATE_QOS = _qos(10, QosReliability.RELIABLE, QosDurability.VOLATILE)
LATCHED_QOS = _qos(1, QosReliability.RELIABLE, QosDurability.TRANSIENT_LOCAL)


@functools.cache
def store() -> Any:
    """All standard types of ROS 2 Jazzy; made once, which takes 0.1 s."""
    return get_typestore(Stores.ROS2_JAZZY)


def new(message_type: str, *values: Any) -> Any:
    """A message; values in the order of its definition."""
    return store().types[message_type](*values)


def to_bytes(message: Any) -> bytes | memoryview:
    """CDR as DDS and bags have it."""
    data: bytes | memoryview = store().serialize_cdr(message, message.__msgtype__)
    return data


def from_bytes(data: bytes, message_type: str) -> Any:
    """A message; raises ValueError for bytes that are none of its type."""
    try:
        return store().deserialize_cdr(data, message_type)
    except Exception as error:  # the library raises whatever bad bytes lead its generated code to
        raise ValueError(f"not a {message_type}: {error}") from None


def stamp(time_ns: int) -> Any:
    """builtin_interfaces/Time."""
    return new("builtin_interfaces/msg/Time", *divmod(time_ns, NS_PER_S))


def header(time_ns: int, frame: str) -> Any:
    """std_msgs/Header."""
    return new("std_msgs/msg/Header", stamp(time_ns), frame)
