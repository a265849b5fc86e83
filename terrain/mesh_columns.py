"""A mesh as boxes side by side, each as high as the mesh there: its split into convex parts for contact.

Undersides count where they are off the ground, so that a gate is two posts and a beam; a mesh without an underside
reaches down to its lowest corner. Neighbours of nearly the same heights become one box.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from terrain.elevation_map import Array
from terrain.mesh import Mesh, highest_over

FINEST = 0.03  # [m]: side of a column in small meshes
MOST_CELLS = 16  # along each side of the mesh
FLATTEST = 1e-3  # [m]: least height of a box
ALIKE = 0.01  # [m]: columns whose heights differ less become one box
SAMPLES = 4  # of a cell's heights, along each side


def columns_of(mesh: Mesh) -> Array:
    """Boxes x, y, base, length, width, height, 1, 0 (n x 8) [m], in the mesh's own axes."""
    low, high = mesh.vertices.min(axis=0)[:2], mesh.vertices.max(axis=0)[:2]
    counts = np.clip(np.ceil((high - low) / FINEST - 1e-6).astype(int), 1, MOST_CELLS)
    size = (high - low) / counts
    in_cells = (mesh.vertices - [*low, 0.0]) / [*size, 1.0]
    top, bottom = (sign * _highest(sign * in_cells[:, 2], in_cells, mesh, counts) for sign in (1.0, -1.0))
    bottom = np.where(top - bottom < FLATTEST, mesh.vertices[:, 2].min(), bottom)
    boxes = []
    for left, right, near, far in _alike(top, bottom):
        cells = slice(near, far), slice(left, right)
        base, ceiling = float(bottom[cells].mean()), float(top[cells].mean())
        first, last = low + size * [left, near], low + size * [right, far]
        boxes.append([*0.5 * (first + last), base, *(last - first), max(ceiling - base, FLATTEST), 1.0, 0.0])
    return np.array(boxes, float).reshape(-1, 8)


def _highest(heights: Array, in_cells: Array, mesh: Mesh, counts: NDArray[np.int_]) -> Array:
    """Highest surface [m] in each cell, mean of points inside it; NaN where there is no surface."""
    raised = Mesh(np.column_stack([in_cells[:, :2] * SAMPLES, heights]), mesh.faces)
    columns, rows = (int(count) for count in counts)
    fine = highest_over(raised, np.array([0.5, 0.5]), (rows * SAMPLES, columns * SAMPLES), 1.0)
    points = np.moveaxis(fine.reshape(rows, SAMPLES, columns, SAMPLES).astype(float), 2, 1).reshape(rows, columns, -1)
    is_known = ~np.isnan(points)
    total: Array = np.sum(points, axis=2, where=is_known)
    return total / np.where(is_known.any(axis=2), is_known.sum(axis=2), np.nan)


def _alike(top: Array, bottom: Array) -> list[tuple[int, int, int, int]]:
    """Rectangles of cells of nearly the same heights: first and end column, first and end row."""
    free: NDArray[np.bool_] = np.isfinite(top)
    found = []
    for row, column in zip(*np.nonzero(free), strict=True):
        if not free[row, column]:
            continue
        alike = free & (np.abs(top - top[row, column]) < ALIKE) & (np.abs(bottom - bottom[row, column]) < ALIKE)
        right, far = column + 1, row + 1
        while right < top.shape[1] and alike[row, right]:
            right += 1
        while far < top.shape[0] and alike[far, column:right].all():
            far += 1
        free[row:far, column:right] = False
        found.append((int(column), int(right), int(row), int(far)))
    return found
