"""The papers' planar equations, and the spatial kinematics reduced to them."""

from __future__ import annotations

import cmath
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from planar_spindle import (
    SpindleLoop,
    rotation_about_upright,
    spindle_angles,
    spindle_rates,
)
from planar_wishbone import (
    FourBar,
    ShockTriangle,
    four_bar_angles,
    four_bar_rate_changes,
    four_bar_rates,
    shock_length_and_angle,
    shock_rates,
)

from vehicle_dynamics.suspension.wishbone import Hardpoints, wishbone_acceleration, wishbone_pose, wishbone_velocity

# A suspension in the y-z plane: A is the origin, the lower arm points to +y; G lies above A.
LOWER, UPPER, UPRIGHT, GROUND = 0.48, 0.30, 0.33, 0.24
BAR = FourBar(a=GROUND, b=LOWER, c=UPRIGHT, d=UPPER, branch=-1.0)
ANGLES = np.linspace(-0.25, 0.25, 11)


def planar_angle(theta: float) -> float:
    """The paper's theta: measured from the ground line, which points from G to A, that is downwards (-z)."""
    return math.pi / 2 + theta


def test_complex_loop_equation_is_satisfied() -> None:
    for theta in map(planar_angle, ANGLES):
        theta_3, theta_4 = four_bar_angles(BAR, theta)
        left = BAR.a + BAR.b * cmath.exp(1j * theta)
        right = BAR.c * cmath.exp(1j * theta_3) + BAR.d * cmath.exp(1j * theta_4)
        assert abs(left - right) < 1e-14  # Eq. 15


def test_rates_are_derivatives_of_angles() -> None:
    step = 1e-5
    for theta in map(planar_angle, ANGLES):
        ahead, behind = np.array(four_bar_angles(BAR, theta + step)), np.array(four_bar_angles(BAR, theta - step))
        assert_allclose(four_bar_rates(BAR, theta), (ahead - behind) / (2 * step), rtol=1e-8)
        ahead, behind = np.array(four_bar_rates(BAR, theta + step)), np.array(four_bar_rates(BAR, theta - step))
        assert_allclose(four_bar_rate_changes(BAR, theta), (ahead - behind) / (2 * step), rtol=1e-7, atol=1e-9)


def test_shock_rate_matches_differences_and_not_the_misprint() -> None:
    shock, step = ShockTriangle(x=0.4, y=0.25, beta=1.2), 1e-5
    for eta in ANGLES:
        ahead = np.array(shock_length_and_angle(shock, eta + step))
        behind = np.array(shock_length_and_angle(shock, eta - step))
        rates = shock_rates(shock, eta)
        assert_allclose(rates, (ahead - behind) / (2 * step), rtol=1e-8)
        z, _ = shock_length_and_angle(shock, eta)
        assert abs(rates[0] / z - rates[0]) > 0.01  # what Eq. 30 as printed would give


def planar_suspension() -> Hardpoints:
    """Both arms' axes along x: the paper's mechanism, with a tie rod beside it."""
    theta_4 = four_bar_angles(BAR, planar_angle(0.0))[1]
    # In the paper's plane the real axis points down (-z), the imaginary one outwards (+y); G is the origin of Eq. 15.
    upper = UPPER * cmath.exp(1j * theta_4)
    ball = (0.0, upper.imag, GROUND - upper.real)
    return Hardpoints(
        lower_arm_pivot_front=(0.2, 0.0, 0.0),
        lower_arm_pivot_rear=(-0.2, 0.0, 0.0),
        lower_ball_joint=(0.0, LOWER, 0.0),
        upper_arm_pivot_front=(0.1, 0.0, GROUND),
        upper_arm_pivot_rear=(-0.1, 0.0, GROUND),
        upper_ball_joint=ball,
        tie_rod_inner=(-0.15, 0.1, 0.1),
        tie_rod_outer=(-0.15, 0.45, 0.1),
        shock_chassis=(0.0, 0.15, 0.4),
        shock_lower_arm=(0.0, 0.25, 0.0),
        wheel_centre=(0.0, 0.6, 0.1),
    )


