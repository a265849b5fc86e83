"""The outline of scattered points: Delaunay triangles that are not too wide (Edelsbrunner, Kirkpatrick, Seidel 1983).

A convex hull would cover bays and the inside of a bent road with ground that was never measured ([Sanjurjo], App. A
3.2.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain.elevation_map import Array

AUTOMATIC_RADIUS = 2.5  # times the median edge: bridges the gaps of a survey, not a bay


@dataclass(frozen=True, eq=False)
class AlphaShape:
    """A triangulation in the plane, and which of its triangles are inside."""

    triangulation: Any  # scipy's Delaunay, of points relative to `centre`
    centre: Array
    inside: NDArray[np.bool_]  # per triangle
    radius: float  # largest circumscribed circle of a triangle inside [m]

    @property
    def triangles(self) -> NDArray[np.int32]:
        """Triangles inside, counter-clockwise, by the indices of their corners."""
        return np.asarray(self.triangulation.simplices[self.inside], np.int32)

    @property
    def area(self) -> float:
        """Area inside the boundary [m^2]."""
        a, b, c = (self.triangulation.points[self.triangles[:, corner]] for corner in range(3))
        return float(0.5 * np.abs(_cross(b - a, c - a)).sum())

    def covers(self, x: Array, y: Array) -> NDArray[np.bool_]:
        """Whether points [m] are inside."""
        positions = np.stack(np.broadcast_arrays(x, y), axis=-1) - self.centre
        triangle = self.triangulation.find_simplex(positions)
        return np.asarray((triangle >= 0) & self.inside[triangle])

    def boundary(self) -> NDArray[np.int32]:
        """Edges of the outline, by the indices of their two points."""
        edges = np.sort(np.concatenate([self.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]), axis=1)
        found, count = np.unique(edges, axis=0, return_counts=True)
        return np.asarray(found[count == 1], np.int32)


def alpha_shape(points: Array, radius: float = 0.0) -> AlphaShape:
    """Triangulate points (n x 2 [m]); triangles whose circumscribed circle is wider than the radius [m] are outside.

    A radius of 0 means automatic: 2.5 times the median edge.
    """
    from scipy.spatial import Delaunay, QhullError  # slow to import; all nodes in worlds would wait for it

    centre = points.mean(axis=0)
    try:
        triangulation = Delaunay(points - centre)
    except (QhullError, ValueError):
        raise ValueError(f"{len(points)} points span no area; are they on one line?") from None
    a, b, c = (triangulation.points[triangulation.simplices[:, corner]] for corner in range(3))
    edges = np.stack([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)])
    area = 0.5 * np.abs(_cross(b - a, c - a))
    with np.errstate(divide="ignore"):
        circle = edges.prod(axis=0) / (4.0 * area)
    chosen = radius or AUTOMATIC_RADIUS * float(np.median(edges))
    inside = circle <= chosen
    if not inside.any():
        raise ValueError(f"no triangle fits into a circle of {chosen:g} m; the narrowest needs {circle.min():.3g} m")
    return AlphaShape(triangulation, centre, inside, chosen)


def _cross(u: Array, v: Array) -> Array:
    return np.asarray(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
