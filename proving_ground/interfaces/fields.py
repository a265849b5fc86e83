"""Fields of messages, filled and read alike with rclpy's and rosbags' classes.

Both have the same attributes. They differ in variable arrays (`array.array` or numpy), which `numbers` hides, and in
how an empty message is made: codecs that add parts to a list get a `Maker`.
"""

from __future__ import annotations

import array
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proving_ground.settings.units import NS_PER_S

Array = NDArray[np.float64]
Maker = Callable[[str], Any]  # an empty message of a ROS type such as 'std_msgs/msg/String'

UNIT_TOLERANCE: Final = 0.1  # a quaternion further from unit length is a mistake, not a rounding error
ROUNDING: Final = 1e-12  # a quaternion closer to unit length is not changed: reading is the inverse of writing
# Plausibility limits.
FARTHEST_M, FASTEST_MPS, FASTEST_RADPS = 1e7, 1e3, 1e3
HARDEST_MPS2, HARDEST_RADPS2, LARGEST = 1e6, 1e6, 1e9


def is_of_bag(message: Any) -> bool:
    """Whether a message is an instance of a rosbags class."""
    return hasattr(message, "__msgtype__")


def numbers(message: Any, values: ArrayLike, kind: str = "d") -> Any:
    """Values for a variable array of a message; kind: type code of `array.array`."""
    found = np.ascontiguousarray(values, kind)
    return found.ravel() if is_of_bag(message) else array.array(kind, found.tobytes())


def set_stamp(stamp: Any, time_ns: int) -> None:
    """Fill a stamp with a time since 1970 [ns]; raises ValueError outside the range of a stamp."""
    seconds, rest = divmod(time_ns, NS_PER_S)
    if not -(2**31) <= seconds < 2**31:
        raise ValueError(f"time {time_ns} ns does not fit a ROS stamp")
    stamp.sec, stamp.nanosec = seconds, rest


def read_stamp(stamp: Any) -> int:
    """Integer time [ns] of a stamp; raises ValueError when its nanoseconds are a second or more."""
    if not 0 <= stamp.nanosec < NS_PER_S:
        raise ValueError(f"stamp has nanosec {stamp.nanosec}, allowed 0 to {NS_PER_S - 1}")
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


def set_vector(message: Any, values: Sequence[float]) -> None:
    """Fill a Vector3 or Point with three plain floats."""
    message.x, message.y, message.z = values


def set_quaternion(message: Any, values: Sequence[float]) -> None:
    """Fill a Quaternion with x, y, z, w as plain floats."""
    message.x, message.y, message.z, message.w = values


def set_heading(message: Any, heading: float) -> None:
    """Fill a Quaternion with a rotation about z [rad]."""
    set_quaternion(message, (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading)))


def diagonal(values: Sequence[float]) -> Array:
    """Row-major covariance of a message from its diagonal."""
    return np.diag(values).ravel()


def read_vector(message: Any, name: str, most: float) -> tuple[float, float, float]:
    """x, y, z of a Vector3 or Point; raises ValueError unless all are finite and at most `most` in magnitude.

    name: what the error is about; its text has no values, so that it can be counted.
    """
    x, y, z = float(message.x), float(message.y), float(message.z)
    if not (abs(x) <= most and abs(y) <= most and abs(z) <= most):  # NaN fails too
        if not all(map(math.isfinite, (x, y, z))):
            raise ValueError(f"{name} is not finite")
        raise ValueError(f"{name} must be within {most:g}")
    return x, y, z


def read_quaternion(message: Any) -> tuple[float, float, float, float]:
    """Unit quaternion x, y, z, w; raises ValueError when it is far from unit length or not finite."""
    x, y, z, w = float(message.x), float(message.y), float(message.z), float(message.w)
    if not all(map(math.isfinite, (x, y, z, w))):
        raise ValueError("quaternion is not finite")
    length = math.hypot(x, y, z, w)  # which does not overflow
    if not abs(length - 1.0) <= UNIT_TOLERANCE:
        raise ValueError("quaternion is not of unit length")
    if abs(length - 1.0) > ROUNDING:
        return x / length, y / length, z / length, w / length
    return x, y, z, w
