"""One suspension as an aggregated body with one degree of freedom: its part of the recursion of Eqs. 4-7, in scalars.

The seven bodies and the wheel are summed in chassis axes about the chassis origin, so that no transport is needed. The
loads are those of a chassis that does not accelerate; velocities are relative to an observer who moves with the chassis
origin, which changes no acceleration. The wheel's spin is eliminated first: what remains of an axisymmetric wheel is
its inertia without the spin axis.
"""

from __future__ import annotations

from typing import NamedTuple

from vehicle_dynamics.inertia import ArmBody, RodBody, Symmetric, about_origin, rod_inertia, times, turned_inertia
from vehicle_dynamics.jit import kernel
from vehicle_dynamics.vector3 import Vector3, add, add_scaled, cross, dot, norm, scale, sub, turn, unit
from vehicle_dynamics.wishbone import (
    WishboneGeometry,
    WishbonePose,
    WishboneRates,
    spindle_vector,
    wishbone_acceleration,
    wishbone_pose,
    wishbone_velocity,
)

ZERO: Vector3 = (0.0, 0.0, 0.0)


class CornerBodies(NamedTuple):
    """All bodies of a suspension and its wheel."""

    lower_arm: ArmBody
    upper_arm: ArmBody
    spindle: ArmBody
    upright_arm: RodBody
    tie_rod: RodBody
    lower_shock: RodBody  # reach from B
    upper_shock: RodBody  # reach from J
    tie_cross: Vector3  # first axis of the tie rod's universal joint on the spindle, at design
    wheel_mass: float
    wheel_across: float  # moment about any diameter
    wheel_spin: float  # moment about the spin axis, shafts included


class CornerSums(NamedTuple):
    """Sums over the bodies of a corner, about the chassis origin in chassis axes."""

    mass: float
    moment: Vector3  # mass times centre
    inertia: Symmetric
    coupling_moment: Vector3  # P H*: momentum of a unit theta rate
    coupling_force: Vector3
    load_moment: Vector3  # force that the chassis must supply when it does not accelerate
    load_force: Vector3
    d: float  # D = H P H*
    drive: float  # generalised force on theta, less the loads


class CornerMotion(NamedTuple):
    """Kinematics of a corner at one instant, relative to the chassis."""

    pose: WishbonePose
    column: WishboneRates  # per unit theta rate
    velocity: WishboneRates
    bias: WishboneRates  # accelerations at zero theta acceleration
    spin_axis: Vector3
    wheel_arm: Vector3  # from D to the wheel centre


@kernel
def _add_body(
    sums: CornerSums,
    mass: float,
    inertia: Symmetric,
    centre: Vector3,
    turn_column: Vector3,
    centre_column: Vector3,
    turn_rate: Vector3,
    centre_rate: Vector3,
    turn_bias: Vector3,
    centre_bias: Vector3,
    chassis_turn: Vector3,
) -> CornerSums:
    """Add a body: columns are motions per unit theta rate, rates and biases are relative to the chassis."""
    momentum = scale(mass, centre_column)
    spin_momentum = times(inertia, turn_column)
    # Newton and Euler about the centre of mass, for a chassis that turns but does not accelerate.
    carried = cross(chassis_turn, add_scaled(scale(2.0, centre_rate), 1.0, cross(chassis_turn, centre)))
    force = scale(mass, add(centre_bias, carried))
    total_turn = add(chassis_turn, turn_rate)
    angular = add(turn_bias, cross(chassis_turn, turn_rate))
    moment = add(times(inertia, angular), cross(total_turn, times(inertia, total_turn)))
    c, m = centre, mass
    xx, yy, zz, xy, xz, yz = sums.inertia
    shifted = about_origin(inertia, m, c)
    return CornerSums(
        sums.mass + m,
        add_scaled(sums.moment, m, c),
        (xx + shifted[0], yy + shifted[1], zz + shifted[2], xy + shifted[3], xz + shifted[4], yz + shifted[5]),
        add(sums.coupling_moment, add(spin_momentum, cross(c, momentum))),
        add(sums.coupling_force, momentum),
        add(sums.load_moment, add(moment, cross(c, force))),
        add(sums.load_force, force),
        sums.d + dot(centre_column, momentum) + dot(turn_column, spin_momentum),
        sums.drive - dot(centre_column, force) - dot(turn_column, moment),
    )


