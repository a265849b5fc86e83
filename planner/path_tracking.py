"""Pure pursuit: the curvature of the arc from the vehicle to a point on its path (Coulter 1992)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.pose import Pose

Array = NDArray[np.float64]


class Carrot(NamedTuple):
    """A point on a path to aim at."""

    x: float  # [m]
    y: float
    heading: float  # of the path there [rad]
    along: float  # from the path's start [m]


class Path:
    """A polyline in driving order."""

    def __init__(self, points: Array) -> None:
        """points: n x 2 [m], n at least 1, all finite."""
        if points.ndim != 2 or points.shape[1] != 2 or not len(points) or not np.isfinite(points).all():
            raise ValueError(f"path: must be n x 2 finite numbers, got shape {points.shape}")
        self.points = points
        steps = np.hypot(*np.diff(points, axis=0).T)
        self.along: Array = np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def length(self) -> float:
        """Length from end to end [m]."""
        return float(self.along[-1])

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Distance along the path [m] of its point nearest to (x, y), and the distance to that point [m]."""
        if len(self.points) == 1:
            return 0.0, math.hypot(x - self.points[0, 0], y - self.points[0, 1])
        begin, step = self.points[:-1], np.diff(self.points, axis=0)
        squares = np.maximum((step**2).sum(axis=1), 1e-12)
        share = np.clip((([x, y] - begin) * step).sum(axis=1) / squares, 0.0, 1.0)
        away = np.hypot(*(begin + share[:, None] * step - [x, y]).T)
        best = int(np.argmin(away))
        return float(self.along[best] + share[best] * math.sqrt(squares[best])), float(away[best])

    def at(self, along: float) -> Carrot:
        """The point at this distance [m] along the path, clamped to its ends."""
        along = min(max(along, 0.0), self.length)
        x, y = (float(np.interp(along, self.along, self.points[:, axis])) for axis in (0, 1))
        index = min(max(int(np.searchsorted(self.along, along, "right")) - 1, 0), max(len(self.points) - 2, 0))
        step = self.points[min(index + 1, len(self.points) - 1)] - self.points[index]
        return Carrot(x, y, math.atan2(step[1], step[0]) if step.any() else math.nan, along)


def pursuit_curvature(pose: Pose, x: float, y: float, most: float, reference: float = 0.0) -> float:
    """Curvature [1/m], left positive, of the arc from a pose through a point [m], clamped to most [1/m].

    reference [m]: distance ahead of the pose of the point that is to pass through it. That point is on a circle
    about the same centre: X^2 + (Y - 1/k)^2 = reference^2 + 1/k^2 gives k. The same arc serves in reverse; a point no
    further away than the reference gives 0.
    """
    away, bearing = pose.distance_to(x, y), pose.bearing_of(x, y)
    room = away * away - reference * reference
    if room < 1e-6:
        return 0.0
    return min(max(2.0 * away * math.sin(bearing) / room, -most), most)


class PathTracker:
    """Follows a path and ignores obstacles: curvature for a speed."""

    def __init__(self, max_curvature: float, lookahead_s: float = 1.2, least_m: float = 3.0) -> None:
        """The look-ahead is the distance driven in lookahead_s [s], at least least_m [m]; max_curvature [1/m]."""
        self._most, self._ahead, self._least = max_curvature, lookahead_s, least_m

    def curvature(self, pose: Pose, speed: float, path: Path) -> float:
        """Curvature [1/m] towards the path ahead."""
        along, _ = path.nearest(pose.x, pose.y)
        carrot = path.at(along + max(self._least, self._ahead * abs(speed)))
        return pursuit_curvature(pose, carrot.x, carrot.y, self._most)
