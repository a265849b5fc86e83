"""The ground as wheels meet it: height, normal, friction and kind at a place. World axes, z up.

A ground is a tuple that kernels take; `ground_at` answers for all kinds. What is here now is a plane with an optional
bump across the road; terrain adds its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from vehicle_dynamics.kernels.jit import inlined
from vehicle_dynamics.kernels.vector3 import Vector3, unit

RIGID = 0  # kind of contact: a tyre on hard ground


class GroundPoint(NamedTuple):
    """The ground at one place."""

    height: float  # [m]
    normal: Vector3  # unit
    friction: float  # coefficient
    kind: int


class Ground(NamedTuple):
    """A plane z = height + slope_x x + slope_y y, with a cosine bump across it."""

    height: float  # at the origin [m]
    slope_x: float
    slope_y: float
    friction: float
    bump_start: float  # x [m]
    bump_length: float  # [m]
    bump_height: float  # [m]; 0 is none


@inlined
def ground_at(ground: Ground, x: float, y: float) -> GroundPoint:
    """The ground under or over a point; defined everywhere."""
    g = ground
    height, slope = g.height + g.slope_x * x + g.slope_y * y, g.slope_x
    place = (x - g.bump_start) / g.bump_length
    if 0.0 < place < 1.0:
        turn = 2.0 * math.pi * place
        height += 0.5 * g.bump_height * (1.0 - math.cos(turn))
        slope += math.pi * g.bump_height / g.bump_length * math.sin(turn)
    return GroundPoint(height, unit((-slope, -g.slope_y, 1.0)), g.friction, RIGID)


class GroundModel(Protocol):
    """A ground for people; kernels get what `kernel` gives."""

    def kernel(self) -> Ground: ...


@dataclass(frozen=True, kw_only=True)
class FlatGround:
    """A plane, level unless slopes say otherwise, with an optional bump across the road."""

    friction: float = 0.8
    slope_x: float = 0.0  # rise over run along x
    slope_y: float = 0.0
    bump_start_m: float = 0.0  # x where the bump begins
    bump_length_m: float = 1.0
    bump_height_m: float = 0.0

    def __post_init__(self) -> None:
        if not all(np.isfinite(value) for value in vars(self).values()):
            raise ValueError(f"ground: all numbers must be finite, got {vars(self)}")
        if not 0.0 <= self.friction <= 2.0:
            raise ValueError(f"friction: must be from 0 to 2, got {self.friction}")
        if not self.bump_length_m > 0.0:
            raise ValueError(f"bump_length_m: must be above 0, got {self.bump_length_m}")

    def kernel(self) -> Ground:
        """What kernels take."""
        return Ground(
            0.0,
            float(self.slope_x),
            float(self.slope_y),
            float(self.friction),
            float(self.bump_start_m),
            float(self.bump_length_m),
            float(self.bump_height_m),
        )
