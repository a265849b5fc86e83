"""All-wheel drive: one drive shaft, a transfer case, three differentials, four wheels, and the inertia between them.

A differential's input turns with the mean of its outputs, whatever its kind, so the drive shaft's speed is the mean of
all wheels. The shafts' inertia couples the wheels' accelerations: a wheel's torque depends on all of them.

Kinds differ in how much the torques of the two outputs may differ. Open: not at all. Locked: as much as it takes to
keep the speeds equal. Torque-biasing (Torsen): as locked, up to a difference that grows with the torque through it; the
slower output then gets bias_ratio times the torque of the faster one. That is Coulomb friction, and is solved as such:
the difference that makes the speeds equal at the end of the step, within its limit.
"""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.jit import inlined
from vehicle_dynamics.drive.drive_parameters import Differential, Driveline
from vehicle_dynamics.pedals import MOST_RANGES

FRONT, REAR = 1, 2  # bits of Pedals.locks


class DifferentialConstants(NamedTuple):
    """A differential for the kernel."""

    share: float  # of the torque through it by which the outputs' torques may differ: (bias - 1) / (bias + 1)
    preload: float  # further difference, without load [N m]
    locked: float  # 1: always, 0: by command where it is lockable, -1: never


class RangeConstants(NamedTuple):
    """A range of the transfer case for the kernel."""

    reduction: float  # speed of the gearbox's output over that of the propeller shafts
    efficiency: float
    centre: DifferentialConstants


class DrivelineConstants(NamedTuple):
    """Driveline parameters of the kernel."""

    reduction: float  # wheel speed over propeller shaft speed
    own: float  # inertia that an axle's summed spin acceleration adds to each of its wheels [kg m^2]
    other: float  # and to each wheel of the other axle
    on_chassis: float  # share of a wheel's torque that acts on the chassis, about the same axis
    front: DifferentialConstants
    rear: DifferentialConstants
    ranges: tuple[RangeConstants, ...]  # MOST_RANGES; the last one repeated
    range_count: int


class ShaftLoad(NamedTuple):
    """The drive shaft as the gearbox drives it."""

    torque: float  # [N m]
    inertia: float  # that spins with it beyond the driveline's own, as gearbox and engine in gear [kg m^2]
    locks: int  # bits FRONT, REAR: locked by command
    range: int  # of the transfer case


class WheelTorques(NamedTuple):
    """Torque on each wheel, front left, front right, rear left, rear right [N m]."""

    front_left: float
    front_right: float
    rear_left: float
    rear_right: float


OPEN = DifferentialConstants(0.0, 0.0, -1.0)


@inlined
def shaft_speed(driveline: DrivelineConstants, spin_rates: tuple[float, float, float, float]) -> float:
    """Speed of the drive shaft [rad/s] for given wheel speeds [rad/s]."""
    total = spin_rates[0] + spin_rates[1] + spin_rates[2] + spin_rates[3]
    return 0.25 * total / driveline.reduction


@inlined
def wheel_torques(
    driveline: DrivelineConstants,
    shaft: ShaftLoad,
    wheel_inertia: float,
    spin_rates: tuple[float, float, float, float],
    others: tuple[float, float, float, float],
    step: float,
) -> WheelTorques:
    """Drive torque of each wheel in a step [s].

    others are all other torques on the wheels about their axes (tyre, brake) [N m]: a wheel's acceleration is
    approximated by its own torques over its inertia, since the suspension's contribution is small.
    """
    extra = shaft.inertia / (16.0 * driveline.reduction * driveline.reduction)
    own, other = driveline.own + extra, driveline.other + extra
    given = 0.25 * shaft.torque / driveline.reduction
    # Per axle, with s the sum of its wheels' accelerations and c the difference of the axles' torques:
    # I s + 2 (own s + other s_other) = 2 given +- c / 2 + sum of others.
    front, rear = 2.0 * given + others[0] + others[1], 2.0 * given + others[2] + others[3]
    diagonal, side = wheel_inertia + 2.0 * own, 2.0 * other
    faster = spin_rates[0] + spin_rates[1] - spin_rates[2] - spin_rates[3]
    equal = -(diagonal - side) * faster / step - (front - rear)
    # Through the centre goes what the drive shaft does not keep; the axles' own inertia comes after it.
    through = 4.0 * given - 4.0 * other * (front + rear) / (diagonal + side)
    between = _difference(driveline.ranges[shaft.range].centre, False, through, equal)
    front, rear = front + 0.5 * between, rear - 0.5 * between
    determinant = diagonal * diagonal - side * side
    front_sum = (diagonal * front - side * rear) / determinant
    rear_sum = (diagonal * rear - side * front) / determinant
    front_torque = given + 0.25 * between - own * front_sum - other * rear_sum
    rear_torque = given - 0.25 * between - own * rear_sum - other * front_sum
    momentum = wheel_inertia / step
    equal = -momentum * (spin_rates[0] - spin_rates[1]) - (others[0] - others[1])
    across_front = 0.5 * _difference(driveline.front, shaft.locks & FRONT != 0, 2.0 * front_torque, equal)
    equal = -momentum * (spin_rates[2] - spin_rates[3]) - (others[2] - others[3])
    across_rear = 0.5 * _difference(driveline.rear, shaft.locks & REAR != 0, 2.0 * rear_torque, equal)
    return WheelTorques(
        front_torque + across_front, front_torque - across_front, rear_torque + across_rear, rear_torque - across_rear
    )


