"""Brake of one wheel with stiction and sliding ([Sanjurjo], Eqs. 5.24-5.26)."""

from __future__ import annotations

import math
from typing import NamedTuple

from proving_ground.kernels.jit import inlined
from vehicle_dynamics.drive.drive_parameters import Brakes


class BrakeConstants(NamedTuple):
    """Brake parameters of the kernel."""

    front_torque: float  # sliding torque of one wheel at full brake [N m]
    rear_torque: float
    stiffness: float  # of the stiction [N m/rad]
    damping: float  # [N m s/rad]
    transition: float  # spin rate at which sliding takes over [rad/s]


class BrakeTorque(NamedTuple):
    """Torque on the wheel about its spin axis, and the angle at which the brake would hold it."""

    torque: float  # [N m]
    stuck_at: float  # wheel angle [rad]


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


def brake_constants(brakes: Brakes) -> BrakeConstants:
    """Constants for the kernel; the sliding torque at full brake is 2 mu F R per wheel."""
    return BrakeConstants(
        front_torque=2.0 * brakes.friction * brakes.front_force_n * brakes.front_radius_m,
        rear_torque=2.0 * brakes.friction * brakes.rear_force_n * brakes.rear_radius_m,
        stiffness=brakes.stiction_stiffness_nmprad,
        damping=brakes.stiction_damping_nmsprad,
        transition=brakes.transition_radps,
    )
