"""Targets of scenarios: their pose over time, and the ground under them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensors.lidar.moving import BoxShape, CylinderShape, MovingTarget, Waypoint, level_ground
from sensors.lidar.targets import Target
from terrain.obstacles import Box, Cylinder

CAR = BoxShape(length_m=4.5, width_m=1.8, height_m=1.5)
WALKER = CylinderShape(radius_m=0.3, height_m=1.8)
CORNER = (Waypoint(x_m=10.0, y_m=0.0), Waypoint(x_m=10.0, y_m=20.0))


def at(time_s: float, **values: Any) -> Target:
    return MovingTarget(**({"box": CAR} | values)).target(time_s, level_ground)


def position(target: Target) -> tuple[float, float]:
    return target.shape.x, target.shape.y


def test_it_moves_along_its_heading_and_faces_it() -> None:
    target = at(3.0, x_m=5.0, y_m=1.0, heading_deg=90.0, speed_mps=2.0)

    assert position(target) == pytest.approx((5.0, 7.0))
    assert target.velocity == pytest.approx((0.0, 2.0, 0.0))
    assert isinstance(target.shape, Box)
    assert target.shape.yaw == pytest.approx(math.pi / 2.0)
    assert (target.shape.length, target.shape.width, target.shape.height) == (4.5, 1.8, 1.5)


def test_it_rests_until_its_start() -> None:
    before, after = (at(time, heading_deg=0.0, speed_mps=2.0, start_s=5.0) for time in (4.9, 6.0))

    assert (position(before), before.velocity) == ((0.0, 0.0), (0.0, 0.0, 0.0))
    assert position(after) == pytest.approx((2.0, 0.0))


@pytest.mark.parametrize(
    ("time", "where", "velocity"),
    [
        (1.0, (5.0, 0.0), (5.0, 0.0)),
        (2.0, (10.0, 0.0), (5.0, 0.0)),  # at a corner it still has its old direction
        (3.0, (10.0, 5.0), (0.0, 5.0)),
        (6.0, (10.0, 20.0), (0.0, 5.0)),
        (6.01, (10.0, 20.0), (0.0, 0.0)),
        (1000.0, (10.0, 20.0), (0.0, 0.0)),
    ],
)
def test_it_follows_its_waypoints_and_stops_at_the_last(
    time: float, where: tuple[float, float], velocity: tuple[float, float]
) -> None:
    target = at(time, speed_mps=5.0, waypoints=CORNER)

    assert position(target) == pytest.approx(where)
    assert target.velocity[:2] == pytest.approx(velocity)


def test_a_loop_returns_to_the_start_and_repeats() -> None:
    length = 10.0 + 20.0 + math.hypot(10.0, 20.0)
    once, again = (at(time, speed_mps=1.0, waypoints=CORNER, loop=True) for time in (12.0, 12.0 + 3.0 * length))
    home = at(length - 1e-9, speed_mps=1.0, waypoints=CORNER, loop=True)

    assert position(once) == pytest.approx((10.0, 2.0))
    assert position(again) == pytest.approx((10.0, 2.0))
    assert position(home) == pytest.approx((0.0, 0.0), abs=1e-6)


@settings(derandomize=True, deadline=None)
@given(time=st.floats(0.0, 1e4), step=st.floats(1e-4, 1.0), loop=st.booleans())
def test_it_never_jumps(time: float, step: float, loop: bool) -> None:
    here, there = (at(moment, speed_mps=5.0, waypoints=CORNER, loop=loop) for moment in (time, time + step))

    assert math.dist(position(here), position(there)) <= 5.0 * step + 1e-6


def test_it_stands_on_the_ground_or_above_it() -> None:
    walker = MovingTarget(cylinder=WALKER, x_m=10.0, lift_m=0.5)

    target = walker.target(0.0, lambda x, y: 0.1 * x + y)

    assert isinstance(target.shape, Cylinder)
    assert target.shape.base == pytest.approx(1.5)


@pytest.mark.parametrize("shapes", [{}, {"box": CAR, "cylinder": WALKER}])
def test_it_has_one_shape(shapes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must have exactly one of box, cylinder"):
        MovingTarget(**shapes)
