"""All that has been seen, and what it costs to drive there: a coarse grid that grows with the path."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.grid_cost import BLOCKED, CHEAPEST, Costs
from planner.maps.distance import distance_field
from planner.maps.grid import OCCUPIED, UNKNOWN, Cells, LocalGrid, Window
from planner.maps.source import Extent
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel
from proving_ground.saving.stateful import Stateful

MOST_CELLS = 4_000_000
COARSEST_M = 2.0  # largest side of a cell: beyond it streets begin to close
GROWTH_M = 40.0
ROUNDING = 1e-6  # of a cell


class MapTooLargeError(ValueError):
    """More cells than allowed, even with the largest ones."""


class Grown(NamedTuple):
    """Number of rows and columns inserted before those of the old map."""

    rows: int  # inserted before the old ones
    columns: int
    is_coarser: bool  # then all cells differ from those before


class GlobalMap(Stateful):
    """Accumulates rolling maps. Unseen cells count as free: paths are planned through them until they are seen.

    A map that grows too large doubles the size of its cells.
    """

    STATE = ("resolution", "window", "cells", "costs")

    def __init__(self, settings: PlannerSettings, half_width: float, extent: Extent) -> None:
        """half_width [m] of the vehicle: its centre line cannot be closer to an obstacle."""
        self._settings = settings
        self._extent = extent
        self.resolution = settings.global_resolution_m
        self._blocked_below = half_width + settings.margin_m
        self.window = Window(0, 0, 0, 0, self.resolution)
        self.cells: Cells = np.zeros((0, 0), np.int8)
        self.costs: Costs = np.zeros((0, 0), np.int32)

    @property
    def _reach(self) -> int:
        """Cells around an obstacle that it makes costly."""
        return math.ceil((self._blocked_below + self._settings.near_m) / self.resolution) + 1

    def grow_to(self, left: float, right: float, low: float, high: float) -> Grown | None:
        """Extend the map to at least this rectangle [m], as far as the extent allows; None if it already holds it.

        Raises MapTooLargeError, and is then unchanged.
        """
        e = self._extent
        asked = (max(left, e.left), min(right, e.right), max(low, e.low), min(high, e.high))
        doublings = 0
        while (new := self._window_of(asked, self.resolution * 2**doublings)).rows * new.columns > MOST_CELLS:
            doublings += 1
            if self.resolution * 2**doublings > COARSEST_M:
                side = new.resolution
                raise MapTooLargeError(
                    f"map: {new.columns * side:g} x {new.rows * side:g} m are more than {MOST_CELLS / 1e6:g} million "
                    f"cells of {side:g} m"
                )
        for _ in range(doublings):
            self._coarsen()
        old = self.window
        if new == old:
            return Grown(0, 0, True) if doublings else None
        cells, costs = np.full(new.shape, UNKNOWN, np.int8), np.full(new.shape, CHEAPEST, np.int32)
        before = (old.row - new.row, old.column - new.column) if old.rows else (0, 0)
        position = (slice(before[0], before[0] + old.rows), slice(before[1], before[1] + old.columns))
        cells[position], costs[position] = self.cells, self.costs
        self.window, self.cells, self.costs = new, cells, costs
        if old.rows:  # obstacles near the old edge make new cells costly
            self._cost_around(before[0], before[1], before[0] + old.rows - 1, before[1] + old.columns - 1)
        return Grown(*before, doublings > 0)

    def _window_of(self, asked: tuple[float, float, float, float], side: float) -> Window:
        """Window that holds a rectangle (left, right, low, high [m]) and the present one; side: of a cell [m]."""
        left, right, low, high = asked
        old = self.window
        if old.rows:
            left, right = min(left, old.x), max(right, old.x + old.columns * old.resolution)
            low, high = min(low, old.y), max(high, old.y + old.rows * old.resolution)
        column, row = int(_first_cell(left, side)), int(_first_cell(low, side))
        end_column, end_row = int(_end_cell(right, side)), int(_end_cell(high, side))
        return Window(column, row, max(end_column - column, 1), max(end_row - row, 1), side)

    def _coarsen(self) -> None:
        """Double the side of the cells: occupied if any part is, unknown only if all of it is."""
        old = self.window
        row, column = old.row // 2, old.column // 2
        rows = -(-(old.row + old.rows) // 2) - row
        columns = -(-(old.column + old.columns) // 2) - column
        even = np.full((2 * rows, 2 * columns), UNKNOWN, np.int8)
        down, right = old.row - 2 * row, old.column - 2 * column
        even[down : down + old.rows, right : right + old.columns] = self.cells
        self.resolution = 2.0 * old.resolution
        self.window = Window(column, row, columns, rows, self.resolution)
        self.cells = even.reshape(rows, 2, columns, 2).max(axis=(1, 3))
        self.costs = np.full((rows, columns), CHEAPEST, np.int32)
        if rows and columns:
            self._cost_around(0, 0, rows - 1, columns - 1)

    def may_grow(self) -> tuple[bool, bool, bool, bool]:
        """Whether there is more world to the left, to the right, below and above."""
        whole = self._extent
        w, side = self.window, self.resolution
        return (
            w.column > _first_cell(whole.left, side),
            w.column + w.columns < _end_cell(whole.right, side),
            w.row > _first_cell(whole.low, side),
            w.row + w.rows < _end_cell(whole.high, side),
        )

    def add(self, grid: LocalGrid) -> NDArray[np.int64]:
        """Copy what a rolling map knows; returns the cells (n x 2: row, column) whose costs changed.

        Covers only the window: grow it first.
        """
        box = np.array([self.window.rows, self.window.columns, -1, -1])
        per_cell = round(self.resolution / grid.window.resolution)
        _merge(grid.cells, (grid.window.row, grid.window.column), per_cell, self.cells,
               (self.window.row, self.window.column), box)  # fmt: skip
        if box[2] < 0:
            return np.zeros((0, 2), np.int64)
        return self._cost_around(*box.tolist())

    def _cost_around(self, row: int, column: int, last_row: int, last_column: int) -> NDArray[np.int64]:
        """Recompute costs wherever cells of a box may affect them."""
        rows, columns = self.window.shape
        near = _widened(row, last_row, self._reach, rows), _widened(column, last_column, self._reach, columns)
        wide = _widened(row, last_row, 2 * self._reach, rows), _widened(column, last_column, 2 * self._reach, columns)
        cells = np.ascontiguousarray(self.cells[wide])
        distance = np.empty(cells.shape, np.float32)
        distance_field(cells, OCCUPIED, self.resolution, distance)
        inner = tuple(
            slice(part.start - whole.start, part.stop - whole.start) for part, whole in zip(near, wide, strict=True)
        )
        s = self._settings
        new = _costs(np.ascontiguousarray(distance[inner]), self._blocked_below, s.near_m, s.near_cost)
        changed = np.argwhere(new != self.costs[near])
        self.costs[near] = new
        return np.asarray(changed + np.array([near[0].start, near[1].start]), np.int64)

    def nearest_open(self, x: float, y: float, within: float) -> tuple[int, int] | None:
        """Row and column of the free cell nearest to a position [m]; None if none is at most `within` [m] away."""
        row, column = self.window.cell(x, y)
        reach = math.ceil(within / self.resolution)
        rows, columns = (
            _widened(row, row, reach, self.window.rows),
            _widened(column, column, reach, self.window.columns),
        )
        found = np.argwhere(self.costs[rows, columns] != BLOCKED) + np.array([rows.start, columns.start])
        if not len(found):
            return None
        if self.window.has(row, column) and self.costs[row, column] != BLOCKED:
            return row, column
        away = np.hypot(*(self.middles(found) - [x, y]).T)
        best = int(np.argmin(away))
        return (int(found[best, 0]), int(found[best, 1])) if away[best] <= within else None

    def state_at(self, x: float, y: float) -> int:
        """OCCUPIED, FREE or UNKNOWN at a position [m]."""
        row, column = self.window.cell(x, y)
        return int(self.cells[row, column]) if self.window.has(row, column) else UNKNOWN

    def middles(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """x and y [m] of the centres of cells (n x 2: row, column)."""
        return np.asarray(
            (cells[:, ::-1] + [self.window.column + 0.5, self.window.row + 0.5]) * self.resolution, np.float64
        )


def _first_cell(begin: float, side: float) -> float:
    """Index of the cell that holds a lower bound [m]; infinite if there is no bound."""
    return math.floor(begin / side + ROUNDING) if math.isfinite(begin) else begin


def _end_cell(end: float, side: float) -> float:
    """Index of the first cell beyond an upper bound [m]; infinite if there is no bound."""
    return math.ceil(end / side - ROUNDING) if math.isfinite(end) else end


def _widened(first: int, last: int, by: int, count: int) -> slice:
    begin = min(max(first - by, 0), count)
    return slice(begin, max(min(last + by + 1, count), begin))


@kernel
def _merge(
    local: Cells, local_position: tuple[int, int], per_cell: int, cells: Cells, position: tuple[int, int],
    box: NDArray[np.int64],
) -> None:  # fmt: skip
    """Update coarse cells: occupied if any part is, unknown only if all of it is; box: the changed part."""
    first_row, first_column = -(-local_position[0] // per_cell), -(-local_position[1] // per_cell)
    last_row = (local_position[0] + local.shape[0]) // per_cell
    last_column = (local_position[1] + local.shape[1]) // per_cell
    for row in range(max(first_row, position[0]), min(last_row, position[0] + cells.shape[0])):
        for column in range(max(first_column, position[1]), min(last_column, position[1] + cells.shape[1])):
            state = UNKNOWN
            i, j = row * per_cell - local_position[0], column * per_cell - local_position[1]
            for down in range(per_cell):
                for right in range(per_cell):
                    state = max(state, local[i + down, j + right])
            to_row, to_column = row - position[0], column - position[1]
            before = cells[to_row, to_column]
            if state != UNKNOWN:
                cells[to_row, to_column] = state
            # Unknown cells that become free keep their cost.
            if state != UNKNOWN and (state == OCCUPIED) != (before == OCCUPIED):
                box[0], box[1] = min(box[0], to_row), min(box[1], to_column)
                box[2], box[3] = max(box[2], to_row), max(box[3], to_column)


@kernel
def _costs(distance: NDArray[np.float32], blocked_below: float, near: float, near_cost: float) -> Costs:
    """Costs from the distance [m] to obstacles."""
    out = np.empty(distance.shape, np.int32)
    for row in range(distance.shape[0]):
        for column in range(distance.shape[1]):
            room = distance[row, column] - blocked_below
            if room < 0.0:
                out[row, column] = BLOCKED
            elif room < near:
                out[row, column] = CHEAPEST + int(CHEAPEST * near_cost * (1.0 - room / near) ** 2)
            else:
                out[row, column] = CHEAPEST
    return out


def map_of(grid: LocalGrid, settings: PlannerSettings, half_width: float) -> GlobalMap:
    """A whole rolling map as a global one, for a world that is known from the start."""
    window, side = grid.window, grid.window.resolution
    whole = GlobalMap(settings, half_width, Extent())
    whole.grow_to(window.x, window.x + window.columns * side, window.y, window.y + window.rows * side)
    whole.add(grid)
    return whole
