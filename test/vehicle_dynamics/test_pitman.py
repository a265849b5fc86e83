"""Pitman steering: the four-bar closes, its derivatives are correct, the wheels turn as in an independent engine."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from vehicle_dynamics.embedded_vehicle import vehicle_bodies
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.pitman import PitmanGeometry, PitmanPoints, link_motion, link_point
from vehicle_dynamics.suspension.reach import ReachError
from vehicle_dynamics.suspension.steering import pitman_angle, road_wheel_angles, steering_bodies
from vehicle_dynamics.suspension.wishbone import Hardpoints, WishboneGeometry, spindle_vector, wishbone_pose

ANGLES = np.radians(np.linspace(-30, 30, 13))
TIE_ROD_END = (1.438648, 0.448437, 0.054229)


@pytest.fixture
def skew() -> PitmanGeometry:
    return PitmanPoints(
        pitman_pivot=(0.0, 0.25, 0.0),
        pitman_joint=(0.13, 0.22, 0.0),
        idler_joint=(0.15, -0.30, 0.0),
        idler_pivot=(0.0, -0.33, 0.0),
        axis=(0.0, 0.0, 2.0),
    ).geometry()


def test_link_keeps_its_length_and_starts_at_design(skew: PitmanGeometry, steering: PitmanGeometry) -> None:
    for geometry in (skew, steering):
        length = math.dist(geometry.idler_joint, geometry.pitman_joint)
        idler = math.dist(geometry.idler_joint, geometry.idler_pivot)
        for angle in ANGLES:
            motion = link_motion(geometry, angle)
            joint = link_point(geometry, motion, geometry.idler_joint)[0]
            assert motion.margin > 0.0
            assert abs(math.dist(joint, motion.pitman_joint) - length) < 1e-12
            assert abs(math.dist(joint, geometry.idler_pivot) - idler) < 1e-12
        assert_allclose(link_point(geometry, link_motion(geometry, 0.0), TIE_ROD_END)[0], TIE_ROD_END, atol=1e-14)


def test_parallelogram_only_shifts_its_link(steering: PitmanGeometry) -> None:
    for angle in ANGLES:
        motion = link_motion(steering, angle)
        assert (motion.cosine, motion.sine, motion.link_rate) == pytest.approx((1.0, 0.0, 0.0), abs=1e-12)


def test_derivatives_of_a_link_point_match_differences(skew: PitmanGeometry) -> None:
    point, step = (0.2, 0.4, 0.03), 5e-3
    for angle in ANGLES:
        positions = {k: link_point(skew, link_motion(skew, angle + k * step), point) for k in range(-3, 4)}
        here = positions[0]
        assert abs(link_motion(skew, angle).link_rate) > 1e-3
        for order in (0, 1):  # sixth-order differences of position and of rate
            sides = [np.subtract(positions[k][order], positions[-k][order]) for k in (1, 2, 3)]
            expected = (45.0 * sides[0] - 9.0 * sides[1] + sides[2]) / (60.0 * step)
            assert_allclose(here[order + 1], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def steer_angle(geometry: WishboneGeometry, theta: float, tie_inner: Any) -> float:
    """Road-wheel angle about the chassis's z axis, left positive."""
    axis = spindle_vector(geometry, wishbone_pose(geometry, theta, tie_inner), (0.0, 1.0, 0.0))
    return math.atan2(-axis[0], axis[1])


def test_wheels_turn_as_in_an_independent_engine(
    hmmwv: dict[str, Any], hardpoints: dict[str, Hardpoints], steering: PitmanGeometry
) -> None:
    # A double lane change of Chrono's HMMWV_Full: steering (1 is 30 degrees at the Pitman arm, which turns the other
    # way seen from the chassis), spring compressions and road-wheel angles. Its joints close to about 1e-4.
    rows = np.genfromtxt(Path(__file__).with_name("reference") / "lane_change_steer.csv", delimiter=",", names=True)
    full = math.radians(hmmwv["steering"]["max_pitman_angle_deg"])
    spring = hmmwv["front_suspension"]["spring"]
    points = hmmwv["front_suspension"]["hardpoints_left_m"]
    for side, mark, sign in (("front_left", "fl", 1.0), ("front_right", "fr", -1.0)):
        on_arm, on_chassis = (
            np.multiply(points[name], (1, sign, 1)) for name in ("spring_lower_arm", "spring_chassis")
        )
        geometry = replace(hardpoints[side], shock_lower_arm=tuple(on_arm)).geometry()
        for row in rows:
            length = spring["free_length_m"] - row[f"sd_{mark}"]

            def excess(theta: float, geometry: Any = geometry, length: float = length, top: Any = on_chassis) -> float:
                return math.dist(wishbone_pose(geometry, theta, geometry.tie_inner).shock_lower, top) - length

            theta = brentq(excess, -0.4, 0.4, xtol=1e-13)
            tie_inner = link_point(steering, link_motion(steering, -full * row["steering"]), geometry.tie_inner)[0]
            assert steer_angle(geometry, theta, tie_inner) == pytest.approx(row[f"steer_angle_{mark}"], abs=1e-4)


def test_full_steering_turns_both_wheels_far_and_the_inner_one_further(parameters: VehicleParameters) -> None:
    # 28.1 degrees for the inner one. The 30.23 of the facts is a constant of Chrono's interface, not a measurement.
    steering, front = steering_bodies(parameters), vehicle_bodies(parameters).corners[:2]
    lock = math.radians(parameters.steering.max_pitman_angle_deg)

    left, right = road_wheel_angles(steering, front, pitman_angle(1.0, lock))

    assert left > right > math.radians(20)
    assert left == pytest.approx(math.radians(28.1), abs=1e-3)
    there = road_wheel_angles(steering, front, pitman_angle(-1.0, lock))
    assert_allclose(there, [-right, -left], atol=1e-6)  # mirrored


def test_bad_steering_is_reported_with_its_limits(parameters: VehicleParameters) -> None:
    steering, front = steering_bodies(parameters), vehicle_bodies(parameters).corners[:2]

    with pytest.raises(ValueError, match=r"steering wheel: must be from -1 \(right\) to 1 \(left\), got 1.5"):
        pitman_angle(1.5, 0.5)
    with pytest.raises(ReachError, match=r"cannot be assembled at -0.6 rad; its reach is -0.4611 to 1.5000 rad"):
        road_wheel_angles(steering, front, 0.1, (0.0, -0.6))
    with pytest.raises(ReachError, match=r"a tie rod cannot hold its wheel with the Pitman arm at 1.4 rad"):
        road_wheel_angles(steering, front, 1.4)
