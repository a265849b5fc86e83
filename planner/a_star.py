"""A* on a cost grid, searched from scratch each time: shows that a world is solvable, and checks D* Lite."""

from __future__ import annotations

import numpy as np

from planner.grid_cost import BLOCKED, NO_PATH, STEP_COLUMN, STEP_ROW, Costs, least_cost, step_cost
from planner.open_list import Longs, OpenList, open_list, put, take_out
from proving_ground.kernels.jit import kernel

Cell = tuple[int, int]


def shortest(costs: Costs, start: Cell, goal: Cell) -> tuple[int, list[Cell]]:
    """Cost and cells of the cheapest path; NO_PATH and no cells if the goal cannot be reached."""
    rows, columns = costs.shape
    spent = np.full(rows * columns, NO_PATH, np.int64)
    came_from = np.full(rows * columns, -1, np.int64)
    _search(costs, start, goal, spent, came_from, open_list(rows * columns))
    cell = goal[0] * columns + goal[1]
    if spent[cell] == NO_PATH:
        return NO_PATH, []
    cost, path = int(spent[cell]), []
    while cell >= 0:
        path.append((int(cell // columns), int(cell % columns)))
        cell = came_from[cell]
    return cost, path[::-1]


@kernel
def _search(costs: Costs, start: Cell, goal: Cell, spent: Longs, came_from: Longs, queue: OpenList) -> None:
    rows, columns = costs.shape
    if costs[start[0], start[1]] == BLOCKED or costs[goal[0], goal[1]] == BLOCKED:
        return
    first = start[0] * columns + start[1]
    spent[first] = 0
    put(queue, first, least_cost(goal[0] - start[0], goal[1] - start[1]), 0)
    while queue.size[0] > 0:
        cell = queue.heap[0]
        take_out(queue, cell)
        row, column = cell // columns, cell % columns
        if row == goal[0] and column == goal[1]:
            return
        for k in range(8):
            to_row, to_column = row + STEP_ROW[k], column + STEP_COLUMN[k]
            if not (0 <= to_row < rows and 0 <= to_column < columns):
                continue
            step = step_cost(costs, row, column, to_row, to_column)
            there = to_row * columns + to_column
            if step != NO_PATH and spent[cell] + step < spent[there]:
                spent[there] = spent[cell] + step
                came_from[there] = cell
                left = least_cost(goal[0] - to_row, goal[1] - to_column)
                put(queue, there, spent[there] + left, left)  # break ties towards the goal
