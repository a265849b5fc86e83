"""Ground that falls away, as a LIDAR shows it: an edge hides what is behind it, so a drop is a gap in the map.

Seen from a height h, an edge at a distance d over a drop hides drop * d / h behind it. Steps are found between
neighbours (maps.step_judge), and so never across such a gap: here, rays from the sensor over the map compare the ground
on both sides of a gap. Where it falls by more than the slopes on either side explain, the gap is the drop's shadow. A
gap without a far side within reach stays unknown: nothing may drive there unseen (maps.step_judge.block_unseen, and
the speed of arcs by sight).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, Cells
from planner.maps.height_grid import MEASURED, HeightGrid, cell_index
from proving_ground.kernels.jit import kernel

Array = NDArray[np.float64]

RAYS = 720
REACH_M = 15.0  # from the sensor: further away, rings are too far apart to decide
STRIDE = 0.7  # of a cell, along a ray
WIDEST_M = 2.0  # widest gap that is judged
SLACK = 0.06  # rise over run that a gap may hide beyond the slopes on its sides
NEAREST_M, FURTHEST_M = 0.5, 1.6  # range on either side, from the gap, over which the slope is measured


@kernel
def block_falls(
    grid: HeightGrid, step: float, eye: tuple[float, float], window: tuple[int, int, float], cells: Cells
) -> None:
    """Mark unknown cells of a window (column, row, resolution) in which the ground falls by a step [m] as obstacles.

    eye: x and y [m] of the sensor.
    """
    first_column, first_row, resolution = window
    rows, columns = cells.shape
    most = int(REACH_M / (STRIDE * resolution)) + 1
    at_row, at_column = np.empty(most, np.int64), np.empty(most, np.int64)
    away, low = np.empty(most), np.empty(most)  # low: NaN where no height is known
    for ray in range(RAYS):
        bearing = 2.0 * math.pi * ray / RAYS
        right, up = math.cos(bearing), math.sin(bearing)
        count = 0
        for k in range(most):
            here = k * STRIDE * resolution
            column = math.floor((eye[0] + here * right) / resolution)
            row = math.floor((eye[1] + here * up) / resolution)
            i, j = row - first_row, column - first_column
            if not (0 <= i < rows and 0 <= j < columns):
                break
            if count and at_row[count - 1] == i and at_column[count - 1] == j:
                continue
            cell = cell_index(grid.side, column, row)
            is_ground = cells[i, j] == FREE and grid.state[cell] == MEASURED
            at_row[count], at_column[count], away[count] = i, j, here
            low[count] = grid.low[cell] if is_ground else np.nan
            count += 1
        near = -1  # the last ground before the gap
        for k in range(count):
            if cells[at_row[k], at_column[k]] == UNKNOWN:
                continue
            if np.isnan(low[k]):
                near = -1
                continue
            if near >= 0 and k > near + 1 and away[k] - away[near] <= WIDEST_M:
                fall, over = low[near] - low[k], away[k] - away[near]
                behind = _fall_after(away, low, k, count)
                # A cell's lowest point may lie anywhere in it: allow for one more cell of the slope.
                explained = max(_fall_before(away, low, near), behind, 0.0) * (over + resolution) + SLACK * over
                if fall - explained > step and not np.isnan(behind):
                    for gap in range(near + 1, k):
                        cells[at_row[gap], at_column[gap]] = OCCUPIED
            near = k


@kernel
def _fall_before(away: Array, low: Array, at: int) -> float:
    """Fall of the ground, over run, before a sample of a ray; 0 where unknown."""
    found = 0.0
    for k in range(at - 1, -1, -1):
        run = away[at] - away[k]
        if run > FURTHEST_M:
            break
        if run >= NEAREST_M and not np.isnan(low[k]):
            found = (low[k] - low[at]) / run
    return found


@kernel
def _fall_after(away: Array, low: Array, at: int, count: int) -> float:
    """Fall of the ground, over run, from a sample of a ray onwards; NaN where unknown."""
    found = np.nan
    for k in range(at + 1, count):
        run = away[k] - away[at]
        if run > FURTHEST_M:
            break
        if run >= NEAREST_M and not np.isnan(low[k]):
            found = (low[at] - low[k]) / run
    return found
