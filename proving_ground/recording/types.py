"""Standard messages without ROS: the classes of ROS 2 Jazzy that the rosbags library has, to and from bytes."""

from __future__ import annotations

import functools
from typing import Any

from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.typesys import Stores, get_typestore

from proving_ground.interfaces.profiles import LATCHED, RELIABLE, SENSOR, Profile

NS_PER_S = 1_000_000_000

_FOREVER = QosTime(9223372036, 854775807)


def to_rosbags(profile: Profile) -> Qos:
    """rosbags' QoS of a declared profile: a replay offers what the nodes offered."""
    reliability = QosReliability.RELIABLE if profile.is_reliable else QosReliability.BEST_EFFORT
    durability = QosDurability.TRANSIENT_LOCAL if profile.is_latched else QosDurability.VOLATILE
    history, liveliness = QosHistory.KEEP_LAST, QosLiveliness.AUTOMATIC
    return Qos(history, profile.depth, reliability, durability, _FOREVER, _FOREVER, liveliness, _FOREVER, False)


SENSOR_QOS, STATE_QOS, LATCHED_QOS = to_rosbags(SENSOR), to_rosbags(RELIABLE), to_rosbags(LATCHED)


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
