"""Motion ratios of a double wishbone at the design position, by plain linear algebra."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from vehicle_dynamics.suspension.wishbone import Hardpoints

SMALLEST = 1e-6  # [m/rad]: ratios below are those of a mechanism that cannot work, and would divide by zero


def arm_motion_ratios(
    points: Hardpoints, spring_chassis: ArrayLike, spring_lower_arm: ArrayLike
) -> tuple[float, float]:
    """Rise of the wheel's centre and change of the spring's length per angle of the lower arm [m/rad], both above 0.

    The upright's velocity is that of the lower ball joint and an angular velocity, such that the upper ball joint moves
    about the upper arm's axis and the tie rod keeps its length.
    """
    lower, upper, wheel = map(np.array, (points.lower_ball_joint, points.upper_ball_joint, points.wheel_centre))
    outer, inner = map(np.array, (points.tie_rod_outer, points.tie_rod_inner))
    lower_velocity = _about_axis(points.lower_arm_pivot_rear, points.lower_arm_pivot_front, lower)
    upper_velocity = _about_axis(points.upper_arm_pivot_rear, points.upper_arm_pivot_front, upper)
    # Unknowns: angular velocity of the upright, rate of the upper arm.
    rod = outer - inner
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[:3, 3] = _cross_matrix(upper - lower), -upper_velocity
    matrix[3, :3] = rod @ _cross_matrix(outer - lower)
    right = -np.append(lower_velocity, rod @ lower_velocity)
    angular_velocity = np.linalg.lstsq(matrix, right, rcond=None)[0][:3]
    rise = (lower_velocity + np.cross(angular_velocity, wheel - lower))[2]
    spring = np.subtract(spring_lower_arm, spring_chassis)
    end_velocity = _about_axis(points.lower_arm_pivot_rear, points.lower_arm_pivot_front, spring_lower_arm)
    change = spring @ end_velocity / max(float(np.linalg.norm(spring)), SMALLEST)
    return max(abs(float(rise)), SMALLEST), max(abs(float(change)), SMALLEST)


def _about_axis(rear: ArrayLike, front: ArrayLike, point: ArrayLike) -> np.ndarray:
    """Velocity of a point per angular velocity about the line through two pivots."""
    axis = np.subtract(front, rear)
    length = max(float(np.linalg.norm(axis)), SMALLEST)
    return np.asarray(np.cross(axis / length, np.subtract(point, rear)))


def _cross_matrix(arm: np.ndarray) -> np.ndarray:
    """Matrix that maps an angular velocity to the velocity at the end of an arm."""
    return np.asarray(np.cross(np.eye(3), arm).T)
