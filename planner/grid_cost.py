"""What a step from cell to cell costs, for all searches on grids: whole numbers, so that sums are exact.

A cell costs at least CHEAPEST; 0 is a cell that cannot be entered. A step costs the sum of both cells' costs times
its length, where a diagonal is 99/70 of a straight one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import part

Costs = NDArray[np.int32]

BLOCKED, CHEAPEST = 0, 10
STRAIGHT, DIAGONAL = 70, 99
NO_WAY = 1 << 60
STEP_ROW = np.array([0, 1, 1, 1, 0, -1, -1, -1])
STEP_COLUMN = np.array([1, 1, 0, -1, -1, -1, 0, 1])
METRE_COST = 2 * CHEAPEST * STRAIGHT  # of a straight step over a side of 1 m on cheapest ground


@part
def step_cost(costs: Costs, row: int, column: int, to_row: int, to_column: int) -> int:
    """Of a step between neighbours, the same both ways; NO_WAY if either is blocked."""
    here, there = costs[row, column], costs[to_row, to_column]
    if here == BLOCKED or there == BLOCKED:
        return NO_WAY
    length = DIAGONAL if row != to_row and column != to_column else STRAIGHT
    return int((np.int64(here) + np.int64(there)) * length)


@part
def least_cost(rows: int, columns: int) -> int:
    """What so many rows and columns of way cost at least."""
    rows, columns = abs(rows), abs(columns)
    diagonal = min(rows, columns)
    return 2 * CHEAPEST * (DIAGONAL * diagonal + STRAIGHT * (max(rows, columns) - diagonal))
