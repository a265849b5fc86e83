"""A linear tyre on flat ground with a bump across the road: a minimal model to test the integrators with.

Vertical spring and damper; longitudinal and lateral force in proportion to slip and load. World axes, z up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import Vector3, add, combine, cross, dot, scale, unit

UP: Vector3 = (0.0, 0.0, 1.0)
SLOW = 1.0  # [m/s]: lower bound of the speed that slip is relative to


class LinearTyre(NamedTuple):
    """Parameters close to those of the HMMWV's 37x12.5 tyre at its static load."""

    radius: float = 0.4699  # unloaded [m]
    stiffness: float = 411000.0  # vertical [N/m]: 15.8 mm at 6495 N, as the reference vehicle settles
    damping: float = 3900.0  # vertical [N s/m]
    slip_gain: float = 12.0  # longitudinal force per load and slip [-]
    side_gain: float = 7.0  # lateral force per load and slip angle [1/rad]


class Bump(NamedTuple):
    """A cosine bump across the road."""

    start: float = 0.0  # x [m]
    length: float = 1.0  # [m]
    height: float = 0.0  # [m]; 0 for flat ground


class TyreForce(NamedTuple):
    """Force on the wheel at its centre, world axes."""

    moment: Vector3  # [N m]
    force: Vector3  # [N]


@inlined_part
def ground_height(bump: Bump, x: float) -> float:
    """Height of the ground [m] at x [m]."""
    position = (x - bump.start) / bump.length
    if 0.0 < position < 1.0:
        return 0.5 * bump.height * (1.0 - math.cos(2.0 * math.pi * position))
    return 0.0


@inlined_part
def linear_tyre_force(
    tyre: LinearTyre, bump: Bump, centre: Vector3, axis: Vector3, velocity: Vector3, spin: float
) -> TyreForce:
    """Force of the ground on a wheel.

    centre [m], spin axis (unit, to the left) and velocity of the centre [m/s] in world axes; spin [rad/s] is the
    wheel's whole angular velocity along its axis.
    """
    distance = centre[2] - ground_height(bump, centre[0])
    load = tyre.stiffness * (tyre.radius - distance) - tyre.damping * velocity[2]
    if distance >= tyre.radius or load <= 0.0:
        return TyreForce((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    ahead = unit(cross(axis, UP))
    left = cross(UP, ahead)
    along, across = dot(velocity, ahead), dot(velocity, left)
    reference = max(abs(along), SLOW)
    drive = tyre.slip_gain * load * (spin * distance - along) / reference
    side = -tyre.side_gain * load * across / reference
    force = add(combine(drive, ahead, side, left), scale(load, UP))
    return TyreForce(cross(scale(-distance, UP), force), force)
