"""A wheel as the ground meets it, and what the ground does to it. World axes, z up."""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.vector3 import ZERO, Vector3


class WheelMotionInWorld(NamedTuple):
    """A wheel in world axes."""

    centre: Vector3  # [m]
    axis: Vector3  # of spin, unit, to the left
    velocity: Vector3  # of the centre [m/s]
    angular_velocity: Vector3  # angular velocity of the spindle [rad/s]
    spin: float  # of the wheel relative to the spindle [rad/s]


class Deflection(NamedTuple):
    """Of the carcass, along and across the wheel [m]."""

    along: float
    across: float


class SoilState(NamedTuple):
    """What a wheel on soft soil remembers of the place it stands on."""

    deepest: float  # sinkage it has had there [m]
    relief: float  # how far it has rolled in: 1 forward, -1 backward, 0 pressed straight down
    squeeze: float  # of the tyre, in series with the soil [m]


class ContactState(NamedTuple):
    """What a contact has kept from the step before."""

    deflection: Deflection
    soil_state: SoilState


class ContactStep(NamedTuple):
    """The time that a contact is to cover."""

    elapsed: float  # [s]: how long ago the deflection was what is given; 0 takes it as it is
    step: float  # [s]: by which the memory of soft soil is advanced; 0 leaves it
    leaves_ruts: bool


class WheelContact(NamedTuple):
    """What the ground does to a wheel."""

    force: Vector3  # [N]
    moment: Vector3  # about the centre of the wheel [N m]
    load: float  # normal force [N]
    force_along: float  # [N]
    force_across: float  # to the left [N]
    slip_along: float  # as TMeasy defines it, not normalised
    slip_across: float
    sinkage: float  # of the wheel's lowest point into soft soil [m]
    deflection: Deflection  # at the end of the time step
    deflection_rate: Deflection  # then [m/s]
    soil_state: SoilState  # at the end of the time step


UNLOADED_SOIL = SoilState(0.0, 0.0, 0.0)
NO_DEFLECTION = Deflection(0.0, 0.0)
NO_CONTACT = WheelContact(ZERO, ZERO, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NO_DEFLECTION, NO_DEFLECTION, UNLOADED_SOIL)
