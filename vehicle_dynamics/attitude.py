"""Attitudes as matrices and quaternions (x, y, z, w), outside of kernels: importing scipy's costs each node 0.2 s."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rotation_from_quaternion(quaternion: Sequence[float] | Array) -> Array:
    """Rotation matrix (3 x 3) of a unit quaternion x, y, z, w."""
    x, y, z, w = (float(value) for value in quaternion)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
            [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
            [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation matrix (3 x 3) of angles [rad] about fixed x, then y, then z."""
    cr, sr, cp, sp, cy, sy = (f(angle) for angle in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def quaternion_from_rpy(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Unit quaternion x, y, z, w of angles [rad] about fixed x, then y, then z."""
    cr, sr, cp, sp, cy, sy = (f(0.5 * angle) for angle in (roll, pitch, yaw) for f in (math.cos, math.sin))
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


def pitch_of(quaternion: Sequence[float] | Array) -> float:
    """Pitch [rad] of a unit quaternion x, y, z, w; nose down is positive."""
    x, y, z, w = (float(value) for value in quaternion)
    return math.asin(min(max(2.0 * (y * w - x * z), -1.0), 1.0))
