"""A wheel on soft soil: stress over its contact arc, along and across, summed to forces and moments.

The soil's law (terrain/soil_law.py) gives its bearing and shear. Normal stress is the law's pressure at the
local sinkage, elastic where the soil was pressed deeper before, plus damping. Shear stress is the law's share of the
Mohr-Coulomb strength at the displacement that Wong and Reece (1967) give for a rolling wheel,

    j_x = R ((theta_1 - theta) - (1 - i) (sin theta_1 - sin theta)),

where the soil gives way normal to the rim; where it gives way straight down, the term without slip changes its sign.
For a side slip it is v_y (theta_1 - theta) / omega. Steady forces become dynamic like those of a tyre, through carcass
deflection ([Sanjurjo], Eqs. 5.34-5.39), so that a standing wheel sticks.

A tyre flattens as far as the pressure below its bottom deflects it, so a tyre on weak soil stays round: the arc is that
of the larger substitute circle (Schmid 1995), R* = R (sqrt(1 + f/z) + sqrt(f/z))^2 for a flattening f at a sinkage z.
The largest stress is ahead of the axle (Wong and Reece 1967), theta_m = (c_1 + c_2 i) theta_1. Slip carries soil away:
the sinkage is 1 + dug times that at which the soil's law carries the load, and approaches (1 + i) / (1 - i / 2) times
for a steady slip i (Lyasko 2010) as the wheel rolls; c_2 goes with what was dug. A deep wheel pushes soil ahead
(Bekker 1969), its sides push it aside (Hegedus 1960). In a rut only the floor is left, elastic up to what it bore.

Vertically, the stresses are those of the wheel at the deepest it has been at its position; from there the soil unloads
along its elastic slope (terrain/soil_give.py). The state of the contact changes as the wheel rolls, such that no closed
path gains energy: deepest falls by no more than rolling costs, and resistance reverses within the soil's rebound.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from proving_ground.kernels.carcass import steady_to_dynamic
from proving_ground.kernels.jit import inlined, inlined_part
from proving_ground.kernels.vector3 import add, add_scaled, combine, cross, dot, scale, unit
from terrain.contact_plane import (
    ACROSS,
    ALONG,
    FLOOR_FROM,
    LOST_FROM,
    PROFILE_FROM,
    RUT_FROM,
    SOIL_FROM,
    SPRING_FROM,
    ContactPlane,
)
from terrain.ground import Array, Ground
from terrain.ruts import press, rut_depth
from terrain.soil import Bearing, SoilRecord, loosened_bearing, mobilised, residual_depth, unloading_stiffness
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
SLOW = 0.05  # [m/s]: below this speed resistance of soil pushed ahead fades
LYING = 0.1  # cosine between ground normal and wheel plane below which a wheel has no contact
SHORTEST = 0.02  # [m]: lower bound of the patch length
GAUSS = 0.5 - 1.0 / math.sqrt(3.0)  # shift of Gauss points from the middles of half panels, in halves of a panel
STEEPEST = 1.4  # [rad]: how far round the wheel the soil may reach
FOOTPRINT = 0.6  # length of a tyre's footprint on hard ground over the chord of its undeflected circle
FOREMOST = 0.8  # angle of the largest stress over that of entry, at most
FLATTEST = 0.25  # flattening of a tyre over its radius, at most
THINNEST = 1e-6  # [m]: sinkage below which the flattening's shape no longer changes
# Sinkage over diameter between which soil begins to be pushed ahead (below some 0.06 little is).
BOW_FROM, BOW_TO = 0.03, 0.09
CAVING = 0.5  # share of the soil that slip carries away which falls back: the 1/2 of (1 + i) / (1 - i / 2)
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


class _Shape(NamedTuple):
    """Shape of a tyre in the soil."""

    arc: float  # radius of the substitute circle [m]
    rolling: float  # speed of its rim per spin [m]
    growth: float  # d(ln patch length) / d(ln sinkage)


class _Frame(NamedTuple):
    """Directions and depths of a contact."""

    ahead: tuple[float, float, float]  # along the ground
    left: tuple[float, float, float]  # along the ground
    steepness: float  # cosine between the ground's normal and z
    entry: float  # angle where the soil is met [rad]
    depth: float  # deepest sinkage at this position [m]
    width: float  # of the plate pressed in [m]
    loosened: float  # sinkage over that at which the soil's law carries the load
    shape: _Shape


class _Rolling(NamedTuple):
    """Rolling history and slip of the wheel."""

    relief: float  # as in SoilState
    slip_x: float  # along
    slip_y: float  # across


class _Mirror(NamedTuple):
    """Where the largest stress is, and how stress falls behind it."""

    foremost: float  # angle of the largest stress [rad]; 0: it is at the bottom
    leaving: float  # angle behind the axle at which contact ends [rad]
    ratio: float  # how fast the angle with the same stress on the leading side grows behind


class _Spot(NamedTuple):
    """A piece of rim over a strip of soil."""

    depth: float  # of the rim [m]
    sinkage: float  # the same, less what stress falls behind its largest [m]
    rut: float  # depth of soil that was pressed before [m]; 0 where only its floor counts
    floor: float  # stress of the rut's elastic floor [Pa]
    floor_spring: float  # its stiffness [Pa/m]
    floor_loading: float  # the same, or 0 where it bears all that it can
    growth: float  # change of that sinkage over that of the bottom
    compacted: float  # share of what is left up to the bottom that the leading side has pressed already


class _Stress(NamedTuple):
    """Normal stress on a piece of rim."""

    normal: float  # [Pa]
    pressing: float  # per sinkage, loading [Pa/m]
    release: float  # per sinkage, unloading [Pa/m]
    deepest: float  # sinkage of the response below [m]
    found: Bearing


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
        return _loose(0.0, SoilState(0.0, soil_state.relief, relaxed, 0.0))
    ahead = unit(cross(axis, normal))
    left = cross(normal, ahead)
    arm = scale(-max(radius - bottom, LYING * radius) / size, add_scaled(normal, -tilt, axis))
    velocity = add(wheel.velocity, cross(wheel.angular_velocity, arm))
    rolling, sinking = dot(velocity, ahead), -dot(velocity, normal)

    loosened = 1.0 + soil_state.dug
    reach = max(bottom, soil_state.deepest)
    found_there = loosened_bearing(soil, reach, reach, loosened, tyre.width)
    before_shape = _shape(tyre, soil, found_there, reach)
    # Rolling on, the leading arc meets fresh soil: a wheel that rises no faster than this is still loaded as by
    # virgin soil. The slope is that of resistance over load where pressure is a power of sinkage (Bekker): there rising
    # gains as much as rolling costs.
    steep = _entry(before_shape.arc, reach) * 0.5 / (1.0 + found_there.exponent / 3.0)
    deepest = max(soil_state.deepest - abs(rolling * soil_state.relief) * step * math.tan(steep), 0.0)
    depth = max(bottom, deepest)
    shape = _shape(tyre, soil, loosened_bearing(soil, depth, depth, loosened, tyre.width), depth)
    transport = shape.rolling * abs(wheel.spin)
    drift_x, drift_y = rolling - shape.rolling * wheel.spin, dot(velocity, left)
    speed = transport + STILL
    slip_x, slip_y = -drift_x / speed, -drift_y / speed
    entry = _entry(shape.arc, depth + plane.rough)
    patch = max(2.0 * shape.arc * math.sin(entry), SHORTEST)
    frame = _Frame(ahead, left, normal[2], entry, depth, min(tyre.width, patch), loosened, shape)
    moves = _Rolling(soil_state.relief, slip_x, slip_y)
    sums = _summed(tyre, soil, ground, plane, wheel, frame, moves, scratch)
    dug = _dug_after(soil.slip_sinkage, soil_state.dug, rolling * step, math.hypot(drift_x, drift_y) * step, patch)
    passed = min(abs(rolling) * step / patch, 1.0)
    found = give_way(
        SoilSpring(depth, deepest, sums.load, sums.pressing, sums.release, sums.damping),
        stiffness, damper, pushed, soil_state.squeeze, sinking, step,
    )  # fmt: skip
    if found.load <= 0.0:
        # The wheel has lifted off: its deepest sinkage fades as it moves on.
        left_behind = max(deepest * (1.0 - passed), 0.0)
        state = SoilState(max(left_behind, found.bottom), soil_state.relief, found.squeeze, dug)
        return _loose(max(bottom, 0.0), state)
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
    rim = shape.rolling
    rolled, standing = abs(soil_state.relief), rim * sums.grip / max(sums.grip_along, 1.0)
    lever, rise = standing, 0.0
    if abs(sums.along) > 1.0:
        lever += rolled * (min(max(sums.torque / sums.along, rim), 2.0 * rim) - standing)
        rise = rolled * min(max(sums.rise / sums.along, -1.0), 1.0)
    roll = tyre.rolling_resistance * load * radius * math.tanh(wheel.spin)
    align = rolled * force_y * sums.twist / sums.across if abs(sums.across) > 1.0 else 0.0

    bow = _bow(soil, tyre, depth - scratch[RUT_FROM], share) * rolling / math.sqrt(rolling * rolling + SLOW * SLOW)
    pull = force_x - share * sums.resistance - bow
    force = add_scaled(combine(pull, ahead, force_y, left), load + rise * force_x, normal)
    moment = add(cross(arm, scale(force_y, left)), combine(align, normal, share * sums.tip, ahead))
    moment = add_scaled(moment, -lever * force_x - roll, axis)

    # Rolling back, resistance pushes until the energy stored in the elastic soil is spent: load^2 / (2 release).
    rebound = 0.5 * load * load / (sums.release * max(abs(share * sums.resistance), 1e-6 * load))
    relief = _relief_after(soil_state.relief, rolling * step, patch, rebound)
    after = SoilState(max(deepest, found.bottom), relief, found.squeeze, dug)
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
    return min(2.0 * math.asin(math.sqrt(min(max(0.5 * depth / radius, 0.0), 1.0))), STEEPEST)


@inlined_part
def _shape(tyre: Any, soil: SoilRecord, found: Bearing, depth: float) -> _Shape:
    """Shape of a tyre at a depth [m], from the response of the soil there: as round as it is where it cannot flatten.

    On hard ground a deflection f has a patch of a share s of the chord, 2 s sqrt(2 R f), with a parabola of pressure
    from p in its middle: a stiffness of c = 2/3 b 2 s sqrt(2 R f) p / f, or f = 32/9 R (s p b / c)^2. So much a tyre
    flattens under a pressure p.
    """
    radius = tyre.radius
    if soil.flattens == 0 or depth <= 0.0:
        return _Shape(radius, radius, 0.5)
    ratio = FOOTPRINT * found.pressure * tyre.width / tyre.stiffness
    flat = min(32.0 / 9.0 * radius * ratio * ratio, FLATTEST * radius)
    z = max(depth, THINNEST)
    front, rear = math.sqrt(z + flat), math.sqrt(flat)
    length = front + rear
    slope = found.exponent * flat  # df/d(ln z), half of it
    growth = 0.5 * ((z + 2.0 * slope) / front + 2.0 * found.exponent * rear) / length
    return _Shape(radius * length * length / z, radius - flat / tyre.rolling_divisor, growth)


@inlined_part
def _bow(soil: SoilRecord, tyre: Any, sinkage: float, share: float) -> float:
    """Resistance [N] of what a wheel pushes ahead; sinkage into what lies there [m]; share of the load held."""
    deep = min(max((0.5 * sinkage / tyre.radius - BOW_FROM) / (BOW_TO - BOW_FROM), 0.0), 1.0)
    if deep == 0.0:
        return 0.0
    slope = 1.0 + soil.bow[0] / math.tan(_entry(tyre.radius, sinkage))
    whole = tyre.width * slope * (soil.bow[1] + soil.bow[2] * sinkage) * sinkage
    return float(deep * whole * min(share, 1.0))


@inlined_part
def _dug_after(strength: float, dug: float, distance: float, slid: float, patch: float) -> float:
    """Share `dug` of SoilState after rolling a distance and sliding [m] over a patch [m]; implicit."""
    refilled = (abs(distance) + CAVING * slid) / patch
    return (dug + strength * slid / patch) / (1.0 + refilled)


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
    arc, entry, depth, loosened = frame.shape.arc, frame.entry, frame.depth, frame.loosened
    arcs = tyre.arc_samples
    strips = _prepare_strips(tyre, ground, plane, wheel, frame, scratch)
    leading = 2 * (arcs // 4)  # as many on either side: a standing wheel is then pushed straight up
    load = resistance = along = rise = torque = across = twist = tip = pressing = release = damping = 0.0
    slope = grip = grip_along = 0.0
    rolled, heading = abs(relief), 1.0 if relief >= 0.0 else -1.0
    # Behind the axle the soil rebounds to the permanent rut, and no further.
    found = loosened_bearing(soil, depth, depth, loosened, frame.width)
    # How much a wheel carries at a depth must not depend on how it got there where that would lift it (`settled`).
    settled = 1.0 if soil.forward[0] > 0.0 else rolled
    left_over = settled * residual_depth(found, depth)
    leaving = min(_entry(arc, depth - left_over), entry)
    top = math.sin(entry)
    mirror = _mirror(soil, frame, leaving)
    if mirror.foremost > 0.0:
        # The floor of a rut bore the largest stress of the wheel that made it, not that of its bottom.
        _prepare_floors(soil, frame, strips, 1.0 - (mirror.foremost / entry) ** 2, scratch)
    met_before = _Stress(0.0, 0.0, 0.0, depth, found)
    for k in range(2 * leading):
        # From the leading to the trailing side; theta is positive on the leading side.
        side = k if k < leading else k - leading
        angle = (entry if k < leading else leaving) / leading
        position = angle * (side + 0.5 + (GAUSS if side % 2 == 0 else -GAUSS))
        theta = entry - position if k < leading else -position
        sine, cosine, raised = math.sin(theta), math.cos(theta), _raised(arc, theta)
        eased = _eased(mirror, entry, arc, theta)
        # Displacement since contact began, per unit of transport.
        met, chord = entry - theta, top - sine
        sine *= heading
        jx = arc * (heading * rolled * soil.geometric * (met - chord) + slip_x * chord)
        jy = arc * slip_y * met
        j = math.sqrt(jx * jx + jy * jy)
        held = mobilised(soil, j)
        sheared = held.share / j if j > 0.0 else 0.0
        # Between two points along the profile.
        spot = (sine * arc / tyre.radius - ALONG[0]) * ((len(ALONG) - 1) / (ALONG[-1] - ALONG[0]))
        spot = min(max(spot, 0.0), len(ALONG) - 1.0)
        point = min(int(spot), len(ALONG) - 2)
        beyond = spot - point
        compacted = settled if theta < 0.0 else 0.0
        stress = tilting = stiff = loose = strength = damped = aside = 0.0  # summed over strips
        for row in range(strips):
            here, sinkage = soil, depth - raised
            if not plane.is_bare:
                profile = PROFILE_FROM + row * len(ALONG) + point
                sinkage += scratch[profile] * (1.0 - beyond) + scratch[profile + 1] * beyond
            if plane.is_mixed:
                here = ground.soils[_soil_of(plane, row, strips, point + (beyond > 0.5), scratch)]
                met_before = _Stress(0.0, 0.0, 0.0, -1.0, found)
            aside += here.side[0] * max(sinkage, 0.0) + here.side[1] * max(sinkage, 0.0) ** 2
            if mirror.foremost > 0.0:
                piece = _on_floor(scratch, row, sinkage, eased[0], 1.0 + eased[1])
            else:
                piece = _Spot(sinkage, sinkage, scratch[RUT_FROM + row], 0.0, 0.0, 0.0, 1.0, compacted)
            met = _stress(here, frame, piece, met_before)
            met_before = met
            if met.normal <= 0.0:
                continue
            stress += met.normal
            tilting += met.normal * _lateral(tyre, row, strips)
            soils = tyre.lug_cohesion * met.found.cohesion + tyre.lug_friction * met.normal * met.found.friction
            strength += min(soils, tyre.rubber_friction * met.normal)
            loose += met.release
            stiff += met.pressing
            damped += met.found.damping
        area = arc * angle * tyre.width / strips
        strength *= area
        tx, ty = strength * sheared * jx, strength * sheared * jy
        grip += strength
        grip_along += strength * cosine
        slope += strength * arc * chord / held.length
        load += stress * cosine * area
        resistance += stress * sine * area
        tip += tilting * cosine * area
        pressing += stiff * cosine * cosine * area
        release += loose * cosine * cosine * area
        damping += damped * cosine * area
        rise += tx * sine
        along += tx * cosine
        torque += tx * frame.shape.rolling
        across += ty + sheared * jy * aside * arc * angle / strips  # mobilised as shear is
        twist += ty * arc * sine
    if soil.forward[0] > 0.0:  # a wheel that stands is pushed straight up
        resistance *= rolled
    pressing += load * (frame.shape.growth - 0.5) / max(depth, THINNEST)
    return _Sums(
        load, resistance, along, rise, torque, across, twist, tip, pressing, release, damping, slope, grip, grip_along
    )  # fmt: skip


@inlined_part
def _mirror(soil: SoilRecord, frame: _Frame, leaving: float) -> _Mirror:
    """Where stress is largest. The slip in it is that for which the wheel has dug: at rest the slip itself is noise."""
    dug = frame.loosened - 1.0
    slip = dug / max(soil.slip_sinkage + CAVING * dug, 1e-9)
    foremost = min(soil.forward[0] + soil.forward[1] * slip, FOREMOST) * frame.entry
    return _Mirror(foremost, leaving, (frame.entry - foremost) / max(foremost + leaving, 1e-9))


@inlined_part
def _eased(mirror: _Mirror, entry: float, arc: float, theta: float) -> tuple[float, float]:
    """How much less deep the soil behind the largest stress seems [m], and its change per sinkage of the bottom."""
    if theta >= mirror.foremost:
        return 0.0, 0.0
    like = entry - (theta + mirror.leaving) * mirror.ratio
    share = like / entry
    change = share * (theta / entry * mirror.ratio - share) if theta > 0.0 else 0.0
    return _raised(arc, like) - _raised(arc, theta), change


@inlined_part
def _on_floor(scratch: Array, row: int, sinkage: float, ease: float, growth: float) -> _Spot:
    """A piece of rim where all that is left of a rut is its floor: what was never pressed that deep is gone."""
    rut = scratch[RUT_FROM + row]
    if rut <= 0.0:
        return _Spot(sinkage, sinkage - ease, 0.0, 0.0, 0.0, 0.0, growth, 0.0)
    bears, spring = scratch[FLOOR_FROM + row], scratch[SPRING_FROM + row]
    if sinkage < rut:
        return _Spot(sinkage, 0.0, 0.0, bears - spring * (rut - sinkage), spring, spring, growth, 0.0)
    return _Spot(sinkage, sinkage - scratch[LOST_FROM + row] - ease, 0.0, bears, spring, 0.0, growth, 0.0)


@inlined_part
def _stress(soil: SoilRecord, frame: _Frame, spot: _Spot, before: _Stress) -> _Stress:
    """Normal stress on a piece of rim; before: that of another piece, whose response is used again where it fits."""
    # Where the trailing side was compacted by the leading side, or a wheel before, soil is elastic.
    deepest = max(spot.sinkage + spot.compacted * (frame.depth - spot.sinkage), spot.sinkage)
    is_in_rut = spot.rut > deepest
    if is_in_rut:
        deepest = spot.rut
    found, normal, back = before.found, 0.0, 0.0
    if deepest > 0.0:
        if deepest != before.deepest or spot.depth > deepest:
            found = loosened_bearing(soil, deepest, max(deepest, spot.depth), frame.loosened, frame.width)
        back = unloading_stiffness(found, deepest)
        normal = found.pressure - back * (deepest - spot.sinkage)
    if spot.floor > normal:
        return _Stress(spot.floor, spot.floor_loading, spot.floor_spring, deepest, found)
    loading = back if is_in_rut else max(spot.growth, 0.0) * found.exponent * found.pressure / max(deepest, 1e-12)
    return _Stress(normal, loading, back, deepest, found)


@inlined
def _raised(radius: float, angle: float) -> float:
    """Height [m] of a rim at an angle [rad] over its bottom."""
    sine = math.sin(0.5 * angle)
    return 2.0 * radius * sine * sine


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
def _prepare_floors(soil: SoilRecord, frame: _Frame, strips: int, pressed: float, scratch: Array) -> None:
    """Write what the floor of each strip's rut bore; pressed: sinkage of the largest stress over that of the bottom."""
    for row in range(strips):
        rut = pressed * scratch[RUT_FROM + row]
        if rut > 0.0:
            found = loosened_bearing(soil, rut, rut, frame.loosened, frame.width)
            scratch[FLOOR_FROM + row] = soil.rut_firmness * found.pressure
            scratch[SPRING_FROM + row] = unloading_stiffness(found, rut)
            # Pressed on, the floor goes on along the curve of fresh soil from what it bears.
            bearing_depth = rut * soil.rut_firmness ** (1.0 / max(found.exponent, 0.1))
            scratch[LOST_FROM + row] = scratch[RUT_FROM + row] - bearing_depth


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
