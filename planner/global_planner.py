"""The path to a goal through all that was seen: a growing map, D* Lite on it, and a smoothed polyline."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.connected import leads_out
from planner.dstar_lite import Cell, DStarLite
from planner.footprint import Footprint
from planner.grid_cost import BLOCKED, METRE_COST, NO_PATH, Costs
from planner.maps.global_map import GROWTH_M, GlobalMap, MapTooLargeError
from planner.maps.grid import OCCUPIED, LocalGrid
from planner.maps.source import Extent
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel
from proving_ground.saving.stateful import Stateful

Array = NDArray[np.float64]

SMOOTH_M = 2.0  # points of the path are averaged over this length
MOST_CELLS_OF_PATH = 20_000
NEAR_GOAL = 0.7  # a path may end this far from a goal that is close to obstacles, as a share of arrival_m
BESIDE_M = 4.0  # a vehicle that stands too close to obstacles joins the path within this
LOOKS = 100_000  # most cells expanded by a search in one call: less than 0.1 s
LOOKS_BESIDE = 10_000  # the same for a search that can wait: about 10 ms
GROWTH_SHARE = 0.25  # a map grows by this share of its size, at least by GROWTH_M
WAITS = 2  # calls in a row whose changes may wait for the next one while they leave the path open
MOVED_SHARE = 0.2  # a goal that moved by less than this share of its distance keeps the search


class Failure(Enum):
    """Reason why no path to the goal was found."""

    NONE = "none"
    SEARCHING = "searching"  # the search goes on with the next call
    NO_PATH = "no path"
    GOAL_BLOCKED = "goal blocked"
    TOO_LARGE = "too large"  # for the map


class Found(NamedTuple):
    """A path, or why no path was found."""

    points: Array | None  # n x 2 [m], from the vehicle to the goal
    failure: Failure = Failure.NONE
    cost: float = math.inf  # [m], longer where it is narrow


class PathFinder(Stateful):
    """Keeps a map and a search between calls.

    A goal that moves a little keeps the search, whose path then ends with a straight line; a second search for the
    moved goal is built in the background, some cells at each call, and replaces it when done. So no call takes long,
    however a goal moves. Changes of the map that leave the path open are collected and repaired together.
    """

    STATE = ("map", "_search", "_next", "_last", "_last_goal", "_path", "_waiting")

    def __init__(self, settings: PlannerSettings, footprint: Footprint, extent: Extent) -> None:
        self._settings, self._half_width, self._extent = settings, footprint.half_width, extent
        self._last: Found
        self._last_goal: tuple[float, float]
        self.reset()

    def reset(self) -> None:
        """Forget the path and all that the map has seen."""
        self.map = GlobalMap(self._settings, self._half_width, self._extent)
        self._search: DStarLite | None = None
        self._next: DStarLite | None = None  # for a goal that has moved
        self._forget_path()

    def find(self, pose: Pose, goal: tuple[float, float], grid: LocalGrid) -> Found:
        """The path from a pose to a goal [m], using the rolling map."""
        try:
            self._make_room(grid, goal)
        except MapTooLargeError:
            return Found(None, Failure.TOO_LARGE)
        changed = self.map.add(grid)
        if self._may_wait(changed, goal):
            self._waiting.append(changed)
            return self._last
        changed = np.concatenate([*self._waiting, changed])
        self._forget_path()
        searches = [search for search in (self._search, self._next) if search is not None]
        for search in searches:  # every search must receive the changes, whatever this call returns
            search.changed(changed)
        start = self.map.nearest_open(pose.x, pose.y, BESIDE_M)
        end = self.map.nearest_open(*goal, NEAR_GOAL * self._settings.arrival_m)
        if end is None:
            is_there = self.map.window.has(*self.map.window.cell(*goal))
            return Found(None, Failure.GOAL_BLOCKED if is_there else Failure.NO_PATH)
        if start is None:
            return Found(None, Failure.NO_PATH)
        for search in searches:
            search.move_to(start)
        is_done = self._searched(start, end)
        if self._search is None or not is_done or not self._serves(self._search, start, end):
            return Found(None, Failure.SEARCHING)
        if self._search.cost == NO_PATH:
            return self._no_path(start, self._search.goal, goal)
        self._last, self._last_goal = self._found(pose, goal, end), goal
        return self._last

    def warm_up(self) -> None:
        """Compile what only rare situations need; the map and the searches stay as they are."""
        costs = np.ones((4, 4), self.map.costs.dtype)
        search = DStarLite(costs, (0, 0), (3, 3))
        search.repair(LOOKS)
        search.move_to((0, 1))
        search.changed(np.array([[1, 1]]))
        search.path(MOST_CELLS_OF_PATH)
        _is_line_open(costs, 0, 0, 3, 3)
        leads_out(costs, 0, 0, self.map.may_grow())

    def _may_wait(self, changed: NDArray[np.int64], goal: tuple[float, float]) -> bool:
        """Whether the path of the last call can be used once more."""
        if self._last.points is None or goal != self._last_goal or self._next is not None:
            return False
        if len(self._waiting) >= WAITS:
            return False
        shut = changed[self.map.costs[changed[:, 0], changed[:, 1]] == BLOCKED]
        return not np.isin(shut[:, 0] * self.map.window.columns + shut[:, 1], self._path).any()

    def _forget_path(self) -> None:
        self._last, self._last_goal = Found(None), (math.nan, math.nan)
        self._path: NDArray[np.int64] = np.zeros(0, np.int64)  # its cells, as flat indices
        self._waiting: list[NDArray[np.int64]] = []

    def _searched(self, start: Cell, end: Cell) -> bool:
        """Work on the searches; whether the present one is up to date."""
        if self._search is None:
            self._search = DStarLite(self.map.costs, start, end)
        if self._search.goal == end:
            self._next = None
        elif self._next is None or not self._serves(self._next, start, end):
            self._next = DStarLite(self.map.costs, start, end)
        is_done = self._search.repair(LOOKS) < LOOKS
        if self._next is not None:
            most = LOOKS_BESIDE if is_done and self._serves(self._search, start, end) else LOOKS
            if self._next.repair(most) < most:
                self._search, self._next, is_done = self._next, None, True
        return is_done

    def _serves(self, search: DStarLite, start: Cell, end: Cell) -> bool:
        """Whether a search for a cell other than the goal's can be used for now."""
        if search.goal == end:
            return True
        off, left = math.dist(search.goal, end), math.dist(start, end)
        return off <= MOVED_SHARE * left and bool(_is_line_open(self.map.costs, *search.goal, *end))

    def _no_path(self, start: Cell, end: Cell, goal: tuple[float, float]) -> Found:
        """Extend the map if both vehicle and goal may have a path into more world; else there is no path."""
        sides = self.map.may_grow()
        if leads_out(self.map.costs, *start, sides) and leads_out(self.map.costs, *end, sides):
            w = self.map.window
            by = max(GROWTH_M, GROWTH_SHARE * w.resolution * max(w.rows, w.columns))
            right, high = w.x + w.columns * w.resolution, w.y + w.rows * w.resolution
            try:
                if self._grow_to(w.x - by, right + by, w.y - by, high + by):
                    return Found(None, Failure.SEARCHING)
            except MapTooLargeError:
                return Found(None, Failure.TOO_LARGE)
        return Found(None, Failure.GOAL_BLOCKED if self.map.state_at(*goal) == OCCUPIED else Failure.NO_PATH)

    def _found(self, pose: Pose, goal: tuple[float, float], end: Cell) -> Found:
        assert self._search is not None
        side = self.map.resolution
        cells = self._search.path(MOST_CELLS_OF_PATH)
        self._path = cells[:, 0] * self.map.window.columns + cells[:, 1]
        points = self.map.middles(cells)
        points[0] = pose.x, pose.y
        cost = self._search.cost * side / METRE_COST
        if self._search.goal != end:  # leave the path where it is closest to the present goal
            position = self.map.middles(np.array([end]))[0]
            away = np.hypot(*(points - position).T)
            last = int(np.argmin(away))
            more = np.linspace(points[last], position, max(math.ceil(away[last] / side), 1) + 1)[1:]
            points, cost = np.concatenate([points[: last + 1], more]), cost + float(away[last])
        if end == self.map.window.cell(*goal):
            points[-1] = goal
        smooth = np.empty_like(points)
        _smoothed(points, max(round(SMOOTH_M / side), 1), smooth)
        return Found(smooth, cost=cost)

    def _make_room(self, grid: LocalGrid, goal: tuple[float, float]) -> None:
        """Grow the map to hold the rolling map, and initially the goal with a margin."""
        w = grid.window
        left, low = w.x, w.y
        right, high = left + w.columns * w.resolution, low + w.rows * w.resolution
        self._grow_to(
            min(left, goal[0] - GROWTH_M), max(right, goal[0] + GROWTH_M),
            min(low, goal[1] - GROWTH_M), max(high, goal[1] + GROWTH_M),
        )  # fmt: skip

    def _grow_to(self, left: float, right: float, low: float, high: float) -> bool:
        """Grow map and searches; whether they have grown."""
        grown = self.map.grow_to(left, right, low, high)
        if grown is None:
            return False
        shift = np.array([grown.rows, grown.columns])  # waiting changes are cells of the old map
        self._waiting = [] if grown.is_coarser else [cells + shift for cells in self._waiting]
        self._last = Found(None)
        if grown.is_coarser:
            self._search = self._next = None
        if self._search is not None:
            self._search = self._search.grown(self.map.costs, grown.rows, grown.columns)
        if self._next is not None:
            self._next = self._next.grown(self.map.costs, grown.rows, grown.columns)
        return True


@kernel
def _is_line_open(costs: Costs, row: int, column: int, to_row: int, to_column: int) -> bool:
    """Whether all cells on a straight line can be entered."""
    steps = 2 * max(abs(to_row - row), abs(to_column - column), 1)
    for k in range(steps + 1):
        i = round(row + (to_row - row) * k / steps)
        j = round(column + (to_column - column) * k / steps)
        if costs[i, j] == BLOCKED:
            return False
    return True


@kernel
def _smoothed(points: Array, reach: int, out: Array) -> None:
    """Moving average over this many neighbours on both sides, fewer near the ends, which stay."""
    count = len(points)
    for k in range(count):
        near = min(reach, k, count - 1 - k)
        x = y = 0.0
        for j in range(k - near, k + near + 1):
            x += points[j, 0]
            y += points[j, 1]
        out[k, 0], out[k, 1] = x / (2 * near + 1), y / (2 * near + 1)
