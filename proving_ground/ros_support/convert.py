"""Conversion between numpy arrays and geometry messages; every function rejects what is not finite.

Vectors are arrays of 3, quaternions arrays of 4 (x, y, z, w), covariances 3x3 or 6x6 (row-major in messages).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Pose, Quaternion, Transform, Twist, Vector3
from numpy.typing import ArrayLike, NDArray

from proving_ground.interfaces.fields import UNIT_TOLERANCE

Array = NDArray[np.float64]

SYMMETRY_TOLERANCE = 1e-6


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


def pose_to_msg(position: ArrayLike, quaternion: ArrayLike) -> Pose:
    """geometry_msgs/Pose of a position [m] and a quaternion."""
    return Pose(position=point_to_msg(position), orientation=quaternion_to_msg(quaternion))


def pose_from_msg(message: Pose) -> tuple[Array, Array]:
    """Position [m] and unit quaternion of a pose."""
    return vector_from_msg(message.position), quaternion_from_msg(message.orientation)


def transform_to_msg(translation: ArrayLike, quaternion: ArrayLike) -> Transform:
    """geometry_msgs/Transform of a translation [m] and a quaternion."""
    return Transform(translation=vector_to_msg(translation), rotation=quaternion_to_msg(quaternion))


def twist_to_msg(linear: ArrayLike, angular: ArrayLike) -> Twist:
    """geometry_msgs/Twist of linear [m/s] and angular [rad/s] velocity."""
    return Twist(linear=vector_to_msg(linear), angular=vector_to_msg(angular))


def twist_from_msg(message: Twist) -> tuple[Array, Array]:
    """Linear [m/s] and angular [rad/s] velocity of a twist."""
    return vector_from_msg(message.linear), vector_from_msg(message.angular)


def covariance_to_msg(covariance: ArrayLike) -> list[float]:
    """Row-major list of a 3x3 or 6x6 covariance; raises ValueError when it is not symmetric positive semidefinite."""
    matrix = np.asarray(covariance, dtype=float)
    size = 6 if matrix.size == 36 else 3
    flat: list[float] = checked_covariance(finite(matrix, (size, size), "covariance")).ravel().tolist()
    return flat


def covariance_from_msg(values: Any) -> Array:
    """3x3 or 6x6 covariance of a message field of 9 or 36 values; raises ValueError as covariance_to_msg does."""
    flat = np.asarray(values, dtype=float)
    size = {9: 3, 36: 6}.get(flat.size)
    if size is None:
        raise ValueError(f"covariance has {flat.size} values, allowed 9 or 36")
    return checked_covariance(finite(flat.reshape(size, size), (size, size), "covariance"))


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


def checked_covariance(matrix: Array) -> Array:
    """The symmetric part of the matrix; raises ValueError if it is not symmetric positive semidefinite."""
    scale = float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > SYMMETRY_TOLERANCE * scale:
        raise ValueError("covariance is not symmetric")
    symmetric: Array = 0.5 * matrix + 0.5 * matrix.T  # halves first: a sum of 1e308s would overflow
    if scale > 0.0 and np.linalg.eigvalsh(symmetric / scale).min() < -SYMMETRY_TOLERANCE:
        raise ValueError("covariance is not positive semidefinite")
    return symmetric
