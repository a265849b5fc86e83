"""The plane that a wheel stands on: fitted to the ground around its contact, where the wheel presses most.

On a plane it is that plane, to rounding. Over kerbs and bumps it tilts and rises smoothly, because it comes from many
points instead of one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain.ground import Ground, ground_at, height_at
from vehicle_dynamics.kernels.jit import inlined
from vehicle_dynamics.kernels.vector3 import Vector3, unit

Array = NDArray[np.float64]

# Where the ground is looked at, as shares of the radius along and of the width across; and how far the wheel's rim is
# under its centre there, as a share of the radius.
ALONG = (-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75)
LIFT = tuple(math.sqrt(1.0 - share * share) for share in ALONG)
ACROSS = (-0.35, 0.0, 0.35)
SAMPLES = len(ALONG) * len(ACROSS)
DEPTH = 0.02  # [m]: points that are this much less deep in the wheel than the deepest count no more
LEAST_WEIGHT = 1e-3  # of a point that does not touch: keeps the fit definite


class ContactPlane(NamedTuple):
    """Through the place under the wheel's centre."""

    height: float  # there [m]
    normal: Vector3  # unit
    rough: float  # largest height over the plane of a point that the wheel may touch [m]


class _Fit(NamedTuple):
    """z = height + along a + across b."""

    height: float
    along: float
    across: float


@inlined
def contact_plane(
    ground: Ground, centre: Vector3, axis: Vector3, radius: float, width: float, heights: Array
) -> ContactPlane:
    """Fitted plane under a wheel with its centre [m] and spin axis (unit); heights (SAMPLES) is written to."""
    level = math.hypot(axis[0], axis[1])
    if level < 1e-6 or _is_plane(ground, centre[0], radius):
        point = ground_at(ground, centre[0], centre[1])
        return ContactPlane(point.height, point.normal, 0.0)
    left_x, left_y = axis[0] / level, axis[1] / level
    ahead_x, ahead_y = left_y, -left_x
    deepest, k = -math.inf, 0
    for i in range(len(ALONG)):
        a = ALONG[i] * radius
        x, y = centre[0] + a * ahead_x, centre[1] + a * ahead_y
        for j in range(len(ACROSS)):
            b = ACROSS[j] * width
            heights[k] = height_at(ground, x + b * left_x, y + b * left_y) - centre[2]
            deepest = max(deepest, heights[k] + LIFT[i] * radius)
            k += 1
    fit = _fitted(radius, width, deepest, heights)
    rough, k = 0.0, 0
    for i in range(len(ALONG)):
        for j in range(len(ACROSS)):
            if heights[k] + LIFT[i] * radius > 0.0:
                plane = fit.height + fit.along * ALONG[i] * radius + fit.across * ACROSS[j] * width
                rough = max(rough, heights[k] - plane)
            k += 1
    slope_x, slope_y = fit.along * ahead_x + fit.across * left_x, fit.along * ahead_y + fit.across * left_y
    return ContactPlane(centre[2] + fit.height, unit((-slope_x, -slope_y, 1.0)), rough)


@inlined
def _is_plane(ground: Ground, x: float, radius: float) -> bool:
    """Whether there is nothing but a plane within the wheel's reach."""
    p = ground.plane
    if ground.grid.heights.size > 1:
        return False
    return p.bump_height == 0.0 or x + radius < p.bump_start or x - radius > p.bump_start + p.bump_length


@inlined
def _fitted(radius: float, width: float, deepest: float, heights: Array) -> _Fit:
    """Weighted least squares."""
    s = sa = sb = saa = sbb = sab = sz = saz = sbz = 0.0
    k = 0
    for i in range(len(ALONG)):
        a = ALONG[i] * radius
        for j in range(len(ACROSS)):
            b, z = ACROSS[j] * width, heights[k]
            k += 1
            share = max(1.0 + (z + LIFT[i] * radius - deepest) / DEPTH, 0.0)
            w = share * share + LEAST_WEIGHT
            s += w
            sa += w * a
            sb += w * b
            saa += w * a * a
            sbb += w * b * b
            sab += w * a * b
            sz += w * z
            saz += w * a * z
            sbz += w * b * z
    ma, mb, mz = sa / s, sb / s, sz / s
    caa, cbb, cab = saa / s - ma * ma, sbb / s - mb * mb, sab / s - ma * mb
    caz, cbz = saz / s - ma * mz, sbz / s - mb * mz
    determinant = caa * cbb - cab * cab
    along, across = (caz * cbb - cbz * cab) / determinant, (cbz * caa - caz * cab) / determinant
    return _Fit(mz - along * ma - across * mb, along, across)
