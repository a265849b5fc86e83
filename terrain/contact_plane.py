"""The plane that a wheel stands on: fitted to the ground around its contact, weighted by how deep the wheel presses.

On a plane it is that plane, to rounding. Over kerbs and bumps it tilts and rises smoothly, because it is fitted to many
points instead of one. Where soft soil meets hard ground, the soft points are lowered by the wheel's sinkage: the hard
ground's edge is a kerb to climb, or one to roll down from.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, inlined_part
from proving_ground.kernels.vector3 import Vector3, unit
from terrain.ground import Ground, GroundSample, ground_at, ground_sample_at
from terrain.obstacle_tops import MOST_NEAR, near_obstacles, top_of
from terrain.soil import RIGID

Array = NDArray[np.float64]

# Sample points, as shares of the radius along and of the width across; and how far the wheel's rim is
# under its centre there, as a share of the radius.
ALONG = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)
LIFT = tuple(math.sqrt(1.0 - share * share) for share in ALONG)
ACROSS = (-0.35, 0.0, 0.35)
POINTS = len(ALONG) * len(ACROSS)
MOST_STRIPS = 20  # across a tyre on soft soil
# Scratch of a wheel's contact: height of each point, over the centre and then over the plane, its soil (less
# than 0 on hard ground beside soft soil), its hardness; the same for a second pass; profile and rut of each strip,
# pressure that the rut's floor bears, its elastic stiffness, and depth that it lost; obstacles within reach.
SOIL_FROM, HARD_FROM, SECOND_FROM = POINTS, 2 * POINTS, 3 * POINTS
PROFILE_FROM = 2 * SECOND_FROM
RUT_FROM = PROFILE_FROM + len(ALONG) * MOST_STRIPS
FLOOR_FROM, SPRING_FROM, LOST_FROM = (RUT_FROM + count * MOST_STRIPS for count in (1, 2, 3))
NEAR_FROM = RUT_FROM + 4 * MOST_STRIPS
SAMPLES = NEAR_FROM + MOST_NEAR
DEPTH = 0.02  # [m]: points shallower than the deepest by more than this do not count
LEAST_WEIGHT = 1e-3  # of a point that does not touch: keeps the fit definite
SMOOTH = 0.002  # [m]: rougher ground is sampled twice
FURTHER = 0.01  # [m]: how far ahead the second pass is
SMALLEST = 1e-4  # [m]: deflection below which a wheel hardly touches
MOST_WALL = 10.0  # limit: a tyre cannot resolve steeper steps; with 5 they give back more than they took


class ContactPlane(NamedTuple):
    """Plane through the point under the wheel's centre."""

    height: float  # there [m]
    normal: Vector3  # unit
    rough: float  # largest height over the plane of a point that the wheel may touch [m]
    is_bare: bool  # nothing but this plane, of one soil: heights and soils of points are not written
    is_mixed: bool  # points are of more than one soil
    soil: int  # index of the soft soil, where there is one; else of the hard ground under the centre
    hardness: float  # share of the contact that is on hard ground
    friction: float  # of that
    lowered: float  # how far soft points lie under the soil's surface beside hard ground [m]
    wall: float  # change of the distance from the plane per distance ahead, beyond what its tilt explains


class _Fit(NamedTuple):
    """z = height + along a + across b."""

    height: float
    along: float
    across: float


@inlined
def contact_plane(
    ground: Ground, centre: Vector3, axis: Vector3, radius: float, width: float, squeeze: float, scratch: Array
) -> ContactPlane:
    """Fitted plane under a wheel, given its centre [m] and spin axis (unit) in world axes, radius and width [m].

    scratch (SAMPLES) is written to. squeeze [m]: deflection of the tyre on soft soil, from which its sinkage follows.
    """
    level = math.hypot(axis[0], axis[1])
    near = scratch[NEAR_FROM:NEAR_FROM]
    if len(ground.obstacles.boxes) + len(ground.obstacles.cylinders) > 0:
        count = near_obstacles(ground.obstacles, centre, radius, radius, scratch[NEAR_FROM:])
        near = scratch[NEAR_FROM : NEAR_FROM + count]
    if level < 1e-6 or (len(near) == 0 and _is_plane(ground, centre[0], radius)):
        point = ground_at(ground, centre[0], centre[1])
        soil = ground.soils[point.soil]
        hardness, number = 1.0 if soil.kind == RIGID else 0.0, np.int64(point.soil)
        return ContactPlane(point.height, point.normal, 0.0, True, False, number, hardness, soil.friction, 0.0, 0.0)
    left_x, left_y = axis[0] / level, axis[1] / level
    ahead_x, ahead_y = left_y, -left_x
    plane = ContactPlane(0.0, axis, 0.0, False, False, np.int64(0), 1.0, 0.0, 0.0, 0.0)
    for look in range(2):
        base, further = look * SECOND_FROM, look * FURTHER
        position = (centre[0] + further * ahead_x, centre[1] + further * ahead_y, centre[2])
        deepest, deepest_soft, is_mixed, has_hard = _sample(
            ground, position, left_x, left_y, radius, width, near, scratch[base:]
        )
        number = np.int64(scratch[base + SOIL_FROM])
        soil = ground.soils[number]
        hardness, friction, lowered = 1.0 if soil.kind == RIGID else 0.0, soil.friction, 0.0
        if is_mixed:
            lowered = max(deepest_soft - squeeze, 0.0) if has_hard else 0.0
            deepest, number, hardness, friction = _mixture(ground, radius, lowered, scratch[base:])
        fit = _fitted(radius, width, deepest, scratch[base:])
        slope_x, slope_y = fit.along * ahead_x + fit.across * left_x, fit.along * ahead_y + fit.across * left_y
        normal = unit((-slope_x, -slope_y, 1.0))
        if look == 1:
            # A wheel on hard ground is a spring: its forward force is what moving ahead takes from its energy. Over
            # the edges of kerbs that is more than the fitted plane gives.
            here, ahead = (centre[2] - plane.height) * plane.normal[2], -fit.height * normal[2]
            known_slope = plane.normal[0] * ahead_x + plane.normal[1] * ahead_y
            # The energy goes with the square of the deflection: the force over the next bit of the way is that of its
            # mean deflection, of which the load now is a part.
            now, then = radius - here, max(radius - ahead, 0.0)
            mean = 0.5 * (1.0 + then / now) if now > SMALLEST else 1.0
            wall = min(max((ahead - here) / FURTHER * mean - known_slope, -MOST_WALL), MOST_WALL)
            return ContactPlane(
                plane.height, plane.normal, plane.rough, False, plane.is_mixed, plane.soil, plane.hardness,
                plane.friction, plane.lowered, wall,
            )  # fmt: skip
        rough, k = 0.0, 0
        for i in range(len(ALONG)):
            for j in range(len(ACROSS)):
                over = scratch[k] - fit.height - fit.along * ALONG[i] * radius - fit.across * ACROSS[j] * width
                is_soil = scratch[SOIL_FROM + k] >= 0.0
                if is_soil and scratch[k] + LIFT[i] * radius > 0.0:
                    rough = max(rough, over)
                scratch[k] = over if is_soil else 0.0
                k += 1
        plane = ContactPlane(
            centre[2] + fit.height, normal, rough, False, is_mixed, number, hardness, friction, lowered, 0.0
        )
        if hardness == 0.0 or (rough < SMOOTH and lowered == 0.0):
            break
    return plane


