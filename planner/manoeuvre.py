"""Turning in a narrow space: a search over short arcs, forward and reverse, and a driver for the result.

The search is a hybrid A* (Dolgov et al. 2008) on the rolling map: of all poses in a cell of position and heading the
cheapest is kept. It is bounded, and only run while the vehicle stands.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.arcs import LEAST_M, ArcPlanner, Body, Field, allowed_clearance, clearance_at
from planner.maps.grid import LocalGrid
from planner.open_list import NOT_IN, OpenList, open_list, put, take_out
from planner.path_tracking import Path
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel, part
from proving_ground.saving.stateful import Stateful
from vehicle_dynamics.motion import STANDS_MPS

Array = NDArray[np.float64]

CELL_M = 0.5
HEADINGS = 48
PIECE_M = 1.0  # length of the search's arcs
CHECKS = 4  # samples along such an arc where the footprint is checked
BENDS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # shares of the sharpest curvature that is planned
PLANNED_SHARE = 0.92  # of the sharpest curvature; the rest is for corrections
REVERSE_COST = 1.3  # cost of a metre in reverse
SHIFT_COST = 3.0  # cost of a change of direction [m]
NARROW_COST = 0.5  # extra cost of a metre right beside an obstacle
UNITS = 1000  # of the search's integer costs, per metre
MOST_LOOKS = 40_000
UNSEEN = 1 << 62
GOAL_AWAY_M, GOAL_TURN = 0.7, math.radians(12.0)
JOIN_M = (2.0, 4.0, 6.0, 8.0, 10.0, 13.0, 16.0)  # along the path, where the manoeuvre may join it
AHEAD_M = 2.0  # distance of a leg ahead of the vehicle that must be clear
SETTLE_LENGTH = 2.0  # [m]: distance over which position errors decay
TURN_WHEELS_S = 0.6  # standing, to turn the wheels before the next leg
STEERED_M = 0.95  # on legs, distance driven while the wheels turn from straight ahead to full steering


class Leg(NamedTuple):
    """A section of a manoeuvre, driven in one direction."""

    direction: int  # 1 forward, -1 reverse
    points: Array  # n x 3: x, y, heading
    curvature: Array  # n, from each point onwards [1/m]

    @staticmethod
    def of_arc(points: Array, curvature: float, direction: int) -> Leg:
        """A single arc, from evenly spaced poses (n x 3: x, y [m], heading [rad]); direction: 1 forward, -1 reverse."""
        return Leg(direction, points.copy(), np.full(len(points), curvature))

    @property
    def spacing(self) -> float:
        """Distance between successive points of the leg [m], the same for all of them."""
        return math.hypot(*(self.points[1, :2] - self.points[0, :2])) if len(self.points) > 1 else 1.0


class _Task(NamedTuple):
    """A request to the search."""

    start: tuple[float, float, float]  # x, y [m], heading [rad]
    targets: Array  # n x 3: x, y, heading; NaN for any heading
    corner: tuple[float, float]  # of the map [m]
    side: int  # of the map, in cells of CELL_M
    bend: float  # sharpest curvature [1/m]
    margin: float  # least distance from obstacles [m]
    clearance: float  # distances beyond the margin and below this add cost [m]


class _Tree(NamedTuple):
    """Results of the search: one entry for each cell of position and heading."""

    nodes: Array  # n x 3: x, y, heading
    parents: NDArray[np.int64]
    moves: NDArray[np.int64]  # the arc that led there; -1 for none
    spent: NDArray[np.int64]  # cost from the start
    queue: OpenList


def find_manoeuvre(arcs: ArcPlanner, pose: Pose, path: Path, reference: float, grid: LocalGrid) -> list[Leg]:
    """Legs from a pose onto a path, heading along it; empty if none was found in bounded time.

    reference: x in base_link [m] of the point of the vehicle that follows the path.
    """
    targets = _targets(pose, path, reference)
    if not len(targets):
        return []
    window = grid.window
    task = _Task(
        start=(pose.x, pose.y, pose.heading),
        targets=targets,
        corner=(window.x, window.y),
        side=math.ceil(window.rows * window.resolution / CELL_M),
        bend=PLANNED_SHARE * arcs.settings.max_curvature_1pm,
        margin=arcs.settings.margin_m,
        clearance=arcs.settings.clearance_m,
    )
    tree = _unseen(task.side * task.side * HEADINGS)
    end = _search(arcs.field(grid), arcs.body, task, tree)
    return _legs(int(end), tree, task.bend)


def _unseen(states: int) -> _Tree:
    return _Tree(
        nodes=np.zeros((states, 3)),
        parents=np.full(states, -1, np.int64),
        moves=np.full(states, -1, np.int64),
        spent=np.full(states, UNSEEN, np.int64),
        queue=open_list(states),
    )


def _targets(pose: Pose, path: Path, reference: float) -> Array:
    """Poses of base_link on the path, heading along it, and the path's end if it is near: with any heading (NaN)."""
    along, _ = path.nearest(pose.x, pose.y)
    targets = []
    for carrot in (path.at(along + ahead) for ahead in JOIN_M if along + ahead < path.length):
        if math.isfinite(carrot.heading):
            x, y = carrot.x - reference * math.cos(carrot.heading), carrot.y - reference * math.sin(carrot.heading)
            targets.append((x, y, carrot.heading))
    if along + JOIN_M[-1] >= path.length:
        targets.append((*path.points[-1].tolist(), math.nan))
    return np.array(targets).reshape(-1, 3)


