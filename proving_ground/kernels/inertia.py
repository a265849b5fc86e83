"""Rigid-body inertias in scalars, for the vehicle's kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import Vector3

Symmetric: TypeAlias = tuple[float, float, float, float, float, float]  # xx, yy, zz, xy, xz, yz


class RigidInertia(NamedTuple):
    """A rigid body in chassis axes; inertia about its centre."""

    mass: float
    centre: Vector3
    inertia: Symmetric


@inlined_part
def about_origin(inertia: Symmetric, mass: float, centre: Vector3) -> Symmetric:
    """Inertia about the origin of a body whose inertia about its centre is given (parallel axes)."""
    x, y, z = centre
    xx, yy, zz, xy, xz, yz = inertia
    return (
        xx + mass * (y * y + z * z),
        yy + mass * (x * x + z * z),
        zz + mass * (x * x + y * y),
        xy - mass * x * y,
        xz - mass * x * z,
        yz - mass * y * z,
    )


@inlined_part
def times(inertia: Symmetric, a: Vector3) -> Vector3:
    """Product of a symmetric 3x3 inertia and a vector."""
    xx, yy, zz, xy, xz, yz = inertia
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )


@inlined_part
def rod_inertia(across: float, along: float, n: Vector3) -> Symmetric:
    """Inertia about its centre of a rod along the unit vector n, from its moments across and along it."""
    extra = along - across
    return (
        across + extra * n[0] * n[0],
        across + extra * n[1] * n[1],
        across + extra * n[2] * n[2],
        extra * n[0] * n[1],
        extra * n[0] * n[2],
        extra * n[1] * n[2],
    )


@inlined_part
def rotated_inertia(inertia: Sequence[float], x: Vector3, y: Vector3, z: Vector3) -> Symmetric:
    """Inertia rotated so that its design axes point along x, y, z: R I R^T, summed over columns."""
    xx, yy, zz = inertia[0], inertia[1], inertia[2]
    xy, xz, yz = inertia[3], inertia[4], inertia[5]
    a = (xx * x[0] + xy * y[0] + xz * z[0], xx * x[1] + xy * y[1] + xz * z[1], xx * x[2] + xy * y[2] + xz * z[2])
    b = (xy * x[0] + yy * y[0] + yz * z[0], xy * x[1] + yy * y[1] + yz * z[1], xy * x[2] + yy * y[2] + yz * z[2])
    c = (xz * x[0] + yz * y[0] + zz * z[0], xz * x[1] + yz * y[1] + zz * z[1], xz * x[2] + yz * y[2] + zz * z[2])
    return (
        a[0] * x[0] + b[0] * y[0] + c[0] * z[0],
        a[1] * x[1] + b[1] * y[1] + c[1] * z[1],
        a[2] * x[2] + b[2] * y[2] + c[2] * z[2],
        a[0] * x[1] + b[0] * y[1] + c[0] * z[1],
        a[0] * x[2] + b[0] * y[2] + c[0] * z[2],
        a[1] * x[2] + b[1] * y[2] + c[1] * z[2],
    )
