"""Attitudes as quaternions (x, y, z, w) that rotate body axes into world axes, for kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import Vector3, cross, dot

Array = NDArray[np.float64]


class Rotation(NamedTuple):
    """Rotation matrix by rows: world_from_chassis."""

    x: Vector3
    y: Vector3
    z: Vector3


@inlined_part
def rotation_from(quaternion: Array | Sequence[float]) -> Rotation:
    """Rotation matrix of a quaternion x y z w of any length but zero."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return Rotation(
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


@inlined_part
def to_world(rotation: Rotation, a: Vector3) -> Vector3:
    """A vector from chassis to world axes."""
    return (dot(rotation.x, a), dot(rotation.y, a), dot(rotation.z, a))


@inlined_part
def to_chassis(rotation: Rotation, a: Vector3) -> Vector3:
    """A vector from world to chassis axes."""
    r = rotation
    return (
        r.x[0] * a[0] + r.y[0] * a[1] + r.z[0] * a[2],
        r.x[1] * a[0] + r.y[1] * a[1] + r.z[1] * a[2],
        r.x[2] * a[0] + r.y[2] * a[1] + r.z[2] * a[2],
    )


@inlined_part
def quaternion_rate(quaternion: Array, angular_velocity: Vector3, is_in_body_axes: bool, out: Array) -> None:
    """Rate of a quaternion x y z w at an angular velocity [rad/s] in body axes, or else in inertial axes."""
    axis, scalar = (quaternion[0], quaternion[1], quaternion[2]), quaternion[3]
    side = cross(axis, angular_velocity) if is_in_body_axes else cross(angular_velocity, axis)
    for k in range(3):
        out[k] = 0.5 * (scalar * angular_velocity[k] + side[k])
    out[3] = -0.5 * dot(axis, angular_velocity)


@inlined_part
def normalise(quaternion: Array) -> None:
    """Scale a quaternion to length one, in place."""
    total = 0.0
    for k in range(4):
        total += quaternion[k] * quaternion[k]
    inverse = 1.0 / math.sqrt(total)
    for k in range(4):
        quaternion[k] *= inverse


@inlined_part
def rotation_matrix(quaternion: Array, out: Array) -> None:
    """Rotation matrix of a unit quaternion x y z w into an array (9), row by row."""
    rows = rotation_from(quaternion)
    for k in range(3):
        out[k], out[3 + k], out[6 + k] = rows.x[k], rows.y[k], rows.z[k]


@inlined_part
def rotate_back(matrix: Array, a: Vector3) -> Vector3:
    """Transpose of a rotation matrix (9, row by row) times a vector."""
    r = matrix
    return (
        r[0] * a[0] + r[3] * a[1] + r[6] * a[2],
        r[1] * a[0] + r[4] * a[1] + r[7] * a[2],
        r[2] * a[0] + r[5] * a[1] + r[8] * a[2],
    )


@inlined_part
def rotate_quaternion(quaternion: Array, angle: Vector3, out: Array) -> None:
    """out = quaternion rotated by the rotation vector `angle` [rad], chassis axes, at length one."""
    square = dot(angle, angle)
    if square > 1e-8:
        size = math.sqrt(square)
        scale, cosine = math.sin(0.5 * size) / size, math.cos(0.5 * size)
    else:  # series: the next terms are below 1e-18
        scale, cosine = 0.5 - square / 48.0, 1.0 - square / 8.0
    a, b, c = scale * angle[0], scale * angle[1], scale * angle[2]
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    x, y, z, w = (
        w * a + x * cosine + y * c - z * b,
        w * b - x * c + y * cosine + z * a,
        w * c + x * b - y * a + z * cosine,
        w * cosine - x * a - y * b - z * c,
    )
    out[0], out[1], out[2], out[3] = x, y, z, w
    normalise(out)
