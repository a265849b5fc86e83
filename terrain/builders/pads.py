"""Worlds for one effect each: a flat pad, a bump, a step or kerb, a ramp, a washboard.

All begin on flat ground at x = y = 0, heading along x; the ground begins 20 m behind the start.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proving_ground.settings import same_setting, setting
from terrain.elevation_map import HARD, Array, ElevationMap
from terrain.ground import FlatGround
from terrain.limits import check_grid_size
from terrain.world import Site, World, WorldPose

BEHIND_START_M = 20.0
BEFORE_END_M = 10.0
SIDES = ("both", "left", "right")


@dataclass(frozen=True, kw_only=True)
class Pad:
    """Level ground; the other pads add something to it."""

    length_m: float = setting(120.0, "Length of the ground along x", unit="m", minimum=40.0, maximum=10_000.0)
    width_m: float = setting(30.0, "Width of the ground along y", unit="m", minimum=4.0, maximum=10_000.0)
    resolution_m: float = setting(0.1, "Distance of the map's nodes", unit="m", minimum=0.01, maximum=10.0)
    soil: str = setting(HARD, "Name of the soil")

    @property
    def end_m(self) -> float:
        """x of the far end [m]."""
        return self.length_m - BEHIND_START_M

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        return self._world(site, lambda x, y: np.zeros(np.broadcast(x, y).shape))

    def _world(self, site: Site, height: Callable[[Array, Array], Array]) -> World:
        columns, rows = (round(size / self.resolution_m) + 1 for size in (self.length_m, self.width_m))
        check_grid_size(rows, columns)
        x = -BEHIND_START_M + np.arange(columns, dtype=np.float64) * self.resolution_m
        y = -0.5 * self.width_m + np.arange(rows, dtype=np.float64) * self.resolution_m
        heights = np.empty((rows, columns), np.float32)
        for row in range(rows):  # row by row: no more memory than the map
            heights[row] = height(x, y[row : row + 1])
        ground = ElevationMap(
            heights=heights,
            resolution=self.resolution_m,
            origin_x=float(x[0]),
            origin_y=float(y[0]),
            soil_names=(self.soil,),
        )
        goal = WorldPose(x=self.end_m - BEFORE_END_M, y=0.0)
        return World(name=site.name, ground=ground, start=WorldPose(x=0.0, y=0.0), goal=goal)


@dataclass(frozen=True, kw_only=True)
class Bump(Pad):
    """A cosine bump across the lane, under both wheels or one."""

    at_m: float = setting(
        30.0, "Position along x of the world where the bump begins", unit="m", minimum=5.0, maximum=1e4
    )
    bump_length_m: float = same_setting(FlatGround, "bump_length_m", default=2.0, read_only=False)
    bump_height_m: float = same_setting(FlatGround, "bump_height_m", default=0.1, read_only=False)
    side: str = setting("both", "Wheels that go over the bump", choices=SIDES)

    def build(self, site: Site) -> World:
        """The world that these settings describe."""

        def height(x: Array, y: Array) -> Array:
            position = np.clip((x - self.at_m) / self.bump_length_m, 0.0, 1.0)
            return self.bump_height_m * 0.5 * (1.0 - np.cos(2.0 * math.pi * position)) * _on_side(self.side, y)

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class Step(Pad):
    """A step or kerb, crossed straight or at an angle; beyond it the ground stays high, or drops again."""

    at_m: float = setting(30.0, "x where the centre line meets the step", unit="m", minimum=5.0, maximum=1e4)
    step_height_m: float = setting(
        0.15, "Height of the step; negative: a step down", unit="m", minimum=-2.0, maximum=2.0
    )
    edge_m: float = setting(0.0, "Width of the step's face; 0: one cell", unit="m", minimum=0.0, maximum=10.0)
    top_length_m: float = setting(
        0.0, "Length of the high part behind the step; 0: to the end", unit="m", minimum=0.0, maximum=1e4
    )
    angle_deg: float = setting(
        0.0, "Angle of the step's edge against straight across", unit="deg", minimum=-75.0, maximum=75.0
    )

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        face = max(self.edge_m, self.resolution_m)

        def height(x: Array, y: Array) -> Array:
            along = beyond_line(x, y, self.at_m, self.angle_deg)
            up = np.clip(along / face, 0.0, 1.0)
            down = np.clip((along - self.top_length_m) / face, 0.0, 1.0) if self.top_length_m else 0.0
            return np.asarray(self.step_height_m * (up - down))

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class Ramp(Pad):
    """A pad with a ramp: up, level, and down again."""

    at_m: float = setting(20.0, "x where the ramp begins", unit="m", minimum=5.0, maximum=1e4)
    slope_deg: float = setting(15.0, "Slope of the ramp", unit="deg", minimum=-60.0, maximum=60.0)
    slope_length_m: float = setting(20.0, "Length of each slope along x", unit="m", minimum=0.1, maximum=5000.0)
    top_length_m: float = setting(10.0, "Length of the level part", unit="m", minimum=0.0, maximum=5000.0)

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        top_at = self.at_m + self.slope_length_m

        def height(x: Array, y: Array) -> Array:
            up = np.clip(x - self.at_m, 0.0, self.slope_length_m)
            down = np.clip(x - top_at - self.top_length_m, 0.0, self.slope_length_m)
            return np.asarray(math.tan(math.radians(self.slope_deg)) * (up - down) + 0.0 * y)

        return self._world(site, height)


@dataclass(frozen=True, kw_only=True)
class Washboard(Pad):
    """Waves across the lane, as lorries press them into gravel roads; optionally left and right out of phase."""

    at_m: float = setting(20.0, "x where the first wave begins", unit="m", minimum=5.0, maximum=1e4)
    wave_length_m: float = setting(0.9, "Distance from crest to crest", unit="m", minimum=0.1, maximum=100.0)
    wave_height_m: float = setting(0.05, "Height from trough to crest", unit="m", minimum=0.0, maximum=1.0)
    waves: int = setting(50, "Number of waves", minimum=1, maximum=10_000)
    shift_deg: float = setting(0.0, "Phase of the left side ahead of the right", unit="deg", minimum=0.0, maximum=360.0)

    def build(self, site: Site) -> World:
        """The world that these settings describe."""

        def height(x: Array, y: Array) -> Array:
            position = (x - self.at_m) / self.wave_length_m
            shift = math.radians(self.shift_deg) * _on_side("left", y)
            wave = 0.5 * (1.0 - np.cos(2.0 * math.pi * position + shift))
            # The first and last half wave fade, so that a shifted side has no step.
            fade = np.clip(2.0 * position, 0.0, 1.0) * np.clip(2.0 * (self.waves - position), 0.0, 1.0)
            return np.asarray(self.wave_height_m * wave * (fade if self.shift_deg else (fade > 0.0)))

        return self._world(site, height)


def beyond_line(x: Array, y: Array, at: float, angle_deg: float) -> Array:
    """Distance [m] of points beyond a line across the lane, at `at` [m] of the centre line; at an angle, left first."""
    angle = math.radians(angle_deg)
    return np.asarray((x - at) * math.cos(angle) + y * math.sin(angle))


def _on_side(side: str, y: Array) -> Array:
    """1 on that side of the centre line, 0 on the other, with a transition of half a metre."""
    if side == "both":
        return np.ones_like(y)
    return np.clip((y if side == "left" else -y) / 0.5 + 0.5, 0.0, 1.0)
