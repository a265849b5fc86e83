"""The planner protocol: from the vehicle's surroundings to a speed and a curvature. Two planners come with the suite.

A user's planner is a class with the same protocol, named as `module:Class` in the settings; it is constructed with
(settings: PlannerSettings, footprint: Footprint, extent: Extent).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from planner.arcs import ArcChoice, ArcPlanner, Target
from planner.footprint import Footprint
from planner.global_planner import Failure, PathFinder
from planner.maps.grid import OCCUPIED, LocalGrid
from planner.maps.source import Extent
from planner.path_tracking import Carrot, Path, pursuit_curvature
from planner.pose import Pose
from planner.settings import PLANNERS, PlannerSettings
from proving_ground.saving.stateful import Stateful
from proving_ground.settings import SettingsError
from proving_ground.settings.named_class import named_class

Array = NDArray[np.float64]

BEHIND = math.radians(110.0)  # a path that begins at a larger bearing is behind the vehicle
CARROTS = (1.0, 0.8, 0.62, 0.48)  # shares of carrot_m to try; the furthest that an arc reaches wins
MISS = 0.05  # allowed miss of a carrot, as a share of its distance, plus NEAR
NEAR = 0.25  # [m]
ROOMY = 0.6  # share of clearance_m that is enough


class Outcome(Enum):
    """Whether there is an arc to drive, and if not, why."""

    DRIVE = "drive"
    BLOCKED = "blocked"  # no arc worth driving ahead
    BEHIND = "behind"  # the path begins behind the vehicle: it has to turn first
    UNREACHABLE = "unreachable"  # there is no path at all
    IN_OBSTACLE = "in_obstacle"  # the goal is inside an obstacle
    TOO_LARGE = "too_large"  # the path is too long for the map
    SEARCHING = "searching"  # not known yet: stand and wait


_OUTCOMES = {
    Failure.SEARCHING: Outcome.SEARCHING,
    Failure.NO_PATH: Outcome.UNREACHABLE,
    Failure.GOAL_BLOCKED: Outcome.IN_OBSTACLE,
    Failure.TOO_LARGE: Outcome.TOO_LARGE,
}


class Request(NamedTuple):
    """Input of a planner: pose and motion, goal, and the map around the vehicle."""

    pose: Pose  # start of the plan: the predicted pose
    speed: float  # [m/s], forward positive
    curvature: float  # at present [1/m], left positive
    goal: tuple[float, float]  # [m]
    grid: LocalGrid  # valid until the next request


@dataclass(frozen=True, eq=False)
class Arcs:
    """Arcs for display: n x 3 poses (x, y, heading), world axes."""

    chosen: Array | None = None
    clear: tuple[Array, ...] = ()
    blocked: tuple[Array, ...] = ()


@dataclass(frozen=True, eq=False)
class Plan:
    """Output of a planner: speed and curvature to drive, distance to go, and path and arcs for display."""

    outcome: Outcome
    speed: float = 0.0  # [m/s], forward positive
    curvature: float = 0.0  # [1/m], left positive
    to_go: float = math.nan  # along the path to the goal [m]
    effort: float = math.nan  # the same, longer where it is narrow: falls with every metre unless the map changes
    path: Array = field(default_factory=lambda: np.zeros((0, 2)))  # [m], from the vehicle to the goal
    arcs: Arcs = field(default_factory=Arcs)
    reference: float = 0.0  # x in base_link of the point that follows the path [m]


class Planner(Protocol):
    """Interface of a planner: `plan` gives a path and an arc; it keeps what it has seen until `reset`."""

    def reset(self) -> None:
        """Forget everything: the vehicle was moved, or time went back."""
        ...

    def plan(self, request: Request) -> Plan:
        """Plan for a request: an arc to drive, or why there is none. Called at the planning rate."""
        ...


class ArcsAlone(Stateful):
    """Heads straight for the goal; knows nothing beyond the rolling map."""

    STATE = ("_arcs",)

    def __init__(self, settings: PlannerSettings, footprint: Footprint, extent: Extent) -> None:
        self._arcs = ArcPlanner(settings, footprint)

    def reset(self) -> None:
        """Forget the last arc, as Planner.reset asks."""
        self._arcs.reset()

    def plan(self, request: Request) -> Plan:
        """Choose an arc straight towards the goal, as Planner.plan asks."""
        pose, (x, y) = request.pose, request.goal
        to_go = pose.distance_to(x, y)
        path = np.array([[pose.x, pose.y], [x, y]])
        if _is_occupied(request.grid, x, y):
            return Plan(Outcome.IN_OBSTACLE, to_go=to_go, path=path)
        self._arcs.sweep(pose, request.grid)
        choice = self._arcs.choose(Target(x, y), request.curvature)
        shown = display(self._arcs, choice.index if choice else None)
        if choice is None:
            return Plan(Outcome.BLOCKED, to_go=to_go, path=path, arcs=shown)
        return Plan(Outcome.DRIVE, self._arcs.speed(choice, to_go), choice.curvature, to_go, to_go, path, shown)


class PathAndArcs(Stateful):
    """D* Lite finds a path through all that was seen, arcs follow it."""

    STATE = ("_arcs", "_finder")

    def __init__(self, settings: PlannerSettings, footprint: Footprint, extent: Extent) -> None:
        self._settings = settings
        self._arcs = ArcPlanner(settings, footprint)
        self._finder = PathFinder(settings, footprint, extent)
        self._middle = 0.5 * (footprint.front + footprint.rear)

    def reset(self) -> None:
        """Forget path and last arc, as Planner.reset asks."""
        self._arcs.reset()
        self._finder.reset()

    def warm_up(self) -> None:
        """Compile what only rare situations need."""
        self._finder.warm_up()

    def plan(self, request: Request) -> Plan:
        """Find a path to the goal and an arc that follows it, as Planner.plan asks."""
        pose = request.pose
        left = pose.distance_to(*request.goal)
        # The path is that of the body's middle, so that nose and tail are treated alike; the goal is base_link's.
        reference = self._middle if left > self._settings.carrot_m else 0.0
        middle = pose._replace(
            x=pose.x + reference * math.cos(pose.heading), y=pose.y + reference * math.sin(pose.heading)
        )
        found = self._finder.find(middle, request.goal, request.grid)
        if found.points is None:
            return Plan(_OUTCOMES[found.failure], to_go=left)
        path = Path(found.points)
        along, _ = path.nearest(middle.x, middle.y)
        to_go, effort = max(path.length - along, left), found.cost
        self._arcs.sweep(pose, request.grid)
        near = path.at(along + CARROTS[-1] * self._settings.carrot_m)
        if to_go > self._settings.arrival_m and abs(middle.bearing_of(near.x, near.y)) > BEHIND:
            shown = display(self._arcs, None)
            return Plan(Outcome.BEHIND, to_go=to_go, effort=effort, path=found.points, arcs=shown, reference=reference)
        choice, carrot = self._aimed(request, path, along, reference)
        if choice is None:
            shown = display(self._arcs, None)
            return Plan(Outcome.BLOCKED, 0.0, 0.0, to_go, effort, path.points, shown, reference)
        curvature = self._refined(request.pose, choice.curvature, carrot.x, carrot.y, reference)
        speed = self._arcs.speed(choice, to_go)
        shown = display(self._arcs, choice.index)
        return Plan(Outcome.DRIVE, speed, curvature, to_go, effort, path.points, shown, reference)

    def _aimed(self, request: Request, path: Path, along: float, reference: float) -> tuple[ArcChoice | None, Carrot]:
        """The arc to the furthest point of the path that is reached with enough clearance, else the best of them."""
        s = self._settings
        driven = self._arcs.chosen
        best, found = math.inf, None
        for share in CARROTS:
            self._arcs.chosen = driven  # undo the hysteresis of mere trials
            carrot = path.at(along + share * s.carrot_m)
            target = Target(carrot.x, carrot.y, carrot.heading, reference)
            choice = self._arcs.choose(target, request.curvature)
            if choice is None:
                break
            narrow = max(ROOMY * s.clearance_m - choice.clearance, 0.0)
            shortfall = max(choice.miss - NEAR - MISS * share * s.carrot_m, 0.0) + narrow
            if shortfall < best - 1e-3:
                best, found = shortfall, (choice, carrot)
            if shortfall <= 0.0:
                break
        if found is None:
            return None, path.at(along)
        self._arcs.chosen = found[0].index
        return found

    def _refined(self, pose: Pose, curvature: float, x: float, y: float, reference: float) -> float:
        """Curvature between the fan's arcs that leads through the carrot: else the vehicle would sway between two."""
        most, count = self._settings.max_curvature_1pm, self._settings.forward_arcs
        exact = pursuit_curvature(pose, x, y, most, reference)
        gap = 2.0 * most / (count - 1)
        return exact if abs(exact - curvature) <= gap else curvature


