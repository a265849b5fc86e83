"""Heights from motion: follow a hill, and ignore GPS heights."""

from __future__ import annotations

import math

import pytest

from planner.motion_height import MotionHeight
from vehicle_dynamics.attitude import quaternion_from_rpy
from vehicle_dynamics.base_motion import BaseMotion

SLOPE_RAD = 0.2


def motion(z: float, *, pitch: float = 0.0, roll: float = 0.0, yaw: float = 0.0, v: tuple[float, ...]) -> BaseMotion:
    still = (0.0, 0.0, 0.0)
    ahead, left, up = v
    return BaseMotion((0.0, 0.0, z), quaternion_from_rpy(roll, pitch, yaw), (ahead, left, up), still, still, still)


@pytest.mark.parametrize("yaw", [0.0, 2.0])
def test_height_gained_uphill_follows_the_sine_of_the_slope_whatever_the_reported_height(yaw: float) -> None:
    height = MotionHeight()
    for k in range(101):
        claimed = 3.0 + 5.0 * math.sin(k)
        found = height.after(k * 10_000_000, motion(claimed, pitch=-SLOPE_RAD, yaw=yaw, v=(4.0, 0.0, 0.0)))
    assert found == pytest.approx(3.0 + 4.0 * math.sin(SLOPE_RAD), abs=1e-9)


def test_lateral_slide_and_vertical_motion_count() -> None:
    height = MotionHeight()
    height.after(0, motion(0.0, roll=SLOPE_RAD, v=(0.0, 0.0, 0.0)))
    assert height.after(10**9, motion(0.0, roll=SLOPE_RAD, v=(0.0, 2.0, 0.0))) == pytest.approx(math.sin(SLOPE_RAD))
    assert height.after(2 * 10**9, motion(0.0, v=(0.0, 0.0, -2.0 * math.sin(SLOPE_RAD)))) == pytest.approx(
        math.sin(SLOPE_RAD)
    )


def test_long_silence_is_not_a_long_climb_and_time_that_goes_back_adds_none() -> None:
    height = MotionHeight()
    climbing = motion(0.0, v=(0.0, 0.0, 1.0))
    height.after(0, climbing)
    assert height.after(60 * 10**9, climbing) == pytest.approx(1.0)
    assert height.after(0, climbing) == pytest.approx(1.0)


def test_after_a_reset_it_starts_at_the_reported_height() -> None:
    height = MotionHeight()
    height.after(0, motion(1.0, v=(0.0, 0.0, 1.0)))
    height.clear()
    assert height.after(10**9, motion(7.0, v=(0.0, 0.0, 1.0))) == 7.0
