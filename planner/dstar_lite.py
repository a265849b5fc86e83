"""D* Lite, the optimised version (Koenig and Likhachev 2002, Fig. 4): the cheapest path to a goal, kept up to date.

It searches from the goal to the vehicle, so that changes near the vehicle are cheap to repair. Names: `g` and
`rhs` are the paper's; `known` cost is g, `looked_ahead` is rhs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.grid_cost import NO_PATH, STEP_COLUMN, STEP_ROW, Costs, least_cost, step_cost
from planner.open_list import NOT_IN, Longs, OpenList, open_list, put, take_out
from proving_ground.kernels.jit import kernel, part
from proving_ground.saving.stateful import Stateful

Cell = tuple[int, int]
Cells = NDArray[np.int64]  # n x 2: row, column


class _Search(NamedTuple):
    costs: Costs
    known: Longs  # g(s), flat
    looked_ahead: Longs  # rhs(s), flat
    queue: OpenList  # U
    goal: Longs  # row, column
    start: Longs
    moved: Longs  # km, one element


class DStarLite(Stateful):
    """A path from a moving start to a fixed goal, on changing costs."""

    STATE = ("_search",)

    def __init__(self, costs: Costs, start: Cell, goal: Cell) -> None:
        """costs (see grid_cost.py) are shared: report every change of them by `changed`."""
        cells = costs.size
        self._search = _Search(
            costs,
            np.full(cells, NO_PATH, np.int64),
            np.full(cells, NO_PATH, np.int64),
            open_list(cells),
            np.array(goal, np.int64),
            np.array(start, np.int64),
            np.zeros(1, np.int64),
        )
        _begin(self._search)

    @property
    def goal(self) -> Cell:
        """Row and column of the goal's cell."""
        row, column = self._search.goal.tolist()
        return row, column

    def move_to(self, start: Cell) -> None:
        """Move the start: the vehicle is elsewhere now."""
        search, (row, column) = self._search, self._search.start.tolist()
        search.moved[0] += int(least_cost_of(row - start[0], column - start[1]))
        search.start[:] = start

    def changed(self, cells: Cells) -> None:
        """Report cells whose costs have changed."""
        if not len(cells):
            return
        low = np.maximum(cells.min(axis=0) - 1, 0)
        high = np.minimum(cells.max(axis=0) + 2, self._search.costs.shape)
        near = np.zeros(high - low, np.bool_)
        _mark_around(np.ascontiguousarray(cells, np.int64), low, near)
        _changed(self._search, np.argwhere(near) + low)

    def repair(self, most: int = 1 << 62) -> int:
        """Bring the path up to date; returns the number of expanded cells, at most `most`."""
        return int(_repair(self._search, most))

    @property
    def cost(self) -> int:
        """Cost from start to goal after `repair`; NO_PATH if the goal cannot be reached."""
        row, column = self._search.start.tolist()
        return int(self._search.looked_ahead[row * self._search.costs.shape[1] + column])

    def path(self, most: int) -> Cells:
        """Up to `most` cells from the start towards the goal; empty when there is no path."""
        out = np.zeros((most, 2), np.int64)
        return out[: _path(self._search, out)]

    def grown(self, costs: Costs, rows_before: int, columns_before: int) -> DStarLite:
        """The same search on a larger grid, with this many rows and columns added before those of the old one."""
        old = self._search
        rows, columns = old.costs.shape
        shift = np.array([rows_before, columns_before])
        larger = DStarLite.__new__(DStarLite)
        larger._search = search = _Search(
            costs,
            np.full(costs.size, NO_PATH, np.int64),
            np.full(costs.size, NO_PATH, np.int64),
            open_list(costs.size),
            old.goal + shift,
            old.start + shift,
            old.moved.copy(),
        )
        part_of = (slice(rows_before, rows_before + rows), slice(columns_before, columns_before + columns))
        shape = (rows, columns)
        search.known.reshape(costs.shape)[part_of] = old.known.reshape(shape)
        search.looked_ahead.reshape(costs.shape)[part_of] = old.looked_ahead.reshape(shape)
        search.queue.slot.reshape(costs.shape)[part_of] = old.queue.slot.reshape(shape)
        count = int(old.queue.size[0])
        row, column = np.divmod(old.queue.heap[:count], columns)
        search.queue.heap[:count] = (row + rows_before) * costs.shape[1] + column + columns_before
        search.queue.keys[:count] = old.queue.keys[:count]
        search.queue.size[0] = count
        # New cells next to the old edge are reachable now, as if their costs had changed.
        edge = np.zeros(costs.shape, bool)
        edge[part_of] = True
        edge[rows_before + 1 : rows_before + rows - 1, columns_before + 1 : columns_before + columns - 1] = False
        larger.changed(np.argwhere(edge))
        return larger


@kernel
def least_cost_of(rows: int, columns: int) -> int:
    """Lower bound on the cost of a path over this many rows and columns, for callers in Python."""
    return least_cost(rows, columns)


@part
def _enqueue(search: _Search, cell: int) -> None:
    """Insert a cell into the queue with its key: CalculateKey(s) of the paper."""
    columns = search.costs.shape[1]
    first, second = _key(search, cell, columns)
    put(search.queue, cell, first, second)


