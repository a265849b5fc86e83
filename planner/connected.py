"""Connectivity of cells: whether a path leads out of a map from a given cell."""

from __future__ import annotations

import numpy as np

from planner.grid_cost import BLOCKED, STEP_COLUMN, STEP_ROW, Costs
from proving_ground.kernels.jit import kernel


@kernel
def leads_out(costs: Costs, row: int, column: int, sides: tuple[bool, bool, bool, bool]) -> bool:
    """Whether a path over free cells leads from a cell to an edge of the map that counts.

    sides: whether the left, the right, the lower and the upper edge count.
    """
    rows, columns = costs.shape
    if costs[row, column] == BLOCKED:
        return False
    was_there = np.zeros((rows, columns), np.bool_)
    stack = np.empty(rows * columns, np.int64)
    stack[0], count = row * columns + column, 1
    was_there[row, column] = True
    while count:
        count -= 1
        at_row, at_column = stack[count] // columns, stack[count] % columns
        if (
            (sides[0] and at_column == 0)
            or (sides[1] and at_column == columns - 1)
            or (sides[2] and at_row == 0)
            or (sides[3] and at_row == rows - 1)
        ):
            return True
        for k in range(8):
            i, j = at_row + STEP_ROW[k], at_column + STEP_COLUMN[k]
            if 0 <= i < rows and 0 <= j < columns and not was_there[i, j] and costs[i, j] != BLOCKED:
                was_there[i, j] = True
                stack[count] = i * columns + j
                count += 1
    return False
