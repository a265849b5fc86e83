"""The ground under a wheel: height, normal and soil at a point. World axes, z up.

A ground is a tuple that kernels use; `ground_at` works for all kinds: a plane with an optional bump across the road,
and an elevation map on top of it, edge-extended where it ends. Every point has a soil, an index into a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined
from proving_ground.kernels.vector3 import Vector3, unit
from proving_ground.settings import setting
from proving_ground.settings.units import FAR_M
from terrain.obstacle_contact import Obstacles, no_obstacles
from terrain.ruts import Ruts, no_ruts
from terrain.soil import RIGID, SOIL, hard_soil

Array = NDArray[np.float64]
Heights = NDArray[np.float32]
SoilNumbers = NDArray[np.uint8]


class GroundPoint(NamedTuple):
    """The ground at one point."""

    height: float  # [m]
    normal: Vector3  # unit
    soil: int  # index into the table of soils


class Plane(NamedTuple):
    """z = slope_x x + slope_y y, with a cosine bump across it."""

    slope_x: float
    slope_y: float
    bump_start: float  # x [m]
    bump_length: float  # [m]
    bump_height: float  # [m]; 0 for none


class Grid(NamedTuple):
    """An elevation map on top of the plane."""

    heights: Heights  # rows along y, columns along x [m]
    soils: SoilNumbers  # same rows and columns, or one for all
    x: float  # of the first column [m]
    y: float  # of the first row [m]
    inverse: float  # one over the spacing of rows and columns [1/m]


class Ground(NamedTuple):
    """The ground in the form that kernels use: plane, grid, soils, ruts and obstacles."""

    plane: Plane
    grid: Grid
    soils: NDArray[np.void]  # records of SOIL
    ruts: Ruts
    obstacles: Obstacles
    top_soil: int = 0  # soil of the obstacles' tops, hard ground: index into the table


class Cell(NamedTuple):
    """The cell of a grid that holds a point."""

    row: int
    column: int
    up: float  # fraction from that row to the next, 0 to 1
    right: float


@inlined
def cell_at(grid: Grid, x: float, y: float) -> Cell:
    """The cell of a point [m]; beyond the edge the nearest one."""
    rows, columns = grid.heights.shape
    # In this order NaN becomes 0, which is a valid position.
    u = min(max(0.0, (x - grid.x) * grid.inverse), columns - 1.0)
    v = min(max(0.0, (y - grid.y) * grid.inverse), rows - 1.0)
    column, row = min(int(u), max(columns - 2, 0)), min(int(v), max(rows - 2, 0))
    return Cell(row, column, v - row, u - column)


@inlined
def height_at(ground: Ground, x: float, y: float) -> float:
    """Height [m] at a point [m]; defined everywhere."""
    p, g = ground.plane, ground.grid
    height = p.slope_x * x + p.slope_y * y
    share = (x - p.bump_start) / p.bump_length
    if 0.0 < share < 1.0:
        height += 0.5 * p.bump_height * (1.0 - math.cos(2.0 * math.pi * share))
    if g.heights.size > 1:
        cell = cell_at(g, x, y)
        near = g.heights[cell.row, cell.column] * (1.0 - cell.right) + g.heights[cell.row, cell.column + 1] * cell.right
        far = (
            g.heights[cell.row + 1, cell.column] * (1.0 - cell.right)
            + g.heights[cell.row + 1, cell.column + 1] * cell.right
        )
        height += near * (1.0 - cell.up) + far * cell.up
    return height


class GroundSample(NamedTuple):
    """Height and soil at a point of the ground."""

    height: float  # [m]
    soil: int  # index into the table of soils: of the nearest node
    hardness: float  # 0 on soft soil, 1 on hard ground; bilinear where they meet


@inlined
def ground_sample_at(ground: Ground, x: float, y: float) -> GroundSample:
    """Height, soil and hardness at a point [m], at the cost of one look-up."""
    p, g = ground.plane, ground.grid
    height = p.slope_x * x + p.slope_y * y
    share = (x - p.bump_start) / p.bump_length
    if p.bump_height != 0.0 and 0.0 < share < 1.0:
        height += 0.5 * p.bump_height * (1.0 - math.cos(2.0 * math.pi * share))
    soil = np.int64(g.soils[0, 0])
    if g.heights.size == 1:
        return GroundSample(height, soil, _hardness(ground, soil))
    cell = cell_at(g, x, y)
    row, column, right, up = cell.row, cell.column, cell.right, cell.up
    near = g.heights[row, column] * (1.0 - right) + g.heights[row, column + 1] * right
    far = g.heights[row + 1, column] * (1.0 - right) + g.heights[row + 1, column + 1] * right
    height += near * (1.0 - up) + far * up
    if g.soils.size == 1:
        return GroundSample(height, soil, _hardness(ground, soil))
    a, b = np.int64(g.soils[row, column]), np.int64(g.soils[row, column + 1])
    c, d = np.int64(g.soils[row + 1, column]), np.int64(g.soils[row + 1, column + 1])
    if a == b and a == c and a == d:
        return GroundSample(height, a, _hardness(ground, a))
    close = _hardness(ground, a) * (1.0 - right) + _hardness(ground, b) * right
    distant = _hardness(ground, c) * (1.0 - right) + _hardness(ground, d) * right
    nearest = (d if right > 0.5 else c) if up > 0.5 else (b if right > 0.5 else a)
    return GroundSample(height, nearest, close * (1.0 - up) + distant * up)


@inlined
def _hardness(ground: Ground, soil: int) -> float:
    """1 for hard ground, 0 for soft soil."""
    return 1.0 if ground.soils[soil].kind == RIGID else 0.0


@inlined
def soil_at(ground: Ground, x: float, y: float) -> int:
    """Index of the soil at a point [m]: that of the nearest node of the map."""
    g = ground.grid
    if g.soils.size == 1:
        return int(g.soils[0, 0])
    cell = cell_at(g, x, y)
    return int(g.soils[cell.row + (cell.up > 0.5), cell.column + (cell.right > 0.5)])


@inlined
def ground_at(ground: Ground, x: float, y: float) -> GroundPoint:
    """The ground at a point x, y [m]; the normal is that of the surface, also where it is curved."""
    p, g = ground.plane, ground.grid
    along, across = p.slope_x, p.slope_y
    share = (x - p.bump_start) / p.bump_length
    if 0.0 < share < 1.0:
        along += math.pi * p.bump_height / p.bump_length * math.sin(2.0 * math.pi * share)
    if g.heights.size > 1:
        cell = cell_at(g, x, y)
        a, b = g.heights[cell.row, cell.column], g.heights[cell.row, cell.column + 1]
        c, d = g.heights[cell.row + 1, cell.column], g.heights[cell.row + 1, cell.column + 1]
        rows, columns = g.heights.shape
        # Beyond the edge the ground continues level.
        if 0.0 <= (x - g.x) * g.inverse <= columns - 1.0:
            along += ((b - a) * (1.0 - cell.up) + (d - c) * cell.up) * g.inverse
        if 0.0 <= (y - g.y) * g.inverse <= rows - 1.0:
            across += ((c - a) * (1.0 - cell.right) + (d - b) * cell.right) * g.inverse
    return GroundPoint(height_at(ground, x, y), unit((-along, -across, 1.0)), soil_at(ground, x, y))


class GroundModel(Protocol):
    """A ground for callers in Python; kernels use its `kernel`."""

    def kernel(self) -> Ground: ...


@dataclass(frozen=True, kw_only=True)
class FlatGround:
    """A plane of hard ground, level unless slopes are given, with an optional bump across the road."""

    friction: float = setting(
        0.8, "Friction coefficient between tyres and ground", minimum=0.0, maximum=2.0, read_only=True
    )
    slope_x: float = setting(
        0.0, "Slope of the ground along x of the world, as rise over run", minimum=-2.0, maximum=2.0, read_only=True
    )
    slope_y: float = setting(
        0.0, "Slope of the ground along y of the world, as rise over run", minimum=-2.0, maximum=2.0, read_only=True
    )
    bump_start_m: float = setting(
        0.0,
        "Position along x of the world where the bump begins",
        unit="m",
        minimum=-FAR_M,
        maximum=FAR_M,
        read_only=True,
    )
    bump_length_m: float = setting(
        1.0,
        "Length of the bump along x of the world; all nodes of a run have the same ground",
        unit="m",
        minimum=0.1,
        maximum=1000.0,
        read_only=True,
    )
    bump_height_m: float = setting(
        0.0, "Height of the bump's crest above the plane, negative for a ditch; 0: no bump",
        unit="m", minimum=-2.0, maximum=2.0, read_only=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        numbers = [value for value in vars(self).values() if isinstance(value, float | int)]
        if not all(np.isfinite(value) for value in numbers):
            raise ValueError(f"ground: all numbers must be finite, got {vars(self)}")
        if not 0.0 <= self.friction <= 2.0:
            raise ValueError(f"friction: must be from 0 to 2, got {self.friction}")
        if not self.bump_length_m > 0.0:
            raise ValueError(f"bump_length_m: must be above 0, got {self.bump_length_m}")

    def kernel(self) -> Ground:
        """The ground in the form that kernels use; built once."""
        return self._kernel

    @cached_property
    def _kernel(self) -> Ground:
        plane = Plane(
            float(self.slope_x),
            float(self.slope_y),
            float(self.bump_start_m),
            float(self.bump_length_m),
            float(self.bump_height_m),
        )
        return Ground(plane, no_grid(), np.array([hard_soil(self.friction)], dtype=SOIL), no_ruts(), no_obstacles())


LEVEL = Plane(0.0, 0.0, 0.0, 1.0, 0.0)


def no_grid() -> Grid:
    """A map of zero height and one soil."""
    return Grid(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.uint8), 0.0, 0.0, 1.0)


def grid_of(heights: Heights, soils: SoilNumbers | None, x: float, y: float, resolution: float) -> Grid:
    """A map's arrays in the form that kernels use; raises ValueError when they do not fit.

    x, y: position of the first node [m]; resolution: distance of nodes [m].
    """
    rows, columns = heights.shape
    if rows < 2 or columns < 2:
        raise ValueError(f"map: must have at least two rows and columns, got {rows} x {columns}")
    numbers: Any = np.zeros((1, 1), np.uint8) if soils is None else soils
    if numbers.shape not in ((1, 1), heights.shape):
        raise ValueError(f"soils: must have the map's shape {heights.shape}, got {numbers.shape}")
    return Grid(
        np.ascontiguousarray(heights, np.float32), np.ascontiguousarray(numbers, np.uint8), x, y, 1.0 / resolution
    )
