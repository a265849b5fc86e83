"""Range of a suspension within which its loops close, and a clear error beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.suspension.strut import length_and_slope
from vehicle_dynamics.suspension.wishbone import WishboneGeometry, wishbone_pose

Array = NDArray[np.float64]

FARTHEST = 1.5  # [rad]: no lower arm swings that far
COARSE, RESOLUTION = 0.02, 1e-9  # [rad]


class ReachError(ValueError):
    """A lower-arm angle at which the suspension cannot be assembled."""


class Range(NamedTuple):
    """Lowest and highest lower-arm angle [rad] that a suspension reaches."""

    lowest: float
    highest: float


def reach(geometry: WishboneGeometry, tie_ends: Iterable[Vector3]) -> Range:
    """Angles that can be reached from the design position with the tie rod's inner end at any given position."""
    ends = list(tie_ends)

    def can_close(theta: float) -> bool:
        poses = [wishbone_pose(geometry, theta, end) for end in ends]
        return all(pose.upper_margin > 0.0 and pose.tie_margin > 0.0 for pose in poses)

    return Range(*(_last_true(can_close, sign) for sign in (-1.0, 1.0)))


def _last_true(holds: Callable[[float], bool], sign: float) -> float:
    """The farthest angle up to which the condition holds, outwards from zero in small steps, then by bisection."""
    inner = 0.0
    for outer in np.arange(COARSE, FARTHEST, COARSE):
        if not holds(sign * outer):
            break
        inner = float(outer)
    else:
        return sign * FARTHEST
    outer = inner + COARSE
    while outer - inner > RESOLUTION:
        middle = 0.5 * (inner + outer)
        inner, outer = (middle, outer) if holds(sign * middle) else (inner, middle)
    return sign * inner


def free_travel(strut: NDArray[np.void], limits: Range) -> Range:
    """Angles between the rebound and the bump stop, within the given limits."""
    angles = np.linspace(limits.lowest, limits.highest, 10001)
    lengths = np.array([length_and_slope(strut["spring_square"], np.cos(a), np.sin(a))[0] for a in angles])
    free = angles[(lengths > strut["bump_below"]) & (lengths < strut["rebound_above"])]
    return Range(float(free[0]), float(free[-1]))


def check_reach(theta: Sequence[float] | Array, limits: Sequence[Range], names: Sequence[str]) -> None:
    """Raise ReachError, with name and limits, when any lower-arm angle theta [rad] is out of reach or not finite."""
    for name, angle, limit in zip(names, theta, limits, strict=True):
        if not limit.lowest < angle < limit.highest:
            raise ReachError(
                f"{name}: the lower arm cannot be at {angle:.4g} rad; its reach is {limit.lowest:.4f} to"
                f" {limit.highest:.4f} rad"
            )
