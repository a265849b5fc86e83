"""Finds the obstacles of a height grid: cells at steps, not on slopes.

The rise between a cell and its neighbours is compared with what the slope of the ground around explains. That slope is
the smaller of those on both sides, and 0 where they differ in sign (the minmod limiter of Roe 1986): an even slope
explains itself, a step between two level pieces does not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, Cells, Floats
from planner.maps.height_grid import MEASURED, NOTHING, HeightGrid, cell_index
from proving_ground.kernels.jit import inlined, kernel, part

SLOPE_CELLS = 4  # from a cell to those that give the slope
BOTH_ENDS_M = 0.3  # up to this step height, the lower cell is an obstacle too: the edge may be in it
DIAGONAL_M = 0.03  # extra allowance between diagonal neighbours, whose points may be half a metre apart
GAP_CELLS = 2  # an unseen cell with a seen one this near is a gap between rings


class Limits(NamedTuple):
    """Limits of step, slope and height up to which ground is drivable."""

    step: float  # [m]
    steepest: float  # rise over run
    height: float  # over the vehicle's ground plane, beyond what the steepest slope explains [m]
    since: float  # older evidence is dropped [s], in the grid's own time,
    near: float  # unless it is closer than this to the vehicle [m]


@kernel
def judge(
    grid: HeightGrid, limits: Limits, base: tuple[float, float, float], slope: tuple[float, float],
    window: tuple[int, int, float], extent: tuple[float, float, float, float], cells: Cells, heights: Floats,
) -> None:  # fmt: skip
    """Classify cells of a window (column, row, resolution), find ground heights [m]; beyond the extent all is obstacle.

    base [m] and slope: the vehicle's ground plane.
    """
    first_column, first_row, resolution = window
    rows, columns = cells.shape
    low, high = _copied(grid, first_column, first_row, rows, columns)
    rise = np.empty(columns + 2, np.float32)
    flat = np.float32(min(limits.step, 0.8 * limits.steepest * resolution))
    square, near = limits.steepest**2, limits.near**2
    state, driven, time, side = grid.state, grid.driven, grid.time, grid.side
    corner_column, corner_row = grid.corner[0], grid.corner[1]
    for i in range(rows):
        _rise(low[i : i + 3], high[i : i + 3], rise)
        row = first_row + i
        y = (row + 0.5) * resolution
        to_y = y - base[1]
        is_outside = not extent[2] <= y <= extent[3]
        is_row_covered = 0 <= row - corner_row < side
        for j in range(columns):
            column = first_column + j
            x = (column + 0.5) * resolution
            cells[i, j], heights[i, j] = UNKNOWN, np.nan
            if is_outside or not extent[0] <= x <= extent[1]:
                cells[i, j] = OCCUPIED
                continue
            if not (is_row_covered and 0 <= column - corner_column < side):
                continue
            cell = cell_index(side, column, row)
            to_x = x - base[0]
            away = to_x * to_x + to_y * to_y
            if state[cell] == NOTHING or (time[cell] < limits.since and away > near):
                continue
            cells[i, j] = FREE
            if state[cell] != MEASURED:
                continue
            if not driven[cell]:
                over = high[i + 1, j + 1] - (base[2] + slope[0] * to_x + slope[1] * to_y) - limits.height
                is_high = over > 0.0 and over * over > square * away
                if is_high or (rise[j + 1] > flat and _is_step(grid, limits, slope, column, row, resolution)):
                    cells[i, j] = OCCUPIED
                    continue
            heights[i, j] = low[i + 1, j + 1]


@kernel
def block_unseen(
    position: tuple[float, float], heading: float, body: tuple[float, float, float], reach: float, resolution: float,
    first: tuple[int, int], cells: Cells,
) -> None:  # fmt: skip
    """Mark cells within reach [m] of the body (rear, front, half width [m]) with nothing known around as obstacles.

    position [m], heading [rad]: of base_link; first: column and row of the window. Single cells between rings are
    exempt.
    """
    rows, columns = cells.shape
    cosine, sine = math.cos(heading), math.sin(heading)
    count = int((max(abs(body[0]), abs(body[1])) + body[2] + reach) / resolution) + 1
    middle_i, middle_j = (
        math.floor(position[1] / resolution) - first[1],
        math.floor(position[0] / resolution) - first[0],
    )
    blocked = np.zeros((2 * count + 1, 2 * count + 1), np.bool_)
    for i in range(max(middle_i - count, GAP_CELLS), min(middle_i + count + 1, rows - GAP_CELLS)):
        to_y = (first[1] + i + 0.5) * resolution - position[1]
        for j in range(max(middle_j - count, GAP_CELLS), min(middle_j + count + 1, columns - GAP_CELLS)):
            if cells[i, j] != UNKNOWN:
                continue
            to_x = (first[0] + j + 0.5) * resolution - position[0]
            along, across = cosine * to_x + sine * to_y, abs(cosine * to_y - sine * to_x)
            beside = max(along - body[1], body[0] - along, 0.0)
            if math.hypot(beside, max(across - body[2], 0.0)) > reach:
                continue
            blocked[i - middle_i + count, j - middle_j + count] = not _is_anything_known(cells, i, j)
    for i in range(len(blocked)):
        for j in range(len(blocked)):
            if blocked[i, j]:
                cells[i + middle_i - count, j + middle_j - count] = OCCUPIED


@inlined
def _is_anything_known(cells: Cells, row: int, column: int) -> bool:
    for i in range(row - GAP_CELLS, row + GAP_CELLS + 1):
        for j in range(column - GAP_CELLS, column + GAP_CELLS + 1):
            if cells[i, j] != UNKNOWN:
                return True
    return False


@kernel
def _copied(grid: HeightGrid, first_column: int, first_row: int, rows: int, columns: int) -> tuple[Floats, Floats]:
    """Lowest and highest heights [m] of a window with one more cell on every side; infinite where not measured."""
    low = np.full((rows + 2, columns + 2), np.float32(np.inf))
    high = np.full((rows + 2, columns + 2), np.float32(-np.inf))
    state, lows, highs, side = grid.state, grid.low, grid.high, grid.side
    corner_column, corner_row = grid.corner[0], grid.corner[1]
    for row in range(max(first_row - 1, corner_row), min(first_row + rows + 1, corner_row + side)):
        i = row - first_row + 1
        for column in range(
            max(first_column - 1, corner_column), min(first_column + columns + 1, corner_column + side)
        ):
            cell = cell_index(side, column, row)
            if state[cell] == MEASURED:
                j = column - first_column + 1
                low[i, j], high[i, j] = lows[cell], highs[cell]
    return low, high


@inlined
def _rise(low: Floats, high: Floats, out: Floats) -> None:
    """Rise from the lowest to the highest [m] of each cell of the middle of three rows and its eight neighbours."""
    columns = low.shape[1]
    lowest, highest = np.empty(columns, np.float32), np.empty(columns, np.float32)
    for j in range(columns):
        lowest[j] = min(min(low[0, j], low[1, j]), low[2, j])
        highest[j] = max(max(high[0, j], high[1, j]), high[2, j])
    for j in range(1, columns - 1):
        out[j] = max(max(highest[j - 1], highest[j]), highest[j + 1]) - min(
            min(lowest[j - 1], lowest[j]), lowest[j + 1]
        )


@part
def _is_step(
    grid: HeightGrid, limits: Limits, slope: tuple[float, float], column: int, row: int, resolution: float
) -> bool:
    """Whether a measured cell is an end of a step, or too steep."""
    state, lows, highs, side = grid.state, grid.low, grid.high, grid.side
    cell = cell_index(side, column, row)
    low, high = lows[cell], highs[cell]
    along, is_along = _slope(grid, column, row, 1, 0, resolution, slope[0])
    across, is_across = _slope(grid, column, row, 0, 1, resolution, slope[1])
    if is_along and is_across and math.hypot(along, across) > limits.steepest:
        return True
    inside = resolution * (abs(along) + abs(across))
    if high - low > limits.step + inside:
        return True
    for down in range(-1, 2):
        for right in range(-1, 2):
            other = cell_index(side, column + right, row + down)
            if (down == 0 and right == 0) or state[other] != MEASURED:
                continue
            rise = resolution * (along * right + across * down)
            if down == 0 or right == 0:  # from the lowest of one to the highest of the other
                up = highs[other] - low - max(rise, 0.0) - inside
                fall = high - lows[other] - max(-rise, 0.0) - inside
                least = limits.step
            else:
                up = lows[other] - low - rise
                fall = -up
                least = limits.step + DIAGONAL_M
            if fall > least or least < up <= BOTH_ENDS_M:
                return True
    return False


@inlined
def _slope(
    grid: HeightGrid, column: int, row: int, right: int, down: int, resolution: float, otherwise: float
) -> tuple[float, bool]:
    """Rise over run of the ground along an axis, and whether it is known on both sides of the cell."""
    state, low, side = grid.state, grid.low, grid.side
    here = low[cell_index(side, column, row)]
    ahead = behind = np.nan
    for away in range(SLOPE_CELLS + 1, SLOPE_CELLS - 3, -1):
        other = cell_index(side, column + away * right, row + away * down)
        if state[other] == MEASURED and np.isnan(ahead):
            ahead = (low[other] - here) / (away * resolution)
        other = cell_index(side, column - away * right, row - away * down)
        if state[other] == MEASURED and np.isnan(behind):
            behind = (here - low[other]) / (away * resolution)
    if np.isnan(ahead + behind):
        return otherwise, False
    if ahead * behind <= 0.0:
        return 0.0, True
    return (ahead if abs(ahead) < abs(behind) else behind), True
