"""Aligns a scan with the heights of the map: poses err in height and tilt, and kerbs are only 0.15 m high.

Ground that is seen again should be where it was. A plane is fitted to the differences (robust: about their median, in
two rounds) and subtracted from the scan. So the map has a height datum of its own: it does not follow a pose whose
height drifts, and only differences count.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from planner.maps.height_grid import MEASURED, HeightGrid
from proving_ground.kernels.jit import kernel

Array = NDArray[np.float64]

FEWEST = 100  # cells seen again; with fewer, a scan is not corrected
FLAT_M = 0.06  # height range within a cell of plain ground
GATES_M = (0.15, 0.06)  # differences further off the fit are not ground, in the first and in the second round
# Smaller corrections are skipped [m]. Where rings move over new ground, cells are first hit by the points with the
# largest noise, which lie low ahead and high behind: following such small differences would tilt the map.
LEAST_M = 0.025
ARM_M = 10.0  # the distance at which a tilt is compared with it
STEEPEST = 0.05  # largest tilt, rise over run, attributed to a pose error


@kernel
def fit_level(
    touched: NDArray[np.int32], eye: tuple[float, float], resolution: float, grid: HeightGrid, out: Array
) -> bool:
    """Offset of a scan over the map: height at the sensor [m] and slopes along x and y; whether to correct it.

    touched: cells of the scan, whose scan_low and scan_high are set; eye: the sensor's x and y [m].
    """
    out[:] = 0.0
    side, count = grid.side, 0
    differences, to_x, to_y = np.empty(len(touched)), np.empty(len(touched)), np.empty(len(touched))
    for cell in touched:
        if grid.state[cell] != MEASURED or grid.high[cell] - grid.low[cell] > FLAT_M:
            continue
        if grid.scan_high[cell] - grid.scan_low[cell] > FLAT_M:
            continue
        # Mid-heights: the map's lowest height is lower than the scan's, because it has seen more points.
        differences[count] = 0.5 * (grid.scan_low[cell] + grid.scan_high[cell] - grid.low[cell] - grid.high[cell])
        row, column = cell // side, cell % side
        row = grid.corner[1] + ((row - grid.corner[1]) & (side - 1))
        column = grid.corner[0] + ((column - grid.corner[0]) & (side - 1))
        to_x[count], to_y[count] = (column + 0.5) * resolution - eye[0], (row + 0.5) * resolution - eye[1]
        count += 1
    if count < FEWEST:
        return False
    out[0] = np.median(differences[:count])
    for gate in GATES_M:
        if not _refine(differences[:count], to_x[:count], to_y[:count], gate, out):
            break
    return bool(abs(out[0]) + math.hypot(out[1], out[2]) * ARM_M > LEAST_M)


@kernel
def _refine(differences: Array, to_x: Array, to_y: Array, gate: float, out: Array) -> bool:
    """Least squares over points within the gate of the plane in `out`, into `out`; False leaves it unchanged."""
    n = sx = sy = sxx = sxy = syy = sz = sxz = syz = 0.0
    for k in range(len(differences)):
        x, y = to_x[k], to_y[k]
        off = differences[k] - (out[0] + out[1] * x + out[2] * y)
        if not abs(off) < gate:
            continue
        n, sx, sy = n + 1.0, sx + x, sy + y
        sxx, sxy, syy = sxx + x * x, sxy + x * y, syy + y * y
        sz, sxz, syz = sz + differences[k], sxz + x * differences[k], syz + y * differences[k]
    if n < FEWEST:
        return False
    # Normal equations about the mean position.
    xx, xy, yy = sxx - sx * sx / n, sxy - sx * sy / n, syy - sy * sy / n
    xz, yz = sxz - sx * sz / n, syz - sy * sz / n
    determinant = xx * yy - xy * xy
    if not determinant > 1e-3 * n * n:
        return False
    along, across = (xz * yy - yz * xy) / determinant, (yz * xx - xz * xy) / determinant
    if not math.hypot(along, across) < STEEPEST:
        return False
    out[0], out[1], out[2] = (sz - along * sx - across * sy) / n, along, across
    return True


@kernel
def take_off(
    touched: NDArray[np.int32], level: Array, eye: tuple[float, float], resolution: float, grid: HeightGrid
) -> None:
    """Subtract a plane from the heights of a scan; level: its height at the sensor [m] and slopes along x and y.

    touched, eye: as for fit_level.
    """
    side = grid.side
    for cell in touched:
        row, column = cell // side, cell % side
        row = grid.corner[1] + ((row - grid.corner[1]) & (side - 1))
        column = grid.corner[0] + ((column - grid.corner[0]) & (side - 1))
        over = np.float32(
            level[0]
            + level[1] * ((column + 0.5) * resolution - eye[0])
            + level[2] * ((row + 0.5) * resolution - eye[1])
        )
        grid.scan_low[cell] -= over
        grid.scan_high[cell] -= over
