"""Brake of one wheel with stiction and sliding ([Sanjurjo], Eqs. 5.24-5.26)."""

from __future__ import annotations

import math
from typing import NamedTuple

from proving_ground.kernels.jit import inlined
from vehicle_dynamics.drive.drive_parameters import Brakes
from vehicle_dynamics.drive.driveline import shaft_reaction


class BrakeConstants(NamedTuple):
    """Brake parameters of the kernel."""

    front_torque: float  # sliding torque of one wheel at full brake [N m]
    rear_torque: float
    stiffness: float  # of the stiction [N m/rad]
    damping: float  # [N m s/rad]
    transition: float  # spin rate at which sliding takes over [rad/s]
    linear: float  # coefficients of the pads' relative force over relative line pressure
    squared: float
    cubed: float
    rear_knee: float  # relative line pressure from which the rear gets less
    rear_slope: float
    parking: float  # torque of the parking brake on each rear wheel [N m]
    on_chassis: float  # share of the torque on the wheel that acts on the chassis, about the same axis
    antilock_from: float  # slip at which anti-lock control begins to take pressure off
    antilock_to: float  # slip at which no pressure is left; 0: no such control
    antilock_above: float  # speed below which it rests [m/s]
    radius: float  # of the wheels, with which it computes their slip [m]


class BrakeTorque(NamedTuple):
    """Torque on the wheel about its spin axis, and the wheel angle at which the pads stick to the disc."""

    torque: float  # [N m]
    stuck_at: float  # wheel angle [rad]


@inlined
def sliding_torque(brakes: BrakeConstants, pressure: float, parking: float, is_front: bool) -> float:
    """Sliding torque [N m] of a wheel's brake at a relative line pressure and parking brake lever, both 0 to 1."""
    if is_front:
        return brakes.front_torque * _pad_force(brakes, pressure)
    if pressure > brakes.rear_knee:
        pressure = brakes.rear_knee + brakes.rear_slope * (pressure - brakes.rear_knee)
    return brakes.rear_torque * _pad_force(brakes, pressure) + brakes.parking * parking


@inlined
def antilock_share(brakes: BrakeConstants, speed: float, spin_rate: float) -> float:
    """Share of the line pressure that anti-lock control leaves a wheel, for forward speed [m/s] and spin rate [rad/s].

    It falls with the wheel's slip, without a state of its own: an ideal controller, without the cycles of real valves.
    It knows the true speed.
    """
    if brakes.antilock_to <= 0.0 or abs(speed) < brakes.antilock_above:
        return 1.0
    slip = 1.0 - spin_rate * brakes.radius / speed
    left = (brakes.antilock_to - slip) / (brakes.antilock_to - brakes.antilock_from)
    return min(max(left, 0.0), 1.0)


@inlined
def _pad_force(brakes: BrakeConstants, pressure: float) -> float:
    """Force on the pads over that at full brake: a cubic polynomial of the line pressure ([Sanjurjo], Fig. 5.7)."""
    return pressure * (brakes.linear + pressure * (brakes.squared + pressure * brakes.cubed))


@inlined
def brake_torque(brakes: BrakeConstants, sliding: float, spin: float, spin_rate: float, stuck_at: float) -> BrakeTorque:
    """Torque at a sliding torque [N m] >= 0 (T_sl of Eq. 5.26), for wheel angle [rad] and rate [rad/s].

    The stiction is a spring and damper to the angle where the wheel got stuck. That angle follows when the torque would
    exceed the friction limit, so that the spring of a spinning wheel does not wind up.
    """
    if sliding <= 0.0:
        return BrakeTorque(0.0, spin)
    reach = sliding / brakes.stiffness
    wound = min(max(spin - stuck_at, -reach), reach)
    stiction = -brakes.stiffness * wound - brakes.damping * spin_rate
    stiction = min(max(stiction, -sliding), sliding)
    ratio = spin_rate / brakes.transition
    share = math.exp(-ratio * ratio)  # kappa, Eq. 5.25
    slide = -math.copysign(sliding, spin_rate) if spin_rate != 0.0 else 0.0
    return BrakeTorque(share * stiction + (1.0 - share) * slide, spin - wound)  # Eq. 5.24


def brake_constants(brakes: Brakes, hub_ratio: float = 0.0, wheel_radius: float = 0.5) -> BrakeConstants:
    """Constants for the kernel; the sliding torque at full brake is 2 mu F R per wheel.

    hub_ratio is that of the driveline's geared hubs, 0 without: discs at the differentials brake through them.
    wheel_radius [m] is used by anti-lock control only.
    """
    linear, squared, cubed = brakes.force_over_pressure
    antilock_from, antilock_to = brakes.antilock_slip
    return BrakeConstants(
        front_torque=2.0 * brakes.friction * brakes.front_force_n * brakes.front_radius_m,
        rear_torque=2.0 * brakes.friction * brakes.rear_force_n * brakes.rear_radius_m,
        stiffness=brakes.stiction_stiffness_nmprad,
        damping=brakes.stiction_damping_nmsprad,
        transition=brakes.transition_radps,
        linear=linear,
        squared=squared,
        cubed=cubed,
        rear_knee=brakes.rear_knee,
        rear_slope=brakes.rear_slope,
        parking=brakes.parking_torque_nm,
        on_chassis=shaft_reaction(hub_ratio) if brakes.position == "inboard" else 0.0,
        antilock_from=antilock_from,
        antilock_to=antilock_to,
        antilock_above=brakes.antilock_above_mps,
        radius=wheel_radius,
    )
