"""Exact Euclidean distance transform in two passes (Meijster, Roerdink and Hesselink 2000)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planner.maps.grid import Cells, Floats
from vehicle_dynamics.kernels.jit import kernel

Squares = NDArray[np.int64]

FAR = 1 << 20  # cells: further than any grid is wide


@kernel
def distance_field(cells: Cells, least: int, resolution: float, out: Floats) -> None:
    """Distance [m] from the middle of each cell to that of the nearest cell whose value is at least `least`.

    Where there is no such cell it is FAR cells. scipy's distance_transform_edt gives the same and takes four times
    as long.
    """
    rows, columns = cells.shape
    down = np.empty((rows, columns), np.int64)  # to the nearest occupied cell of the same column
    for column in range(columns):
        down[0, column] = 0 if cells[0, column] >= least else FAR
    for row in range(1, rows):
        for column in range(columns):
            down[row, column] = 0 if cells[row, column] >= least else min(down[row - 1, column] + 1, FAR)
    for row in range(rows - 2, -1, -1):
        for column in range(columns):
            down[row, column] = min(down[row, column], down[row + 1, column] + 1)
    place = np.empty(columns, np.int64)  # columns whose parabolas make the lower envelope
    begin = np.empty(columns, np.int64)  # from where on each is the lowest
    for row in range(rows):
        count = 1
        place[0], begin[0] = 0, 0
        for column in range(1, columns):
            here = down[row, column] ** 2
            while count > 0:
                top = place[count - 1]
                at = begin[count - 1]
                if (at - top) ** 2 + down[row, top] ** 2 <= (at - column) ** 2 + here:
                    break
                count -= 1
            if count == 0:
                place[0], begin[0], count = column, 0, 1
                continue
            top = place[count - 1]
            # First column where the new parabola is strictly below the last.
            crossing = (column * column - top * top + here - down[row, top] ** 2) // (2 * (column - top)) + 1
            if crossing < columns:
                place[count], begin[count] = column, crossing
                count += 1
        for column in range(columns - 1, -1, -1):
            if begin[count - 1] > column:
                count -= 1
            top = place[count - 1]
            square = (column - top) ** 2 + down[row, top] ** 2
            out[row, column] = resolution * min(np.sqrt(np.float64(square)), float(FAR))
