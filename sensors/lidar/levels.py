"""The ground around a vehicle in squares, fine near and coarse far, which follow it.

Each level has twice the cell of the one before, on nodes of the map that depend on the map alone. A ray is cast in the
finest level until it leaves it, then in the next. The border of a level lies on the next one's surface (odd nodes are
the mean of their neighbours), so that no ray slips through. A level that can hold the whole map is the last.

The position of a square depends on the vehicle's position alone, not on its path: a vehicle that returns sees the same
to the bit. Squares are built ahead of time in small pieces.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

import numpy as np
from embreex.rtcore import EmbreeDevice
from numpy.typing import NDArray

from sensors.lidar.shapes import Shapes
from sensors.lidar.surface import Piece, Surface, built, finished
from terrain.elevation_map import ElevationMap

Array = NDArray[np.float64]
Nodes = NDArray[np.int64]
Tile = tuple[int, int]
Building = Generator[None, None, Surface | None]

CELLS = 192  # across a moving level
WHOLE_CELLS = 160_000  # most cells of a level that holds the whole map
# Cells between positions of a square. A level whose middle is off by half of that to one side stays within the next one
# whose middle is off by half of that to the other side: 96 + 32 <= 2 (96 - 32).
STRIDE = 64
KEPT = 3  # squares of a level: current, previous and next
LEADS_S = (0.2, 0.5, 1.0, 1.5)  # look-ahead times of the vehicle's position
PIECE_FACES = 8000  # about 5 ms


class Level:
    """One level: a moving square, or the whole map."""

    def __init__(
        self, device: EmbreeDevice, ground: ElevationMap, shapes: Shapes, step: int, reach: float, is_whole: bool
    ) -> None:
        """step: nodes of the map per cell; reach [m]: extent of the ground beyond a whole map."""
        self._device, self._ground, self._shapes, self._reach = device, ground, shapes, reach
        self.step, self.is_whole = step, is_whole
        self.cell = step * ground.resolution  # [m]
        self.surface: Surface | None = None
        self._here: Tile | None = None
        self._kept: dict[Tile, Surface | None] = {}  # oldest first
        self._next: Tile | None = None
        self._building: Building | None = None
        if is_whole:
            self.surface = finished(self._built_whole())

    def __len__(self) -> int:
        """Number of triangles in memory."""
        surfaces = [self.surface] if self.is_whole else self._kept.values()
        return sum(len(surface) for surface in surfaces if surface is not None)

    def be_around(self, x: float, y: float) -> None:
        """Move the square to a vehicle's position [m], at once: about 60 ms if it was not prepared."""
        tile = self._tile(x, y)
        if self.is_whole or tile == self._here:
            return
        if tile not in self._kept:
            building = self._building if tile == self._next and self._building else self._built_around(*tile)
            self._keep(tile, finished(building))
        self._here, self.surface = tile, self._kept[tile]
        self._kept[tile] = self._kept.pop(tile)  # now the newest

    def prepare(self, x: float, y: float, velocity_x: float, velocity_y: float) -> bool:
        """Work a few milliseconds on the next square if one is needed soon; returns whether it was.

        x, y: position of the vehicle [m]; its velocity [m/s] predicts the next square.
        """
        if self.is_whole:
            return False
        if self._building is None:
            tiles = [self._tile(x + lead * velocity_x, y + lead * velocity_y) for lead in LEADS_S]
            missing = [tile for tile in tiles if tile not in self._kept]
            if not missing:
                return False
            self._next, self._building = missing[0], self._built_around(*missing[0])
        try:
            next(self._building)
        except StopIteration as end:
            if self._next is not None:
                self._keep(self._next, end.value)
        return True

    def _keep(self, tile: Tile, surface: Surface | None) -> None:
        self._kept[tile] = surface
        if tile == self._next:
            self._next = self._building = None
        for old in list(self._kept):
            if len(self._kept) > KEPT and old not in (self._here, tile):
                del self._kept[old]

    def _tile(self, x: float, y: float) -> Tile:
        """Column and row of the square's middle for a vehicle's position, in cells."""
        column, row = (x - self._ground.origin_x) / self.cell, (y - self._ground.origin_y) / self.cell
        return STRIDE * math.floor(column / STRIDE + 0.5), STRIDE * math.floor(row / STRIDE + 0.5)

    def _built_around(self, column: int, row: int) -> Building:
        span = np.arange(-CELLS // 2, CELLS // 2 + 1)
        columns, rows = column + span, row + span
        x, y = self._x(columns), self._y(rows)
        heights = self._heights(columns, rows)
        for line in (heights[0], heights[-1], heights[:, 0], heights[:, -1]):
            line[1:-1:2] = 0.5 * (line[:-2:2] + line[2::2])
        bounds = np.array([x[0], y[0], x[-1], y[-1]])
        middle = CELLS // 2
        origin = np.array([x[middle], y[middle], heights[middle, middle]])
        return built(self._device, self._pieces(x, y, heights, bounds), origin, bounds)

    def _built_whole(self) -> Building:
        columns, rows = (np.arange(cells_for(nodes, self.step) + 1) for nodes in self._ground.shape[::-1])
        x, y = self._x(columns), self._y(rows)
        heights = np.pad(self._heights(columns, rows), 1, "edge")
        x, y = (np.concatenate(([at[0] - self._reach], at, [at[-1] + self._reach])) for at in (x, y))
        origin = np.array([0.5 * (x[0] + x[-1]), 0.5 * (y[0] + y[-1]), float(heights.mean())])
        endless = np.array([-math.inf, -math.inf, math.inf, math.inf])
        return built(self._device, self._pieces(x, y, heights, endless), origin, endless)

    def _pieces(self, x: Array, y: Array, heights: Array, bounds: Array) -> Iterator[Piece]:
        """The ground in strips, then the obstacles on it."""
        rows = max(PIECE_FACES // (2 * (len(x) - 1)), 1)
        for first in range(0, len(y) - 1, rows):
            last = min(first + rows, len(y) - 1)
            yield _strip(x, y[first : last + 1], heights[first : last + 1])
        for numbers in self._shapes.pieces(self._shapes.within(bounds), PIECE_FACES):
            yield self._shapes.mesh(numbers)

    def _x(self, columns: Nodes) -> Array:
        return np.asarray(self._ground.origin_x + columns * self.cell)

    def _y(self, rows: Nodes) -> Array:
        return np.asarray(self._ground.origin_y + rows * self.cell)

    def _heights(self, columns: Nodes, rows: Nodes) -> Array:
        """Heights of the map's nodes; extrapolated by the map beyond its edge."""
        last_row, last_column = (count - 1 for count in self._ground.shape)
        tiles = np.ix_(np.clip(rows * self.step, 0, last_row), np.clip(columns * self.step, 0, last_column))
        return self._ground.heights[tiles].astype(np.float64)


def levels_for(ground: ElevationMap, shapes: Shapes, cell: float, reach: float, step: int | None) -> list[Level]:
    """Levels, finest first. cell [m]: approximate cell of the finest; reach [m]: least extent around the vehicle.

    step: put the whole map in one level, with every step-th node.
    """
    device = EmbreeDevice()
    if step is not None:
        return [Level(device, ground, shapes, step, reach, is_whole=True)]
    step = max(round(cell / ground.resolution), 1)
    levels: list[Level] = []
    while True:
        rows, columns = (cells_for(nodes, step) for nodes in ground.shape)
        is_whole = rows * columns <= WHOLE_CELLS
        levels.append(Level(device, ground, shapes, step, reach, is_whole))
        if is_whole or (CELLS - STRIDE) // 2 * levels[-1].cell >= reach:
            return levels
        step *= 2


def cells_for(nodes: int, step: int) -> int:
    """Number of cells of `step` nodes that cover a row of nodes."""
    return -(-(nodes - 1) // step)


def _strip(x: Array, y: Array, heights: Array) -> Piece:
    """Two triangles per cell, as in terrain.mesh.map_mesh."""
    corners = np.empty((*heights.shape, 3))
    corners[..., 0], corners[..., 1], corners[..., 2] = x, y[:, None], heights
    number = np.arange(heights.size, dtype=np.int32).reshape(heights.shape)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    faces = np.stack((np.stack((a, b, d), axis=-1), np.stack((a, d, c), axis=-1)), axis=2).reshape(-1, 3)
    return corners.reshape(-1, 3), faces, None