@kernel
def _rod_turn(parent: Vector3, first: Vector3, second: Vector3, rod: Vector3, rod_rate: Vector3) -> Vector3:
    """Angular velocity of a rod on a universal joint, from the velocity of its direction; `parent` is its carrier's."""
    side = cross(second, rod)
    rest = sub(rod_rate, cross(parent, rod))
    return add_scaled(add_scaled(parent, -dot(rest, second) / dot(first, side), first), dot(rest, side), second)


@kernel
def _rod_turn_bias(
    parent: Vector3,
    parent_bias: Vector3,
    first: Vector3,
    second: Vector3,
    rod: Vector3,
    rod_rate: Vector3,
    rod_bias: Vector3,
    turn_rate: Vector3,
) -> Vector3:
    """Angular acceleration of such a rod, from the acceleration of its direction."""
    side = cross(second, rod)
    relative = sub(turn_rate, parent)
    second_rate = dot(relative, second)
    # The first axis turns with the parent, the second with the parent and the first coordinate.
    first_rate = -dot(sub(rod_rate, cross(parent, rod)), second) / dot(first, side)
    carried = add(
        add_scaled(parent_bias, first_rate, cross(parent, first)),
        scale(second_rate, cross(add_scaled(parent, first_rate, first), second)),
    )
    rest = sub(sub(rod_bias, cross(turn_rate, rod_rate)), cross(carried, rod))
    return add_scaled(add_scaled(carried, -dot(rest, second) / dot(first, side), first), dot(rest, side), second)


@kernel
def corner_motion(
    geometry: WishboneGeometry,
    theta: float,
    theta_rate: float,
    tie_inner: Vector3,
    tie_inner_rate: Vector3,
    tie_inner_acceleration: Vector3,
) -> CornerMotion:
    """Kinematics of a corner for given theta and motion of the tie rod's inner end."""
    pose = wishbone_pose(geometry, theta, tie_inner)
    column = wishbone_velocity(geometry, pose, tie_inner, 1.0, ZERO)
    velocity = wishbone_velocity(geometry, pose, tie_inner, theta_rate, tie_inner_rate)
    bias = wishbone_acceleration(
        geometry, pose, velocity, tie_inner, theta_rate, 0.0, tie_inner_rate, tie_inner_acceleration
    )
    spin_axis = spindle_vector(geometry, pose, (0.0, 1.0, 0.0))
    wheel_arm = spindle_vector(geometry, pose, sub(geometry.wheel_centre, geometry.lower_ball))
    return CornerMotion(pose, column, velocity, bias, spin_axis, wheel_arm)


