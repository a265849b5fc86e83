"""Elevation maps: heights and soils at the nodes of a square grid. World axes, x along columns, y along rows, z up.

heights[row, column] is the height of the node at (origin_x + column * resolution, origin_y + row * resolution): row 0
is the one of least y. Between nodes the surface is bilinear. A node's soil fills the square around it. Outside, the
ground continues at the height of the nearest point on the edge; `covers` says whether a point is inside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain.georeference import Georeference
from terrain.limits import (
    LARGEST_COORDINATE,
    LARGEST_HEIGHT,
    LARGEST_RESOLUTION,
    SMALLEST_RESOLUTION,
    check_grid_size,
)

if TYPE_CHECKING:
    from terrain.mesh import Mesh

Array = NDArray[np.float64]
Heights = NDArray[np.float32]
Soils = NDArray[np.uint8]

HARD = "hard"  # the soil of maps without soil names


@dataclass(frozen=True, eq=False, kw_only=True)
class ElevationMap:
    """Heights [m] and soils; the arrays are shared with their creator and must not be written to.

    They are not marked read-only, because numba treats that as another type and would recompile all kernels.
    """

    heights: Heights
    resolution: float  # spacing of nodes [m]
    origin_x: float = 0.0  # of node [0, 0] [m]
    origin_y: float = 0.0
    soils: Soils | None = None  # indices into soil_names, one per node; None: all 0
    soil_names: tuple[str, ...] = (HARD,)
    georeference: Georeference | None = None

    def __post_init__(self) -> None:
        check_placing(self.resolution, self.origin_x, self.origin_y)
        heights: Any = self.heights
        if not isinstance(heights, np.ndarray) or heights.ndim != 2:
            raise ValueError("heights: must be an array of rows and columns")
        check_grid_size(*heights.shape)
        if heights.dtype.kind not in "fiu":
            raise ValueError(f"heights: must be numbers, got {heights.dtype}")
        heights = np.ascontiguousarray(heights, np.float32)
        check_heights(heights)
        object.__setattr__(self, "heights", heights)
        self._check_soils()

    def _check_soils(self) -> None:
        names: Any = self.soil_names
        if isinstance(names, str):  # it would be read as one name per letter
            raise ValueError(f"soil_names: must be several names, not the text {names[:40]!r}")
        if not 1 <= len(names) <= 256 or not all(isinstance(name, str) and name.isprintable() for name in names):
            raise ValueError(f"soil_names: must be 1 to 256 printable names, got {len(names)}")
        if self.soils is None:
            return
        if self.soils.shape != self.heights.shape or self.soils.dtype != np.uint8:
            raise ValueError(
                f"soils: must be uint8 of the heights' shape {self.heights.shape}, "
                f"got {self.soils.dtype} of {self.soils.shape}"
            )
        largest = int(self.soils.max())
        if largest >= len(names):
            raise ValueError(f"soils: index {largest} has no name; soil_names has {len(names)}")
        object.__setattr__(self, "soils", np.ascontiguousarray(self.soils))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows (along y) and columns (along x)."""
        rows, columns = self.heights.shape
        return rows, columns

    @property
    def x_limits(self) -> tuple[float, float]:
        """Smallest and largest x [m] that the map covers."""
        return self.origin_x, self.origin_x + (self.shape[1] - 1) * self.resolution

    @property
    def y_limits(self) -> tuple[float, float]:
        """Smallest and largest y [m] that the map covers."""
        return self.origin_y, self.origin_y + (self.shape[0] - 1) * self.resolution

    def node_x(self) -> Array:
        """x of every column [m]."""
        return np.asarray(self.origin_x + np.arange(self.shape[1]) * self.resolution, np.float64)

    def node_y(self) -> Array:
        """y of every row [m]."""
        return np.asarray(self.origin_y + np.arange(self.shape[0]) * self.resolution, np.float64)

    def covers(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.bool_]:
        """Whether points [m] are on the map, its edge included; NaN is not."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        (left, right), (low, high) = self.x_limits, self.y_limits
        return np.asarray((x >= left) & (x <= right) & (y >= low) & (y <= high))

    def height_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Heights [m] at points [m], edge-extended; NaN where a point is NaN."""
        row, column, up, right, _ = self._cells(x, y)
        a, b, c, d = self._corners(row, column)
        return np.asarray((a * (1.0 - right) + b * right) * (1.0 - up) + (c * (1.0 - right) + d * right) * up)

    def slope_at(self, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
        """Rise over run along x and along y at points [m]; 0 along an axis on which the point is beyond the edge."""
        row, column, up, right, (inside_x, inside_y) = self._cells(x, y)
        a, b, c, d = self._corners(row, column)
        along = ((b - a) * (1.0 - up) + (d - c) * up) / self.resolution
        across = ((c - a) * (1.0 - right) + (d - b) * right) / self.resolution
        return np.where(inside_x, along, along * 0.0), np.where(inside_y, across, across * 0.0)

    def normal_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Unit normals of the surface at points [m]; the last axis is x, y, z."""
        along, across = self.slope_at(x, y)
        normals = np.stack((-along, -across, np.ones_like(along)), axis=-1)
        return np.asarray(normals / np.linalg.norm(normals, axis=-1, keepdims=True))

    def soil_at(self, x: ArrayLike, y: ArrayLike) -> NDArray[np.uint8]:
        """Indices of the soils at points [m]: that of the nearest node; 0 where a point is NaN."""
        row, column, up, right, _ = self._cells(x, y)
        if self.soils is None:
            return np.zeros(row.shape, np.uint8)
        return np.asarray(self.soils[row + (up > 0.5), column + (right > 0.5)])

    def resampled(self, resolution: float) -> ElevationMap:
        """The same ground at another resolution [m] from the same origin: the surface sampled, not averaged."""
        check_placing(resolution, self.origin_x, self.origin_y)
        rows, columns = (int((count - 1) * self.resolution / resolution + 1e-9) + 1 for count in self.shape)
        check_grid_size(rows, columns)
        x, y = (np.arange(count) * resolution for count in (columns, rows))
        heights = np.empty((rows, columns), np.float32)
        soils = None if self.soils is None else np.empty((rows, columns), np.uint8)
        for row in range(rows):  # row by row: no more memory than the result
            heights[row] = self.height_at(self.origin_x + x, self.origin_y + y[row])
            if soils is not None:
                soils[row] = self.soil_at(self.origin_x + x, self.origin_y + y[row])
        return replace(self, heights=heights, soils=soils, resolution=resolution)

    def cropped(self, x_limits: tuple[float, float], y_limits: tuple[float, float]) -> ElevationMap:
        """The part of the map that holds a rectangle, given by limits [m]; raises ValueError if it is off the map."""
        left, right = self._span(x_limits, self.origin_x, self.shape[1], "x")
        low, high = self._span(y_limits, self.origin_y, self.shape[0], "y")
        part = (slice(low, high + 1), slice(left, right + 1))
        return replace(
            self,
            heights=self.heights[part].copy(),
            soils=None if self.soils is None else self.soils[part].copy(),
            origin_x=self.origin_x + left * self.resolution,
            origin_y=self.origin_y + low * self.resolution,
        )

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> ElevationMap:
        """The same ground shifted in the world by x, y and z [m]; the georeference is adjusted."""
        where = self.georeference.moved(x, y, z) if self.georeference else None
        heights = self.heights + np.float32(z) if z else self.heights
        return replace(
            self, heights=heights, origin_x=self.origin_x + x, origin_y=self.origin_y + y, georeference=where
        )

    def centred(self) -> ElevationMap:
        """The same ground with the middle of the map at x = y = 0."""
        (left, right), (low, high) = self.x_limits, self.y_limits
        return self.moved(-0.5 * (left + right), -0.5 * (low + high))

    def triangle_mesh(self, step: int = 1) -> Mesh:
        """Two triangles for each cell; a step above 1 uses only every step-th node."""
        from terrain.mesh import map_mesh  # deferred: it imports maps

        return map_mesh(self, step)

    def _span(self, limits: tuple[float, float], origin: float, count: int, axis: str) -> tuple[int, int]:
        low, high = limits
        end = origin + (count - 1) * self.resolution
        if not (low < high and low < end and high > origin):
            raise ValueError(f"{axis} from {low:g} to {high:g} m is not on the map, which has {origin:g} to {end:g} m")
        first = max(int(np.floor((low - origin) / self.resolution + 1e-9)), 0)
        last = min(int(np.ceil((high - origin) / self.resolution - 1e-9)), count - 1)
        return first, last

    def _cells(self, x: ArrayLike, y: ArrayLike) -> tuple[Any, Any, Array, Array, tuple[Any, Any]]:
        """Row, column and fractions towards the next ones, 0 to 1; and whether x and y are within the limits."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        rows, columns = self.shape
        u, v = (x - self.origin_x) / self.resolution, (y - self.origin_y) / self.resolution
        inside = ((u >= 0.0) & (u <= columns - 1), (v >= 0.0) & (v <= rows - 1))
        u, v = np.clip(u, 0.0, columns - 1), np.clip(v, 0.0, rows - 1)
        column = np.minimum(np.nan_to_num(u).astype(np.intp), columns - 2)
        row = np.minimum(np.nan_to_num(v).astype(np.intp), rows - 2)
        return row, column, v - row, u - column, inside

    def _corners(self, row: Any, column: Any) -> tuple[Array, Array, Array, Array]:
        corners = ((row, column), (row, column + 1), (row + 1, column), (row + 1, column + 1))
        a, b, c, d = (np.asarray(self.heights[position], np.float64) for position in corners)
        return a, b, c, d


def check_placing(resolution: float, origin_x: float, origin_y: float) -> None:
    """Raise ValueError unless resolution and origin are valid."""
    if not SMALLEST_RESOLUTION <= resolution <= LARGEST_RESOLUTION:
        raise ValueError(
            f"resolution: must be from {SMALLEST_RESOLUTION:g} to {LARGEST_RESOLUTION:g} m, got {resolution:g}"
            + (" (is it in degrees?)" if 0.0 < resolution < SMALLEST_RESOLUTION else "")
        )
    if not (abs(origin_x) <= LARGEST_COORDINATE and abs(origin_y) <= LARGEST_COORDINATE):
        raise ValueError(f"origin: must be within {LARGEST_COORDINATE:g} m of 0, got {origin_x:g}, {origin_y:g}")


def check_heights(heights: Heights) -> None:
    """Raise ValueError for the first invalid height; takes no memory for valid maps."""
    lowest, highest = float(heights.min()), float(heights.max())  # NaN if any is
    if lowest >= -LARGEST_HEIGHT and highest <= LARGEST_HEIGHT:
        return
    unknown = int(np.count_nonzero(np.isnan(heights)))
    if unknown:
        row, column = (int(index) for index in np.unravel_index(int(np.argmax(np.isnan(heights))), heights.shape))
        raise ValueError(f"{unknown} of {heights.size} heights are NaN, the first at row {row}, column {column}")
    bad = ~(np.abs(heights) <= LARGEST_HEIGHT)
    row, column = (int(index) for index in np.unravel_index(int(np.argmax(bad)), bad.shape))
    raise ValueError(
        f"{int(bad.sum())} heights are not within {LARGEST_HEIGHT:g} m of 0, "
        f"the first at row {row}, column {column}: {heights[row, column]:g}"
    )