@part
def _key(search: _Search, cell: int, columns: int) -> tuple[int, int]:
    least = min(search.known[cell], search.looked_ahead[cell])
    if least == NO_PATH:
        return NO_PATH, NO_PATH
    left = least_cost(search.start[0] - cell // columns, search.start[1] - cell % columns)
    return least + left + search.moved[0], least


@part
def _look_ahead(search: _Search, row: int, column: int) -> int:
    """min over neighbours of step + g."""
    rows, columns = search.costs.shape
    best = NO_PATH
    for k in range(8):
        to_row, to_column = row + STEP_ROW[k], column + STEP_COLUMN[k]
        if 0 <= to_row < rows and 0 <= to_column < columns:
            known = search.known[to_row * columns + to_column]
            if known != NO_PATH:
                step = step_cost(search.costs, row, column, to_row, to_column)
                if step != NO_PATH:
                    best = min(best, step + known)
    return best


@part
def _update(search: _Search, cell: int) -> None:
    """Update a cell's cost from its neighbours and queue it if inconsistent: UpdateVertex(u) of the paper."""
    if search.known[cell] != search.looked_ahead[cell]:
        _enqueue(search, cell)
    elif search.queue.slot[cell] != NOT_IN:
        take_out(search.queue, cell)


@kernel
def _begin(search: _Search) -> None:
    """Start a new search from the goal: Initialize() of the paper."""
    goal = search.goal[0] * search.costs.shape[1] + search.goal[1]
    search.looked_ahead[goal] = 0
    _enqueue(search, goal)


@kernel
def _mark_around(cells: Cells, low: Longs, near: NDArray[np.bool_]) -> None:
    """Mark cells and their neighbours in a box that begins at row and column `low`."""
    rows, columns = near.shape
    for k in range(len(cells)):
        row, column = cells[k, 0] - low[0], cells[k, 1] - low[1]
        near[max(row - 1, 0) : min(row + 2, rows), max(column - 1, 0) : min(column + 2, columns)] = True


@kernel
def _changed(search: _Search, cells: Cells) -> None:
    """Update the look-ahead of these cells: their costs or those of their neighbours changed."""
    columns = search.costs.shape[1]
    goal = search.goal[0] * columns + search.goal[1]
    for k in range(len(cells)):
        cell = cells[k, 0] * columns + cells[k, 1]
        if cell != goal:
            search.looked_ahead[cell] = _look_ahead(search, cells[k, 0], cells[k, 1])
            _update(search, cell)


@kernel
def _repair(search: _Search, most: int) -> int:
    """Process the queue until the start is consistent: ComputeShortestPath() of the paper."""
    rows, columns = search.costs.shape
    queue = search.queue
    goal = search.goal[0] * columns + search.goal[1]
    start = search.start[0] * columns + search.start[1]
    looked_at = 0
    while queue.size[0] > 0 and looked_at < most:
        cell = queue.heap[0]
        first, second = queue.keys[0, 0], queue.keys[0, 1]
        start_first, start_second = _key(search, start, columns)
        is_before = first < start_first or (first == start_first and second < start_second)
        if not is_before and search.looked_ahead[start] <= search.known[start]:
            break
        looked_at += 1
        new_first, new_second = _key(search, cell, columns)
        row, column = cell // columns, cell % columns
        if first < new_first or (first == new_first and second < new_second):
            put(queue, cell, new_first, new_second)
            continue
        is_better = search.known[cell] > search.looked_ahead[cell]
        before = search.known[cell]
        if is_better:
            search.known[cell] = search.looked_ahead[cell]
            take_out(queue, cell)
        else:
            search.known[cell] = NO_PATH
            _update(search, cell)
        for k in range(8):
            to_row, to_column = row + STEP_ROW[k], column + STEP_COLUMN[k]
            if not (0 <= to_row < rows and 0 <= to_column < columns):
                continue
            there = to_row * columns + to_column
            step = step_cost(search.costs, row, column, to_row, to_column)
            if there == goal or step == NO_PATH:
                continue
            if is_better:
                if step + search.known[cell] < search.looked_ahead[there]:
                    search.looked_ahead[there] = step + search.known[cell]
                    _update(search, there)
            elif search.looked_ahead[there] == step + before:
                search.looked_ahead[there] = _look_ahead(search, to_row, to_column)
                _update(search, there)
    return looked_at


@kernel
def _path(search: _Search, out: Cells) -> int:
    """Follow the cheapest neighbours from the start; returns the number of cells."""
    rows, columns = search.costs.shape
    row, column = search.start[0], search.start[1]
    if search.looked_ahead[row * columns + column] == NO_PATH:
        return 0
    count = 0
    while count < len(out):
        out[count, 0], out[count, 1] = row, column
        count += 1
        if row == search.goal[0] and column == search.goal[1]:
            break
        best, best_row, best_column = NO_PATH, row, column
        for k in range(8):
            to_row, to_column = row + STEP_ROW[k], column + STEP_COLUMN[k]
            if 0 <= to_row < rows and 0 <= to_column < columns:
                step = step_cost(search.costs, row, column, to_row, to_column)
                known = search.known[to_row * columns + to_column]
                if step != NO_PATH and known != NO_PATH and step + known < best:
                    best, best_row, best_column = step + known, to_row, to_column
        if best == NO_PATH:
            return 0
        row, column = best_row, best_column
    return count