@kernel
def corner_sums(
    geometry: WishboneGeometry,
    bodies: CornerBodies,
    motion: CornerMotion,
    theta_rate: float,
    tie_inner: Vector3,
    tie_inner_rate: Vector3,
    tie_inner_acceleration: Vector3,
    chassis_turn: Vector3,
    spin_rate: float,
) -> tuple[CornerSums, Vector3]:
    """Sums over all bodies; and the wheel's gyroscopic moment, whose part along the spin axis drives the spin."""
    g, pose, column, velocity, bias = geometry, motion.pose, motion.column, motion.velocity, motion.bias
    n, w0 = pose.upright, chassis_turn
    sums = CornerSums(0.0, ZERO, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), ZERO, ZERO, ZERO, ZERO, 0.0, 0.0)

    # Lower and upper arm: turns about fixed axes.
    sums = _add_arm(
        sums, bodies.lower_arm, g.lower_axis, g.lower_pivot, pose.cos_theta, pose.sin_theta, 1.0, theta_rate, 0.0, w0
    )
    sums = _add_arm(
        sums,
        bodies.upper_arm,
        g.upper_axis,
        g.upper_pivot,
        pose.cos_phi,
        pose.sin_phi,
        column.phi,
        velocity.phi,
        bias.phi,
        w0,
    )

    # Upright arm: on a universal joint of the lower arm, whose first axis is the arm's own.
    second = unit(cross(n, g.lower_axis))
    lower_turn = scale(theta_rate, g.lower_axis)
    turn_rate = _rod_turn(lower_turn, g.lower_axis, second, n, velocity.upright)
    sums = _add_body(
        sums,
        bodies.upright_arm.mass,
        rod_inertia(bodies.upright_arm, n),
        scale(0.5, add(pose.lower_ball, pose.upper_ball)),
        _rod_turn(g.lower_axis, g.lower_axis, second, n, column.upright),
        scale(0.5, add(column.lower_ball, column.upper_ball)),
        turn_rate,
        scale(0.5, add(velocity.lower_ball, velocity.upper_ball)),
        _rod_turn_bias(lower_turn, ZERO, g.lower_axis, second, n, velocity.upright, bias.upright, turn_rate),
        scale(0.5, add(bias.lower_ball, bias.upper_ball)),
        w0,
    )

    # Spindle: any rigid body.
    arm = spindle_vector(g, pose, sub(bodies.spindle.centre, g.lower_ball))
    x_axis = spindle_vector(g, pose, (1.0, 0.0, 0.0))
    z_axis = cross(x_axis, motion.spin_axis)
    sums = _add_body(
        sums,
        bodies.spindle.mass,
        turned_inertia(bodies.spindle.inertia, x_axis, motion.spin_axis, z_axis),
        add(pose.lower_ball, arm),
        column.spindle,
        add(column.lower_ball, cross(column.spindle, arm)),
        velocity.spindle,
        add(velocity.lower_ball, cross(velocity.spindle, arm)),
        bias.spindle,
        _rigid_bias(bias.lower_ball, bias.spindle, velocity.spindle, arm),
        w0,
    )

    # Tie rod: on a universal joint of the spindle.
    rod = unit(sub(tie_inner, pose.tie_outer))
    first = spindle_vector(g, pose, bodies.tie_cross)
    second = unit(cross(rod, first))
    inverse = 1.0 / g.tie_length
    rod_rate = scale(inverse, sub(tie_inner_rate, velocity.tie_outer))
    rod_bias = scale(inverse, sub(tie_inner_acceleration, bias.tie_outer))
    turn_rate = _rod_turn(velocity.spindle, first, second, rod, rod_rate)
    sums = _add_body(
        sums,
        bodies.tie_rod.mass,
        rod_inertia(bodies.tie_rod, rod),
        scale(0.5, add(pose.tie_outer, tie_inner)),
        _rod_turn(column.spindle, first, second, rod, scale(-inverse, column.tie_outer)),
        scale(0.5, column.tie_outer),
        turn_rate,
        scale(0.5, add(velocity.tie_outer, tie_inner_rate)),
        _rod_turn_bias(velocity.spindle, bias.spindle, first, second, rod, rod_rate, rod_bias, turn_rate),
        scale(0.5, add(bias.tie_outer, tie_inner_acceleration)),
        w0,
    )

    sums = _add_shock(sums, g, bodies, motion, theta_rate, w0)
    return _add_wheel(sums, bodies, motion, spin_rate, w0)


@kernel
def _add_arm(
    sums: CornerSums,
    body: ArmBody,
    axis: Vector3,
    pivot: Vector3,
    cosine: float,
    sine: float,
    column: float,
    rate: float,
    bias: float,
    chassis_turn: Vector3,
) -> CornerSums:
    arm = turn(axis, cosine, sine, sub(body.centre, pivot))
    tangent = cross(axis, arm)
    inertia = turned_inertia(
        body.inertia,
        turn(axis, cosine, sine, (1.0, 0.0, 0.0)),
        turn(axis, cosine, sine, (0.0, 1.0, 0.0)),
        turn(axis, cosine, sine, (0.0, 0.0, 1.0)),
    )
    return _add_body(
        sums,
        body.mass,
        inertia,
        add(pivot, arm),
        scale(column, axis),
        scale(column, tangent),
        scale(rate, axis),
        scale(rate, tangent),
        scale(bias, axis),
        add_scaled(scale(bias, tangent), rate * rate, cross(axis, tangent)),
        chassis_turn,
    )


@kernel
def _add_shock(
    sums: CornerSums,
    g: WishboneGeometry,
    bodies: CornerBodies,
    motion: CornerMotion,
    theta_rate: float,
    chassis_turn: Vector3,
) -> CornerSums:
    """Both tubes turn alike, on a universal joint of the lower arm at B; the upper one slides and ends at J."""
    b = motion.pose.shock_lower
    span = sub(g.shock_upper, b)
    length = norm(span)
    n = scale(1.0 / length, span)
    n_column = _direction_rate(n, length, motion.column.shock_lower)
    n_rate = _direction_rate(n, length, motion.velocity.shock_lower)
    length_rate = -dot(n, motion.velocity.shock_lower)
    length_bias = -dot(n, motion.bias.shock_lower) + length * dot(n_rate, n_rate)
    n_bias = scale(
        -1.0 / length,
        add_scaled(add_scaled(motion.bias.shock_lower, length_bias, n), 2.0 * length_rate, n_rate),
    )
    second = unit(cross(n, g.lower_axis))
    lower_turn = scale(theta_rate, g.lower_axis)
    turn_column = _rod_turn(g.lower_axis, g.lower_axis, second, n, n_column)
    turn_rate = _rod_turn(lower_turn, g.lower_axis, second, n, n_rate)
    turn_bias = _rod_turn_bias(lower_turn, ZERO, g.lower_axis, second, n, n_rate, n_bias, turn_rate)
    reach = bodies.lower_shock.reach
    sums = _add_body(
        sums,
        bodies.lower_shock.mass,
        rod_inertia(bodies.lower_shock, n),
        add_scaled(b, reach, n),
        turn_column,
        add_scaled(motion.column.shock_lower, reach, n_column),
        turn_rate,
        add_scaled(motion.velocity.shock_lower, reach, n_rate),
        turn_bias,
        add_scaled(motion.bias.shock_lower, reach, n_bias),
        chassis_turn,
    )
    reach = -bodies.upper_shock.reach
    return _add_body(
        sums,
        bodies.upper_shock.mass,
        rod_inertia(bodies.upper_shock, n),
        add_scaled(g.shock_upper, reach, n),
        turn_column,
        scale(reach, n_column),
        turn_rate,
        scale(reach, n_rate),
        turn_bias,
        scale(reach, n_bias),
        chassis_turn,
    )


