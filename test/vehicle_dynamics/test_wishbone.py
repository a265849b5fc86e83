"""Suspension kinematics: loops close, derivatives are derivatives, an independent engine agrees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from proving_ground.settings import SettingsError
from vehicle_dynamics.suspension.wishbone import (
    Hardpoints,
    WishboneGeometry,
    WishbonePose,
    spindle_vector,
    wheel_centre,
    wishbone_acceleration,
    wishbone_pose,
    wishbone_velocity,
)

TRAVEL = np.linspace(-0.45, 0.75, 61)  # from well beyond the rebound stops to well beyond the bump stops
LOCK = (-0.0165, 0.065, 0.0055)  # how far the steering moves a tie rod's end [m]
STEERED = [np.array(offset) for offset in ((0.0, 0.0, 0.0), LOCK, (LOCK[0], -LOCK[1], LOCK[2]))]


def distance(a: Any, b: Any) -> float:
    return float(np.linalg.norm(np.subtract(a, b)))


def derivative(function: Callable[[float], Any], at: float, step: float = 2e-3) -> np.ndarray:
    """Central difference of sixth order: error about step^6, rounding about 1e-16 / step."""
    weights = ((1, 45.0), (2, -9.0), (3, 1.0))
    terms = [w * (np.asarray(function(at + k * step)) - np.asarray(function(at - k * step))) for k, w in weights]
    return np.sum(terms, axis=0) / (60.0 * step)


@pytest.fixture(params=["front_left", "front_right", "rear_left", "rear_right"])
def geometry(request: pytest.FixtureRequest, hardpoints: dict[str, Hardpoints]) -> WishboneGeometry:
    return hardpoints[request.param].geometry()


@pytest.mark.parametrize("steer", STEERED, ids=["straight", "left", "right"])
def test_every_loop_is_closed_over_the_whole_travel(geometry: WishboneGeometry, steer: np.ndarray) -> None:
    tie_inner = tuple(np.add(geometry.tie_inner, steer))
    for theta in TRAVEL:
        pose = wishbone_pose(geometry, theta, tie_inner)
        assert pose.upper_margin > 0.0
        assert pose.tie_margin > 0.0
        # lengths that the loops must keep, and K's position relative to D and F on the rigid spindle
        assert abs(distance(pose.upper_ball, pose.lower_ball) - geometry.upright_length) < 1e-12
        assert abs(distance(pose.tie_outer, tie_inner) - geometry.tie_length) < 1e-12
        for ball, now in ((geometry.lower_ball, pose.lower_ball), (geometry.upper_ball, pose.upper_ball)):
            assert abs(distance(pose.tie_outer, now) - distance(geometry.tie_outer, ball)) < 1e-12
        assert (
            abs(distance(pose.upper_ball, geometry.upper_pivot) - distance(geometry.upper_ball, geometry.upper_pivot))
            < 1e-12
        )


@pytest.mark.parametrize("steer", STEERED, ids=["straight", "left", "right"])
def test_every_loop_stays_closed_at_speed(geometry: WishboneGeometry, steer: np.ndarray) -> None:
    tie_inner, tie_rate = tuple(np.add(geometry.tie_inner, steer)), (0.02, -0.3, 0.01)
    for theta in TRAVEL:
        pose = wishbone_pose(geometry, theta, tie_inner)
        velocity = wishbone_velocity(geometry, pose, tie_inner, 1.0, tie_rate)
        rod, upright = np.subtract(pose.tie_outer, tie_inner), np.subtract(pose.upper_ball, pose.lower_ball)

        assert abs(np.dot(rod, np.subtract(velocity.tie_outer, tie_rate))) / geometry.tie_length < 1e-12  # [m/s]
        assert abs(np.dot(upright, np.subtract(velocity.upper_ball, velocity.lower_ball))) < 1e-12
        carried = np.cross(velocity.spindle, np.subtract(pose.tie_outer, pose.lower_ball))
        assert_allclose(velocity.tie_outer, velocity.lower_ball + carried, atol=1e-12)


def test_design_position_is_angle_zero(geometry: WishboneGeometry) -> None:
    pose = wishbone_pose(geometry, 0.0, geometry.tie_inner)

    assert_allclose(pose.upper_ball, geometry.upper_ball, atol=1e-14)
    assert_allclose(pose.tie_outer, geometry.tie_outer, atol=1e-14)
    assert_allclose(wheel_centre(geometry, pose), geometry.wheel_centre, atol=1e-14)


def test_positive_angle_raises_the_wheel_on_both_sides(geometry: WishboneGeometry) -> None:
    heights = [wheel_centre(geometry, wishbone_pose(geometry, theta, geometry.tie_inner))[2] for theta in TRAVEL]

    assert np.all(np.diff(heights) > 0.0)


def motion(geometry: WishboneGeometry) -> tuple[Callable[[float], float], Callable[[float], tuple[float, ...]]]:
    """A fast motion: theta and the tie-rod end as functions of time."""

    def theta(t: float) -> float:
        return 0.15 * math.sin(1.7 * t) - 0.05

    def tie_inner(t: float) -> tuple[float, ...]:
        sway = 0.05 * math.sin(1.1 * t + 0.4)
        return tuple(np.add(geometry.tie_inner, (0.3 * sway * sway, sway, 0.1 * sway)))

    return theta, tie_inner


def pose_at(geometry: WishboneGeometry, t: float) -> WishbonePose:
    theta, tie_inner = motion(geometry)
    return wishbone_pose(geometry, theta(t), tie_inner(t))


@pytest.mark.parametrize("t", [0.0, 0.7, 1.9, 3.1])
def test_velocities_and_accelerations_are_the_derivatives_of_positions(geometry: WishboneGeometry, t: float) -> None:
    _, tie_inner = motion(geometry)
    theta_rate, theta_acc = 0.15 * 1.7 * math.cos(1.7 * t), -0.15 * 1.7**2 * math.sin(1.7 * t)
    tie_rate = derivative(tie_inner, t)
    tie_acc = derivative(lambda s: derivative(tie_inner, s), t)

    def velocity_at(s: float) -> Any:
        rate = 0.15 * 1.7 * math.cos(1.7 * s)
        return wishbone_velocity(geometry, pose_at(geometry, s), tie_inner(s), rate, tuple(derivative(tie_inner, s)))

    pose, velocity = pose_at(geometry, t), velocity_at(t)
    acceleration = wishbone_acceleration(
        geometry, pose, velocity, tie_inner(t), theta_rate, theta_acc, tuple(tie_rate), tuple(tie_acc)
    )
    for name in ("lower_ball", "upper_ball", "tie_outer", "shock_lower", "upright"):
        expected = derivative(lambda s, name=name: getattr(pose_at(geometry, s), name), t)
        assert_allclose(getattr(velocity, name), expected, rtol=1e-8, atol=1e-9, err_msg=name)
        expected = derivative(lambda s, name=name: getattr(velocity_at(s), name), t)
        assert_allclose(getattr(acceleration, name), expected, rtol=1e-8, atol=1e-8, err_msg=name)
    for name in ("phi", "spin"):
        expected = derivative(lambda s, name=name: getattr(velocity_at(s), name), t)
        assert_allclose(getattr(acceleration, name), expected, rtol=1e-8, atol=1e-8, err_msg=name)
    assert_allclose(acceleration.spindle, derivative(lambda s: velocity_at(s).spindle, t), rtol=1e-8, atol=1e-8)


def test_spindle_moves_as_one_rigid_body(geometry: WishboneGeometry) -> None:
    _, tie_inner = motion(geometry)
    t = 0.9
    rate = 0.15 * 1.7 * math.cos(1.7 * t)
    velocity = wishbone_velocity(geometry, pose_at(geometry, t), tie_inner(t), rate, tuple(derivative(tie_inner, t)))
    design = np.array([0.3, -0.2, 0.9])

    rotated = derivative(lambda s: spindle_vector(geometry, pose_at(geometry, s), tuple(design)), t)

    assert_allclose(
        np.cross(velocity.spindle, spindle_vector(geometry, pose_at(geometry, t), tuple(design))), rotated, atol=1e-9
    )
    assert distance(spindle_vector(geometry, pose_at(geometry, t), tuple(design)), (0, 0, 0)) == pytest.approx(
        np.linalg.norm(design), abs=1e-14
    )


def test_left_and_right_are_mirror_images(hardpoints: dict[str, Hardpoints]) -> None:
    for axle in ("front", "rear"):
        left, right = hardpoints[f"{axle}_left"].geometry(), hardpoints[f"{axle}_right"].geometry()
        for theta in TRAVEL:
            here = wheel_centre(left, wishbone_pose(left, theta, left.tie_inner))
            there = wheel_centre(right, wishbone_pose(right, theta, right.tie_inner))
            assert_allclose(there, np.multiply(here, (1, -1, 1)), atol=1e-13)


# Chrono's HMMWV_Full after a drop and 5 s of rest (facts, measured_in_chrono.settled_after_drop): spring length, wheel
# centre in the chassis frame and steer angle of the left wheels. Printed to 1 um and 1e-6 rad; the steer angle is taken
# there against the world, in which the chassis pitches by 2.5 mrad, hence the tolerance for it.
SETTLED = {
    "front": (0.294229, (1.656141, 0.874836, -0.128353), -0.019243),
    "rear": (0.356058, (-1.654023, 0.874503, -0.136582), 0.007148),
}


@pytest.mark.parametrize("axle", SETTLED)
def test_wheel_is_where_an_independent_engine_puts_it(
    axle: str, hmmwv: dict[str, Any], hardpoints: dict[str, Hardpoints]
) -> None:
    spring_length, centre, steer = SETTLED[axle]
    points = hmmwv[f"{axle}_suspension"]["hardpoints_left_m"]
    spring_on_arm = Hardpoints(
        **{
            **hardpoints[f"{axle}_left"].__dict__,
            "shock_lower_arm": tuple(points["spring_lower_arm"]),
        }
    ).geometry()

    def excess(theta: float) -> float:
        pose = wishbone_pose(spring_on_arm, theta, spring_on_arm.tie_inner)
        return distance(pose.shock_lower, points["spring_chassis"]) - spring_length

    pose = wishbone_pose(spring_on_arm, brentq(excess, -0.4, 0.4, xtol=1e-14), spring_on_arm.tie_inner)
    spin_axis = spindle_vector(spring_on_arm, pose, (0.0, 1.0, 0.0))

    assert_allclose(wheel_centre(spring_on_arm, pose), centre, atol=2e-6)
    assert math.atan2(-spin_axis[0], spin_axis[1]) == pytest.approx(steer, abs=5e-5)


def test_unreachable_angle_has_a_negative_margin(geometry: WishboneGeometry) -> None:
    assert wishbone_pose(geometry, -0.6, geometry.tie_inner).upper_margin < 0.0


def test_coinciding_points_are_rejected(hardpoints: dict[str, Hardpoints]) -> None:
    points = hardpoints["front_left"].__dict__
    with pytest.raises(SettingsError, match="coincide"):
        Hardpoints(**{**points, "upper_arm_pivot_rear": points["upper_arm_pivot_front"]}).geometry()
