"""Spatial vectors and inertias as 6-vectors and 6x6 matrices, (angular, linear) as in Jain.

Every quantity is taken about one point, the origin of the root body's frame, and in that frame's axes: then transport
between bodies is the identity. A spatial velocity is (angular velocity, velocity of the body's point that is now at the
origin); a spatial force is (moment about the origin, force).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Triple: TypeAlias = Array | tuple[float, float, float]


def skew(vector: Triple) -> Array:
    """Matrix of the cross product: skew(a) @ b = a x b."""
    x, y, z = np.asarray(vector, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation(axis: Triple, angle: float) -> Array:
    """Rotation matrix about a unit axis by an angle [rad]."""
    k = skew(axis)
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k))


def rotation_axis(direction: Triple, point: Triple) -> Array:
    """Spatial velocity of a unit rotation about a line through a point."""
    return np.concatenate([direction, np.cross(point, direction)])


def slide_axis(direction: Triple) -> Array:
    """Spatial velocity of a unit translation along a line."""
    return np.concatenate([np.zeros(3), direction])


def inertia_matrix(mass: float, centre: Triple, inertia: Array) -> Array:
    """Spatial inertia about the origin of a body with the given centre of mass [m] and inertia about it [kg m^2]."""
    c = skew(centre)
    return np.block([[inertia - mass * c @ c, mass * c], [-mass * c, mass * np.eye(3)]])


def motion_cross(velocity: Array, motion: Array) -> Array:
    """Rate of change of a motion vector (velocity, axis) that is carried along with a body's spatial velocity."""
    w, v = velocity[:3], velocity[3:]
    return np.concatenate([np.cross(w, motion[:3]), np.cross(v, motion[:3]) + np.cross(w, motion[3:])])


def force_cross(velocity: Array, force: Array) -> Array:
    """Rate of change of a force vector (force, momentum) that is carried along with a body's spatial velocity."""
    w, v = velocity[:3], velocity[3:]
    return np.concatenate([np.cross(w, force[:3]) + np.cross(v, force[3:]), np.cross(w, force[3:])])


def point_velocity(velocity: Array, point: Triple) -> Array:
    """Velocity [m/s] of the body's point at the given position."""
    return velocity[3:] + np.cross(velocity[:3], point)


def force_at(point: Triple, force: Triple) -> Array:
    """Spatial force of a force [N] that acts at a point."""
    return np.concatenate([np.cross(point, force), force])