@kernel
def _direction_rate(n: Vector3, length: float, end_rate: Vector3) -> Vector3:
    """Rate of a unit direction whose far end is fixed and whose near end moves."""
    return scale(-1.0 / length, add_scaled(end_rate, -dot(n, end_rate), n))


@kernel
def _rigid_bias(base: Vector3, turn_bias: Vector3, turn_rate: Vector3, arm: Vector3) -> Vector3:
    return add(base, add(cross(turn_bias, arm), cross(turn_rate, cross(turn_rate, arm))))


@kernel
def _add_wheel(
    sums: CornerSums, bodies: CornerBodies, motion: CornerMotion, spin_rate: float, chassis_turn: Vector3
) -> tuple[CornerSums, Vector3]:
    """The wheel with its spin eliminated: inertia and loads without their part along the spin axis (Eq. 4)."""
    y, arm, column, velocity, bias = motion.spin_axis, motion.wheel_arm, motion.column, motion.velocity, motion.bias
    across, spin = bodies.wheel_across, bodies.wheel_spin
    carrier = add(chassis_turn, velocity.spindle)
    total = add_scaled(carrier, spin_rate, y)
    angular = add(add(bias.spindle, cross(chassis_turn, velocity.spindle)), scale(spin_rate, cross(carrier, y)))
    momentum = add_scaled(scale(across, total), (spin - across) * dot(y, total), y)
    gyroscopic = add(add_scaled(scale(across, angular), (spin - across) * dot(y, angular), y), cross(total, momentum))
    # As a body without inertia about y and without turning momentum of its own; its moment is added after.
    disc = (
        across - across * y[0] * y[0],
        across - across * y[1] * y[1],
        across - across * y[2] * y[2],
        -across * y[0] * y[1],
        -across * y[0] * y[2],
        -across * y[1] * y[2],
    )
    still = scale(-1.0, chassis_turn)  # cancels every turning term of _add_body, which are all in `gyroscopic`
    sums = _add_body(
        sums,
        bodies.wheel_mass,
        disc,
        add(motion.pose.lower_ball, arm),
        column.spindle,
        add(column.lower_ball, cross(column.spindle, arm)),
        still,
        add(velocity.lower_ball, cross(velocity.spindle, arm)),
        ZERO,
        _rigid_bias(bias.lower_ball, bias.spindle, velocity.spindle, arm),
        chassis_turn,
    )
    rest = add_scaled(gyroscopic, -dot(y, gyroscopic), y)
    return add_moment(sums, column.spindle, rest), gyroscopic


@kernel
def add_moment(sums: CornerSums, turn_column: Vector3, moment: Vector3) -> CornerSums:
    """Add a moment that a body with the given turning column needs (the negative of one that acts on it)."""
    return CornerSums(
        sums.mass,
        sums.moment,
        sums.inertia,
        sums.coupling_moment,
        sums.coupling_force,
        add(sums.load_moment, moment),
        sums.load_force,
        sums.d,
        sums.drive - dot(turn_column, moment),
    )


@kernel
def add_force(sums: CornerSums, point: Vector3, point_column: Vector3, force: Vector3) -> CornerSums:
    """Add a force that the point of a body needs (the negative of one that acts on it)."""
    return CornerSums(
        sums.mass,
        sums.moment,
        sums.inertia,
        sums.coupling_moment,
        sums.coupling_force,
        add(sums.load_moment, cross(point, force)),
        add(sums.load_force, force),
        sums.d,
        sums.drive - dot(point_column, force),
    )
