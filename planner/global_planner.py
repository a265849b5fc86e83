"""The way to a goal through all that was seen: a growing map, D* Lite on it, and a smooth line of places."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.dstar_lite import DStarLite
from planner.footprint import Footprint
from planner.grid_cost import METRE_COST, NO_WAY
from planner.maps.global_map import GROWTH_M, GlobalMap
from planner.maps.grid import OCCUPIED, LocalGrid
from planner.maps.source import Extent
from planner.pose import Pose
from planner.settings import PlannerSettings
from vehicle_dynamics.kernels.jit import kernel

Array = NDArray[np.float64]

MOST_GROWTHS = 4  # to look for a way round
SMOOTH_M = 2.0  # places of the path are means over this length
MOST_CELLS_OF_WAY = 20_000
NEAR_GOAL = 0.7  # a way may end beside a goal that is close to obstacles, by this share of arrival_m
BESIDE_M = 4.0  # a vehicle that stands too close to obstacles joins the way within this


class Found(NamedTuple):
    """A way, or why there is none."""

    points: Array | None  # n x 2 [m], from the vehicle to the goal
    is_goal_blocked: bool = False
    cost: float = math.inf  # [m], longer where it is narrow


class PathFinder:
    """Keeps a map and a search between calls; a new goal makes a new search on the same map."""

    def __init__(self, settings: PlannerSettings, footprint: Footprint, extent: Extent) -> None:
        self._settings, self._half_width, self._extent = settings, footprint.half_width, extent
        self.reset()

    def reset(self) -> None:
        """Forget the map too."""
        self.map = GlobalMap(self._settings, self._half_width, self._extent)
        self._search: DStarLite | None = None
        self._goal = (math.nan, math.nan)
        self._growths = 0

    def find(self, pose: Pose, goal: tuple[float, float], grid: LocalGrid) -> Found:
        """The way from a pose to a goal [m], with what the rolling map shows."""
        self._make_room(grid, goal)
        changed = self.map.add(grid)
        start = self.map.nearest_open(pose.x, pose.y, BESIDE_M)
        end = self.map.nearest_open(*goal, NEAR_GOAL * self._settings.arrival_m)
        if end is None:
            return Found(None, is_goal_blocked=self.map.window.has(*self.map.window.cell(*goal)))
        if start is None:
            return Found(None)
        if self._search is None or self._search.goal != end:
            self._search = DStarLite(self.map.costs, start, end)
            self._growths = 0
        else:
            self._search.move_to(start)
            self._search.changed(changed)
        self._search.repair()
        while self._search.cost == NO_WAY and self._growths < MOST_GROWTHS and self._grow(GROWTH_M):
            self._growths += 1
            self._search.repair()
        if self._search.cost == NO_WAY:
            return Found(None, is_goal_blocked=self.map.state_at(*goal) == OCCUPIED)
        cells = self._search.way(MOST_CELLS_OF_WAY)
        side = self._settings.global_resolution_m
        points = self.map.middles(cells)
        points[0] = pose.x, pose.y
        if end == self.map.window.cell(*goal):
            points[-1] = goal
        smooth = np.empty_like(points)
        _smoothed(points, max(round(SMOOTH_M / side), 1), smooth)
        return Found(smooth, cost=self._search.cost * side / METRE_COST)

    def _make_room(self, grid: LocalGrid, goal: tuple[float, float]) -> None:
        """For the rolling map, and at first for the goal with something around it."""
        w = grid.window
        left, low = w.x, w.y
        right, high = left + w.columns * w.resolution, low + w.rows * w.resolution
        self._grow_to(
            min(left, goal[0] - GROWTH_M), max(right, goal[0] + GROWTH_M),
            min(low, goal[1] - GROWTH_M), max(high, goal[1] + GROWTH_M),
        )  # fmt: skip

    def _grow(self, by: float) -> bool:
        w = self.map.window
        x, y = w.x, w.y
        return self._grow_to(
            x - by, x + w.columns * w.resolution + by, y - by, y + w.rows * w.resolution + by
        )  # fmt: skip

    def _grow_to(self, left: float, right: float, low: float, high: float) -> bool:
        try:
            before = self.map.grow_to(left, right, low, high)
        except ValueError:  # too large: what lies there stays unseen
            return False
        if before is not None and self._search is not None:
            self._search = self._search.grown(self.map.costs, *before)
        return before is not None


@kernel
def _smoothed(points: Array, reach: int, out: Array) -> None:
    """Means over so many neighbours to both sides, fewer near the ends, which stay."""
    count = len(points)
    for k in range(count):
        near = min(reach, k, count - 1 - k)
        x = y = 0.0
        for j in range(k - near, k + near + 1):
            x += points[j, 0]
            y += points[j, 1]
        out[k, 0], out[k, 1] = x / (2 * near + 1), y / (2 * near + 1)
