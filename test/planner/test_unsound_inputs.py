"""Invalid poses, maps and times stop the vehicle; valid ones never take its footprint into an obstacle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.drive_to_goal import DriveToGoal, Reason, Status
from planner.pose import Pose
from planner.settings import PlannerSettings
from yards import U_TRAP, Drive, SilentSource, is_standing, post, yard


def test_frozen_pose_while_the_speed_is_not_zero_stops_the_vehicle() -> None:
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


def test_pose_of_a_braked_standing_vehicle_is_not_frozen() -> None:
    drive = Drive(yard())
    drive.core.set_goal(45.0, 0.0)

    answers = [drive.core.update(0.05 * tick, drive.pose, 0.0) for tick in range(40)]

    assert {answer.status for answer in answers} == {Status.DRIVING}


def test_vehicle_that_does_not_move_as_commanded_tries_reverse_and_then_reports_that_it_is_stuck() -> None:
    drive = Drive(yard())
    drive.core.set_goal(45.0, 0.0)

    answers = [drive.core.update(0.1 * tick, drive.pose, 0.0) for tick in range(900)]

    assert max(answer.speed for answer in answers[:40]) > 1.0
    assert min(answer.speed for answer in answers) < -0.5
    assert answers[-1].status is Status.FAILED
    assert answers[-1].reason is Reason.STUCK
    assert answers[-1].speed == 0.0


def test_vehicle_that_gets_free_resets_its_attempts() -> None:
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
def test_pose_that_is_not_finite_stops_the_vehicle_and_is_discarded(bad: Pose) -> None:
    drive = Drive(yard())
    drive.core.set_goal(30.0, 0.0)
    drive.run(4.0)

    assert drive.core.update(drive.time, bad, 3.0).reason is Reason.BAD_POSE
    assert drive.core.update(drive.time, drive.pose, math.nan).reason is Reason.BAD_POSE

    drive.run(60.0)
    assert drive.progress.status is Status.ARRIVED


def test_silent_map_stops_the_vehicle_until_data_return() -> None:
    source = SilentSource()
    drive = Drive(yard())
    drive.core = DriveToGoal(PlannerSettings(max_curvature_1pm=0.14), drive.core._arcs.footprint, source)
    drive.core.set_goal(30.0, 0.0)

    assert drive.run(1.0, until_rest=False).reason is Reason.OLD_MAP
    assert is_standing(drive)
    source.stamp = math.inf
    assert drive.run(3.0, until_rest=False).status is Status.DRIVING
    assert drive.speed > 1.0
    source.stamp = drive.time - 1.0
    assert drive.run(1.0, until_rest=False).reason is Reason.OLD_MAP
    assert is_standing(drive)


def test_time_that_goes_back_resets() -> None:
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
    positions = random.uniform([-25.0, -25.0], [25.0, 25.0], (20, 2))
    posts = [post(float(x), float(y), 0.5) for x, y in positions if math.hypot(x - 1.5, y) > 5.0]
    drive = Drive(yard(*posts), PlannerSettings(max_curvature_1pm=0.14, planner=planner, boxed_in_s=15.0))
    drive.core.set_goal(*random.uniform(-25.0, 25.0, 2).tolist())

    drive.run(40.0)

    assert drive.least_distance > 0.0
    assert drive.top_speed <= 5.0