def _legs(end: int, tree: _Tree, bend: float) -> list[Leg]:
    nodes, parents, moves = tree.nodes, tree.parents, tree.moves
    chain = []
    while end >= 0:
        chain.append(end)
        end = int(parents[end])
    chain.reverse()
    legs: list[Leg] = []
    begin = 1
    while begin < len(chain):
        direction = 1 if moves[chain[begin]] < len(BENDS) else -1
        last = begin
        while last + 1 < len(chain) and (moves[chain[last + 1]] < len(BENDS)) == (direction > 0):
            last += 1
        points, curvature = [], []
        for k in range(begin, last + 1):
            bent = bend * float(BENDS[moves[chain[k]] % len(BENDS)])
            x, y, heading = nodes[chain[k - 1]].tolist()
            pose = Pose(x, y, heading=heading)
            for check in range(CHECKS):
                at = pose.moved(direction * PIECE_M * check / CHECKS, bent, 1.0)
                points.append((at.x, at.y, at.heading))
                curvature.append(bent)
        points.append(tuple(nodes[chain[last]]))
        curvature.append(curvature[-1])
        legs.append(Leg(direction, np.array(points), np.array(curvature)))
        begin = last + 1
    return legs


class ManoeuvreDriver(Stateful):
    """Drives legs one after the other, standing in between."""

    STATE = ("_legs", "_stands_since", "_index")

    def __init__(self, settings: PlannerSettings, legs: list[Leg]) -> None:
        self._settings, self._legs = settings, legs
        self._stands_since = -math.inf
        self._index = 0

    @property
    def is_done(self) -> bool:
        """Whether all legs are driven."""
        return not self._legs

    @property
    def points(self) -> Array:
        """The rest of the present leg and all later ones, for display: poses (n x 3: x, y, heading)."""
        return np.concatenate([leg.points for leg in self._legs]) if self._legs else np.zeros((0, 3))

    def _clearance_now(self, pose: Pose, arcs: ArcPlanner, grid: LocalGrid) -> float:
        return least_clearance(arcs, np.array([(pose.x, pose.y, pose.heading)]), grid)

    def command(
        self, time: float, pose: Pose, speed: float, arcs: ArcPlanner, grid: LocalGrid
    ) -> tuple[float, float] | None:
        """Speed [m/s] and curvature [1/m]; None if the rest is no longer clear."""
        if self.is_done:
            return 0.0, 0.0
        s, leg = self._settings, self._legs[0]
        self._index = self._nearest(pose, leg, self._index)
        left = (len(leg.points) - 1 - self._index) * leg.spacing
        if left <= 0.0 or self._is_past(pose, leg):
            if abs(speed) < STANDS_MPS:
                self._legs.pop(0)
                self._index = 0
                self._stands_since = time
            return 0.0, float(leg.curvature[-1])
        least = min(LEAST_M, self._clearance_now(pose, arcs, grid) - 0.02)
        ahead = leg.points[self._index : self._index + 1 + round(AHEAD_M / leg.spacing)]
        # The vehicle may be beside the leg, where its wheels turned too late: both must be clear.
        if least_clearance(arcs, ahead, grid) < least or least_clearance(arcs, self._expected(pose, leg), grid) < least:
            return None
        curvature = self._steered(pose, leg, self._index)
        if time - self._stands_since < TURN_WHEELS_S or speed * leg.direction < -STANDS_MPS:
            return 0.0, float(leg.curvature[0])
        stopping = math.sqrt(2.0 * 0.5 * s.deceleration_mps2 * left)
        most = s.manoeuvre_speed_mps if leg.direction > 0 else s.reverse_speed_mps
        most = min(most, STEERED_M * s.curvature_rate_1pms / s.max_curvature_1pm)
        return leg.direction * min(most, max(stopping, 0.3)), curvature

    def _expected(self, pose: Pose, leg: Leg) -> Array:
        """Poses (n x 3: x, y, heading) at which the vehicle will be on its way back to the leg, at even distances."""
        index, poses = self._index, [(pose.x, pose.y, pose.heading)]
        for _ in range(round(AHEAD_M / leg.spacing)):
            pose = pose.moved(leg.direction * leg.spacing, self._steered(pose, leg, index), 1.0)
            poses.append((pose.x, pose.y, pose.heading))
            index = self._nearest(pose, leg, index)
            if index >= len(leg.points) - 1:
                break
        return np.array(poses)

    @staticmethod
    def _nearest(pose: Pose, leg: Leg, index: int) -> int:
        """Index of the leg's point nearest to a pose, from the given one onwards."""
        ahead = leg.points[index : index + 3 * CHECKS]
        return index + int(np.argmin(np.hypot(ahead[:, 0] - pose.x, ahead[:, 1] - pose.y)))

    def _is_past(self, pose: Pose, leg: Leg) -> bool:
        x, y, heading = leg.points[-1]
        beyond = (pose.x - x) * math.cos(heading) + (pose.y - y) * math.sin(heading)
        return self._index >= len(leg.points) - 2 and beyond * leg.direction > -0.02

    def _steered(self, pose: Pose, leg: Leg, index: int) -> float:
        """The curvature at a point of the leg, plus a correction back onto it, forward and in reverse alike.

        Over the driven distance s, a lateral error e to the left grows by the direction times the heading error, which
        grows by the direction times the curvature error: so e'' + 2 e' / L + e / L^2 = 0 with the gains below.
        """
        x, y, heading = leg.points[index].tolist()
        lateral_offset = (pose.y - y) * math.cos(heading) - (pose.x - x) * math.sin(heading)
        heading_error = math.remainder(pose.heading - heading, 2.0 * math.pi)
        most = self._settings.max_curvature_1pm
        back = -lateral_offset / SETTLE_LENGTH**2 - 2.0 * leg.direction * heading_error / SETTLE_LENGTH
        return float(min(max(leg.curvature[index] + back, -most), most))


