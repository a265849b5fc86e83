"""Driving to a goal: arrival, traps, impossible and moving goals, silent inputs. Every end is at rest."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.drive_to_goal import Reason, Status
from planner.maps.grid import UNKNOWN, Cells, Floats, Window
from planner.maps.source import Extent
from planner.pose import Pose
from planner.settings import PlannerSettings
from settings import SettingsError

sys.path.insert(0, str(Path(__file__).parent))
from yards import Drive, post, wall, yard

U_TRAP = (wall(15.0, -8.0, 15.0, 8.0), wall(3.0, 8.0, 15.0, 8.0), wall(3.0, -8.0, 15.0, -8.0))
CAGE = (
    wall(-4.0, -4.0, 7.0, -4.0),
    wall(-4.0, 4.0, 7.0, 4.0),
    wall(-4.0, -4.0, -4.0, 4.0),
    wall(7.0, -4.0, 7.0, 4.0),
)


def is_standing(drive: Drive) -> bool:
    return drive.progress.speed == 0.0 and drive.speed == 0.0


def test_without_a_goal_the_vehicle_stays_where_it_is() -> None:
    drive = Drive(yard())

    drive.run(5.0, until_rest=False)

    assert drive.progress.status is Status.NO_GOAL
    assert drive.pose == Pose(0.0, 0.0)


@pytest.mark.parametrize("planner", ["arcs", "dstar_lite"])
def test_free_goal_is_reached_within_its_tolerance_and_below_the_speed_limit(planner: str) -> None:
    drive = Drive(yard(post(15.0, 0.5), post(25.0, 8.0)), PlannerSettings(planner=planner))
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
def test_goal_that_is_no_number_is_refused_and_stops_the_vehicle(bad: float) -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(5.0)
    assert drive.speed > 1.0

    assert drive.core.set_goal(bad, 0.0) is Reason.NOT_FINITE
    drive.run(1.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.NOT_FINITE
    assert is_standing(drive)


def test_goal_off_the_map_is_refused() -> None:
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


@pytest.mark.parametrize("planner", ["arcs", "dstar_lite"])
def test_goal_inside_an_obstacle_is_given_up_when_that_is_seen(planner: str) -> None:
    house = wall(28.0, 0.0, 40.0, 0.0), wall(34.0, -5.0, 34.0, 5.0)
    drive = Drive(yard(*house), PlannerSettings(planner=planner))
    drive.core.set_goal(34.0, 0.0)

    drive.run(60.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.IN_OBSTACLE
    assert is_standing(drive)


def test_walled_in_goal_is_unreachable() -> None:
    walls = (
        wall(20.0, -8.0, 36.0, -8.0),
        wall(20.0, 8.0, 36.0, 8.0),
        wall(20.0, -8.0, 20.0, 8.0),
        wall(36.0, -8.0, 36.0, 8.0),
    )
    drive = Drive(yard(*walls))
    drive.core.set_goal(28.0, 0.0)

    drive.run(120.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.UNREACHABLE
    assert is_standing(drive)
    assert drive.least_distance > 0.0


@pytest.mark.parametrize("planner", ["arcs", "dstar_lite"])
def test_walled_in_vehicle_gives_up_in_bounded_time_without_touching(planner: str) -> None:
    drive = Drive(yard(*CAGE), PlannerSettings(planner=planner, boxed_in_s=20.0))
    drive.core.set_goal(30.0, 0.0)

    drive.run(60.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason in (Reason.UNREACHABLE, Reason.BOXED_IN)
    assert is_standing(drive)
    assert drive.least_distance > 0.0


def test_u_shaped_trap_is_left_again() -> None:
    drive = Drive(yard(*U_TRAP))
    drive.core.set_goal(30.0, 0.0)

    drive.run(120.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.least_distance > 0.0


def test_arcs_alone_end_in_a_u_shaped_trap_with_a_reason_and_without_touching() -> None:
    drive = Drive(yard(*U_TRAP), PlannerSettings(planner="arcs", boxed_in_s=25.0))
    drive.core.set_goal(30.0, 0.0)

    drive.run(150.0)

    assert drive.progress.status in (Status.ARRIVED, Status.FAILED)
    if drive.progress.status is Status.FAILED:
        assert drive.progress.reason is Reason.BOXED_IN
    assert is_standing(drive)
    assert drive.least_distance > 0.0


def test_dead_end_of_a_street_is_turned_in_and_left() -> None:
    street = (wall(-6.0, 4.5, 26.0, 4.5), wall(-6.0, -4.5, 26.0, -4.5), wall(26.0, -4.5, 26.0, 4.5))
    drive = Drive(yard(*street))
    drive.core.set_goal(34.0, 0.0)

    drive.run(240.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.least_distance > 0.0


def test_moving_goal_is_followed() -> None:
    drive = Drive(yard())
    for second in range(20):
        drive.core.set_goal(12.0 + second, 0.5 * second)
        drive.run(1.0, until_rest=False)

    drive.run(30.0)

    assert drive.progress.status is Status.ARRIVED
    assert drive.pose.distance_to(31.0, 9.5) < 2.0


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


def test_goal_that_wavers_buys_a_walled_in_vehicle_no_time() -> None:
    drive = Drive(yard(*CAGE), PlannerSettings(boxed_in_s=10.0))
    for second in range(40):
        drive.core.set_goal(30.0, 0.1 * (second % 2))
        drive.run(1.0, until_rest=False)
        if drive.progress.status is Status.FAILED:
            break

    assert drive.progress.status is Status.FAILED


def test_waypoints_are_passed_in_order() -> None:
    drive = Drive(yard())
    places = [(20.0, 0.0), (30.0, 15.0), (10.0, 25.0)]
    drive.core.set_waypoints(places)
    passed = []
    while not drive.run(0.2).is_at_rest and drive.time < 120.0:
        passed.append(drive.progress.waypoint)

    assert drive.progress.status is Status.ARRIVED
    assert sorted(set(passed)) == [0, 1, 2]
    assert passed == sorted(passed)
    assert drive.pose.distance_to(*places[-1]) < 2.0


def test_no_waypoints_mean_stop() -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(3.0)

    drive.core.set_waypoints([])
    drive.run(1.0)

    assert drive.progress.status is Status.NO_GOAL
    assert is_standing(drive)


def test_old_pose_stops_the_vehicle_and_a_new_one_lets_it_go_on() -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(4.0)

    stopped = drive.core.update(drive.time, drive.pose, drive.speed, pose_time=drive.time - 0.51)
    assert stopped.status is Status.EMERGENCY
    assert stopped.reason is Reason.OLD_POSE
    assert stopped.speed == 0.0

    drive.run(60.0)
    assert drive.progress.status is Status.ARRIVED


@pytest.mark.parametrize("bad", [Pose(math.nan, 0.0), Pose(0.0, 0.0, heading=math.inf)])
def test_pose_that_is_no_number_stops_the_vehicle_and_is_forgotten(bad: Pose) -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(4.0)

    assert drive.core.update(drive.time, bad, 3.0).reason is Reason.BAD_POSE
    assert drive.core.update(drive.time, drive.pose, math.nan).reason is Reason.BAD_POSE

    drive.run(60.0)
    assert drive.progress.status is Status.ARRIVED


class _SilentSource:
    """A source whose last data are of a given time."""

    stamp = -math.inf

    def extent(self) -> Extent:
        return Extent()

    def look(self, time: float, pose: Pose, window: Window, cells: Cells, heights: Floats) -> float:
        cells[:], heights[:] = UNKNOWN, np.nan
        return self.stamp


def test_silent_map_stops_the_vehicle_until_it_speaks_again() -> None:
    from planner.drive_to_goal import DriveToGoal

    source = _SilentSource()
    drive = Drive(yard())
    drive.core = DriveToGoal(PlannerSettings(), drive.core._arcs.footprint, source)
    drive.core.set_goal(30.0, 0.0)

    assert drive.run(1.0, until_rest=False).reason is Reason.OLD_MAP
    assert is_standing(drive)
    source.stamp = math.inf
    assert drive.run(3.0, until_rest=False).status is Status.DRIVING
    assert drive.speed > 1.0
    source.stamp = drive.time - 1.0
    assert drive.run(1.0, until_rest=False).reason is Reason.OLD_MAP
    assert is_standing(drive)


def test_time_that_goes_back_is_a_new_beginning() -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(4.0)

    again = drive.core.update(0.0, drive.pose, 0.0)

    assert again.status is Status.NO_GOAL
    assert again.speed == 0.0


def test_same_drive_twice_is_the_same_to_the_bit() -> None:
    def pose() -> Pose:
        drive = Drive(yard(*U_TRAP))
        drive.core.set_goal(30.0, 0.0)
        drive.run(15.0)
        return drive.pose

    assert pose() == pose()


@given(seed=st.integers(0, 2**31), planner=st.sampled_from(["arcs", "dstar_lite"]))
@settings(max_examples=6, deadline=None)
def test_footprint_never_enters_an_obstacle_in_random_worlds(seed: int, planner: str) -> None:
    random = np.random.default_rng(seed)
    places = random.uniform([-25.0, -25.0], [25.0, 25.0], (20, 2))
    posts = [post(float(x), float(y), 0.5) for x, y in places if math.hypot(x - 1.5, y) > 5.0]
    drive = Drive(yard(*posts), PlannerSettings(planner=planner, boxed_in_s=15.0))
    drive.core.set_goal(*random.uniform(-25.0, 25.0, 2).tolist())

    drive.run(40.0)

    assert drive.least_distance > 0.0
    assert drive.top_speed <= 5.0


class Crawler:
    """A planner of the user's own: straight on, slowly."""

    speed, curvature = 0.5, 0.0

    def __init__(self, settings: PlannerSettings, footprint: object, extent: object) -> None:
        pass

    def reset(self) -> None:
        pass

    def plan(self, request: object) -> object:
        from planner.planning import Outcome, Plan

        return Plan(Outcome.DRIVE, self.speed, self.curvature)


