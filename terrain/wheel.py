"""Motion of a wheel, and the forces of the ground on it. World axes, z up."""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.vector3 import ZERO, Vector3


class WheelMotionInWorld(NamedTuple):
    """Motion of a wheel in world axes."""

    centre: Vector3  # [m]
    axis: Vector3  # of spin, unit, to the left
    velocity: Vector3  # of the centre [m/s]
    angular_velocity: Vector3  # of the spindle [rad/s]
    spin: float  # of the wheel relative to the spindle [rad/s]


class Deflection(NamedTuple):
    """Deflection of the carcass, along and across the wheel [m]."""

    along: float
    across: float


class SoilState(NamedTuple):
    """State of a wheel on soft soil at its position."""

    deepest: float  # sinkage reached there [m]
    relief: float  # how far it has rolled in: 1 forward, -1 backward, 0 pressed straight down
    squeeze: float  # deflection of the tyre, in series with the soil [m]
    dug: float  # how much its slip has increased the sinkage, as a share of the sinkage without slip


class ContactState(NamedTuple):
    """State of a contact after the previous step."""

    deflection: Deflection
    soil_state: SoilState


class ContactStep(NamedTuple):
    """The time that a contact covers."""

    elapsed: float  # [s]: age of the given deflection; 0 uses it as it is
    step: float  # [s]: by which the state of soft soil is advanced; 0 leaves it
    leaves_ruts: bool


class WheelContact(NamedTuple):
    """Result of a wheel's contact with the ground."""

    force: Vector3  # [N]
    moment: Vector3  # about the centre of the wheel [N m]
    load: float  # normal force [N]
    force_along: float  # [N]
    force_across: float  # to the left [N]
    slip_along: float  # as TMeasy defines it, not normalised
    slip_across: float
    sinkage: float  # of the wheel's lowest point into soft soil [m]
    deflection: Deflection  # at the end of the time step
    deflection_rate: Deflection  # at that time [m/s]
    soil_state: SoilState  # at the end of the time step


UNLOADED_SOIL = SoilState(0.0, 0.0, 0.0, 0.0)
NO_DEFLECTION = Deflection(0.0, 0.0)
NO_CONTACT = WheelContact(ZERO, ZERO, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, NO_DEFLECTION, NO_DEFLECTION, UNLOADED_SOIL)
