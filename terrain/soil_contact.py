"""A wheel on soft soil: stress over its contact arc, along and across, summed to forces and moments.

The soil's law (terrain/soil_law.py) gives its bearing and shear. Normal stress is the law's pressure at the
local sinkage, elastic where the soil was pressed deeper before, plus damping. Shear stress is the law's share of the
Mohr-Coulomb strength at the displacement that Wong and Reece (1967) give for a rolling wheel,

    j_x = R ((theta_1 - theta) - (1 - i) (sin theta_1 - sin theta)),

and for a side slip v_y (theta_1 - theta) / omega. Steady forces become dynamic like those of a tyre, through carcass
deflection ([Sanjurjo], Eqs. 5.34-5.39), so that a standing wheel sticks.

Vertically, the stresses are those of the wheel at the deepest it has been at its position; from there the soil unloads
along its elastic slope (terrain/soil_give.py). The state of the contact changes as the wheel rolls, such that no closed
path gains energy: deepest falls by no more than rolling costs, and resistance reverses within the soil's rebound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from proving_ground.kernels.carcass import steady_to_dynamic
from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import add, add_scaled, combine, cross, dot, scale, unit
from terrain.contact_plane import ACROSS, ALONG, PROFILE_FROM, RUT_FROM, SOIL_FROM, ContactPlane
from terrain.ground import Array, Ground
from terrain.ruts import press, rut_depth
from terrain.soil import NO_BEARING, SoilRecord, bearing, mobilised, residual_depth, unloading_stiffness
from terrain.soil_give import SoilSpring, give_way
from terrain.wheel import (
    NO_CONTACT,
    ContactState,
    ContactStep,
    Deflection,
    SoilState,
    WheelContact,
    WheelMotionInWorld,
)

STILL = 1e-12  # [m/s]: avoids a division by zero for a wheel at rest
LYING = 0.1  # cosine between ground normal and wheel plane below which a wheel has no contact
SHORTEST = 0.02  # [m]: lower bound of the patch length
GAUSS = 0.5 - 1.0 / math.sqrt(3.0)  # shift of Gauss points from the middles of half panels, in halves of a panel
STEEPEST = 1.4  # [rad]: how far round the wheel the soil may reach
# A wheel without a tyre is no stiffer than time steps of milliseconds can resolve, relative to the tyre.
RIGID_STIFFNESS, RIGID_DAMPING = 10.0, 2.0


class _Sums(NamedTuple):
    """Sums over the contact patch, with the wheel at its deepest."""

    load: float  # of normal stress, normal to the ground [N]
    resistance: float  # of the compacted soil, against the heading [N]
    along: float  # of shear, along the ground [N]
    rise: float  # of shear, normal to the ground [N]
    torque: float  # of shear, against the spin [N m]
    across: float  # of shear [N]
    twist: float  # of shear, about the normal [N m]
    tip: float  # of normal stress, about the heading [N m]
    pressing: float  # load per sinkage, loading [N/m]
    release: float  # load per sinkage, unloading [N/m]
    damping: float  # load per speed of sinking [N s/m]
    slope: float  # shear per slip, at zero slip [N]
    grip: float  # largest shear, along the wheel's rim [N]
    grip_along: float  # largest shear, along the ground [N]


class _Frame(NamedTuple):
    """Directions and depths of a contact."""

    ahead: tuple[float, float, float]  # along the ground
    left: tuple[float, float, float]  # along the ground
    steepness: float  # cosine between the ground's normal and z
    entry: float  # angle where the soil is met [rad]
    depth: float  # deepest sinkage at this position [m]
    width: float  # of the plate pressed in [m]


class _Rolling(NamedTuple):
    """Rolling history and slip of the wheel."""

    relief: float  # as in SoilState
    slip_x: float  # along
    slip_y: float  # across


@inlined_part
def soil_contact(
    tyre: Any,
    ground: Ground,
    plane: ContactPlane,
    wheel: WheelMotionInWorld,
    before: ContactState,
    span: ContactStep,
    scratch: Array,
) -> WheelContact:
    """Forces on a wheel on soft soil; tyre: its record; plane, scratch: as contact_plane found them.

    Load and state are those at the end of the step; without a step the load is that of the given state.
    """
    soil, soil_state, step, elapsed = ground.soils[plane.soil], before.soil_state, span.step, span.elapsed
    carcass = before.deflection
    c, normal, axis = wheel.centre, plane.normal, wheel.axis
    tilt = dot(normal, axis)
    size = math.sqrt(max(1.0 - tilt * tilt, 0.0))
    radius = tyre.radius
    # Depth of the wheel in the ground with an undeflected tyre.
    pushed = radius - (c[2] - plane.height - plane.lowered) * normal[2] / size if size > LYING else -radius
    bottom = pushed - soil_state.squeeze
    stiffness = tyre.stiffness * (1.0 if soil.has_tyre == 1 else RIGID_STIFFNESS)
    damper = tyre.damping * (1.0 if soil.has_tyre == 1 else RIGID_DAMPING)
    if size <= LYING or max(bottom, soil_state.deepest) + plane.rough <= 0.0 or bottom > 2.0 * radius:
        # In the air, or buried too deep for this contact to be meaningful.
        relaxed = soil_state.squeeze * damper / (damper + step * stiffness)
        return _loose(0.0, SoilState(0.0, soil_state.relief, relaxed))
    ahead = unit(cross(axis, normal))
    left = cross(normal, ahead)
    arm = scale(-max(radius - bottom, LYING * radius) / size, add_scaled(normal, -tilt, axis))
    velocity = add(wheel.velocity, cross(wheel.angular_velocity, arm))
    rolling, sinking = dot(velocity, ahead), -dot(velocity, normal)
    transport = radius * abs(wheel.spin)
    drift_x, drift_y = rolling - radius * wheel.spin, dot(velocity, left)
    speed = transport + STILL
    slip_x, slip_y = -drift_x / speed, -drift_y / speed

    # Rolling on, the leading arc meets fresh soil: a wheel that rises no faster than this is still loaded as by
    # virgin soil. The slope is that of resistance over load where pressure is a power of sinkage (Bekker): there rising
    # gains as much as rolling costs.
    reach = max(bottom, soil_state.deepest)
    steep = _entry(radius, reach) * 0.5 / (1.0 + bearing(soil, reach, tyre.width).exponent / 3.0)
    deepest = max(soil_state.deepest - abs(rolling * soil_state.relief) * step * math.tan(steep), 0.0)
    depth = max(bottom, deepest)
    entry = _entry(radius, depth + plane.rough)
    patch = max(2.0 * radius * math.sin(entry), SHORTEST)
    frame = _Frame(ahead, left, normal[2], entry, depth, min(tyre.width, patch))
    sums = _summed(tyre, soil, ground, plane, wheel, frame, _Rolling(soil_state.relief, slip_x, slip_y), scratch)
    passed = min(abs(rolling) * step / patch, 1.0)
    found = give_way(
        SoilSpring(depth, deepest, sums.load, sums.pressing, sums.release, sums.damping),
        stiffness, damper, pushed, soil_state.squeeze, sinking, step,
    )  # fmt: skip
    if found.load <= 0.0:
        # The wheel has lifted off: its deepest sinkage fades as it moves on.
        left_behind = max(deepest * (1.0 - passed), 0.0)
        return _loose(max(bottom, 0.0), SoilState(max(left_behind, found.bottom), soil_state.relief, found.squeeze))
    load, share = found.load, found.load / sums.load

    slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
    strength = math.sqrt(sums.along * sums.along + sums.across * sums.across)
    per_slip = share * (strength / slip if slip > 1e-9 else sums.slope)
    along, along_rate, force_x = steady_to_dynamic(
        tyre.carcass_stiffness[0], tyre.carcass_damping[0], speed, per_slip, share * sums.along, carcass.along, elapsed
    )
    across, across_rate, force_y = steady_to_dynamic(
        tyre.carcass_stiffness[1],
        tyre.carcass_damping[1],
        speed,
        per_slip,
        share * sums.across,
        carcass.across,
        elapsed,
    )
    # The carcass force is distributed over the patch like the steady shear of a rolling wheel, and under a standing
    # wheel like the soil's strength.
    rolled, standing = abs(soil_state.relief), radius * sums.grip / max(sums.grip_along, 1.0)
    lever, rise = standing, 0.0
    if abs(sums.along) > 1.0:
        lever += rolled * (min(max(sums.torque / sums.along, radius), 2.0 * radius) - standing)
        rise = rolled * min(max(sums.rise / sums.along, -1.0), 1.0)
    roll = tyre.rolling_resistance * load * radius * math.tanh(wheel.spin)
    align = rolled * force_y * sums.twist / sums.across if abs(sums.across) > 1.0 else 0.0

    pull = force_x - share * sums.resistance
    force = add_scaled(combine(pull, ahead, force_y, left), load + rise * force_x, normal)
    moment = add(cross(arm, scale(force_y, left)), combine(align, normal, share * sums.tip, ahead))
    moment = add_scaled(moment, -lever * force_x - roll, axis)

    # Rolling back, resistance pushes until the energy stored in the elastic soil is spent: load^2 / (2 release).
    rebound = 0.5 * load * load / (sums.release * max(abs(share * sums.resistance), 1e-6 * load))
    relief = _relief_after(soil_state.relief, rolling * step, patch, rebound)
    after = SoilState(max(deepest, found.bottom), relief, found.squeeze)
    if span.leaves_ruts and step > 0.0 and abs(rolling) > 0.01 and len(ground.ruts.keys) > 1:
        _leave_rut(ground, wheel, ahead, after.deepest, math.copysign(patch, rolling), tyre.width)
    return WheelContact(
        force, moment, load, pull, force_y, slip_x, slip_y, max(bottom, 0.0),
        Deflection(along, across), Deflection(along_rate, across_rate), after,
    )  # fmt: skip


@inlined_part
def _loose(sinkage: float, soil_state: SoilState) -> WheelContact:
    """No contact, but the state is kept."""
    none = NO_CONTACT
    return WheelContact(
        none.force, none.moment, 0.0, 0.0, 0.0, 0.0, 0.0, sinkage, none.deflection, none.deflection_rate, soil_state
    )


@inlined_part
def _entry(radius: float, depth: float) -> float:
    """Angle round the wheel [rad] at which it meets the soil when the bottom is at a depth [m]."""
    return min(math.acos(max(min(1.0 - depth / radius, 1.0), -1.0)), STEEPEST)


@inlined_part
def _relief_after(relief: float, distance: float, patch: float, rebound: float) -> float:
    """Relief after rolling a distance [m]: builds up over a patch [m]; opposite relief decays with the rebound.

    The larger it is, the slower it grows and the faster it falls, so that rolling to and fro never gains energy.
    """
    sign = math.copysign(1.0, distance)
    against = max(-relief * sign, 0.0)
    kept = relief + sign * against * -math.expm1(-abs(distance) / rebound)
    return kept + min(abs(distance) / patch, 1.0) * (sign - kept)


@inlined_part
def _summed(
    tyre: Any,
    soil: SoilRecord,
    ground: Ground,
    plane: ContactPlane,
    wheel: WheelMotionInWorld,
    frame: _Frame,
    rolling: _Rolling,
    scratch: Array,
) -> _Sums:
    """Two-point Gauss quadrature over panels of the arc, leading and trailing side apart, and strips across it."""
    relief, slip_x, slip_y = rolling
    radius, entry, depth = tyre.radius, frame.entry, frame.depth
    arcs = tyre.arc_samples
    strips = _prepare_strips(tyre, ground, plane, wheel, frame, scratch)
    leading = 2 * (arcs // 4)  # as many on either side: a standing wheel is then pushed straight up
    load = resistance = along = rise = torque = across = twist = tip = pressing = release = damping = 0.0
    slope = grip = grip_along = 0.0
    rolled, heading = abs(relief), 1.0 if relief >= 0.0 else -1.0
    # Behind the axle the soil rebounds to the permanent rut, and no further.
    left_over = rolled * residual_depth(soil, depth, frame.width)
    leaving = min(_entry(radius, depth - left_over), entry)
    top, reached, found = math.sin(entry), -1.0, NO_BEARING
    for k in range(2 * leading):
        # From the leading to the trailing side; theta is positive on the leading side.
        side = k if k < leading else k - leading
        angle = (entry if k < leading else leaving) / leading
        position = angle * (side + 0.5 + (GAUSS if side % 2 == 0 else -GAUSS))
        theta = entry - position if k < leading else -position
        sine, cosine = math.sin(theta), math.cos(theta)
        # Displacement since contact began, per unit of transport.
        met, chord = entry - theta, top - sine
        sine *= heading
        jx = radius * (heading * rolled * (met - chord) + slip_x * chord)
        jy = radius * slip_y * met
        j = math.sqrt(jx * jx + jy * jy)
        held = mobilised(soil, j)
        sheared = held.share / j if j > 0.0 else 0.0
        # Between two points along the profile.
        spot = min(max((sine - ALONG[0]) * ((len(ALONG) - 1) / (ALONG[-1] - ALONG[0])), 0.0), len(ALONG) - 1.0)
        point = min(int(spot), len(ALONG) - 2)
        beyond = spot - point
        stress = tilting = stiff = loose = strength = damped = 0.0  # summed over strips
        for row in range(strips):
            here, sinkage = soil, radius * (cosine - 1.0) + depth
            if not plane.is_bare:
                profile = PROFILE_FROM + row * len(ALONG) + point
                sinkage += scratch[profile] * (1.0 - beyond) + scratch[profile + 1] * beyond
            if plane.is_mixed:
                here = ground.soils[_soil_of(plane, row, strips, point + (beyond > 0.5), scratch)]
            rut = scratch[RUT_FROM + row]
            deepest = sinkage
            if theta < 0.0:  # the trailing side was compacted by the leading side
                deepest = max(sinkage + rolled * (depth - sinkage), sinkage)
            is_in_rut = rut > deepest
            if is_in_rut:
                deepest = rut
            if deepest <= 0.0:
                continue
            if deepest != reached or plane.is_mixed:
                reached, found = deepest, bearing(here, deepest, frame.width)
            back = unloading_stiffness(found, deepest)
            normal = found.pressure - back * (deepest - sinkage)
            if normal <= 0.0:
                continue
            stress += normal
            tilting += normal * _lateral(tyre, row, strips)
            strength += found.cohesion + normal * found.friction
            loose += back
            stiff += back if is_in_rut else found.exponent * found.pressure / deepest
            damped += found.damping
        area = radius * angle * tyre.width / strips
        strength *= area
        tx, ty = strength * sheared * jx, strength * sheared * jy
        grip += strength
        grip_along += strength * cosine
        slope += strength * radius * chord / held.length
        load += stress * cosine * area
        resistance += stress * sine * area
        tip += tilting * cosine * area
        pressing += stiff * cosine * cosine * area
        release += loose * cosine * cosine * area
        damping += damped * cosine * area
        rise += tx * sine
        along += tx * cosine
        torque += tx * radius
        across += ty
        twist += ty * radius * sine
    return _Sums(
        load, resistance, along, rise, torque, across, twist, tip, pressing, release, damping, slope, grip, grip_along
    )  # fmt: skip


@inlined_part
def _prepare_strips(
    tyre: Any, ground: Ground, plane: ContactPlane, wheel: WheelMotionInWorld, frame: _Frame, scratch: Array
) -> int:
    """Write rut and profile of each strip; returns the number of distinct strips: one where all are alike."""
    strips, has_ruts = tyre.strip_samples, False
    for row in range(strips):
        lateral = _lateral(tyre, row, strips)
        origin = add_scaled(wheel.centre, lateral, frame.left)
        scratch[RUT_FROM + row] = rut_depth(ground.ruts, origin[0], origin[1])
        has_ruts = has_ruts or scratch[RUT_FROM + row] > 0.0
        if plane.is_bare:
            continue
        spot = min(max(lateral / tyre.width / ACROSS[-1] + 1.0, 0.0), 2.0)
        point = min(int(spot), 1)
        for i in range(len(ALONG)):
            first = i * len(ACROSS) + point
            over = scratch[first] + (spot - point) * (scratch[first + 1] - scratch[first])
            scratch[PROFILE_FROM + row * len(ALONG) + i] = over * frame.steepness
    return strips if has_ruts or not plane.is_bare else 1


@inlined_part
def _soil_of(plane: ContactPlane, row: int, strips: int, point: int, scratch: Array) -> int:
    """Index of the soil at a point along and a strip."""
    found = int(scratch[SOIL_FROM + point * len(ACROSS) + (row * len(ACROSS)) // strips])
    return found if found >= 0 else plane.soil


@inlined_part
def _lateral(tyre: Any, row: int, strips: int) -> float:
    """Lateral position of a strip's middle, to the left [m]."""
    return float(tyre.width * ((row + 0.5) / strips - 0.5))


@inlined_part
def _leave_rut(
    ground: Ground,
    wheel: WheelMotionInWorld,
    ahead: tuple[float, float, float],
    deepest: float,
    patch: float,
    width: float,
) -> None:
    """Leave a rut behind the contact, where this wheel will not read it again; patch [m] is signed as it rolls."""
    behind = -(0.5 * patch + math.copysign(1.5 / ground.ruts.inverse, patch))
    tracks = int(width * ground.ruts.inverse) + 2  # covers every cell under the wheel
    for k in range(tracks):
        side = width * (k / (tracks - 1.0) - 0.5)
        position = add(wheel.centre, combine(behind, ahead, side, wheel.axis))
        press(ground.ruts, position[0], position[1], deepest)
