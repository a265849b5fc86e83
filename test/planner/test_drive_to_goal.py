"""Driving to a goal: arrival, moving goals, waypoints, settings that change."""

from __future__ import annotations

import math

import pytest

from planner.drive_to_goal import DriveToGoal, Reason, Status
from planner.dstar_lite import DStarLite
from planner.global_planner import Failure, PathFinder
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from yards import CAGE, TRUCK, U_TRAP, Drive, is_standing, post, yard

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)
OF_600_M = Extent(-300.0, 300.0, -300.0, 300.0)


def test_without_a_goal_the_vehicle_stays_where_it_is() -> None:
    drive = Drive(yard())

    drive.run(5.0, until_rest=False)

    assert drive.progress.status is Status.NO_GOAL
    assert drive.pose == Pose(0.0, 0.0)


@pytest.mark.parametrize("planner", ["arcs", "dstar_lite"])
def test_free_goal_is_reached_within_its_tolerance_and_below_the_speed_limit(planner: str) -> None:
    drive = Drive(yard(post(15.0, 0.5), post(25.0, 8.0)), PlannerSettings(max_curvature_1pm=0.14, planner=planner))
    drive.core.set_goal(35.0, 10.0)

    drive.run(60.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.progress.reason is Reason.NONE
    assert is_standing(drive)
    assert drive.pose.distance_to(35.0, 10.0) <= 1.5 + 0.3
    assert drive.top_speed <= 5.0
    assert drive.least_distance > 0.0


def test_goal_behind_is_reached_by_turning() -> None:
    drive = Drive(yard())
    drive.core.set_goal(-25.0, 0.0)

    drive.run(90.0)

    assert drive.progress.status is Status.ARRIVED


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_goal_that_is_not_finite_is_rejected_and_stops_the_vehicle(bad: float) -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(5.0)
    assert drive.speed > 1.0

    assert drive.core.set_goal(bad, 0.0) is Reason.NOT_FINITE
    drive.run(1.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.NOT_FINITE
    assert is_standing(drive)


def test_goal_off_the_map_is_rejected() -> None:
    drive = Drive(yard(size=80.0))

    assert drive.core.set_goal(41.0, 0.0) is Reason.OUTSIDE_MAP
    assert drive.core.set_waypoints([(10.0, 0.0), (0.0, -41.0)]) is Reason.OUTSIDE_MAP
    assert drive.run(1.0).reason is Reason.OUTSIDE_MAP
    assert is_standing(drive)


def test_goal_where_the_vehicle_stands_is_reached_at_once() -> None:
    drive = Drive(yard())
    drive.core.set_goal(0.5, 0.0)

    drive.run(1.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.progress.reason is Reason.ALREADY_THERE
    assert drive.pose == Pose(0.0, 0.0)


def test_goal_that_moves_a_little_does_not_restart_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    repair = DStarLite.repair

    def counted(search: DStarLite, *most: int) -> int:
        looks.append(repair(search, *most))
        return looks[-1]

    monkeypatch.setattr(DStarLite, "repair", counted)
    world = yard(*U_TRAP, size=300.0)
    local, finder = LocalMap(TerrainTruth(world, DEFAULT), DEFAULT), PathFinder(DEFAULT, TRUCK, OF_600_M)
    pose = Pose(-120.0, -100.0)
    grid = local.update(0.0, pose)
    while finder.find(pose, (120.0, 100.0), grid).failure is Failure.SEARCHING:
        pass
    whole = sum(looks)

    worst = 0
    for step in range(30):
        looks.clear()
        goal = (120.0 - 0.4 * step, 100.0 - 0.4 * step)
        found = finder.find(pose, goal, grid)
        assert found.points is not None
        assert math.dist(found.points[-1], goal) < 1.0
        worst = max(worst, sum(looks))

    assert worst < 0.3 * whole


def test_moving_goal_is_followed() -> None:
    drive = Drive(yard())
    for second in range(20):
        drive.core.set_goal(12.0 + second, 0.5 * second)
        drive.run(1.0, until_rest=False)

    drive.run(30.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.pose.distance_to(31.0, 9.5) < 2.0


@pytest.mark.parametrize("rate", [0.3, 0.1])
def test_manoeuvres_are_as_slow_as_the_steering(rate: float) -> None:
    drive = Drive(yard(*U_TRAP), PlannerSettings(max_curvature_1pm=0.14, curvature_rate_1pms=rate))
    drive.core.set_goal(30.0, 0.0)
    speeds: list[float] = []

    while drive.time < 60.0:
        now = drive.run(0.1)
        speeds += [abs(now.speed)] if now.status is Status.MANOEUVRING else []

    # While the wheels turn from straight ahead to full steering, it drives a vehicle's width at most.
    turned_s = 0.14 / rate
    assert 0.3 < max(speeds) * turned_s < 1.0


def test_goal_that_moves_while_the_vehicle_turns_is_not_given_up() -> None:
    drive = Drive(yard(*U_TRAP))
    drive.core.set_goal(30.0, 0.0)
    while drive.progress.status is not Status.MANOEUVRING and drive.time < 60.0:
        drive.run(0.1)
    assert drive.progress.status is Status.MANOEUVRING

    drive.core.set_goal(30.0, 12.0)
    drive.run(120.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.pose.distance_to(30.0, 12.0) < 2.0


def test_wavering_goal_does_not_extend_the_patience_with_a_walled_in_vehicle() -> None:
    drive = Drive(yard(*CAGE), PlannerSettings(max_curvature_1pm=0.14, boxed_in_s=10.0))
    for second in range(40):
        drive.core.set_goal(30.0, 0.1 * (second % 2))
        drive.run(1.0, until_rest=False)
        if drive.progress.status is Status.FAILED:
            break

    assert drive.progress.status is Status.FAILED


def test_waypoints_are_passed_in_order() -> None:
    drive = Drive(yard())
    positions = [(20.0, 0.0), (30.0, 15.0), (10.0, 25.0)]
    drive.core.set_waypoints(positions)
    passed = []
    while not drive.run(0.2).is_at_rest and drive.time < 120.0:
        passed.append(drive.progress.waypoint)

    assert drive.progress.status is Status.ARRIVED
    assert sorted(set(passed)) == [0, 1, 2]
    assert passed == sorted(passed)
    assert drive.pose.distance_to(*positions[-1]) < 2.0


def test_no_waypoints_mean_stop() -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(3.0)

    drive.core.set_waypoints([])
    drive.run(1.0)

    assert drive.progress.status is Status.NO_GOAL
    assert is_standing(drive)


def test_thousands_of_waypoints_around_the_vehicle_are_passed_at_once() -> None:
    drive = Drive(yard())

    assert drive.core.set_waypoints([(1.0, 0.0)] * 9_999 + [(30.0, 0.0)]) is Reason.NONE
    drive.run(1.0)

    assert drive.progress.status is Status.DRIVING
    assert drive.progress.waypoint == 9_999


def test_too_many_waypoints_are_rejected() -> None:
    drive = Drive(yard())

    assert drive.core.set_waypoints([(30.0, 0.0)] * 10_001) is Reason.TOO_MANY
    assert drive.run(1.0).status is Status.FAILED
    assert is_standing(drive)


def test_goal_messages_cause_no_plans_beyond_the_planning_rate() -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(2.0)
    before = drive.core.plans

    for tick in range(100):  # within one second
        drive.core.set_goal(30.0 + 0.01 * tick, 0.0)
        drive.core.update(drive.time + 0.01 * tick, drive.pose.moved(drive.speed, 0.0, 0.01 * tick), drive.speed)

    assert drive.core.plans - before <= 11


def test_drive_goes_on_at_its_speed_when_settings_change() -> None:
    drive = Drive(yard())
    positions = [(20.0, 0.0), (45.0, 0.0)]
    drive.core.set_waypoints(positions)
    while drive.progress.waypoint == 0:
        drive.run(0.1)
    before, speed = drive.core, drive.speed
    assert speed > 2.0

    drive.core = DriveToGoal(
        PlannerSettings(max_curvature_1pm=0.14, margin_m=0.3), TRUCK, TerrainTruth(drive.world, drive.settings)
    )
    drive.core.take_over(before)
    after = drive.run(0.2)

    assert after.waypoint == 1
    assert abs(drive.speed - speed) < 0.5
    assert drive.run(60.0).status is Status.ARRIVED


def test_vehicle_that_has_arrived_stays_when_settings_change() -> None:
    drive = Drive(yard())
    drive.core.set_goal(10.0, 0.0)
    drive.run(30.0)
    assert drive.progress.status is Status.ARRIVED
    before = drive.core

    drive.core = DriveToGoal(
        PlannerSettings(max_curvature_1pm=0.14, margin_m=0.3), TRUCK, TerrainTruth(drive.world, drive.settings)
    )
    drive.core.take_over(before)

    assert drive.run(2.0, until_rest=False).status is Status.ARRIVED
    assert is_standing(drive)
