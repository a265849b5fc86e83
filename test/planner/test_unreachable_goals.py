"""Goals that cannot be reached, traps and large worlds: each ends at rest, with a reason."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.drive_to_goal import DriveToGoal, Reason, Status
from planner.global_planner import Failure, PathFinder
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from yards import CAGE, TRUCK, U_TRAP, Drive, SilentSource, is_standing, wall, yard

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)
OF_600_M = Extent(-300.0, 300.0, -300.0, 300.0)


@pytest.mark.parametrize("planner", ["arcs", "dstar_lite"])
def test_goal_inside_an_obstacle_is_given_up_when_that_is_seen(planner: str) -> None:
    house = wall(28.0, 0.0, 40.0, 0.0), wall(34.0, -5.0, 34.0, 5.0)
    drive = Drive(yard(*house), PlannerSettings(max_curvature_1pm=0.14, planner=planner))
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
    drive = Drive(yard(*CAGE), PlannerSettings(max_curvature_1pm=0.14, planner=planner, boxed_in_s=20.0))
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
    drive = Drive(yard(*U_TRAP), PlannerSettings(max_curvature_1pm=0.14, planner="arcs", boxed_in_s=25.0))
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
    # The vehicle is moved along the wall: what it saw there is on its map, and only the ends are open.
    world = yard(wall(-220.0, 20.0, 220.0, 20.0), size=600.0)
    local, finder = LocalMap(TerrainTruth(world, DEFAULT), DEFAULT), PathFinder(DEFAULT, TRUCK, OF_600_M)
    for x in range(-210, 211, 30):
        pose = Pose(float(x), 0.0)
        finder.find(pose, (0.0, 60.0), local.update(0.0, pose))

    home = Pose(0.0, 0.0)
    for _ in range(60):
        found = finder.find(home, (0.0, 60.0), local.update(0.0, home))
        if found.failure is not Failure.SEARCHING:
            break

    assert found.failure is Failure.NONE
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


def test_long_path_over_a_large_field_is_found() -> None:
    drive = Drive(yard(size=1000.0), pose=Pose(-440.0, -440.0, heading=0.8))
    drive.core.set_goal(440.0, 440.0)

    drive.run(6.0)

    assert drive.progress.status is Status.DRIVING
    assert drive.speed > 2.0


def test_path_that_no_map_can_hold_has_its_own_reason() -> None:
    drive, source = Drive(yard()), SilentSource()
    source.stamp = math.inf
    drive.core = DriveToGoal(DEFAULT, TRUCK, source)
    drive.core.set_goal(1e5, 1e5)
    drive.run(5.0)

    assert drive.progress.status is Status.FAILED
    assert drive.progress.reason is Reason.TOO_LARGE
