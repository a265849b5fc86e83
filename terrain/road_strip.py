"""Road strips: heights over a reference line, as OpenCRG has them, and their grid in world axes.

Rows follow the line at equal distances (u), columns lie across it from right to left (v). The line runs straight from
row to row; between rows and columns the surface is bilinear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from terrain.elevation_map import Array, ElevationMap
from terrain.limits import (
    LARGEST_COORDINATE,
    LARGEST_HEIGHT,
    LARGEST_RESOLUTION,
    SMALLEST_RESOLUTION,
    check_grid_size,
)
from terrain.raw_grid import RawGrid

SharesAndOffsets = Callable[[Array, Array], tuple[Array, Array]]

COARSEST_M = 0.1  # spacing of the grid's nodes unless another one is given
SAME_RAD = 1e-9  # headings closer than this are one
NEWTON_STEPS = 3
LARGEST_HEADING = 1e4  # [rad]: more turns than a road has
STEEPEST_BANKING = 10.0  # [m/m]


@dataclass(frozen=True, eq=False, kw_only=True)
class RoadStrip:
    """A road along a line in the plane; heights are NaN where unknown."""

    heights: Array  # above the banked line: rows along it, columns from right to left [m]
    offsets: Array  # v of the columns, positive left, rising [m]
    increment: float  # distance of rows along the line [m]
    headings: Array  # of the line between each row and the next, from x to the left [rad]
    line_heights: Array  # z of the line at each row [m]
    banking: Array  # rise to the left at each row [m/m]
    start: tuple[float, float] = (0.0, 0.0)  # x and y of the first row [m]
    ignored: tuple[str, ...] = ()  # parts of the file that have no effect

    def __post_init__(self) -> None:
        rows, columns = self.heights.shape
        check_grid_size(rows, columns)
        if not SMALLEST_RESOLUTION <= self.increment <= LARGEST_RESOLUTION:
            raise ValueError(
                f"reference_line_increment: must be from {SMALLEST_RESOLUTION:g} to {LARGEST_RESOLUTION:g} m,"
                f" got {self.increment:g}"
            )
        if len(self.offsets) != columns or not (np.diff(self.offsets) > 0.0).all():
            raise ValueError("long sections must go from right to left")
        if (len(self.headings), len(self.line_heights), len(self.banking)) != (rows - 1, rows, rows):
            raise ValueError("headings, line_heights, banking: must be as many as rows (headings: one less)")
        known = self.heights[~np.isnan(self.heights)]
        for name, values, most in (
            ("heights", known, LARGEST_HEIGHT),
            ("heights of the line", self.line_heights, LARGEST_HEIGHT),
            ("long sections", self.offsets, LARGEST_COORDINATE),
            ("start", np.array(self.start), LARGEST_COORDINATE),
            ("headings", self.headings, LARGEST_HEADING),
            ("banking", self.banking, STEEPEST_BANKING),
        ):
            if not (np.abs(values) <= most).all():  # NaN is not
                raise ValueError(f"{name}: must be finite and at most {most:g}")

    @property
    def finest_m(self) -> float:
        """Spacing of a grid that shows the rows: theirs, at most COARSEST_M."""
        return min(self.increment, COARSEST_M)

    def points(self) -> Array:
        """x and y of the line at each row [m], n x 2."""
        steps = self.increment * np.column_stack([np.cos(self.headings), np.sin(self.headings)])
        return np.asarray(np.array(self.start) + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)]))

    def filled(self) -> RoadStrip:
        """Unknown heights replaced by those of the nearest known points, counted in rows and columns."""
        grid = RawGrid(heights=self.heights.astype(np.float32), resolution=1.0)
        heights = np.where(np.isnan(self.heights), grid.filled().heights.astype(np.float64), self.heights)
        return replace(self, heights=heights)

    def to_map(self, resolution: float = 0.0, margin: float = 0.0, soil_names: tuple[str, ...] = ()) -> ElevationMap:
        """The strip on a square grid; around it, the heights of its edges go on for a margin [m].

        resolution: of the nodes [m], 0: finest_m. Raises ValueError with count and first position of unknown heights.
        """
        unknown = np.argwhere(np.isnan(self.heights))
        if len(unknown):
            row, column = unknown[0].tolist()
            raise ValueError(
                f"{len(unknown)} of {self.heights.size} heights are unknown, the first at u {row * self.increment:g} m"
                f" from the start, v {self.offsets[column]:g} m; fill_gaps takes them from their nearest neighbours"
            )
        step = resolution or self.finest_m
        low, count = self._extent(step, margin)
        columns, rows = count.tolist()
        check_grid_size(rows, columns)
        x = low[0] + step * np.arange(columns)
        find = self._finder()
        heights = np.empty((rows, columns), np.float32)
        for row in range(rows):  # row by row: no more memory than the map
            heights[row] = self._height(*find(x, np.full(columns, low[1] + step * row)))
        names = {"soil_names": soil_names} if soil_names else {}
        return ElevationMap(heights=heights, resolution=step, origin_x=float(low[0]), origin_y=float(low[1]), **names)  # type: ignore[arg-type]

    def _extent(self, step: float, margin: float) -> tuple[Array, Array]:
        """Lowest x and y of a grid, and its number of nodes along both."""
        points, normals = self.points(), _normals(self.headings)
        edges = np.concatenate([points + self.offsets[end] * normals for end in (0, -1)])
        low, high = edges.min(axis=0), edges.max(axis=0)
        around = int(np.ceil(margin / step - 1e-9))
        count = np.ceil((high - low) / step - 1e-6).astype(int) + 1 + 2 * around
        return low - around * step, count

    def _finder(self) -> SharesAndOffsets:
        """The function from points [m] to rows, with fractions, and offsets from the line [m]."""
        if np.ptp(self.headings) < SAME_RAD:
            return self._find_on_straight
        return _Bends(self.points(), _normals(self.headings)).find

    def _find_on_straight(self, x: Array, y: Array) -> tuple[Array, Array]:
        cosine, sine = np.cos(self.headings[0]), np.sin(self.headings[0])
        right, up = x - self.start[0], y - self.start[1]
        return (right * cosine + up * sine) / self.increment, up * cosine - right * sine

    def _height(self, rows: Array, offsets: Array) -> Array:
        """Heights [m] at rows, with fractions, and offsets [m]; those of the edges beyond them."""
        along = np.clip(rows, 0.0, len(self.heights) - 1.0)
        across = np.interp(offsets, self.offsets, np.arange(len(self.offsets)))
        first = np.minimum(along.astype(int), len(self.heights) - 2)
        right = np.minimum(across.astype(int), len(self.offsets) - 2)
        ahead, left = along - first, across - right
        near, far = (
            self.heights[row, right] * (1.0 - left) + self.heights[row, right + 1] * left for row in (first, first + 1)
        )
        line, banking = (
            values[first] * (1.0 - ahead) + values[first + 1] * ahead for values in (self.line_heights, self.banking)
        )
        inside = np.clip(offsets, self.offsets[0], self.offsets[-1])
        return np.asarray(line + banking * inside + near * (1.0 - ahead) + far * ahead)


class _Bends:
    """A line with bends: where points lie on it. Between two rows, the lateral axis turns evenly from row to row."""

    def __init__(self, points: Array, normals: Array) -> None:
        from scipy.spatial import cKDTree  # slow to import, and only bent strips need it

        self._points, self._normals, self._tree = points, normals, cKDTree(points)

    def find(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Rows with fractions, and offsets [m], of points [m]."""
        there = np.column_stack([x, y])
        _, nearest = self._tree.query(there)
        behind = _cross(there - self._points[nearest], self._normals[nearest]) < 0.0
        segment = np.clip(nearest - behind, 0, len(self._points) - 2)
        begin, normal = self._points[segment], self._normals[segment]
        step, bend, away = self._points[segment + 1] - begin, self._normals[segment + 1] - normal, there - begin
        # The point is begin + t step + v (normal + t bend): the cross product with the bracket leaves t alone.
        constant, linear, square = _cross(away, normal), _cross(away, bend) - _cross(step, normal), -_cross(step, bend)
        share = np.clip((away * step).sum(axis=1) / (step**2).sum(axis=1), 0.0, 1.0)
        for _ in range(NEWTON_STEPS):
            slope = linear + 2.0 * square * share
            error = constant + share * (linear + square * share)
            share = np.clip(share - np.divide(error, slope, out=np.zeros_like(error), where=slope != 0.0), 0.0, 1.0)
        lateral = normal + share[:, None] * bend
        offset = ((away - share[:, None] * step) * lateral).sum(axis=1) / (lateral**2).sum(axis=1)
        return segment + share, offset


def _normals(headings: Array) -> Array:
    """Lateral axes at the rows, to the left: halfway between both segments, and long enough that edges are parallel."""
    before, after = np.concatenate([headings[:1], headings]), np.concatenate([headings, headings[-1:]])
    heading, half = 0.5 * (before + after), 0.5 * (after - before)
    return np.asarray(np.column_stack([-np.sin(heading), np.cos(heading)]) / np.cos(half)[:, None])


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def strip_of(ground: ElevationMap) -> RoadStrip:
    """A map as a strip along x whose line is y = 0, beginning at the map's least x."""
    rows = ground.shape[1]
    return RoadStrip(
        heights=ground.heights.T.astype(np.float64),
        offsets=ground.node_y(),
        increment=ground.resolution,
        headings=np.zeros(rows - 1),
        line_heights=np.zeros(rows),
        banking=np.zeros(rows),
        start=(ground.origin_x, 0.0),
    )
