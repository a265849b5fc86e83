"""Vectors as tuples of three floats, for numba kernels: no allocation, and the compiler keeps them in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined

Vector3: TypeAlias = tuple[float, float, float]

ZERO: Vector3 = (0.0, 0.0, 0.0)


@inlined
def vector(a: Sequence[float] | NDArray[np.float64]) -> Vector3:
    """The first three values of an array, such as a record's field, as a vector."""
    return (a[0], a[1], a[2])


@inlined
def three(a: Sequence[float] | NDArray[np.float64], start: int) -> Vector3:
    """Three values of an array from an index on, as a vector."""
    return (a[start], a[start + 1], a[start + 2])


@inlined
def combine(x: float, a: Vector3, y: float, b: Vector3) -> Vector3:
    """x a + y b."""
    return (x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2])


@inlined
def add(a: Vector3, b: Vector3) -> Vector3:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def sub(a: Vector3, b: Vector3) -> Vector3:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inlined
def scale(factor: float, a: Vector3) -> Vector3:
    """factor * a."""
    return (factor * a[0], factor * a[1], factor * a[2])


@inlined
def add_scaled(a: Vector3, factor: float, b: Vector3) -> Vector3:
    """a + factor * b."""
    return (a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2])


@inlined
def dot(a: Vector3, b: Vector3) -> float:
    """Inner product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector3, b: Vector3) -> Vector3:
    """Vector product."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def norm(a: Vector3) -> float:
    """Length of a vector."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inlined
def unit(a: Vector3) -> Vector3:
    """a scaled to length one."""
    return scale(1.0 / norm(a), a)


@inlined
def rotate(axis: Vector3, cosine: float, sine: float, a: Vector3) -> Vector3:
    """a rotated about the unit axis by the angle whose cosine and sine are given (Rodrigues)."""
    along = (1.0 - cosine) * dot(axis, a)
    side = cross(axis, a)
    return (
        cosine * a[0] + sine * side[0] + along * axis[0],
        cosine * a[1] + sine * side[1] + along * axis[1],
        cosine * a[2] + sine * side[2] + along * axis[2],
    )
