"""Driving to a goal: when to plan, stop, or back up and turn, and when the goal is reached or given up.

Pure: given time, pose and speed, it returns a speed and a curvature. Every stop has a reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from planner.arcs import ArcPlanner
from planner.footprint import Footprint
from planner.guarded_planner import GuardedPlanner, PlannerError
from planner.manoeuvre import Leg, ManoeuvreDriver, find_manoeuvre
from planner.maps.grid import LocalGrid
from planner.maps.local_map import LocalMap
from planner.maps.source import ObstacleSource
from planner.path_tracking import Path
from planner.planning import Arcs, Outcome, Plan, Request, make_planner
from planner.plausibility import MOST_ATTEMPTS, FrozenPose, SpeedTrim, StuckWatch
from planner.pose import Pose
from planner.progress import Progress, Reason, Status
from planner.settings import PlannerSettings
from proving_ground.saving.stateful import Stateful
from vehicle_dynamics.motion import STANDS_MPS

__all__ = ["DriveToGoal", "Progress", "Reason", "Status"]

STOPPED_BY = {
    Outcome.UNREACHABLE: Reason.UNREACHABLE,
    Outcome.IN_OBSTACLE: Reason.IN_OBSTACLE,
    Outcome.TOO_LARGE: Reason.TOO_LARGE,
}
NEW_PATH_M = 10.0  # a path that grows by this from one plan to the next is a new one
MOST_WAYPOINTS = 10_000
CONFIRM_S = 2.0  # a planner must find no path for this long, standing, before a goal is given up


class DriveToGoal(Stateful):
    """Plans at its own rate, however often it is updated."""

    STATE = (
        "plans", "_map", "_planner", "_arcs", "_goals", "_waypoint", "_frozen", "_stuck", "_trim", "_planner_error",
        "_progress", "_planned_at", "_commanded_at", "_speed", "_curvature", "_is_new", "_tried_for", "_nearest",
        "_nearest_at", "_effort", "_no_path_since", "_attempts", "_manoeuvre",
    )  # fmt: skip

    def __init__(self, settings: PlannerSettings, footprint: Footprint, source: ObstacleSource) -> None:
        """Raises SettingsError for a planner that cannot be loaded."""
        self.settings, self._source = settings, source
        self._map = LocalMap(source, settings)
        self._planner = GuardedPlanner(make_planner(settings, footprint, source.extent()), settings.planner)
        self._arcs = ArcPlanner(settings, footprint)  # for backing up, whatever the planner
        self._goals: list[tuple[float, float]] = []
        self._frozen, self._stuck = FrozenPose(), StuckWatch()
        self._trim = SpeedTrim(settings.max_speed_mps, settings.speed_reserve_mps)
        self.plans = 0  # made since construction
        self._manoeuvre: ManoeuvreDriver | None
        self.reset()

    def reset(self) -> None:
        """Return to the initial state: the vehicle was moved, or time went back."""
        self._planner_error = ""
        try:
            self._planner.reset()
        except PlannerError as error:
            self._planner_error = str(error)  # its map may be out of date
        self._arcs.reset()
        self._frozen.reset()
        self._stuck.reset()
        self._trim.reset()
        self._goals.clear()
        self._waypoint = 0
        self._progress = Progress(Status.NO_GOAL)
        self._planned_at = self._commanded_at = -math.inf
        self._speed = self._curvature = 0.0  # as commanded, rate-limited
        self._is_new = False  # the goal was just set
        self._tried_for = (math.nan, math.nan)  # the goal when the boxed-in timer started
        self._begin_leg(-math.inf)

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """See Stateful. A manoeuvre under way needs a driver to restore."""
        self._manoeuvre = ManoeuvreDriver(self.settings, []) if state["_manoeuvre"] is not None else None
        super().restore_state(state, keep_random=keep_random)

    def warm_up(self) -> None:
        """Compile what only rare situations need."""
        self._planner.warm_up()

    def take_over(self, other: DriveToGoal) -> None:
        """Continue to the goals of another driver, from the speed and curvature that it commands now."""
        self._goals, self._waypoint = list(other._goals), other._waypoint
        self._progress, self._is_new, self._tried_for = other._progress, other._is_new, other._tried_for
        self._speed, self._curvature = other._speed, other._curvature
        self._commanded_at, self._planned_at, self.plans = other._commanded_at, -math.inf, other.plans
        self._begin_leg(-math.inf)

    def set_goal(self, x: float, y: float) -> Reason:
        """Drive to one position [m]; see set_waypoints."""
        return self.set_waypoints([(x, y)])

    def set_waypoints(self, positions: Sequence[tuple[float, float]]) -> Reason:
        """Drive to positions [m] one after the other; none means stop. A rejected goal stops the vehicle, too.

        A goal may be moved at any time: the map and the present arc stay, and the new goal takes effect at the next
        plan, never sooner.
        """
        if len(positions) > MOST_WAYPOINTS:
            return self.reject(Reason.TOO_MANY)
        was_driving = not self._progress.is_at_rest
        self._goals = [(float(x), float(y)) for x, y in positions]
        self._waypoint = 0
        extent = self._source.extent()
        reason = Reason.NONE
        if not all(math.isfinite(value) for position in self._goals for value in position):
            reason = Reason.NOT_FINITE
        elif not all(extent.has(*position) for position in self._goals):
            reason = Reason.OUTSIDE_MAP
        if reason is not Reason.NONE:
            return self.reject(reason)
        self._is_new = not was_driving
        if not self._goals:
            self._progress = Progress(Status.NO_GOAL)
        elif not was_driving:
            self._progress = Progress(Status.DRIVING)
            self._tried_for = self._goals[0]
            self._begin_leg(-math.inf)
        elif math.dist(self._goals[0], self._tried_for) > NEW_PATH_M:  # a creeping goal does not restart the timer
            self._tried_for = self._goals[0]
            self._nearest, self._nearest_at, self._effort = math.inf, self._commanded_at, math.inf
        return Reason.NONE

    def reject(self, reason: Reason) -> Reason:
        """Reject an invalid goal and stop the vehicle; returns the reason."""
        self._goals, self._waypoint = [], 0
        self._progress = Progress(Status.FAILED, reason)
        return reason

    def _begin_leg(self, time: float) -> None:
        """Begin a new leg: clear all that was tried."""
        self._nearest = math.inf  # least distance to the goal yet [m]
        self._nearest_at = time
        self._effort = math.inf
        self._no_path_since = math.inf
        self._attempts = 0
        self._manoeuvre = None

    def update(self, time: float, pose: Pose, speed: float, pose_time: float | None = None) -> Progress:
        """Command at a time [s]; speed [m/s] forward positive; pose_time [s] is that of the pose, if not now."""
        s = self.settings
        if time < self._commanded_at:
            self.reset()
        if self._progress.status in (Status.NO_GOAL, Status.ARRIVED, Status.FAILED):
            return self._rest(time)
        emergency = self._emergency(time, pose, speed, time if pose_time is None else pose_time)
        if emergency is not Reason.NONE:
            return self._stop(time, Status.EMERGENCY, emergency)
        self._stuck.record(time, self._speed, speed)
        if time - self._planned_at >= 1.0 / s.replan_rate_hz - 1e-6:
            self._planned_at = time
            self.plans += 1
            try:
                self._progress = self._planned(time, pose, speed)
            except PlannerError as error:
                self._progress = replace(
                    self._progress, status=Status.EMERGENCY, reason=Reason.PLANNER_ERROR, detail=str(error)
                )
        return self._slewed(time, speed)

    def _emergency(self, time: float, pose: Pose, speed: float, pose_time: float) -> Reason:
        if not (pose.is_finite and math.isfinite(speed)):
            return Reason.BAD_POSE
        if not time - pose_time <= self.settings.stale_s:
            return Reason.OLD_POSE
        return Reason.FROZEN_POSE if self._frozen.is_frozen(time, pose, speed) else Reason.NONE

    def _planned(self, time: float, pose: Pose, speed: float) -> Progress:
        s = self.settings
        while self._waypoint < len(self._goals) - 1 and pose.distance_to(*self._goals[self._waypoint]) <= s.waypoint_m:
            self._waypoint += 1
            self._begin_leg(time)
        goal = self._goals[self._waypoint]
        away = pose.distance_to(*goal)
        if self._waypoint == len(self._goals) - 1 and away <= s.arrival_m:
            reason = Reason.ALREADY_THERE if self._is_new else Reason.NONE
            return Progress(Status.ARRIVED, reason, to_go=away, waypoint=self._waypoint)
        self._is_new = False
        grid = self._map.update(time, pose)
        if time - grid.stamp > s.stale_s:
            return Progress(Status.EMERGENCY, Reason.OLD_MAP, to_go=away, waypoint=self._waypoint, grid=grid)
        if self._stuck.is_stuck(time) and not self._freed(pose, grid):
            return Progress(Status.FAILED, Reason.STUCK, to_go=away, waypoint=self._waypoint, grid=grid)
        if self._manoeuvre is not None:
            return self._manoeuvred(time, pose, speed, grid)
        if self._planner_error:
            raise PlannerError(self._planner_error)
        curvature = self._curvature
        ahead = pose.moved(speed, curvature, s.delay_s)
        plan = self._planner.plan(Request(ahead, speed, curvature, goal, grid))
        return self._judged(time, pose, speed, plan, grid, away)

    @property
    def _boxed_in(self) -> Reason:
        """Reason for the lack of progress."""
        return Reason.STUCK if self._stuck.attempts else Reason.BOXED_IN

    def _freed(self, pose: Pose, grid: LocalGrid) -> bool:
        """Try to get free, opposite to the last direction; False after too many attempts."""
        was_reverse, self._manoeuvre = self._speed < 0.0, None
        if self._stuck.attempts > MOST_ATTEMPTS:
            return False
        legs = [] if was_reverse else self._reverse_legs(pose, grid)
        self._manoeuvre = ManoeuvreDriver(self.settings, legs) if legs else None
        return True

    def _judged(self, time: float, pose: Pose, speed: float, plan: Plan, grid: LocalGrid, away: float) -> Progress:
        """Decide from a plan: drive, stop and turn, or give up."""
        to_go = plan.to_go if math.isfinite(plan.to_go) else away
        if plan.outcome is not Outcome.SEARCHING or not math.isfinite(self._nearest_at):
            self._record_progress(time, plan.effort if math.isfinite(plan.effort) else to_go)
        status, reason = Status.DRIVING, Reason.NONE
        if not (math.isfinite(plan.speed) and math.isfinite(plan.curvature)):
            plan = Plan(Outcome.BLOCKED)  # a user's planner may return anything
        wanted = _held(plan.speed, self.settings.max_speed_mps - self.settings.speed_reserve_mps)
        bend = _held(plan.curvature, self.settings.max_curvature_1pm)
        if plan.outcome is not Outcome.DRIVE:
            status, wanted, bend = Status.BLOCKED, 0.0, self._curvature
        if plan.outcome is Outcome.SEARCHING:
            status = Status.DRIVING  # will drive as soon as the search is done
        is_standing = abs(speed) < STANDS_MPS and abs(self._speed) < STANDS_MPS
        if plan.outcome in STOPPED_BY:
            self._no_path_since = min(self._no_path_since, time)
            if is_standing and time - self._no_path_since >= CONFIRM_S:
                status, reason = Status.FAILED, STOPPED_BY[plan.outcome]
        elif plan.outcome is not Outcome.SEARCHING:
            self._no_path_since = math.inf
        if status is not Status.FAILED and time - self._nearest_at > self.settings.boxed_in_s:
            status, reason, wanted = Status.FAILED, self._boxed_in, 0.0
        if plan.outcome in (Outcome.BLOCKED, Outcome.BEHIND) and is_standing and status is Status.BLOCKED:
            self._begin_manoeuvre(pose, plan, grid)
            status = Status.MANOEUVRING if self._manoeuvre else Status.BLOCKED
        return Progress(status, reason, wanted, bend, to_go, self._waypoint, plan.path, plan.arcs, grid)

    def _record_progress(self, time: float, effort: float) -> None:
        """Count it as progress to be nearer than ever, or to have a new path because the map changed."""
        is_new_path = effort > self._effort + NEW_PATH_M
        if effort < self._nearest - self.settings.progress_m:
            self._stuck.on_progress()
        if is_new_path or effort < self._nearest - self.settings.progress_m or not math.isfinite(self._nearest_at):
            self._nearest, self._nearest_at, self._attempts = effort, time, 0
        self._effort = effort

    def _begin_manoeuvre(self, pose: Pose, plan: Plan, grid: LocalGrid) -> None:
        """Drive onto the planner's path if it can be reached, else reverse a short distance, longer each time."""
        legs: list[Leg] = []
        if len(plan.path) > 2:
            legs = find_manoeuvre(self._arcs, pose, Path(plan.path), plan.reference, grid)
        if not legs:
            legs = self._reverse_legs(pose, grid)
        self._attempts += 1
        self._manoeuvre = ManoeuvreDriver(self.settings, legs) if legs else None

    def _reverse_legs(self, pose: Pose, grid: LocalGrid) -> list[Leg]:
        """The reverse arc after which the goal lies most nearly ahead."""
        s, fan = self.settings, self._arcs.fan
        self._arcs.sweep(pose, grid)
        x, y = self._goals[self._waypoint]
        least = min(s.least_arc_m * (1.5 + self._attempts), s.back_up_m)
        best, found = math.inf, None
        for index in np.flatnonzero(fan.direction < 0.0):
            free = min(float(fan.free[index]), s.back_up_m)
            position = round(min(free, least) / s.arc_step_m)
            if position * s.arc_step_m < 0.5 * s.least_arc_m:
                continue
            end = fan.points[index, position]
            off_heading = abs(Pose(end[0], end[1], heading=end[2]).bearing_of(x, y))
            cost = 2.0 * off_heading + max(least - free, 0.0)
            if cost < best:
                best, found = cost, (index, position)
        if found is None:
            return []
        index, position = found
        return [Leg.of_arc(fan.points[index, : position + 1], float(fan.curvature[index]), -1)]

    def _manoeuvred(self, time: float, pose: Pose, speed: float, grid: LocalGrid) -> Progress:
        assert self._manoeuvre is not None
        self._effort = math.inf  # a change of effort by a manoeuvre is no change of the map
        answer = self._manoeuvre.command(time, pose, speed, self._arcs, grid)
        away = pose.distance_to(*self._goals[self._waypoint])
        if answer is None or self._manoeuvre.is_done:
            self._manoeuvre = None
            answer = (0.0, self._curvature)
        if time - self._nearest_at > self.settings.boxed_in_s:
            self._manoeuvre = None
            return Progress(Status.FAILED, self._boxed_in, to_go=away, waypoint=self._waypoint, grid=grid)
        points = self._manoeuvre.points if self._manoeuvre else np.zeros((0, 3))
        return Progress(
            Status.MANOEUVRING, Reason.NONE, *answer, to_go=away, waypoint=self._waypoint, path=points[:, :2],
            arcs=Arcs(chosen=points), grid=grid,
        )  # fmt: skip

    def _slewed(self, time: float, speed: float) -> Progress:
        """The command, limited in speed and curvature rates; reduced where the vehicle overspeeds."""
        if self._progress.is_at_rest:
            return self._rest(time)
        s, wanted = self.settings, self._progress
        step = min(max(time - self._commanded_at, 0.0), 1.0 / s.replan_rate_hz)
        self._commanded_at = time
        faster = wanted.speed * self._speed >= 0.0 and abs(wanted.speed) > abs(self._speed)
        rate = s.acceleration_mps2 if faster else 2.0 * s.deceleration_mps2
        self._speed += min(max(wanted.speed - self._speed, -rate * step), rate * step)
        change = s.curvature_rate_1pms * step
        self._curvature += min(max(wanted.curvature - self._curvature, -change), change)
        asked = self._trim.trimmed(self._speed, speed, step)
        return replace(wanted, speed=asked, curvature=self._curvature)

    def _rest(self, time: float) -> Progress:
        """Stand, with the steering unchanged."""
        return self._stop(time, self._progress.status, self._progress.reason)

    def _stop(self, time: float, status: Status, reason: Reason) -> Progress:
        self._commanded_at, self._speed = time, 0.0
        self._stuck.record(time, 0.0, 0.0)
        detail = self._progress.detail if reason is self._progress.reason else ""
        return replace(
            self._progress, status=status, reason=reason, speed=0.0, curvature=self._curvature, detail=detail
        )


def _held(value: float, most: float) -> float:
    return min(max(value, -most), most)