def least_clearance(arcs: ArcPlanner, points: Array, grid: LocalGrid) -> float:
    """Least distance [m] of the footprint from obstacles at poses (n x 3: x, y, heading)."""
    return float(_least_clearance(arcs.field(grid), arcs.body, np.ascontiguousarray(points)))


@kernel
def _least_clearance(field: Field, body: Body, points: Array) -> float:
    least = np.inf
    for k in range(len(points)):
        here = clearance_at(field, body, points[k, 0], points[k, 1], math.cos(points[k, 2]), math.sin(points[k, 2]))
        if np.isnan(here):
            return -np.inf
        least = min(least, here)
    return least


@part
def _left_over(x: float, y: float, heading: float, targets: Array, bend: float) -> tuple[float, bool]:
    """Lower bound on the distance [m] to the nearest target, and whether one is reached."""
    least, is_there = np.inf, False
    for k in range(len(targets)):
        away = math.hypot(x - targets[k, 0], y - targets[k, 1])
        off = 0.0
        if not np.isnan(targets[k, 2]):
            off = abs(heading - targets[k, 2]) % (2.0 * math.pi)
            off = min(off, 2.0 * math.pi - off)
        least = min(least, max(max(away - GOAL_AWAY_M, 0.0), max(off - GOAL_TURN, 0.0) / bend))
        is_there = is_there or (away <= GOAL_AWAY_M and off <= GOAL_TURN)
    return least, is_there


