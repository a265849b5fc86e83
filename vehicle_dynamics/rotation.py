"""Chassis attitude as a quaternion (x, y, z, w) that turns chassis axes into world axes, for kernels on scalars."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.jit import inlined
from vehicle_dynamics.vector3 import Vector3, dot

Array = NDArray[np.float64]


class Rotation(NamedTuple):
    """Rotation matrix by rows: world_from_chassis."""

    x: Vector3
    y: Vector3
    z: Vector3


@inlined
def rotation_from(quaternion: Array) -> Rotation:
    """Rotation matrix of a quaternion (4) of any length but zero."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    s = 2.0 / (x * x + y * y + z * z + w * w)
    return Rotation(
        (1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)),
        (s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)),
        (s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)),
    )


@inlined
def to_world(rotation: Rotation, a: Vector3) -> Vector3:
    """A vector of chassis axes in world axes."""
    return (dot(rotation.x, a), dot(rotation.y, a), dot(rotation.z, a))


@inlined
def to_chassis(rotation: Rotation, a: Vector3) -> Vector3:
    """A vector of world axes in chassis axes."""
    r = rotation
    return (
        r.x[0] * a[0] + r.y[0] * a[1] + r.z[0] * a[2],
        r.x[1] * a[0] + r.y[1] * a[1] + r.z[1] * a[2],
        r.x[2] * a[0] + r.y[2] * a[1] + r.z[2] * a[2],
    )


@inlined
def quaternion_rate(quaternion: Array, turn: Vector3) -> tuple[float, float, float, float]:
    """Rate of a quaternion at the angular velocity `turn` [rad/s], chassis axes."""
    x, y, z, w = quaternion[0], quaternion[1], quaternion[2], quaternion[3]
    a, b, c = 0.5 * turn[0], 0.5 * turn[1], 0.5 * turn[2]
    return (w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a, -x * a - y * b - z * c)


@inlined
def turn_quaternion(quaternion: Array, angle: Vector3, out: Array) -> None:
    """out = quaternion turned by the rotation vector `angle` [rad], chassis axes, at length one."""
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
    inverse = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    out[0], out[1], out[2], out[3] = x * inverse, y * inverse, z * inverse, w * inverse
