"""Heights measured by a LIDAR, cell by cell, in a square of the world that rolls along with the vehicle.

Cells lie in a torus: a cell of the world keeps its index in the arrays for as long as the square covers it, so that
rolling on clears a strip instead of moving everything.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.maps.grid import Floats
from proving_ground.kernels.jit import inlined, kernel

States = NDArray[np.uint8]
Numbers = NDArray[np.int32]

NOTHING, MEASURED, PASSED = 0, 1, 2  # never hit; has heights; rays passed where something had stood
TILE = 4  # cells along the side of a tile, which keeps the lowest ground height around
NO_GROUND = np.float32(np.inf)


class HeightGrid(NamedTuple):
    """Height grid in the form that kernels use; one element for each cell unless stated otherwise."""

    state: States
    driven: States  # 1 where the wheels have been since the last obstacle was seen there
    misses: States  # scans in a row in which rays passed through
    low: Floats  # lowest and highest recent hit [m]
    high: Floats
    time: Floats  # of the newest evidence, since the grid's own epoch [s]
    scan: Numbers  # index of the scan that last hit the cell
    scan_low: Floats  # of that scan alone [m]
    scan_high: Floats
    tile_low: Floats  # of each tile: lowest hit ever [m]
    tile_scan: Numbers  # of each tile: scan for which tile_ground is valid
    tile_ground: Floats  # of each tile: height of the ground [m]
    corner: NDArray[np.int64]  # column and row of the first cell, counted from x = y = 0; whole tiles
    side: int  # cells, a power of two


def height_grid(least_cells: int) -> HeightGrid:
    """An empty grid with at least this many cells along each side."""
    side = 1 << max(math.ceil(math.log2(least_cells)), 3)
    cells, tiles = side * side, (side // TILE) ** 2
    return HeightGrid(
        state=np.zeros(cells, np.uint8),
        driven=np.zeros(cells, np.uint8),
        misses=np.zeros(cells, np.uint8),
        low=np.zeros(cells, np.float32),
        high=np.zeros(cells, np.float32),
        time=np.zeros(cells, np.float32),
        scan=np.full(cells, -1, np.int32),
        scan_low=np.zeros(cells, np.float32),
        scan_high=np.zeros(cells, np.float32),
        tile_low=np.full(tiles, NO_GROUND),
        tile_scan=np.full(tiles, -1, np.int32),
        tile_ground=np.zeros(tiles, np.float32),
        corner=np.zeros(2, np.int64),
        side=side,
    )


# These take scalars instead of the grid: passing so many arrays costs more than the work itself.
@inlined
def cell_index(side: int, column: int, row: int) -> int:
    """Index in the arrays of a cell of the world; side: of the square, in cells."""
    return (row & (side - 1)) * side + (column & (side - 1))


@inlined
def tile_index(side: int, column: int, row: int) -> int:
    """Index in the arrays of a tile of the world, counted in tiles; side: of the square, in cells."""
    return cell_index(side // TILE, column, row)


@kernel
def clear(grid: HeightGrid) -> None:
    """Clear all cells of the grid."""
    grid.state[:] = NOTHING
    grid.driven[:] = 0
    grid.misses[:] = 0
    grid.scan[:] = -1
    grid.tile_low[:] = NO_GROUND
    grid.tile_scan[:] = -1


@kernel
def roll_to(grid: HeightGrid, column: int, row: int) -> None:
    """Centre the square on a cell of the world, to within a tile; cells that enter are empty."""
    half = grid.side // 2
    new_column, new_row = (column - half) // TILE * TILE, (row - half) // TILE * TILE
    old_column, old_row = grid.corner[0], grid.corner[1]
    if abs(new_column - old_column) >= grid.side or abs(new_row - old_row) >= grid.side:
        clear(grid)
    else:
        tiles = grid.side // TILE
        first, last = (
            (old_column + grid.side, new_column + grid.side) if new_column > old_column else (new_column, old_column)
        )
        for tile in range(first // TILE, last // TILE):
            for other in range(tiles):
                _clear_tile(grid, tile, other)
        first, last = (old_row + grid.side, new_row + grid.side) if new_row > old_row else (new_row, old_row)
        for tile in range(first // TILE, last // TILE):
            for other in range(tiles):
                _clear_tile(grid, other, tile)
    grid.corner[0], grid.corner[1] = new_column, new_row


@inlined
def _clear_tile(grid: HeightGrid, column: int, row: int) -> None:
    tile = tile_index(grid.side, column, row)
    grid.tile_low[tile] = NO_GROUND
    grid.tile_scan[tile] = -1
    for down in range(TILE):
        for right in range(TILE):
            cell = cell_index(grid.side, TILE * column + right, TILE * row + down)
            grid.state[cell] = NOTHING
            grid.scan[cell] = -1
            grid.driven[cell] = 0
            grid.misses[cell] = 0
