"""Courses that are crossed: half-round, V-ditch, trench, side slope. All begin as the pads of `pads`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from proving_ground.settings import same_setting, setting
from terrain.builders.pads import Pad, Step, beyond_line
from terrain.elevation_map import Array
from terrain.world import Site, World

INCH = 0.0254  # [m]


@dataclass(frozen=True, kw_only=True)
class HalfRound(Pad):
    """Half a cylinder across the lane, as high as its radius."""

    width_m: float = same_setting(Pad, "width_m", default=6.0)
    resolution_m: float = same_setting(Pad, "resolution_m", default=0.01)
    at_m: float = setting(30.0, "x where the half-round begins", unit="m", minimum=5.0, maximum=1e4)
    radius_m: float = setting(8.0 * INCH, "Radius, which is the height", unit="m", minimum=0.02, maximum=2.0)

    def __post_init__(self) -> None:
        least = 4.0 * self.resolution_m
        if self.radius_m < least:
            raise ValueError(f"radius_m: must be at least four cells ({least:g}), got {self.radius_m:g}")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""

        def height(x: Array, y: Array) -> Array:
            off_crest = x - self.at_m - self.radius_m + 0.0 * y
            return np.asarray(np.sqrt(np.maximum(self.radius_m**2 - off_crest**2, 0.0)))

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class VDitch(Pad):
    """A ditch with two slopes that meet at its bottom, crossed straight or at an angle."""

    resolution_m: float = same_setting(Pad, "resolution_m", default=0.05)
    at_m: float = setting(
        30.0, "x where the centre line meets the ditch's first edge", unit="m", minimum=5.0, maximum=1e4
    )
    depth_m: float = setting(0.6, "Depth of the ditch", unit="m", minimum=0.05, maximum=3.0)
    side_deg: float = setting(35.0, "Slope of the ditch's sides", unit="deg", minimum=5.0, maximum=70.0)
    angle_deg: float = same_setting(Step, "angle_deg", description="Angle of the ditch's edges against straight across")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        half = self.depth_m / math.tan(math.radians(self.side_deg))

        def height(x: Array, y: Array) -> Array:
            from_bottom = np.abs(beyond_line(x, y, self.at_m, self.angle_deg) - half)
            return np.asarray(-self.depth_m * np.maximum(1.0 - from_bottom / half, 0.0))

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class Trench(Pad):
    """A trench with upright walls, one cell steep, crossed straight or at an angle."""

    resolution_m: float = same_setting(Pad, "resolution_m", default=0.05)
    at_m: float = setting(
        30.0, "x where the centre line meets the trench's first edge", unit="m", minimum=5.0, maximum=1e4
    )
    gap_m: float = setting(0.5, "Distance of the trench's edges", unit="m", minimum=0.05, maximum=5.0)
    depth_m: float = setting(0.6, "Depth of the trench", unit="m", minimum=0.05, maximum=3.0)
    angle_deg: float = same_setting(
        Step, "angle_deg", description="Angle of the trench's edges against straight across"
    )

    def __post_init__(self) -> None:
        least = 3.0 * self.resolution_m
        if self.gap_m < least:
            raise ValueError(f"gap_m: must be at least three cells ({least:g}), got {self.gap_m:g}")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""

        def height(x: Array, y: Array) -> Array:
            into = beyond_line(x, y, self.at_m, self.angle_deg)
            from_wall = np.minimum(into, self.gap_m - into)
            return np.asarray(-self.depth_m * np.clip(from_wall / self.resolution_m, 0.0, 1.0))

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class SideSlope(Pad):
    """Ground that leans to one side for a length; before and behind it turns evenly from level."""

    at_m: float = setting(20.0, "x where the ground begins to lean", unit="m", minimum=5.0, maximum=1e4)
    slope_percent: float = setting(
        40.0,
        "Rise of the ground to the left per distance; negative: to the right",
        unit="%",
        minimum=-100.0,
        maximum=100.0,
    )
    slope_length_m: float = setting(40.0, "Length of the full slope along x", unit="m", minimum=1.0, maximum=1e4)
    turn_m: float = setting(
        10.0, "Length over which the ground turns from level to the slope", unit="m", minimum=1.0, maximum=1000.0
    )

    def __post_init__(self) -> None:
        needed = self.at_m + self.slope_length_m + 2.0 * self.turn_m
        if needed > self.end_m:
            raise ValueError(
                f"length_m: must be at least {self.length_m + needed - self.end_m:g}, got {self.length_m:g}"
            )

    def build(self, site: Site) -> World:
        """The world that these settings describe."""

        def height(x: Array, y: Array) -> Array:
            into = x - self.at_m
            share = np.clip(np.minimum(into, self.slope_length_m + 2.0 * self.turn_m - into) / self.turn_m, 0.0, 1.0)
            even = 0.5 * (1.0 - np.cos(math.pi * share))
            return np.asarray(0.01 * self.slope_percent * even * y)

        return self._world(site, height)