def test_spatial_kinematics_reduce_to_the_papers() -> None:
    geometry = planar_suspension().geometry()
    theta_4_design = four_bar_angles(BAR, planar_angle(0.0))[1]
    at_rest = (0.0, 0.0, 0.0)
    for theta in ANGLES:
        theta_3, theta_4 = four_bar_angles(BAR, planar_angle(theta))
        _, q = four_bar_rates(BAR, planar_angle(theta))
        _, q_change = four_bar_rate_changes(BAR, planar_angle(theta))
        pose = wishbone_pose(geometry, theta, geometry.tie_inner)
        velocity = wishbone_velocity(geometry, pose, geometry.tie_inner, 1.0, at_rest)
        bias = wishbone_acceleration(geometry, pose, velocity, geometry.tie_inner, 1.0, 0.0, at_rest, at_rest)

        assert math.atan2(pose.sin_phi, pose.cos_phi) == pytest.approx(theta_4 - theta_4_design, abs=1e-13)
        upright = UPRIGHT * cmath.exp(1j * theta_3)  # points from F to D in Eq. 15
        assert_allclose(np.subtract(pose.lower_ball, pose.upper_ball), (0.0, upright.imag, -upright.real), atol=1e-13)
        assert velocity.phi == pytest.approx(q, rel=1e-12)
        assert bias.phi == pytest.approx(q_change, rel=1e-10)


def test_planar_shock_is_the_spatial_one() -> None:
    points = planar_suspension()
    geometry = points.geometry()
    x, beta = math.hypot(*points.shock_chassis[1:]), math.atan2(points.shock_chassis[2], points.shock_chassis[1])
    shock = ShockTriangle(x=x, y=points.shock_lower_arm[1], beta=beta)
    for theta in ANGLES:
        pose = wishbone_pose(geometry, theta, geometry.tie_inner)
        length = math.dist(pose.shock_lower, points.shock_chassis)
        assert length == pytest.approx(shock_length_and_angle(shock, theta)[0], abs=1e-14)


def test_papers_spindle_loop_is_the_spatial_one() -> None:
    points = replace(planar_suspension(), tie_rod_outer=(-0.15, 0.32, 0.0), tie_rod_inner=(-0.15, 0.3, 0.35))
    geometry = points.geometry()
    x = np.array([1.0, 0.0, 0.0])

    def arm_axes(upright: tuple[float, float, float]) -> np.ndarray:
        z = np.array(upright)
        return np.array([x, np.cross(z, x), z])  # rows: from chassis axes to the vertical arm's

    design = arm_axes(wishbone_pose(geometry, 0.0, geometry.tie_inner).upright)
    loop_at = {
        branch: SpindleLoop(
            design @ np.subtract(points.tie_rod_outer, points.lower_ball_joint), geometry.tie_length, branch
        )
        for branch in (1.0, -1.0)
    }
    el = design @ np.subtract(points.tie_rod_inner, points.lower_ball_joint)
    loop = min(loop_at.values(), key=lambda item: abs(spindle_angles(item, el).alpha))  # alpha is 0 at design
    assert spindle_angles(loop, el).alpha == pytest.approx(0.0, abs=1e-13)
    for theta in np.linspace(-0.2, 0.2, 9):  # within the tie rod's reach
        pose = wishbone_pose(geometry, theta, geometry.tie_inner)
        velocity = wishbone_velocity(geometry, pose, geometry.tie_inner, 1.0, (0.0, 0.0, 0.0))
        axes = arm_axes(pose.upright)
        el = axes @ np.subtract(points.tie_rod_inner, pose.lower_ball)

        angles = spindle_angles(loop, el)

        # The spindle's arm DK, rotated by alpha about the upright, ends where the spatial kinematics put K.
        outer = pose.lower_ball + axes.T @ rotation_about_upright(angles.alpha) @ loop.ek
        assert_allclose(outer, pose.tie_outer, atol=1e-13)
        # The vertical arm rotates about x only: along the upright the spindle's angular velocity is alpha's rate.
        arm_angular_velocity = np.cross(pose.upright, velocity.upright)
        carried = axes @ (
            velocity.lower_ball + np.cross(arm_angular_velocity, np.subtract(points.tie_rod_inner, pose.lower_ball))
        )
        rates = spindle_rates(loop, el, angles, carried)
        assert rates.alpha == pytest.approx(np.dot(velocity.spindle, pose.upright), rel=1e-10, abs=1e-12)
        step = 1e-5
        ahead, behind = (wishbone_pose(geometry, theta + sign * step, geometry.tie_inner) for sign in (1.0, -1.0))
        there, here = (
            spindle_angles(loop, arm_axes(item.upright) @ np.subtract(points.tie_rod_inner, item.lower_ball))
            for item in (ahead, behind)
        )
        assert_allclose(rates, np.subtract(there, here) / (2.0 * step), atol=1e-8)