_BUILT_IN = dict(zip(PLANNERS, ("planner.planning:ArcsAlone", "planner.planning:PathAndArcs"), strict=True))


def make_planner(settings: PlannerSettings, footprint: Footprint, extent: Extent) -> Planner:
    """The planner that the settings name; raises SettingsError with one line if it cannot be loaded."""
    kind = named_class("planner", _BUILT_IN, settings.planner)
    try:
        made = kind(settings, footprint, extent)
    except Exception as error:
        raise SettingsError(f"planner: {settings.planner} cannot be built: {type(error).__name__}: {error}") from error
    for name in ("reset", "plan"):
        if not callable(getattr(made, name, None)):
            raise SettingsError(f"planner: {settings.planner} has no method {name}; see planner.planning.Planner")
    return made  # type: ignore[no-any-return]


def display(arcs: ArcPlanner, chosen: int | None) -> Arcs:
    """Copies of the fan's arcs in the chosen direction: clear ones up to their free length, blocked ones whole."""
    fan, step = arcs.fan, arcs.settings.arc_step_m
    direction = 1.0 if chosen is None else fan.direction[chosen]
    clear, blocked = [], []
    for index in range(len(fan.cost)):
        if fan.direction[index] != direction or index == chosen:
            continue
        if fan.free[index] >= arcs.settings.least_arc_m:
            clear.append(fan.points[index, : round(fan.free[index] / step) + 1].copy())
        else:
            blocked.append(fan.points[index].copy())
    best = None if chosen is None else fan.points[chosen, : int(fan.used[chosen]) + 1].copy()
    return Arcs(best, tuple(clear), tuple(blocked))


def _is_occupied(grid: LocalGrid, x: float, y: float) -> bool:
    row, column = grid.window.cell(x, y)
    return grid.window.has(row, column) and int(grid.cells[row, column]) == OCCUPIED