@part
def _state(x: float, y: float, heading: float, corner: tuple[float, float], side: int) -> int:
    """Index of the cell of position and heading; -1 outside."""
    column, row = math.floor((x - corner[0]) / CELL_M), math.floor((y - corner[1]) / CELL_M)
    if not (0 <= row < side and 0 <= column < side):
        return -1
    sector = math.floor((heading % (2.0 * math.pi)) / (2.0 * math.pi) * HEADINGS) % HEADINGS
    return (row * side + column) * HEADINGS + sector


@kernel
def _search(field: Field, body: Body, task: _Task, tree: _Tree) -> int:
    """Index of the state that ends the cheapest chain of arcs to a target, -1 if none was found."""
    start, targets, corner, side, bend, margin, soft = task
    nodes, parents, moves, spent, queue = tree
    first = _state(start[0], start[1], start[2], corner, side)
    if first < 0:
        return -1
    nodes[first, 0], nodes[first, 1], nodes[first, 2] = start
    spent[first] = 0
    begun = clearance_at(field, body, start[0], start[1], math.cos(start[2]), math.sin(start[2]))
    allowed = allowed_clearance(begun, margin)
    put(queue, first, 0, 0)
    count = len(BENDS)
    looks = 0
    while queue.size[0] > 0 and looks < MOST_LOOKS:
        looks += 1
        state = queue.heap[0]
        take_out(queue, state)
        x, y, heading = nodes[state]
        if _left_over(x, y, heading, targets, bend)[1]:
            return int(state)
        for move in range(2 * count):
            direction = 1.0 if move < count else -1.0
            bent = bend * BENDS[move % count]
            along = direction * PIECE_M / CHECKS
            heading_change = bent * along
            chord = along * (
                math.sin(0.5 * heading_change) / (0.5 * heading_change) if abs(heading_change) > 1e-9 else 1.0
            )
            at_x, at_y, at_heading = x, y, heading
            least = np.inf
            for _ in range(CHECKS):
                at_x += chord * math.cos(at_heading + 0.5 * heading_change)
                at_y += chord * math.sin(at_heading + 0.5 * heading_change)
                at_heading += heading_change
                here = clearance_at(field, body, at_x, at_y, math.cos(at_heading), math.sin(at_heading))
                least = here if np.isnan(here) else min(least, here)
                if np.isnan(least):
                    break
            if not least >= allowed:
                continue
            there = _state(at_x, at_y, at_heading, corner, side)
            # An expanded state is final: others were reached from it.
            if there < 0 or (spent[there] != UNSEEN and queue.slot[there] == NOT_IN):
                continue
            cost = PIECE_M * (1.0 if direction > 0.0 else REVERSE_COST)
            cost += PIECE_M * NARROW_COST * max(1.0 - max(least - margin, 0.0) / max(soft, 1e-3), 0.0)
            before = moves[state]
            if before >= 0 and (before < count) != (move < count):
                cost += SHIFT_COST
            total = spent[state] + int(cost * UNITS)
            if total < spent[there]:
                spent[there], parents[there], moves[there] = total, state, move
                nodes[there, 0], nodes[there, 1], nodes[there, 2] = at_x, at_y, at_heading
                left = _left_over(at_x, at_y, at_heading, targets, bend)[0]
                put(queue, there, total + int(left * UNITS), int(left * UNITS))
    return -1
