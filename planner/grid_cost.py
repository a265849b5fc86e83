"""Cost of a step between cells, for all grid searches: integers, so that sums are exact.

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
NO_PATH = 1 << 60
STEP_ROW = np.array([0, 1, 1, 1, 0, -1, -1, -1])
STEP_COLUMN = np.array([1, 1, 0, -1, -1, -1, 0, 1])
METRE_COST = 2 * CHEAPEST * STRAIGHT  # of a straight step across a 1 m cell on the cheapest ground


@part
def step_cost(costs: Costs, row: int, column: int, to_row: int, to_column: int) -> int:
    """Cost of a step between neighbours, the same in both directions; NO_PATH if either is blocked."""
    here, there = costs[row, column], costs[to_row, to_column]
    if here == BLOCKED or there == BLOCKED:
        return NO_PATH
    length = DIAGONAL if row != to_row and column != to_column else STRAIGHT
    return int((np.int64(here) + np.int64(there)) * length)


@part
def least_cost(rows: int, columns: int) -> int:
    """Lower bound on the cost of a path over this many rows and columns."""
    rows, columns = abs(rows), abs(columns)
    diagonal = min(rows, columns)
    return 2 * CHEAPEST * (DIAGONAL * diagonal + STRAIGHT * (max(rows, columns) - diagonal))
