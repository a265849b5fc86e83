"""Conversion between numpy arrays and geometry messages; every function rejects what is not finite.

Vectors are arrays of 3, quaternions arrays of 4 (x, y, z, w).
"""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Point, Quaternion, Transform, Twist, Vector3
from numpy.typing import ArrayLike, NDArray

from proving_ground.interfaces.fields import UNIT_TOLERANCE

Array = NDArray[np.float64]


def vector_to_msg(vector: ArrayLike) -> Vector3:
    """geometry_msgs/Vector3 of a vector."""
    x, y, z = finite(vector, (3,), "vector").tolist()
    return Vector3(x=x, y=y, z=z)


def point_to_msg(point: ArrayLike) -> Point:
    """geometry_msgs/Point of a position [m]."""
    x, y, z = finite(point, (3,), "point").tolist()
    return Point(x=x, y=y, z=z)


def vector_from_msg(message: Vector3 | Point) -> Array:
    """Array of a Vector3 or Point; raises ValueError unless all are finite."""
    return finite((message.x, message.y, message.z), (3,), "vector")


def quaternion_to_msg(quaternion: ArrayLike) -> Quaternion:
    """geometry_msgs/Quaternion of x, y, z, w, normalised."""
    x, y, z, w = normalised(finite(quaternion, (4,), "quaternion")).tolist()
    return Quaternion(x=x, y=y, z=z, w=w)


def quaternion_from_msg(message: Quaternion) -> Array:
    """Unit quaternion x, y, z, w of a message; raises ValueError when it is not one (all zeros, NaN)."""
    return normalised(finite((message.x, message.y, message.z, message.w), (4,), "quaternion"))


def transform_to_msg(translation: ArrayLike, quaternion: ArrayLike) -> Transform:
    """geometry_msgs/Transform of a translation [m] and a quaternion."""
    return Transform(translation=vector_to_msg(translation), rotation=quaternion_to_msg(quaternion))


def twist_to_msg(linear: ArrayLike, angular: ArrayLike) -> Twist:
    """geometry_msgs/Twist of linear [m/s] and angular [rad/s] velocity."""
    return Twist(linear=vector_to_msg(linear), angular=vector_to_msg(angular))


def finite(values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """A float array of that shape; raises ValueError naming the quantity otherwise."""
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} is not finite: {array.tolist()}")
    return array


def normalised(quaternion: Array) -> Array:
    """The quaternion at length one; raises ValueError when it is far from it."""
    length = float(np.linalg.norm(quaternion))
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise ValueError(f"quaternion has length {length:.3g}, expected 1")
    return np.asarray(quaternion / length)