class Mute:
    """No planner: it has no methods."""

    def __init__(self, *given: object) -> None:
        pass


class Broken:
    """Cannot be made."""

    def __init__(self, *given: object) -> None:
        raise RuntimeError("no licence")


def test_planner_of_the_users_own_is_named_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    drive = Drive(yard(), PlannerSettings(planner="my_planner:Crawler"))
    drive.core.set_goal(30.0, 0.0)

    drive.run(5.0)

    assert drive.progress.status is Status.DRIVING
    assert drive.speed == pytest.approx(0.5)


@pytest.mark.parametrize(("speed", "curvature"), [(1e6, 1e6), (-1e6, -1e6), (math.nan, 0.0), (0.0, math.inf)])
def test_limits_hold_whatever_a_planner_answers(
    speed: float, curvature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    monkeypatch.setattr(Crawler, "speed", speed)
    monkeypatch.setattr(Crawler, "curvature", curvature)
    drive = Drive(yard(), PlannerSettings(planner="my_planner:Crawler"))
    drive.core.set_goal(40.0, 0.0)

    last = drive.progress
    for _ in range(100):
        now = drive.run(0.1)
        assert abs(now.speed) <= 5.0
        assert abs(now.curvature) <= drive.settings.max_curvature_1pm
        assert abs(now.curvature - last.curvature) <= drive.settings.curvature_rate_1pms * 0.1 + 1e-9
        last = now


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dstar_light", "did you mean dstar_lite"),
        ("no_such_module_of_mine:Planner", "ModuleNotFoundError"),
        ("math:Planner", "AttributeError"),
        ("math:sqrt", "must be a class"),
        ("my_planner:Mute", "no method reset"),
        ("my_planner:Broken", "no licence"),
        (":", "cannot be had"),
    ],
)
def test_planner_that_cannot_be_had_is_one_clear_line(name: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])

    with pytest.raises(SettingsError, match=words) as refused:
        Drive(yard(), PlannerSettings(planner=name))
    assert "\n" not in str(refused.value)
