"""A wheel on soft soil: stress over its contact arc, along and across, summed to forces and moments.

Normal stress is Bekker's pressure at the local sinkage, bounded by Terzaghi's bearing capacity, elastic where the soil
was pressed deeper before, plus damping. Shear stress is Janosi's and Hanamoto's share of the Mohr-Coulomb strength at
the displacement that Wong and Reece (1967) give for a rolling wheel,

    j_x = R ((theta_1 - theta) - (1 - i) (sin theta_1 - sin theta)),

and for a side slip v_y (theta_1 - theta) / omega. Steady forces become dynamic as those of a tyre do, by a carcass
that deflects (seed 001, Eqs. 5.34-5.39), so that a standing wheel sticks.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from terrain.contact_plane import ContactPlane
from terrain.ground import Array, Ground, height_at
from terrain.ruts import press, rut_depth
from terrain.soil import SoilRecord, pressed, residual_depth, shear_share
from terrain.wheel import NO_CONTACT, Deflection, SoilMemory, WheelContact, WheelMotionInWorld
from vehicle_dynamics.kernels.jit import inlined_part
from vehicle_dynamics.kernels.vector3 import add, add_scaled, combine, cross, dot, scale, unit
from vehicle_dynamics.tyre.carcass import steady_to_dynamic

STILL = 1e-12  # [m/s]: keeps a wheel that stands still from a division by zero
LYING = 0.1  # cosine between ground normal and wheel plane below which a wheel has no contact
SHORTEST = 0.02  # [m]: patch lengths below are taken as this
GAUSS = 0.5 - 1.0 / math.sqrt(3.0)  # shift of Gauss points from the middles of half panels, in halves of a panel
STEEPEST = 1.4  # [rad]: how far round the wheel the soil may reach


class _Sums(NamedTuple):
    """Over the contact patch."""

    load: float  # of normal stress, normal to the ground [N]
    resistance: float  # of the soil that is pressed, against the heading [N]
    along: float  # of shear, along the ground [N]
    rise: float  # of shear, normal to the ground [N]
    torque: float  # of shear, against the spin [N m]
    across: float  # of shear [N]
    twist: float  # of shear, about the normal [N m]
    tip: float  # of normal stress, about the heading [N m]
    stiffness: float  # load per sinkage [N/m]
    slope: float  # of shear over slip, at none [N]
    grip: float  # of shear at its strongest, along the wheel's rim [N]
    grip_along: float  # and along the ground [N]


@inlined_part
def soil_contact(
    tyre: Any,
    soil: SoilRecord,
    ground: Ground,
    plane: ContactPlane,
    wheel: WheelMotionInWorld,
    before: Deflection,
    memory: SoilMemory,
    elapsed: float,
    step: float,
    scratch: Array,
) -> WheelContact:
    """Forces on a wheel of a tyre record on a soil; scratch (a number per strip at least) is written to.

    elapsed [s] is how long ago the deflection was what is given; step [s] is that of the memory, 0 leaves it.
    """
    c, normal, axis = wheel.centre, plane.normal, wheel.axis
    tilt = dot(normal, axis)
    size = math.sqrt(max(1.0 - tilt * tilt, 0.0))
    if size < LYING:
        return NO_CONTACT
    radius, squeeze = tyre.radius, memory.squeeze if soil.has_tyre == 1 else 0.0
    distance = (c[2] - plane.height) * normal[2] / size + squeeze
    reach = distance - plane.rough
    if not (reach < radius and distance > 0.0):
        return NO_CONTACT
    upward = scale(1.0 / size, add_scaled(normal, -tilt, axis))
    ahead = unit(cross(axis, normal))
    left = cross(normal, ahead)
    arm = scale(-distance, upward)
    velocity = add(wheel.velocity, cross(wheel.turn, arm))
    rolling, sinking = dot(velocity, ahead), -dot(velocity, normal)
    transport = radius * abs(wheel.spin)
    drift_x, drift_y = rolling - radius * wheel.spin, dot(velocity, left)
    speed = transport + STILL
    slip_x, slip_y = -drift_x / speed, -drift_y / speed

    entry = min(math.acos(max(min(reach / radius, 1.0), -1.0)), STEEPEST)
    patch = max(2.0 * radius * math.sin(entry), SHORTEST)
    width = min(tyre.width, patch)
    bottom = max(radius - distance, 0.0)
    settled = max(memory.deepest - bottom, 0.0)
    heading = 1.0 if memory.relief >= 0.0 else -1.0
    sums = _summed(
        tyre, soil, ground, wheel, _Frame(upward, ahead, left, squeeze), entry, distance, width, bottom, settled,
        memory.relief, heading, sinking, slip_x, slip_y, scratch,
    )  # fmt: skip
    if sums.load <= 0.0:
        return NO_CONTACT

    # The tyre in series: its spring and damper against the soil, implicit in its squeeze.
    load, after_squeeze = sums.load, squeeze
    if soil.has_tyre == 1:
        give = tyre.damping + step * (tyre.stiffness + sums.stiffness)
        change = step * (sums.load - tyre.stiffness * squeeze) / give
        after_squeeze = max(squeeze + min(change, 0.9 * bottom), 0.0)  # the soil cannot push the tyre off itself
        load = max(sums.load - sums.stiffness * (after_squeeze - squeeze), 0.0)
    share = load / sums.load

    slip = math.sqrt(slip_x * slip_x + slip_y * slip_y)
    strength = math.sqrt(sums.along * sums.along + sums.across * sums.across)
    per_slip = share * (strength / slip if slip > 1e-9 else sums.slope)
    along, along_rate, force_x = steady_to_dynamic(
        tyre.carcass_stiffness[0], tyre.carcass_damping[0], speed, per_slip, share * sums.along, before.along, elapsed
    )
    across, across_rate, force_y = steady_to_dynamic(
        tyre.carcass_stiffness[1], tyre.carcass_damping[1], speed, per_slip, share * sums.across, before.across, elapsed
    )
    # What the carcass passes on is spread over the patch as the steady shear of a rolling wheel is, and under one that
    # stands as the soil's strength.
    rolled, standing = abs(memory.relief), radius * sums.grip / max(sums.grip_along, 1.0)
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

    after = _remember(ground, wheel, ahead, memory, bottom, after_squeeze, rolling, patch, step, tyre.width)
    return WheelContact(
        force, moment, load, pull, force_y, slip_x, slip_y, bottom,
        Deflection(along, across), Deflection(along_rate, across_rate), after,
    )  # fmt: skip


class _Frame(NamedTuple):
    upward: tuple[float, float, float]  # in the wheel's plane
    ahead: tuple[float, float, float]  # along the ground
    left: tuple[float, float, float]  # along the ground
    squeeze: float  # by which the tyre's surface is nearer to its centre [m]


@inlined_part
def _summed(
    tyre: Any,
    soil: SoilRecord,
    ground: Ground,
    wheel: WheelMotionInWorld,
    frame: _Frame,
    entry: float,
    distance: float,
    width: float,
    bottom: float,
    settled: float,
    relief: float,
    heading: float,
    sinking: float,
    slip_x: float,
    slip_y: float,
    scratch: Array,
) -> _Sums:
    """Gauss' rule of two points over panels of the arc, leading and trailing side apart, and strips across it."""
    radius, c = tyre.radius, wheel.centre
    arcs, strips = tyre.arc_samples, tyre.strip_samples
    leading = 2 * (arcs // 4)  # as many on either side: a standing wheel is then pressed straight up
    load = resistance = along = rise = torque = across = twist = tip = stiffness = slope = grip = grip_along = 0.0
    rolled = abs(relief)
    # Behind the axle the soil springs back to the rut that stays, and no further.
    left_over = rolled * residual_depth(soil, bottom + settled, width)
    leaving = min(math.acos(min(max((left_over + distance) / radius, -1.0), 1.0)), entry)
    for row in range(strips):
        origin = add_scaled(c, _aside(tyre, row), frame.left)
        scratch[row] = rut_depth(ground.ruts, origin[0], origin[1])
    top = math.sin(entry)
    for k in range(2 * leading):
        # From the side that leads to the one that trails; theta is positive on the leading side.
        side = k if k < leading else k - leading
        turn = (entry if k < leading else leaving) / leading
        place = turn * (side + 0.5 + (GAUSS if side % 2 == 0 else -GAUSS))
        theta = entry - place if k < leading else -place
        sine, cosine = math.sin(theta), math.cos(theta)
        # Displacement since the soil was met, per unit of transport.
        met, chord = entry - theta, top - sine
        sine *= heading
        jx = radius * (heading * rolled * (met - chord) + slip_x * chord)
        jy = radius * slip_y * met
        j = math.sqrt(jx * jx + jy * jy)
        sheared = shear_share(soil, j) / j if j > 0.0 else 0.0
        reach = combine(radius * sine, frame.ahead, frame.squeeze - radius * cosine, frame.upward)
        stress = tilting = stiff = 0.0  # summed over strips
        touching = 0
        for row in range(strips):
            aside = _aside(tyre, row)
            # Along the ground, not along the axle: a tyre that leans lies down flat, also where the soil is hard.
            point = add(add_scaled(c, aside, frame.left), reach)
            sinkage = (height_at(ground, point[0], point[1]) - point[2]) * frame.upward[2]
            deepest = max(sinkage + settled, scratch[row])
            if theta < 0.0:  # what trails was pressed by what went before
                deepest = max(deepest, sinkage + rolled * (bottom + settled - sinkage))
            here = pressed(soil, sinkage, deepest, width)
            if here.pressure <= 0.0:
                continue
            normal = max(here.pressure + soil.damping * sinking, 0.0)
            touching += 1
            stress += normal
            tilting += normal * aside
            stiff += here.slope
        area = radius * turn * tyre.width / strips
        strength = (touching * soil.cohesion + stress * soil.tan_friction) * area
        tx, ty = strength * sheared * jx, strength * sheared * jy
        grip += strength
        grip_along += strength * cosine
        slope += strength * radius * chord / soil.shear_modulus
        load += stress * cosine * area
        resistance += stress * sine * area
        tip += tilting * cosine * area
        stiffness += stiff * cosine * cosine * area
        rise += tx * sine
        along += tx * cosine
        torque += tx * radius
        across += ty
        twist += ty * radius * sine
    return _Sums(load, resistance, along, rise, torque, across, twist, tip, stiffness, slope, grip, grip_along)


@inlined_part
def _aside(tyre: Any, row: int) -> float:
    """Where a strip's middle is, to the left [m]."""
    return float(tyre.width * ((row + 0.5) / tyre.strip_samples - 0.5))


@inlined_part
def _remember(
    ground: Ground,
    wheel: WheelMotionInWorld,
    ahead: tuple[float, float, float],
    memory: SoilMemory,
    bottom: float,
    squeeze: float,
    rolling: float,
    patch: float,
    step: float,
    width: float,
) -> SoilMemory:
    """Memory after a step; a rut is left behind the contact, where this wheel will not read it again."""
    passed = min(abs(rolling) * step / patch, 1.0)
    deepest = max(bottom, memory.deepest - passed * (memory.deepest - bottom))
    relief = memory.relief + passed * (math.copysign(1.0, rolling) - memory.relief)
    if step > 0.0 and abs(rolling) > 0.01 and len(ground.ruts.keys) > 1:
        behind = -math.copysign(0.5 * patch + 1.5 / ground.ruts.inverse, rolling)
        tracks = int(width * ground.ruts.inverse) + 2  # no cell under the wheel is left out
        for k in range(tracks):
            side = width * (k / (tracks - 1.0) - 0.5)
            place = add(wheel.centre, combine(behind, ahead, side, wheel.axis))
            press(ground.ruts, place[0], place[1], deepest)
    return SoilMemory(deepest, relief, squeeze)
