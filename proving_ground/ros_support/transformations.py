"""Quaternions (x, y, z, w) and Euler angles: tf_transformations where ROS has it, else transforms3d, which it wraps.

Euler angles are roll, pitch, yaw [rad] about fixed x, y, z axes, as ROS uses them.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

try:
    from tf_transformations import (
        euler_from_quaternion,
        quaternion_from_euler,
        quaternion_from_matrix,
        quaternion_matrix,
        quaternion_multiply,
    )
except ImportError:
    from transforms3d import affines, euler, quaternions

    def quaternion_from_euler(roll: float, pitch: float, yaw: float) -> Array:
        """Quaternion of a rotation by roll, then pitch, then yaw about fixed axes."""
        return _to_xyzw(euler.euler2quat(roll, pitch, yaw, axes="sxyz"))

    def euler_from_quaternion(quaternion: ArrayLike) -> tuple[float, float, float]:
        """Roll, pitch, yaw of a quaternion."""
        return cast(tuple[float, float, float], euler.quat2euler(_to_wxyz(quaternion), axes="sxyz"))

    def quaternion_multiply(second: ArrayLike, first: ArrayLike) -> Array:
        """Quaternion of a rotation by `first`, then by `second`."""
        return _to_xyzw(quaternions.qmult(_to_wxyz(second), _to_wxyz(first)))

    def quaternion_matrix(quaternion: ArrayLike) -> Array:
        """Homogeneous 4x4 matrix of a quaternion."""
        return cast(Array, affines.compose(np.zeros(3), quaternions.quat2mat(_to_wxyz(quaternion)), np.ones(3)))

    def quaternion_from_matrix(matrix: ArrayLike) -> Array:
        """Quaternion of the rotation in a homogeneous 4x4 matrix."""
        return _to_xyzw(quaternions.mat2quat(np.asarray(matrix)[:3, :3]))

    def _to_wxyz(quaternion: ArrayLike) -> Array:
        return np.roll(np.asarray(quaternion, dtype=float), 1)

    def _to_xyzw(quaternion: Array) -> Array:
        return np.roll(quaternion, -1)


__all__ = [
    "euler_from_quaternion",
    "quaternion_from_euler",
    "quaternion_from_matrix",
    "quaternion_matrix",
    "quaternion_multiply",
]
