"""Triangle meshes: ground and obstacles for ray casting, and meshes converted to elevation grids."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel
from terrain.elevation_map import Array, ElevationMap, Heights
from terrain.limits import LARGEST_COORDINATE, check_grid_size
from terrain.raw_grid import RawGrid

Faces = NDArray[np.int32]
EDGE_TOLERANCE = 1e-9  # share of a triangle by which a node may miss it and still count


@dataclass(frozen=True, eq=False)
class Mesh:
    """Corners [m] and triangles by the indices of their corners, counter-clockwise from outside."""

    vertices: Array  # n x 3
    faces: Faces  # m x 3

    def __post_init__(self) -> None:
        if self.vertices.ndim != 2 or self.vertices.shape[1:] != (3,) or self.faces.shape[1:] != (3,):
            raise ValueError("mesh: must have corners of three coordinates and faces of three corners")
        if not np.isfinite(self.vertices).all():
            raise ValueError("mesh: corners must be finite")
        if self.faces.size and not (self.faces.min() >= 0 and self.faces.max() < len(self.vertices)):
            raise ValueError(f"mesh: faces refer to missing corners (it has {len(self.vertices)})")


def joined(meshes: Iterable[Mesh]) -> Mesh:
    """Several meshes as one."""
    parts = list(meshes)
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return Mesh(
        np.concatenate([np.zeros((0, 3)), *(part.vertices for part in parts)]),
        np.concatenate(
            [np.zeros((0, 3), np.int32), *(part.faces + np.int32(s) for part, s in zip(parts, starts, strict=False))]
        ),
    )


def map_mesh(ground: ElevationMap, step: int = 1) -> Mesh:
    """Two triangles for each cell of a map, whose diagonals run along +x +y; a step above 1 skips nodes.

    The last row and column are always kept, so that the mesh reaches as far as the map.
    """
    rows, columns = (_every(step, count) for count in ground.shape)
    x, y = np.meshgrid(ground.node_x()[columns], ground.node_y()[rows])
    vertices = np.stack((x, y, ground.heights[np.ix_(rows, columns)]), axis=-1, dtype=np.float64).reshape(-1, 3)
    corner = np.arange(len(vertices), dtype=np.int32).reshape(len(rows), len(columns))
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    faces = np.stack((np.stack((a, b, d), axis=-1), np.stack((a, d, c), axis=-1)), axis=2)
    return Mesh(vertices, faces.reshape(-1, 3))


def _every(step: int, count: int) -> NDArray[np.intp]:
    return np.unique(np.append(np.arange(0, count, step), count - 1))


def mesh_to_grid(mesh: Mesh, resolution: float) -> RawGrid:
    """The highest surface of a mesh over each node; unknown where there is none."""
    if not len(mesh.faces):
        raise ValueError("mesh: has no faces")
    if not np.abs(mesh.vertices).max() <= LARGEST_COORDINATE:
        raise ValueError(f"mesh: corners must be within {LARGEST_COORDINATE:g} m of 0")
    low, high = mesh.vertices[:, :2].min(axis=0), mesh.vertices[:, :2].max(axis=0)
    spans = np.floor((high - low) / resolution + 1e-6)
    if not (spans < 2**31).all():
        raise ValueError(f"mesh: spans {high[0] - low[0]:g} x {high[1] - low[1]:g} m, too much at {resolution:g} m")
    columns, rows = (int(span) + 1 for span in spans)
    check_grid_size(rows, columns)
    heights = highest_over(mesh, low, (rows, columns), resolution)
    return RawGrid(heights=heights, resolution=resolution, origin_x=float(low[0]), origin_y=float(low[1]))


def highest_over(mesh: Mesh, origin: Array, shape: tuple[int, int], resolution: float) -> Heights:
    """Height [m] of the highest surface over each node of a grid, else NaN; origin: of its first node."""
    heights = np.full(shape, np.nan, np.float32)
    _raise_to(heights, mesh.vertices - [origin[0], origin[1], 0.0], mesh.faces, resolution)
    return heights


@kernel
def _raise_to(heights: Heights, vertices: Array, faces: Faces, resolution: float) -> None:
    """Raise each node to the highest triangle above it."""
    rows, columns = heights.shape
    for face in faces:
        ax, ay, az = vertices[face[0]] / resolution
        bx, by, bz = vertices[face[1]] / resolution
        cx, cy, cz = vertices[face[2]] / resolution
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if abs(area) < 1e-12:  # vertical: its edges belong to its neighbours
            continue
        first_row = max(math.ceil(min(ay, by, cy) - 1e-6), 0)
        last_row = min(math.floor(max(ay, by, cy) + 1e-6), rows - 1)
        first_column = max(math.ceil(min(ax, bx, cx) - 1e-6), 0)
        last_column = min(math.floor(max(ax, bx, cx) + 1e-6), columns - 1)
        for row in range(first_row, last_row + 1):
            for column in range(first_column, last_column + 1):
                of_b = ((column - ax) * (cy - ay) - (cx - ax) * (row - ay)) / area
                of_c = ((bx - ax) * (row - ay) - (column - ax) * (by - ay)) / area
                of_a = 1.0 - of_b - of_c
                if min(of_a, of_b, of_c) < -EDGE_TOLERANCE:
                    continue
                height = (of_a * az + of_b * bz + of_c * cz) * resolution
                if not heights[row, column] >= height:  # NaN is not
                    heights[row, column] = height
