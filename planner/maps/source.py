"""Sources of an obstacle map: one small protocol, so that truth and LIDAR are interchangeable."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from planner.maps.grid import Cells, Floats, Window
from planner.pose import Pose


class Extent(NamedTuple):
    """A rectangle of the world [m]; unbounded by default."""

    left: float = -math.inf
    right: float = math.inf
    low: float = -math.inf
    high: float = math.inf

    def has(self, x: float, y: float) -> bool:
        """Whether a position [m] is inside."""
        return self.left <= x <= self.right and self.low <= y <= self.high


class ObstacleSource(Protocol):
    """Knows which cells around a pose are obstacles, free or unknown.

    A source whose `by_sight` is true is a sensor: its unknown cells have not been seen yet, and the vehicle drives only
    so fast that it can stop before them. For other sources, unknown cells count as free.
    """

    def extent(self) -> Extent:
        """The region that the source can ever know: a goal elsewhere is outside the map."""
        ...

    def look(self, time: float, pose: Pose, window: Window, cells: Cells, heights: Floats) -> float:
        """Fill cells and ground heights [m] of the window, all of them; returns the time [s] of the newest data.

        A source without data yet fills in UNKNOWN and returns minus infinity.
        """
        ...
