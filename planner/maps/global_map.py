"""What has been seen so far, and what it costs to drive there: a coarse grid that grows with the way."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from planner.grid_cost import BLOCKED, CHEAPEST, Costs
from planner.maps.distance import distance_field
from planner.maps.grid import OCCUPIED, UNKNOWN, Cells, LocalGrid, Window
from planner.maps.source import Extent
from planner.settings import PlannerSettings
from vehicle_dynamics.kernels.jit import kernel

MOST_CELLS = 4_000_000
GROWTH_M = 40.0


class GlobalMap:
    """Accumulates rolling maps. What was never seen counts as free: a way is planned through it until it is."""

    def __init__(self, settings: PlannerSettings, half_width: float, extent: Extent) -> None:
        """half_width [m] of the vehicle: closer to an obstacle its middle cannot be."""
        self._settings = settings
        self._extent = extent
        self.resolution = settings.global_resolution_m
        self._blocked_below = half_width + settings.margin_m
        self._reach = math.ceil((self._blocked_below + settings.near_m) / self.resolution) + 1
        self.window = Window(0, 0, 0, 0, self.resolution)
        self.cells: Cells = np.zeros((0, 0), np.int8)
        self.costs: Costs = np.zeros((0, 0), np.int32)

    def grow_to(self, left: float, right: float, low: float, high: float) -> tuple[int, int] | None:
        """Hold at least this rectangle [m], as far as the extent allows; rows and columns put before, None if as is.

        Raises ValueError for more cells than allowed.
        """
        side, e = self.resolution, self._extent
        left, right = max(left, e.left), min(right, e.right)
        low, high = max(low, e.low), min(high, e.high)
        column, row = math.floor(left / side), math.floor(low / side)
        end_column, end_row = math.ceil(right / side), math.ceil(high / side)
        old = self.window
        if old.rows:
            column, row = min(column, old.column), min(row, old.row)
            end_column, end_row = max(end_column, old.column + old.columns), max(end_row, old.row + old.rows)
        new = Window(column, row, max(end_column - column, 1), max(end_row - row, 1), side)
        if new == old:
            return None
        if new.rows * new.columns > MOST_CELLS:
            raise ValueError(
                f"map: {new.columns * side:g} x {new.rows * side:g} m are more than {MOST_CELLS / 1e6:g} million cells"
            )
        cells, costs = np.full(new.shape, UNKNOWN, np.int8), np.full(new.shape, CHEAPEST, np.int32)
        before = (old.row - new.row, old.column - new.column) if old.rows else (0, 0)
        place = (slice(before[0], before[0] + old.rows), slice(before[1], before[1] + old.columns))
        cells[place], costs[place] = self.cells, self.costs
        self.window, self.cells, self.costs = new, cells, costs
        if old.rows:  # what stands near the old edge makes new cells costly
            self._cost_around(before[0], before[1], before[0] + old.rows - 1, before[1] + old.columns - 1)
        return before

    def add(self, grid: LocalGrid) -> NDArray[np.int64]:
        """Take over what a rolling map knows; returns the cells (n x 2: row, column) whose costs changed.

        Only what lies inside the window: grow it first.
        """
        box = np.array([self.window.rows, self.window.columns, -1, -1])
        per_cell = round(self.resolution / grid.window.resolution)
        _merge(grid.cells, (grid.window.row, grid.window.column), per_cell, self.cells,
               (self.window.row, self.window.column), box)  # fmt: skip
        if box[2] < 0:
            return np.zeros((0, 2), np.int64)
        return self._cost_around(*box.tolist())

    def _cost_around(self, row: int, column: int, last_row: int, last_column: int) -> NDArray[np.int64]:
        """Costs again wherever cells of a box may matter."""
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
        """The cell nearest to a place [m] that can be entered, at most `within` [m] away."""
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
        """OCCUPIED, FREE or UNKNOWN at a place [m]."""
        row, column = self.window.cell(x, y)
        return int(self.cells[row, column]) if self.window.has(row, column) else UNKNOWN

    def middles(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """x and y [m] of the middles of cells (n x 2: row, column)."""
        return np.asarray(
            (cells[:, ::-1] + [self.window.column + 0.5, self.window.row + 0.5]) * self.resolution, np.float64
        )


def _widened(first: int, last: int, by: int, count: int) -> slice:
    begin = min(max(first - by, 0), count)
    return slice(begin, max(min(last + by + 1, count), begin))


@kernel
def _merge(
    local: Cells, local_place: tuple[int, int], per_cell: int, cells: Cells, place: tuple[int, int],
    box: NDArray[np.int64],
) -> None:  # fmt: skip
    """A coarse cell is occupied as soon as a part of it is, and unknown while all of it is; box: what changed."""
    first_row, first_column = -(-local_place[0] // per_cell), -(-local_place[1] // per_cell)
    last_row = (local_place[0] + local.shape[0]) // per_cell
    last_column = (local_place[1] + local.shape[1]) // per_cell
    for row in range(max(first_row, place[0]), min(last_row, place[0] + cells.shape[0])):
        for column in range(max(first_column, place[1]), min(last_column, place[1] + cells.shape[1])):
            state = UNKNOWN
            i, j = row * per_cell - local_place[0], column * per_cell - local_place[1]
            for down in range(per_cell):
                for right in range(per_cell):
                    state = max(state, local[i + down, j + right])
            to_row, to_column = row - place[0], column - place[1]
            before = cells[to_row, to_column]
            if state != UNKNOWN:
                cells[to_row, to_column] = state
            # What becomes known as free costs the same as before.
            if state != UNKNOWN and (state == OCCUPIED) != (before == OCCUPIED):
                box[0], box[1] = min(box[0], to_row), min(box[1], to_column)
                box[2], box[3] = max(box[2], to_row), max(box[3], to_column)


@kernel
def _costs(distance: NDArray[np.float32], blocked_below: float, near: float, near_cost: float) -> Costs:
    """Costs by the distance [m] from obstacles."""
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
    """All of a rolling map as a global one: for a world that is known from the beginning."""
    window, side = grid.window, grid.window.resolution
    whole = GlobalMap(settings, half_width, Extent())
    whole.grow_to(window.x, window.x + window.columns * side, window.y, window.y + window.rows * side)
    whole.add(grid)
    return whole
