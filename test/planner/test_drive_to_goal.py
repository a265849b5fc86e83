"""Driving to a goal: arrival, traps, impossible and moving goals, silent inputs. Every end is at rest."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.drive_to_goal import DriveToGoal, Reason, Status
from planner.dstar_lite import DStarLite
from planner.global_planner import Lack, PathFinder
from planner.maps.grid import UNKNOWN, Cells, Floats, Window
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.planning import Outcome, Plan
from planner.pose import Pose
from planner.settings import PlannerSettings
from settings import SettingsError

sys.path.insert(0, str(Path(__file__).parent))
from yards import TRUCK, Drive, post, wall, yard

DEFAULT = PlannerSettings()
OF_600_M = Extent(-300.0, 300.0, -300.0, 300.0)
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


def test_goal_behind_a_wall_that_is_longer_than_the_first_map_is_not_called_unreachable() -> None:
    # The vehicle is carried along the wall: what it saw there is on its map, and only the ends are open.
    world = yard(wall(-220.0, 20.0, 220.0, 20.0), size=600.0)
    local, finder = LocalMap(TerrainTruth(world, DEFAULT), DEFAULT), PathFinder(DEFAULT, TRUCK, OF_600_M)
    for x in range(-210, 211, 30):
        pose = Pose(float(x), 0.0)
        finder.find(pose, (0.0, 60.0), local.update(0.0, pose))

    home = Pose(0.0, 0.0)
    for _ in range(60):
        found = finder.find(home, (0.0, 60.0), local.update(0.0, home))
        if found.lack is not Lack.SEARCHING:
            break

    assert found.lack is Lack.NONE
    assert found.points is not None
    assert np.abs(found.points[:, 0]).max() > 220.0


@pytest.mark.parametrize("size", [100.0, 99.4, 120.7])
def test_wall_across_the_whole_world_makes_its_other_side_unreachable(size: float) -> None:
    drive = Drive(yard(wall(20.0, -80.0, 20.0, 80.0), size=size))
    drive.core.set_goal(35.0, 0.0)

    drive.run(120.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.UNREACHABLE
    assert drive.least_distance > 0.0


def test_long_way_over_a_large_field_is_found() -> None:
    drive = Drive(yard(size=1000.0), pose=Pose(-440.0, -440.0, heading=0.8))
    drive.core.set_goal(440.0, 440.0)

    drive.run(6.0)

    assert drive.progress.status is Status.DRIVING
    assert drive.speed > 2.0


def test_way_that_no_map_can_hold_has_a_reason_of_its_own() -> None:
    drive = Drive(yard())
    drive.core = DriveToGoal(DEFAULT, TRUCK, _SilentSource())
    _SilentSource.stamp = math.inf
    try:
        drive.core.set_goal(1e5, 1e5)
        drive.run(5.0)
    finally:
        _SilentSource.stamp = -math.inf

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.TOO_LARGE


def test_goal_that_moves_a_little_makes_no_search_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
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
    while finder.find(pose, (120.0, 100.0), grid).lack is Lack.SEARCHING:
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


def test_thousands_of_waypoints_around_the_vehicle_are_passed_at_once() -> None:
    drive = Drive(yard())

    assert drive.core.set_waypoints([(1.0, 0.0)] * 9_999 + [(30.0, 0.0)]) is Reason.NONE
    drive.run(1.0)

    assert drive.progress.status is Status.DRIVING
    assert drive.progress.waypoint == 9_999


def test_more_waypoints_than_anyone_needs_are_refused() -> None:
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
    places = [(20.0, 0.0), (45.0, 0.0)]
    drive.core.set_waypoints(places)
    while drive.progress.waypoint == 0:
        drive.run(0.1)
    before, speed = drive.core, drive.speed
    assert speed > 2.0

    drive.core = DriveToGoal(PlannerSettings(margin_m=0.3), TRUCK, TerrainTruth(drive.world, drive.settings))
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

    drive.core = DriveToGoal(PlannerSettings(margin_m=0.3), TRUCK, TerrainTruth(drive.world, drive.settings))
    drive.core.take_over(before)

    assert drive.run(2.0, until_rest=False).status is Status.ARRIVED
    assert is_standing(drive)


def test_pose_that_does_not_move_although_the_speed_says_so_stops_the_vehicle() -> None:
    drive = Drive(yard())
    drive.core.set_goal(45.0, 0.0)
    drive.run(4.0)
    assert drive.speed > 2.0

    answers = [drive.core.update(drive.time + 0.05 * tick, drive.pose, drive.speed) for tick in range(400)]

    first = next(tick for tick, answer in enumerate(answers) if answer.status is Status.EMERGENCY)
    assert 0.5 <= 0.05 * first <= 0.7
    assert all(answer.reason is Reason.FROZEN_POSE and answer.speed == 0.0 for answer in answers[first:])

    drive.time += 20.0
    drive.pose = drive.pose.moved(1.0, 0.0, 0.1)
    drive.run(60.0)
    assert drive.progress.status is Status.ARRIVED


def test_vehicle_that_stands_with_the_brake_on_has_no_frozen_pose() -> None:
    drive = Drive(yard())
    drive.core.set_goal(45.0, 0.0)

    answers = [drive.core.update(0.05 * tick, drive.pose, 0.0) for tick in range(40)]

    assert {answer.status for answer in answers} == {Status.DRIVING}


def test_vehicle_that_does_not_move_as_commanded_tries_astern_and_then_says_that_it_is_stuck() -> None:
    drive = Drive(yard())
    drive.core.set_goal(45.0, 0.0)

    answers = [drive.core.update(0.1 * tick, drive.pose, 0.0) for tick in range(900)]

    assert max(answer.speed for answer in answers[:40]) > 1.0
    assert min(answer.speed for answer in answers) < -0.5
    assert answers[-1].status is Status.FAILED
    assert answers[-1].reason is Reason.STUCK
    assert answers[-1].speed == 0.0


def test_vehicle_that_gets_free_again_forgets_that_it_was_stuck() -> None:
    drive = Drive(yard())
    drive.core.set_goal(45.0, 0.0)
    for tick in range(60):  # wheels spin
        drive.core.update(0.1 * tick, drive.pose, 0.0)
    drive.time = 6.0

    drive.run(90.0)

    assert drive.progress.status is Status.ARRIVED


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
        return Plan(Outcome.DRIVE, self.speed, self.curvature)


class Faulty(Crawler):
    """Fails in several ways."""

    answer: object = None

    def plan(self, request: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


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
    ("answer", "words"),
    [
        (KeyError("mine"), "KeyError: 'mine'"),
        (RuntimeError("two\nlines"), "RuntimeError: two lines"),
        (None, "must answer with a Plan, got NoneType"),
        (Plan(Outcome.BLOCKED, path=np.zeros((4, 3))), "path must be n x 2"),
        (Plan(Outcome.BLOCKED, path=np.full((4, 2), math.nan)), "path must be finite"),
        (Plan(Outcome.DRIVE, speed="fast"), "ValueError"),  # type: ignore[arg-type]
        (Plan("drive"), "outcome must be an Outcome"),  # type: ignore[arg-type]
    ],
)
def test_error_in_a_planner_of_the_users_own_stops_the_vehicle_and_is_told_in_one_line(
    answer: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    monkeypatch.setattr(Faulty, "answer", Plan(Outcome.DRIVE, 2.0))
    drive = Drive(yard(), PlannerSettings(planner="my_planner:Faulty"))
    drive.core.set_goal(40.0, 0.0)
    drive.run(3.0)
    assert drive.speed > 1.0

    monkeypatch.setattr(Faulty, "answer", answer)
    drive.run(1.0, until_rest=False)

    assert drive.progress.status is Status.EMERGENCY
    assert drive.progress.reason is Reason.PLANNER_ERROR
    assert words in drive.progress.detail
    assert "\n" not in drive.progress.words
    assert is_standing(drive)

    monkeypatch.setattr(Faulty, "answer", Plan(Outcome.DRIVE, 2.0))
    assert drive.run(3.0, until_rest=False).status is Status.DRIVING
    assert drive.speed > 1.0


def test_path_of_a_planner_of_the_users_own_may_be_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "my_planner", sys.modules[__name__])
    monkeypatch.setattr(Faulty, "answer", Plan(Outcome.DRIVE, 2.0, path=[[0, 0], [40, 0]]))  # type: ignore[arg-type]
    drive = Drive(yard(), PlannerSettings(planner="my_planner:Faulty"))
    drive.core.set_goal(40.0, 0.0)

    assert drive.run(3.0).path.shape == (2, 2)


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