@inlined_part
def _sample(
    ground: Ground, centre: Vector3, left_x: float, left_y: float, radius: float, width: float, near: Array,
    scratch: Array,
) -> tuple[float, float, bool, bool]:  # fmt: skip
    """Write heights over the centre, soils and hardnesses of all points; near: obstacles that may be in the way.

    Returns the largest depth in the wheel, that of soft ground, whether soils differ, and whether one is hard.
    """
    deepest, deepest_soft, k = -math.inf, -math.inf, 0
    is_mixed, has_hard = False, False
    for i in range(len(ALONG)):
        a = ALONG[i] * radius
        x, y = centre[0] + a * left_y, centre[1] - a * left_x
        for j in range(len(ACROSS)):
            b = ACROSS[j] * width
            sample = ground_sample_at(ground, x + b * left_x, y + b * left_y)
            if len(near) > 0:
                top = top_of(ground.obstacles, near, x + b * left_x, y + b * left_y)
                if top > sample.height:
                    sample = GroundSample(top, ground.top_soil, 1.0)
            scratch[k], scratch[SOIL_FROM + k] = sample.height - centre[2], sample.soil
            scratch[HARD_FROM + k] = sample.hardness
            depth = scratch[k] + LIFT[i] * radius
            deepest = max(deepest, depth)
            is_mixed = is_mixed or sample.soil != scratch[SOIL_FROM]
            has_hard = has_hard or sample.hardness > 0.0
            if sample.hardness < 0.5:
                deepest_soft = max(deepest_soft, depth)
            k += 1
    return deepest, deepest_soft, is_mixed, has_hard


@inlined_part
def _mixture(ground: Ground, radius: float, lowered: float, scratch: Array) -> tuple[float, int, float, float]:
    """Largest depth in the wheel, the soft soil that carries most, share of the contact on hard ground, friction there.

    Soft points are lowered [m]. Hard ones are marked: for the soft part they are in the plane, of its soil.
    """
    deepest = -math.inf
    for k in range(POINTS):
        scratch[k] -= lowered * (1.0 - scratch[HARD_FROM + k])
        deepest = max(deepest, scratch[k] + LIFT[k // len(ACROSS)] * radius)
    total = hard = friction = weights = 0.0
    number, most = np.int64(0), -1.0
    for k in range(POINTS):
        share = max(1.0 + (scratch[k] + LIFT[k // len(ACROSS)] * radius - deepest) / DEPTH, 0.0)
        here = np.int64(scratch[SOIL_FROM + k])
        total += share * share
        hard += share * share * scratch[HARD_FROM + k]
        if ground.soils[here].kind == RIGID:
            weights += share * share + 1e-9
            friction += (share * share + 1e-9) * ground.soils[here].friction
            scratch[SOIL_FROM + k] = -1.0
        elif share > most:
            number, most = here, share
    return deepest, number, hard / total, friction / max(weights, 1e-9)


@inlined
def _is_plane(ground: Ground, x: float, radius: float) -> bool:
    """Whether there is only a plane within the wheel's reach."""
    p = ground.plane
    if ground.grid.heights.size > 1:
        return False
    return p.bump_height == 0.0 or x + radius < p.bump_start or x - radius > p.bump_start + p.bump_length


@inlined
def _fitted(radius: float, width: float, deepest: float, heights: Array) -> _Fit:
    """Plane through the heights under a wheel by weighted least squares."""
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
