"""All-wheel drive through three open differentials: one drive shaft, four wheels, and the inertia between them.

Open differentials split torque evenly whatever the speeds: a shaft's speed is the mean of those it drives. The shafts'
inertia couples the wheels' accelerations, so the torque that reaches a wheel depends on all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.jit import inlined
from vehicle_dynamics.drive.drive_parameters import Driveline


class DrivelineConstants(NamedTuple):
    """Driveline parameters of the kernel."""

    reduction: float  # wheel speed over propeller shaft speed
    own: float  # inertia that an axle's summed spin acceleration adds to each of its wheels [kg m^2]
    other: float  # and to each wheel of the other axle


class WheelTorques(NamedTuple):
    """Torque on each wheel, front left, front right, rear left, rear right [N m]."""

    front_left: float
    front_right: float
    rear_left: float
    rear_right: float


@inlined
def shaft_speed(driveline: DrivelineConstants, spin_rates: tuple[float, float, float, float]) -> float:
    """Speed of the drive shaft [rad/s] for given wheel speeds [rad/s]."""
    total = spin_rates[0] + spin_rates[1] + spin_rates[2] + spin_rates[3]
    return 0.25 * total / driveline.reduction


@inlined
def wheel_torques(
    driveline: DrivelineConstants,
    shaft_torque: float,
    shaft_inertia: float,
    wheel_inertia: float,
    others: tuple[float, float, float, float],
) -> WheelTorques:
    """Drive torque of each wheel for a torque [N m] on the drive shaft.

    shaft_inertia [kg m^2] spins with the drive shaft beyond the driveline's own (gearbox, engine in gear). others are
    all other torques on the wheels about their axes (tyre, brake) [N m]: a wheel's acceleration is approximated by its
    own torques over its inertia, since the suspension's contribution is small.
    """
    extra = shaft_inertia / (16.0 * driveline.reduction * driveline.reduction)
    own, other = driveline.own + extra, driveline.other + extra
    given = 0.25 * shaft_torque / driveline.reduction
    # Per axle, with s the sum of its wheels' accelerations: I s + 2 (own s + other s_other) = 2 given + sum of others.
    front, rear = 2.0 * given + others[0] + others[1], 2.0 * given + others[2] + others[3]
    diagonal, side = wheel_inertia + 2.0 * own, 2.0 * other
    determinant = diagonal * diagonal - side * side
    front_sum = (diagonal * front - side * rear) / determinant
    rear_sum = (diagonal * rear - side * front) / determinant
    front_torque = given - own * front_sum - other * rear_sum
    rear_torque = given - own * rear_sum - other * front_sum
    return WheelTorques(front_torque, front_torque, rear_torque, rear_torque)


def driveline_constants(driveline: Driveline) -> DrivelineConstants:
    """Constants for the kernel."""
    square = driveline.bevel_ratio * driveline.bevel_ratio
    between = driveline.drive_shaft_inertia_kgm2 / (16.0 * square)
    axle = driveline.axle_shaft_inertia_kgm2 / (4.0 * square) + driveline.differential_inertia_kgm2 / 4.0
    return DrivelineConstants(driveline.bevel_ratio, axle + between, between)
