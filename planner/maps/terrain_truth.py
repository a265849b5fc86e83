"""Obstacles from terrain truth: what ROAMS' sensing queries from the elevation map ([Cameron]), without any sensor.

A cell is an obstacle when its ground has a step or is too steep, when something stands on it, or when it is higher over
the vehicle's ground plane than that and the steepest slope to it explain. Beyond the world's edge all is obstacle.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, Cells, Floats, Window
from planner.maps.source import Extent
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel
from terrain.elevation_map import Array
from terrain.ground import Ground, height_at
from terrain.world import World
from terrain.world_ground import WorldGround

Flags = NDArray[np.bool_]

TILE_CELLS = 64  # side of the tiles that are computed once and cached
MOST_TILES = 1024
SAMPLE_M = 0.1  # largest spacing of height samples
STEP_RUN_M = 0.25  # a rise within this length can be a step
STEP_STEEPNESS = math.tan(math.radians(30.0))  # rise over run; anything flatter is a slope


class _Tile(NamedTuple):
    top: Floats  # highest point in each cell [m]
    ground: Floats  # mean height below it [m]
    blocked: Flags  # at any pose
    known: Flags


class _Samples(NamedTuple):
    ground: Floats  # heights of the ground [m]
    top: Floats  # and of the highest surface
    reach: int  # samples before the first one of the tile
    per_cell: int  # along each side
    spacing: float  # [m]


class TerrainTruth:
    """Obstacles from the true world; implements maps.source.ObstacleSource."""

    def __init__(self, world: World, settings: PlannerSettings) -> None:
        self._world = world
        self._settings = settings
        self._ground = WorldGround.of(world).kernel()
        self._boxes, self._cylinders = world.obstacles.to_arrays()
        self._tiles: OrderedDict[tuple[int, int], _Tile] = OrderedDict()
        self._steepest = math.tan(math.radians(settings.max_slope_deg))

    def extent(self) -> Extent:
        """Extent of the world's ground."""
        return Extent(*self._world.ground.x_limits, *self._world.ground.y_limits)

    def look(self, time: float, pose: Pose, window: Window, cells: Cells, heights: Floats) -> float:
        """See ObstacleSource; truth never ages."""
        top = np.empty(window.shape, np.float32)
        blocked, known = np.empty(window.shape, bool), np.empty(window.shape, bool)
        last_row, last_column = window.row + window.rows - 1, window.column + window.columns - 1
        for tile_row in range(window.row // TILE_CELLS, last_row // TILE_CELLS + 1):
            for tile_column in range(window.column // TILE_CELLS, last_column // TILE_CELLS + 1):
                tile = self._tile(tile_row, tile_column)
                to_rows, from_rows = _overlap(tile_row * TILE_CELLS, window.row, window.rows)
                to_columns, from_columns = _overlap(tile_column * TILE_CELLS, window.column, window.columns)
                to, cut = (to_rows, to_columns), (from_rows, from_columns)
                top[to], heights[to] = tile.top[cut], tile.ground[cut]
                blocked[to], known[to] = tile.blocked[cut], tile.known[cut]
        # The ground's own height: an observer's pose may be metres off.
        base = (pose.x, pose.y, float(self._world.ground.height_at(pose.x, pose.y)))
        position, slope = (window.x, window.y, window.resolution), (pose.slope_x, pose.slope_y)
        seen = _Tile(top, heights, blocked, known)
        _judge(seen, position, base, slope, self._settings.max_height_m, self._steepest, cells)
        return time

    def _tile(self, row: int, column: int) -> _Tile:
        found = self._tiles.get((row, column))
        if found is None:
            found = self._tiles[row, column] = self._make_tile(row, column)
            if len(self._tiles) > MOST_TILES:
                self._tiles.popitem(last=False)
        else:
            self._tiles.move_to_end((row, column))
        return found

    def _make_tile(self, row: int, column: int) -> _Tile:
        s = self._settings
        per_cell = max(math.ceil(s.map_resolution_m / SAMPLE_M - 1e-9), 1)
        spacing = s.map_resolution_m / per_cell
        reach = max(int(STEP_RUN_M / spacing + 1e-9), per_cell)  # samples beyond the tile that its cells depend on
        count = TILE_CELLS * per_cell + 2 * reach
        x, y = ((position * TILE_CELLS * per_cell - reach) * spacing for position in (column, row))
        ground, top = np.empty((count, count), np.float32), np.empty((count, count), np.float32)
        _sample(self._ground, self._boxes, self._cylinders, x, y, spacing, ground, top)
        shape = (TILE_CELLS, TILE_CELLS)
        tile = _Tile(
            np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(shape, bool), np.ones(shape, bool)
        )
        _summarise(_Samples(ground, top, reach, per_cell, spacing), s.max_step_m, self._steepest, tile)
        self._mark_outside(row, column, tile)
        return tile

    def _mark_outside(self, row: int, column: int, tile: _Tile) -> None:
        middles = (np.arange(TILE_CELLS) + 0.5) * self._settings.map_resolution_m
        x = (column * TILE_CELLS * self._settings.map_resolution_m + middles)[None, :]
        y = (row * TILE_CELLS * self._settings.map_resolution_m + middles)[:, None]
        elevation = self._world.ground
        tile.blocked[~elevation.covers(x, y)] = True
        if self._world.surveyed is not None:
            rows, columns = elevation.shape
            at_row = np.clip(np.rint((y - elevation.origin_y) / elevation.resolution), 0, rows - 1).astype(int)
            at_column = np.clip(np.rint((x - elevation.origin_x) / elevation.resolution), 0, columns - 1).astype(int)
            tile.known[:] = self._world.surveyed[at_row, at_column] | tile.blocked


def _overlap(tile_first: int, first: int, count: int) -> tuple[slice, slice]:
    """Range of a window that a tile covers along one axis, and the matching part of the tile."""
    begin, end = max(tile_first, first), min(tile_first + TILE_CELLS, first + count)
    return slice(begin - first, end - first), slice(begin - tile_first, end - tile_first)


@kernel
def _sample(
    surface: Ground, boxes: Array, cylinders: Array, x: float, y: float, spacing: float, ground: Floats, top: Floats
) -> None:
    """Heights [m] of the ground and of the highest surface, at samples from (x, y) on."""
    rows, columns = ground.shape
    for row in range(rows):
        for column in range(columns):
            ground[row, column] = height_at(surface, x + column * spacing, y + row * spacing)
            top[row, column] = ground[row, column]
    wide = 0.7072 * spacing  # so that nothing thin fits between samples
    for k in range(len(boxes)):
        reach = 0.5 * np.hypot(boxes[k, 3], boxes[k, 4]) + wide
        first_row, last_row = _span(boxes[k, 1], reach, y, spacing, rows)
        first_column, last_column = _span(boxes[k, 0], reach, x, spacing, columns)
        for row in range(first_row, last_row):
            for column in range(first_column, last_column):
                to_x, to_y = x + column * spacing - boxes[k, 0], y + row * spacing - boxes[k, 1]
                along = abs(boxes[k, 6] * to_x + boxes[k, 7] * to_y) - 0.5 * boxes[k, 3]
                across = abs(boxes[k, 6] * to_y - boxes[k, 7] * to_x) - 0.5 * boxes[k, 4]
                if along <= wide and across <= wide:
                    top[row, column] = max(top[row, column], boxes[k, 2] + boxes[k, 5])
    for k in range(len(cylinders)):
        reach = cylinders[k, 3] + wide
        first_row, last_row = _span(cylinders[k, 1], reach, y, spacing, rows)
        first_column, last_column = _span(cylinders[k, 0], reach, x, spacing, columns)
        for row in range(first_row, last_row):
            for column in range(first_column, last_column):
                if np.hypot(x + column * spacing - cylinders[k, 0], y + row * spacing - cylinders[k, 1]) <= reach:
                    top[row, column] = max(top[row, column], cylinders[k, 2] + cylinders[k, 4])


@kernel
def _span(middle: float, reach: float, origin: float, spacing: float, count: int) -> tuple[int, int]:
    """Samples of one axis within reach of a position: the first, and the one after the last."""
    # Compared as floats first: very distant positions do not fit an index.
    low, high = (middle - reach - origin) / spacing, (middle + reach - origin) / spacing
    return int(np.floor(min(max(low, 0.0), float(count)))), int(np.ceil(min(max(high, -1.0), count - 1.0))) + 1


@kernel
def _summarise(samples: _Samples, most_step: float, steepest: float, out: _Tile) -> None:
    """Summarise samples into cells: blocked where something stands, at either end of a step, and where too steep."""
    ground, top, reach, per_cell, spacing = samples
    rows, columns = out.top.shape
    longest = int(STEP_RUN_M / spacing + 1e-9)
    area = per_cell * per_cell
    for row in range(rows):
        for column in range(columns):
            highest, total, is_blocked = top[row * per_cell + reach, column * per_cell + reach], 0.0, False
            for i in range(row * per_cell + reach, (row + 1) * per_cell + reach):
                for j in range(column * per_cell + reach, (column + 1) * per_cell + reach):
                    here = ground[i, j]
                    highest = max(highest, top[i, j])
                    total += here
                    is_blocked = is_blocked or top[i, j] > here + most_step
                    for run in range(1, longest + 1):
                        least = max(most_step, STEP_STEEPNESS * run * spacing)
                        is_blocked = (
                            is_blocked
                            or abs(ground[i + run, j] - here) > least
                            or abs(ground[i - run, j] - here) > least
                            or abs(ground[i, j + run] - here) > least
                            or abs(ground[i, j - run] - here) > least
                        )
                        least = max(most_step, STEP_STEEPNESS * run * spacing * 1.4143)
                        is_blocked = (
                            is_blocked
                            or abs(ground[i + run, j + run] - here) > least
                            or abs(ground[i - run, j - run] - here) > least
                            or abs(ground[i - run, j + run] - here) > least
                            or abs(ground[i + run, j - run] - here) > least
                        )
            i, j, wide = row * per_cell + reach, column * per_cell + reach, 2.0 * per_cell * spacing
            along = (ground[i, j + per_cell] - ground[i, j - per_cell]) / wide
            across = (ground[i + per_cell, j] - ground[i - per_cell, j]) / wide
            out.top[row, column], out.ground[row, column] = highest, total / area
            out.blocked[row, column] = is_blocked or np.hypot(along, across) > steepest


@kernel
def _judge(
    seen: _Tile, position: tuple[float, float, float], base: tuple[float, float, float], slope: tuple[float, float],
    most_height: float, steepest: float, cells: Cells,
) -> None:  # fmt: skip
    """Classify the cells of a window: blocked, or too high over the vehicle's ground plane.

    position: corner and resolution of the window [m]; the ground of unknown cells becomes NaN.
    """
    top, heights, blocked, known = seen
    x, y, resolution = position
    for row in range(top.shape[0]):
        to_y = y + (row + 0.5) * resolution - base[1]
        for column in range(top.shape[1]):
            to_x = x + (column + 0.5) * resolution - base[0]
            over = top[row, column] - (base[2] + slope[0] * to_x + slope[1] * to_y) - most_height
            is_high = over > 0.0 and over * over > steepest * steepest * (to_x * to_x + to_y * to_y)
            cells[row, column] = OCCUPIED if blocked[row, column] or is_high else FREE
            if not known[row, column]:
                cells[row, column] = UNKNOWN
                heights[row, column] = np.nan
