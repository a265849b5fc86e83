"""Standard messages without ROS: classes of ROS 2 Jazzy from the rosbags library, to and from bytes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype, Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
from rosbags.typesys import Stores, get_typestore

from proving_ground.interfaces.profiles import LATCHED, RELIABLE, SENSOR, Profile
from proving_ground.settings.units import NS_PER_S

# Defaults in definitions that the library drops.
_DEFAULTS: dict[str, dict[str, float]] = {
    "geometry_msgs/msg/Quaternion": {"w": 1.0},
    "sensor_msgs/msg/NavSatStatus": {"status": -2},
}
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
    """All standard types of ROS 2 Jazzy; created once, which takes 0.1 s."""
    return get_typestore(Stores.ROS2_JAZZY)


def empty(type_name: str, frame: str = "") -> Any:
    """A message whose fields have their defaults, for the codecs of interfaces; frame: of its header."""
    message = _maker(type_name)()
    if frame:
        message.header.frame_id = frame
    return message


@functools.cache
def _maker(type_name: str) -> Callable[[], Any]:
    made, fields = store().types[type_name], store().fielddefs[type_name][1]
    own = _DEFAULTS.get(type_name, {})
    defaults = [partial(_same, own[name]) if name in own else _default(*shape) for name, shape in fields]
    return lambda: made(*(default() for default in defaults))


def _same(value: Any) -> Any:
    return value


def _default(kind: Nodetype, shape: Any) -> Callable[[], Any]:
    if kind == Nodetype.NAME:
        return _maker(shape)
    if kind == Nodetype.BASE:
        zero = {"string": "", "bool": False, "float32": 0.0, "float64": 0.0}.get(shape[0], 0)
        return partial(_same, zero)
    (inner, details), count = shape[0], shape[1] if kind == Nodetype.ARRAY else 0
    if inner == Nodetype.BASE and details[0] != "string":
        number = np.dtype({"byte": "uint8", "octet": "uint8", "char": "uint8"}.get(details[0], details[0]))
        return lambda: np.zeros(count, number)
    item = _default(inner, details)
    return lambda: [item() for _ in range(count)]


def new(message_type: str, *values: Any) -> Any:
    """A message of a type, with values in the order of its definition."""
    return store().types[message_type](*values)


def to_bytes(message: Any) -> bytes | memoryview:
    """A message as CDR bytes, as in DDS and bags."""
    data: bytes | memoryview = store().serialize_cdr(message, message.__msgtype__)
    return data


def from_bytes(data: bytes, message_type: str) -> Any:
    """The message in CDR bytes; raises ValueError for bytes that are not of its type."""
    try:
        return store().deserialize_cdr(data, message_type)
    except Exception as error:  # bad bytes make the library's generated code raise arbitrary exceptions
        raise ValueError(f"not a {message_type}: {error}") from None


def stamp(time_ns: int) -> Any:
    """builtin_interfaces/Time of a time [ns]."""
    return new("builtin_interfaces/msg/Time", *divmod(time_ns, NS_PER_S))


def header(time_ns: int, frame: str) -> Any:
    """std_msgs/Header of a time [ns] and a frame id."""
    return new("std_msgs/msg/Header", stamp(time_ns), frame)
