"""Square grids in world axes: cell [row, column] begins at (x + column * resolution, y + row * resolution)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int8]
Floats = NDArray[np.float32]

OCCUPIED, FREE, UNKNOWN = 100, 0, -1  # as in nav_msgs/OccupancyGrid


class Window(NamedTuple):
    """Part of the world that a grid covers. Corners are whole numbers of cells, so that grids align."""

    column: int  # of its first cell, counted from x = 0
    row: int
    columns: int
    rows: int
    resolution: float  # side of a cell [m]

    @property
    def x(self) -> float:
        """x of the corner with the least x and y [m]."""
        return self.column * self.resolution

    @property
    def y(self) -> float:
        """y of the corner with the least x and y [m]."""
        return self.row * self.resolution

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.rows, self.columns

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Row and column of a position [m], which may lie outside."""
        return math.floor(y / self.resolution) - self.row, math.floor(x / self.resolution) - self.column

    def has(self, row: int, column: int) -> bool:
        """Whether a cell is inside."""
        return 0 <= row < self.rows and 0 <= column < self.columns

    @staticmethod
    def around(x: float, y: float, size: float, resolution: float) -> Window:
        """A square with sides of `size` [m], centred at a position [m], in cells of a resolution [m]."""
        count = max(round(size / resolution), 1)
        column, row = (math.floor(position / resolution) - count // 2 for position in (x, y))
        return Window(column, row, count, count, resolution)


@dataclass(frozen=True, eq=False)
class LocalGrid:
    """The vehicle's surroundings; arrays belong to the map that made them and are valid until its next update."""

    window: Window
    cells: Cells  # OCCUPIED, FREE or UNKNOWN
    heights: Floats  # of the ground [m]; NaN where unknown
    distance: Floats  # from the centre of each cell to that of the nearest occupied one [m]
    stamp: float  # time of the newest data in it [s]
    by_sight: bool = False  # unknown cells were never seen: the vehicle must be able to stop before them
