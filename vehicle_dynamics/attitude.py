"""Attitudes as quaternions x, y, z, w in arrays, for kernels that integrate them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.jit_part import part
from vehicle_dynamics.vector3 import Vector3, cross, dot

Array = NDArray[np.float64]


@part
def normalise(quaternion: Array) -> None:
    """To length one, in place."""
    total = 0.0
    for k in range(4):
        total += quaternion[k] * quaternion[k]
    for k in range(4):
        quaternion[k] /= math.sqrt(total)


@part
def quaternion_rate(quaternion: Array, w: Vector3, is_in_body_axes: bool, out: Array) -> None:
    """Rate of an attitude that turns with the angular velocity w, given in the body's own or in inertial axes."""
    q, scalar = (quaternion[0], quaternion[1], quaternion[2]), quaternion[3]
    side = cross(q, w) if is_in_body_axes else cross(w, q)
    for k in range(3):
        out[k] = 0.5 * (scalar * w[k] + side[k])
    out[3] = -0.5 * dot(q, w)


@part
def rotation_matrix(quaternion: Array, r: Array) -> None:
    """Rotation matrix (9 entries, row by row) of an attitude, which need not be quite of length one."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    s = 2.0 / (x * x + y * y + z * z + w * w)
    r[0], r[1], r[2] = 1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)
    r[3], r[4], r[5] = s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)
    r[6], r[7], r[8] = s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)


@part
def turn_back(r: Array, a: Vector3) -> Vector3:
    """Transpose of a rotation matrix (9 entries, row by row) times a vector."""
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )
