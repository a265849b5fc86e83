"""Targets of a scenario that move along straight lines: their pose is a function of time alone.

>>> walker = MovingTarget(cylinder=CylinderShape(radius_m=0.3, height_m=1.8), x_m=10.0, heading_deg=90.0, speed_mps=1.5)
>>> target = walker.target(4.0, level_ground)
>>> round(target.shape.x, 9), round(target.shape.y, 9)
(10.0, 6.0)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from proving_ground.settings import setting
from proving_ground.settings.units import FAR_M, FOREVER_S
from sensors.lidar.targets import Target
from terrain.obstacles import Box, Cylinder

HeightAt = Callable[[float, float], float]  # z of the ground [m] at x, y [m]

SHORTEST_LEG_M = 1e-6


def _size(words: str) -> float:
    value: float = setting(..., words, unit="m", minimum=0.01, maximum=100.0)
    return value


def _coordinate(default: object = 0.0) -> float:
    value: float = setting(default, "Coordinate in the world frame", unit="m", minimum=-FAR_M, maximum=FAR_M)
    return value


def level_ground(x: float, y: float) -> float:
    """Height [m] of level ground at any x, y: 0."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class BoxShape:
    """A box, such as a car; it faces its direction of travel."""

    length_m: float = _size("Length along the direction of travel")
    width_m: float = _size("Width across the direction of travel")
    height_m: float = _size("Height above the underside")


@dataclass(frozen=True, kw_only=True)
class CylinderShape:
    """An upright cylinder, such as a person."""

    radius_m: float = _size("Radius of the upright cylinder")
    height_m: float = _size("Height above the underside")


@dataclass(frozen=True, kw_only=True)
class Waypoint:
    """A corner of a target's path in the world."""

    x_m: float = _coordinate(...)
    y_m: float = _coordinate(...)


class _Leg(NamedTuple):
    """A straight segment of a path."""

    x: float  # start [m]
    y: float
    length: float  # [m]; may be infinite
    heading: float  # counter-clockwise from x [rad]


@dataclass(frozen=True, kw_only=True)
class MovingTarget:
    """A target with exactly one shape. It follows its heading forever, or its waypoints; it turns on the spot."""

    box: BoxShape | None = None
    cylinder: CylinderShape | None = None
    x_m: float = _coordinate()
    y_m: float = _coordinate()
    lift_m: float = setting(0.0, "Height of the underside above the ground", unit="m", minimum=-10.0, maximum=100.0)
    heading_deg: float = setting(
        0.0, "Direction of travel without waypoints, from x to the left", unit="deg", minimum=-360.0, maximum=360.0
    )
    speed_mps: float = setting(0.0, "Speed of the target along its path", unit="m/s", minimum=0.0, maximum=100.0)
    start_s: float = setting(0.0, "Time at which the target starts to move", unit="s", minimum=0.0, maximum=FOREVER_S)
    waypoints: tuple[Waypoint, ...] = ()
    loop: bool = setting(False, "Return from the last waypoint to the start and repeat; else stop there")

    def __post_init__(self) -> None:
        self._shape()
        if self.loop and not self.waypoints:
            raise ValueError("loop: needs waypoints")
        for before, leg in itertools.pairwise([(self.x_m, self.y_m), *((at.x_m, at.y_m) for at in self.waypoints)]):
            if math.dist(before, leg) < SHORTEST_LEG_M:
                raise ValueError(f"waypoints: two positions in a row are the same, x_m {leg[0]:g}, y_m {leg[1]:g}")

    def target(self, time_s: float, height_at: HeightAt) -> Target:
        """Target at a time since the start of the run, on the ground of height_at.

        Its velocity is that of the path behind it, because rays are cast just before an update. The vertical velocity
        is zero: on a slope a target steps up from update to update.
        """
        distance = self.speed_mps * max(time_s - self.start_s, 0.0)
        if self.loop:
            distance %= sum(leg.length for leg in self._legs)
        for leg in self._legs[:-1]:
            if distance <= leg.length:
                break
            distance -= leg.length
        else:
            leg = self._legs[-1]
        has_arrived = distance > leg.length and not self.loop
        speed = self.speed_mps if time_s > self.start_s and not has_arrived else 0.0
        distance = min(distance, leg.length)
        ahead, left = math.cos(leg.heading), math.sin(leg.heading)
        x, y = leg.x + distance * ahead, leg.y + distance * left
        shape = self._placed(x, y, height_at(x, y) + self.lift_m, leg.heading)
        return Target(shape=shape, velocity=(speed * ahead, speed * left, 0.0))

    @cached_property
    def _legs(self) -> list[_Leg]:
        positions = [(self.x_m, self.y_m), *((at.x_m, at.y_m) for at in self.waypoints)]
        if not self.waypoints:
            return [_Leg(self.x_m, self.y_m, math.inf, math.radians(self.heading_deg))]
        if self.loop and math.dist(positions[-1], positions[0]) >= SHORTEST_LEG_M:
            positions.append(positions[0])
        return [
            _Leg(*start, math.dist(start, end), math.atan2(end[1] - start[1], end[0] - start[0]))
            for start, end in itertools.pairwise(positions)
        ]

    def _shape(self) -> BoxShape | CylinderShape:
        kinds = [kind for kind in (self.box, self.cylinder) if kind is not None]
        if len(kinds) != 1:
            raise ValueError(f"must have exactly one of box, cylinder, got {'both' if kinds else 'none'}")
        return kinds[0]

    def _placed(self, x: float, y: float, base: float, heading: float) -> Box | Cylinder:
        shape = self._shape()
        if isinstance(shape, CylinderShape):
            return Cylinder(x=x, y=y, base=base, radius=shape.radius_m, height=shape.height_m)
        size = {"length": shape.length_m, "width": shape.width_m, "height": shape.height_m}
        return Box(x=x, y=y, base=base, yaw=heading, **size)
