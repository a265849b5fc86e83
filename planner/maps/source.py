"""What an obstacle map is made from: one small protocol, so that truth and LIDAR are exchanged for one another."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from planner.maps.grid import Cells, Floats, Window
from planner.pose import Pose


class Extent(NamedTuple):
    """A rectangle of the world [m]; endless unless told."""

    left: float = -math.inf
    right: float = math.inf
    low: float = -math.inf
    high: float = math.inf

    def has(self, x: float, y: float) -> bool:
        """Whether a place [m] is inside."""
        return self.left <= x <= self.right and self.low <= y <= self.high


class ObstacleSource(Protocol):
    """Knows which cells around a pose are obstacles, free or unknown.

    A source that has `by_sight` and has it true is a sensor: what it calls unknown nobody has seen yet, and the vehicle
    drives only so fast that it can stop before. Of others, unknown cells are taken for free.
    """

    def extent(self) -> Extent:
        """What the source may ever know: a goal elsewhere is outside the map."""
        ...

    def look(self, time: float, pose: Pose, window: Window, cells: Cells, heights: Floats) -> float:
        """Fill cells and ground heights [m] of the window, all of them; returns the time [s] of the newest data.

        A source without data yet fills in UNKNOWN and returns minus infinity.
        """
        ...
