"""A tyre on hard ground: load, slip, deflection of the carcass, forces and moments on the wheel ([Sanjurjo], 5.3.2).

World axes, z up. The ground under the wheel is a plane fitted to many points (terrain/contact_plane.py); the contact is
where the wheel's plane meets it. On soft soil terrain/soil_contact.py takes over.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.carcass import steady_to_dynamic
from proving_ground.kernels.jit import inlined
from proving_ground.kernels.vector3 import add, add_scaled, combine, cross, dot, scale, unit
from terrain.contact_plane import ContactPlane, contact_plane
from terrain.ground import Ground
from terrain.soil_contact import soil_contact
from terrain.wheel import (
    NO_CONTACT,
    UNLOADED_SOIL,
    ContactState,
    ContactStep,
    Deflection,
    WheelContact,
    WheelMotionInWorld,
)
from vehicle_dynamics.drive.drive_parameters import Tyre
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.inflation import tyre_of_wheel
from vehicle_dynamics.tyre.tmeasy import (
    TMEASY,
    LoadedTyre,
    bore_torque,
    camber_slip,
    combined_force,
    pneumatic_trail,
    tmeasy_record,
    tyre_at,
)

Array = NDArray[np.float64]

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
        ("rolling_divisor", "f8"),  # vertical deflection over what the rolling radius is smaller than the unloaded one
        ("arc_samples", "i8"),  # of the contact with soft soil, along
        ("strip_samples", "i8"),  # and across
        ("carcass_stiffness", "f8", 2),  # along and across [N/m]: c_x, c_y of Eqs. 5.34, 5.35
        ("carcass_damping", "f8", 2),  # [N s/m]: d_x, d_y
        ("lug_cohesion", "f8"),  # shear strength of soil between lugs over that without, of its cohesive part
        ("lug_friction", "f8"),  # and of its frictional part
        ("rubber_friction", "f8"),  # largest shear over pressure, of rubber on firm soil
        ("camber_stiffness", "f8"),  # camber thrust over load and angle [1/rad]
        ("bore_torque", "f8"),  # share of TMeasy's
    ]
)
TyreRecord: TypeAlias = Any

# v_n of Eqs. 5.27 and 5.28: avoids a division by zero at standstill. So small that a wheel that does
# not spin sticks, and slides only when its carcass is deflected to the friction limit.
STILL = 1e-12  # [m/s]
STICKING = 0.1  # [m/s]: a contact that drifts faster slides
CREEP = 0.1  # [m/s]: below this speed the slip says little about the point of action of the side force
# v_N of the bore slip: a standing wheel that is turned is damped, up to the largest bore torque. So large that in time
# steps of 1 ms the torque stops even a wheel that turns alone without overshoot.
TURNING = 0.2  # [m/s]
# Friction of soil on smooth rubber over that of soil on soil (Potyondy 1961: 0.5 to 0.8 for smooth surfaces).
SMOOTH_RUBBER = 0.65
ROLLING = 0.1  # [rad/s]: a wheel that spins slower hardly has camber thrust
# Cosine between ground normal and wheel plane: a wheel lying on its side has no contact, which fades before that.
LYING, LEANING = 0.1, 0.4


@inlined
def tyre_contact(
    tyre: TyreRecord,
    ground: Ground,
    wheel: WheelMotionInWorld,
    before: ContactState,
    span: ContactStep,
    scratch: Array,
) -> WheelContact:
    """Forces on a wheel, on any soil; scratch (SAMPLES of contact_plane.py) is written to."""
    plane = contact_plane(ground, wheel.centre, wheel.axis, tyre.radius, tyre.width, before.soil_state.squeeze, scratch)
    hard, soft = NO_CONTACT, NO_CONTACT
    if plane.hardness > 0.0:
        hard = _hard_contact(tyre, plane.friction, plane, wheel, before.deflection, span.elapsed)
    if plane.hardness < 1.0:
        soft = soil_contact(tyre, ground, plane, wheel, before, span, scratch)
    if plane.hardness == 1.0:
        return hard
    if plane.hardness == 0.0:
        return soft
    return _mixed(hard, soft, plane.hardness)


@inlined
def _mixed(hard: WheelContact, soft: WheelContact, share: float) -> WheelContact:
    """Weighted mean of two contacts: share of that on hard ground, the rest of that on soft soil."""
    rest = 1.0 - share
    return WheelContact(
        combine(share, hard.force, rest, soft.force),
        combine(share, hard.moment, rest, soft.moment),
        share * hard.load + rest * soft.load,
        share * hard.force_along + rest * soft.force_along,
        share * hard.force_across + rest * soft.force_across,
        share * hard.slip_along + rest * soft.slip_along,
        share * hard.slip_across + rest * soft.slip_across,
        rest * soft.sinkage,
        _between(hard.deflection, soft.deflection, share),
        _between(hard.deflection_rate, soft.deflection_rate, share),
        soft.soil_state,
    )


@inlined
def _between(hard: Deflection, soft: Deflection, share: float) -> Deflection:
    """Weighted mean of two deflections: share of `hard`, the rest of `soft`."""
    rest = 1.0 - share
    return Deflection(share * hard.along + rest * soft.along, share * hard.across + rest * soft.across)


@inlined
def _hard_contact(
    tyre: TyreRecord,
    friction: float,
    plane: ContactPlane,
    wheel: WheelMotionInWorld,
    before: Deflection,
    elapsed: float,
) -> WheelContact:
    """A tyre on hard ground."""
    c, normal = wheel.centre, plane.normal
    tilt = dot(normal, wheel.axis)
    upward = add_scaled(normal, -tilt, wheel.axis)
    size = math.sqrt(max(1.0 - tilt * tilt, 0.0))
    distance = (c[2] - plane.height) * normal[2] / size if size > LYING else math.inf
    deflection = tyre.radius - distance
    if not 0.0 < deflection < tyre.radius:
        # In the air, or buried too deep for this contact to be meaningful.
        return NO_CONTACT
    upward = scale(1.0 / size, upward)
    ahead = unit(cross(wheel.axis, normal))
    left = cross(normal, ahead)
    arm = scale(-distance, upward)
    # Velocity of the contact point as if the wheel did not spin.
    velocity = add(wheel.velocity, cross(wheel.angular_velocity, arm))
    ahead_level = unit((wheel.axis[1], -wheel.axis[0], 0.0))
    # An edge hit at speed is damped by no more than the tyre's spring force: full damping would be a blow.
    most = tyre.stiffness * deflection / tyre.damping
    bulge = min(max(plane.wall * dot(wheel.velocity, ahead_level), -most), most)
    load = tyre.stiffness * deflection - tyre.damping * (dot(velocity, normal) + bulge)
    load += tyre.bottoming_stiffness * max(deflection - tyre.bottoming_from, 0.0)
    load *= min((size - LYING) / (LEANING - LYING), 1.0)
    if load <= 0.0:
        return NO_CONTACT

    radius = tyre.radius - deflection / tyre.rolling_divisor  # dynamic rolling radius
    # The spindle's own rotation about the spin axis is part of `velocity` at the contact: only the spin is left.
    drift_x, drift_y = dot(velocity, ahead) - radius * wheel.spin, dot(velocity, left)
    transport = radius * abs(wheel.spin)
    # At a standstill any drift is an infinite slip. A contact that hardly moves sticks: it holds the largest force.
    drift = (drift_x * drift_x + drift_y * drift_y) / (STICKING * STICKING)
    loaded = tyre_at(tyre.slip, load, friction, math.exp(-drift) if drift < 30.0 else 0.0)
    speed_x, speed_y = transport * loaded.weight_x + STILL, transport * loaded.weight_y + STILL  # v* of Eq. 5.36
    camber = math.asin(min(max(tilt, -1.0), 1.0))  # positive: the wheel leans to the right
    pushed_y, wander = drift_y, 0.0
    if tyre.camber_stiffness > 0.0:
        # A leaning wheel does not roll straight ahead, but a distance `wander` to its side per radian. Within friction.
        thrust = -tyre.camber_stiffness * load * camber
        wander = radius * camber_slip(loaded, thrust) * math.tanh(wheel.spin / ROLLING)
        pushed_y -= wander * wheel.spin
    steady = combined_force(loaded, -drift_x / speed_x, -pushed_y / speed_y)
    along, along_rate, force_x = steady_to_dynamic(
        tyre.carcass_stiffness[0], tyre.carcass_damping[0], speed_x, steady.per_slip, steady.x, before.along, elapsed
    )
    across, across_rate, force_y = steady_to_dynamic(
        tyre.carcass_stiffness[1], tyre.carcass_damping[1], speed_y, steady.per_slip, steady.y, before.across, elapsed
    )
    # The carcass may be deflected by more than a falling load can hold.
    share = min(1.0, _most_force(loaded, force_x, force_y) / max(math.hypot(force_x, force_y), 1e-9))
    along, across, force_x, force_y = share * along, share * across, share * force_x, share * force_y

    slip_x, slip_y = -drift_x / (transport + STILL), -drift_y / (transport + STILL)
    patch = 2.0 * math.sqrt(tyre.radius * deflection)
    align = -pneumatic_trail(tyre.slip, load, -drift_y / (transport + CREEP), patch) * force_y
    if tyre.bore_torque > 0.0:
        bore_radius = (patch + tyre.width) / 6.0  # two thirds of that of a round patch (Rill): R_B = 2/3 (L + B) / 4
        # omega_n: the spin of a leaning wheel is part of it.
        turning = dot(normal, wheel.angular_velocity) + tilt * wheel.spin
        slow = transport + TURNING
        slide_x, slide_y = drift_x / (slow * loaded.weight_x), drift_y / (slow * loaded.weight_y)
        align += tyre.bore_torque * bore_torque(loaded, slide_x, slide_y, -bore_radius * turning / slow, bore_radius)
    tip = -tyre.width * tyre.width * tyre.stiffness / 12.0 * camber
    roll = -tyre.rolling_resistance * load * tyre.radius * math.tanh(wheel.spin)
    if wander != 0.0:
        roll -= wander * force_y  # the spin does the work of the camber thrust
    force = add_scaled(combine(force_x, ahead, force_y, left), load, normal)
    moment = add(cross(arm, force), add_scaled(combine(align, normal, tip, ahead), roll, wheel.axis))
    if plane.wall != 0.0:
        force = add_scaled(force, load * plane.wall, ahead_level)
    return WheelContact(
        force,
        moment,
        load,
        force_x,
        force_y,
        slip_x,
        slip_y,
        0.0,
        Deflection(along, across),
        Deflection(along_rate, across_rate),
        UNLOADED_SOIL,
    )


@inlined
def _most_force(loaded: LoadedTyre, x: float, y: float) -> float:
    """Largest force [N] in the direction of x and y."""
    size = math.hypot(x, y)
    if size == 0.0:
        return math.inf
    return math.hypot(loaded.longitudinal.most * x / size, loaded.lateral.most * y / size)


def tyre_records(parameters: VehicleParameters) -> NDArray[np.void]:
    """Records for the kernel of the tyres of all four wheels."""
    return np.array([tyre_record(parameters, wheel) for wheel in range(4)])


def tread_factors(tyre: Tyre) -> tuple[float, float]:
    """Strength of a tread on soil over that of the soil: cohesive and frictional part.

    Soil between the lugs shears on soil, and along the sides of what they enclose (Bekker 1956); on rubber it slides
    sooner, but sticks as well as to itself.
    """
    slender = tyre.lug_height_m / tyre.width_m
    sides = (2.0 * slender, 0.64 * slender * math.atan(1.0 / slender)) if slender > 0.0 else (0.0, 0.0)
    tread = 1.0 - tyre.rubber_share * (1.0 - SMOOTH_RUBBER)
    return 1.0 + sides[0], tread * (1.0 + sides[1])


def tyre_record(parameters: VehicleParameters, wheel: int = 0) -> TyreRecord:
    """Record for the kernel of the tyre of a wheel, at its pressure."""
    tyre = tyre_of_wheel(parameters.tyre, wheel)
    record = np.zeros(1, TYRE)
    record["slip"] = tmeasy_record(tyre)
    record["radius"], record["width"] = parameters.wheel.radius_m, tyre.width_m
    record["stiffness"], record["damping"] = tyre.stiffness_npm, tyre.damping_nspm
    record["bottoming_from"] = tyre.bottoming_from_m
    record["bottoming_stiffness"] = tyre.bottoming_stiffness_npm
    record["rolling_resistance"], record["rolling_divisor"] = tyre.rolling_resistance, 1.0 / tyre.rolling_deflection
    record["arc_samples"], record["strip_samples"] = tyre.arc_samples, tyre.strip_samples
    record["lug_cohesion"], record["lug_friction"] = tread_factors(tyre)
    record["rubber_friction"] = tyre.rubber_on_soil_friction
    record["carcass_stiffness"] = tyre.deflection_stiffness_npm
    record["carcass_damping"] = tyre.deflection_damping_nspm
    record["camber_stiffness"], record["bore_torque"] = tyre.camber_stiffness, tyre.bore_torque
    return record[0]
