"""Interpolation of the vehicle's pose between known poses."""

from __future__ import annotations

import math

import pytest

from planner.pose import Pose
from planner.pose_history import PoseHistory

TICK = 10_000_000


def history(count: int = 100) -> PoseHistory:
    poses = PoseHistory()
    for tick in range(count):
        poses.record(tick * TICK, Pose(0.05 * tick, 1.0, heading=math.remainder(3.1 + 0.01 * tick, 2.0 * math.pi)))
    return poses


def test_pose_is_interpolated_and_headings_take_the_short_way() -> None:
    pose = history().at(5 * TICK + TICK // 2)
    assert (pose.x, pose.y) == pytest.approx((0.275, 1.0))
    assert math.remainder(pose.heading - 3.155, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-9)


def test_unknown_times_are_rejected_and_old_ones_dropped() -> None:
    poses = history(500)
    with pytest.raises(ValueError, match="outside the known poses"):
        poses.at(0)
    with pytest.raises(ValueError, match="outside the known poses"):
        poses.at(600 * TICK)
    with pytest.raises(ValueError, match="outside the known poses"):
        PoseHistory().at(0)
    assert poses.at(500 * TICK) == poses.at(499 * TICK)  # shortly beyond the newest pose


def test_later_pose_may_still_arrive() -> None:
    poses = history(10)
    assert poses.is_before(20 * TICK)
    assert not poses.is_before(9 * TICK)
    assert PoseHistory().is_before(0)
