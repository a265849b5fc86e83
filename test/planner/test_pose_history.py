"""Where the vehicle was, between the poses that are known."""

from __future__ import annotations

import math

import pytest

from planner.pose import Pose
from planner.pose_history import PoseHistory

TICK = 10_000_000


def history(count: int = 100) -> PoseHistory:
    poses = PoseHistory()
    for tick in range(count):
        poses.note(tick * TICK, Pose(0.05 * tick, 1.0, heading=math.remainder(3.1 + 0.01 * tick, 2.0 * math.pi)))
    return poses


def test_pose_between_two_is_between_them_and_headings_turn_the_short_way() -> None:
    pose = history().at(5 * TICK + TICK // 2)
    assert (pose.x, pose.y) == pytest.approx((0.275, 1.0))
    assert math.remainder(pose.heading - 3.155, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_times_that_are_not_known_are_rejected_and_old_ones_forgotten() -> None:
    poses = history(500)
    with pytest.raises(ValueError, match="not one of the poses"):
        poses.at(0)
    with pytest.raises(ValueError, match="not one of the poses"):
        poses.at(600 * TICK)
    with pytest.raises(ValueError, match="not one of the poses"):
        PoseHistory().at(0)
    assert poses.at(500 * TICK) == poses.at(499 * TICK)  # a moment later it is there still


def test_later_pose_may_still_come() -> None:
    poses = history(10)
    assert poses.is_before(20 * TICK)
    assert not poses.is_before(9 * TICK)
    assert PoseHistory().is_before(0)
