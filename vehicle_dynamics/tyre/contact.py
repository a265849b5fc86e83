"""A tyre on hard ground: load, slip, deflection of the carcass, forces and moments on the wheel (seed 001, 5.3.2).

World axes, z up. The contact is one point, where the wheel's plane meets the ground's plane under its centre.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from vehicle_dynamics.ground import Ground, ground_at
from vehicle_dynamics.kernels.jit import inlined
from vehicle_dynamics.kernels.vector3 import ZERO, Vector3, add, add_scaled, combine, cross, dot, scale, unit
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.tmeasy import TMEASY, combined_force, pneumatic_trail, tmeasy_record, tyre_at

TYRE = np.dtype(
    [
        ("slip", TMEASY),
        ("radius", "f8"),  # unloaded [m]
        ("width", "f8"),  # [m]
        ("stiffness", "f8"),  # vertical [N/m]
        ("damping", "f8"),  # vertical [N s/m]
        ("bottoming_from", "f8"),  # deflection [m]
        ("bottoming_stiffness", "f8"),  # [N/m]
        ("rolling_resistance", "f8"),
        ("carcass_stiffness", "f8", 2),  # along and across [N/m]: c_x, c_y of Eqs. 5.34, 5.35
        ("carcass_damping", "f8", 2),  # [N s/m]: d_x, d_y
    ]
)
TyreRecord: TypeAlias = Any

# v_n of Eqs. 5.27 and 5.28: keeps a wheel that stands still from a division by zero. So small that a wheel that does
# not turn sticks, and slides only when its carcass is deflected as far as friction can hold it.
STILL = 1e-12  # [m/s]
CREEP = 0.1  # [m/s]: below this speed the slip says little about where the side force acts
# Cosine between ground normal and wheel plane: a wheel that lies on its side has no contact, and it fades before that.
LYING, LEANING = 0.1, 0.4


class WheelMotionInWorld(NamedTuple):
    """A wheel in world axes."""

    centre: Vector3  # [m]
    axis: Vector3  # of spin, unit, to the left
    velocity: Vector3  # of the centre [m/s]
    turn: Vector3  # angular velocity of the spindle [rad/s]
    spin: float  # of the wheel relative to the spindle [rad/s]


class Deflection(NamedTuple):
    """Of the carcass, along and across the wheel [m]."""

    along: float
    across: float


class TyreContact(NamedTuple):
    """What the ground does to a wheel."""

    force: Vector3  # [N]
    moment: Vector3  # about the centre of the wheel [N m]
    load: float  # normal force [N]
    force_along: float  # [N]
    force_across: float  # to the left [N]
    slip_along: float  # as TMeasy defines it, not normalised
    slip_across: float
    deflection: Deflection  # at the end of the time step
    deflection_rate: Deflection  # then [m/s]


NO_CONTACT = TyreContact(ZERO, ZERO, 0.0, 0.0, 0.0, 0.0, 0.0, Deflection(0.0, 0.0), Deflection(0.0, 0.0))


@inlined
def tyre_contact(
    tyre: TyreRecord, ground: Ground, wheel: WheelMotionInWorld, before: Deflection, step: float
) -> TyreContact:
    """Forces at the end of a time step [s] that began with the given deflection; a step of 0 takes it as it is."""
    c = wheel.centre
    point = ground_at(ground, c[0], c[1])
    normal = point.normal
    tilt = dot(normal, wheel.axis)
    upward = add_scaled(normal, -tilt, wheel.axis)
    size = math.sqrt(max(1.0 - tilt * tilt, 0.0))
    distance = (c[2] - point.height) * normal[2] / size if size > LYING else math.inf
    deflection = tyre.radius - distance
    if not 0.0 < deflection < tyre.radius:
        # In the air, or buried so deep that this contact means nothing.
        return NO_CONTACT
    upward = scale(1.0 / size, upward)
    ahead = unit(cross(wheel.axis, normal))
    left = cross(normal, ahead)
    arm = scale(-distance, upward)
    # Velocity of the contact point as if the wheel did not spin.
    velocity = add(wheel.velocity, cross(wheel.turn, arm))
    load = tyre.stiffness * deflection - tyre.damping * dot(velocity, normal)
    load += tyre.bottoming_stiffness * max(deflection - tyre.bottoming_from, 0.0)
    load *= min((size - LYING) / (LEANING - LYING), 1.0)
    if load <= 0.0:
        return NO_CONTACT

    loaded = tyre_at(tyre.slip, load, point.friction)
    radius = tyre.radius - deflection / 3.0  # dynamic rolling radius
    # The spindle's own turn about the spin axis is part of `velocity` at the contact: only the spin is left.
    drift_x, drift_y = dot(velocity, ahead) - radius * wheel.spin, dot(velocity, left)
    transport = radius * abs(wheel.spin)
    speed_x, speed_y = transport * loaded.weight_x + STILL, transport * loaded.weight_y + STILL  # v* of Eq. 5.36
    steady = combined_force(loaded, -drift_x / speed_x, -drift_y / speed_y)
    along, along_rate, force_x = _carcass(
        tyre.carcass_stiffness[0], tyre.carcass_damping[0], speed_x, steady.per_slip, drift_x, before.along, step
    )
    across, across_rate, force_y = _carcass(
        tyre.carcass_stiffness[1], tyre.carcass_damping[1], speed_y, steady.per_slip, drift_y, before.across, step
    )

    slip_x, slip_y = -drift_x / (transport + STILL), -drift_y / (transport + STILL)
    patch = 2.0 * math.sqrt(tyre.radius * deflection)
    align = -pneumatic_trail(tyre.slip, load, -drift_y / (transport + CREEP), patch) * force_y
    camber = math.asin(min(max(tilt, -1.0), 1.0))
    tip = -tyre.width * tyre.width * tyre.stiffness / 12.0 * camber
    roll = -tyre.rolling_resistance * load * tyre.radius * math.tanh(wheel.spin)
    force = add_scaled(combine(force_x, ahead, force_y, left), load, normal)
    moment = add(cross(arm, force), add_scaled(combine(align, normal, tip, ahead), roll, wheel.axis))
    return TyreContact(
        force,
        moment,
        load,
        force_x,
        force_y,
        slip_x,
        slip_y,
        Deflection(along, across),
        Deflection(along_rate, across_rate),
    )


@inlined
def _carcass(
    stiffness: float, damping: float, speed: float, per_slip: float, drift: float, before: float, step: float
) -> tuple[float, float, float]:
    """Deflection [m] after a step, its rate [m/s] and dynamic force [N] then: analytic solution of Eqs. 5.36-5.39.

    The slope of the force is replaced by F / s (Eq. 5.41), which holds the deflection of a locked wheel that slides.
    """
    divisor = speed * damping + per_slip
    decay = speed * stiffness / divisor  # a_1
    push = -per_slip * drift / divisor  # a_2
    exponent = decay * step
    # (1 - exp(-a_1 t)) / a_1, which is t for a wheel that sticks
    grown = -math.expm1(-exponent) / decay if exponent > 1e-12 else step
    after = before * math.exp(-exponent) + push * grown
    rate = push - decay * after
    return after, rate, stiffness * after + damping * rate


def tyre_record(parameters: VehicleParameters) -> TyreRecord:
    """The kernel's view of the vehicle's tyre."""
    tyre = parameters.tyre
    record = np.zeros(1, TYRE)
    record["slip"] = tmeasy_record(tyre)
    record["radius"], record["width"] = parameters.wheel.radius_m, tyre.width_m
    record["stiffness"], record["damping"] = tyre.stiffness_npm, tyre.damping_nspm
    record["bottoming_from"] = tyre.bottoming_from_m
    record["bottoming_stiffness"] = tyre.bottoming_stiffness_npm
    record["rolling_resistance"] = tyre.rolling_resistance
    record["carcass_stiffness"] = tyre.deflection_stiffness_npm
    record["carcass_damping"] = tyre.deflection_damping_nspm
    return record[0]