@inlined
def _difference(differential: DifferentialConstants, is_locked: bool, through: float, equal: float) -> float:
    """Difference of the outputs' torques [N m], with the torque through both and the one that makes speeds equal."""
    if differential.locked > 0.0 or (is_locked and differential.locked == 0.0):
        return equal
    limit = differential.share * abs(through) + differential.preload
    return min(max(equal, -limit), limit)


def shaft_reaction(hub_ratio: float) -> float:
    """Share of a wheel's torque that acts on the chassis when a half shaft brings it, about the wheel's axis.

    Half shafts that drive the wheel directly: all of it, backwards. A geared hub with one mesh turns the half shaft
    against the wheel, with less torque: the chassis is pushed forward by 1 / ratio, and the upright takes the rest.
    """
    return 1.0 / hub_ratio if hub_ratio > 0.0 else -1.0


def differential_constants(differential: Differential) -> DifferentialConstants:
    """Constants for the kernel."""
    bias = differential.bias_ratio
    locked = {"locked": 1.0, "lockable": 0.0}.get(differential.kind, -1.0)
    return DifferentialConstants((bias - 1.0) / (bias + 1.0), differential.preload_nm, locked)


def driveline_constants(driveline: Driveline) -> DrivelineConstants:
    """Constants for the kernel."""
    square = driveline.bevel_ratio * driveline.bevel_ratio
    between = driveline.drive_shaft_inertia_kgm2 / (16.0 * square)
    axle = driveline.axle_shaft_inertia_kgm2 / (4.0 * square) + driveline.differential_inertia_kgm2 / 4.0
    ranges = [
        RangeConstants(item.reduction, item.efficiency, differential_constants(item.centre))
        for item in driveline.all_ranges()
    ]
    count = len(ranges)
    ranges += [ranges[-1]] * (MOST_RANGES - count)
    return DrivelineConstants(
        driveline.bevel_ratio,
        axle + between,
        between,
        shaft_reaction(driveline.hub_ratio),
        differential_constants(driveline.front),
        differential_constants(driveline.rear),
        tuple(ranges),
        count,
    )


def opened(driveline: DrivelineConstants) -> DrivelineConstants:
    """The driveline with all its differentials open, so that every wheel can find its own speed."""
    ranges = tuple(item._replace(centre=OPEN) for item in driveline.ranges)
    return driveline._replace(front=OPEN, rear=OPEN, ranges=ranges)


@inlined
def through_case(
    driveline: DrivelineConstants, range_index: int, torque: float, inertia: float, forward: float
) -> tuple[float, float]:
    """Torque [N m] and inertia [kg m^2] on the propeller shafts for those at the gearbox's output.

    forward is the sign of torques that drive: losses reduce them, and add to those that brake.
    """
    chosen = driveline.ranges[range_index]
    loss = chosen.efficiency if torque * forward > 0.0 else 1.0 / chosen.efficiency
    return torque * chosen.reduction * loss, inertia * chosen.reduction * chosen.reduction
