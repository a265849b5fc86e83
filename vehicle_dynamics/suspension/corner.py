"""One suspension with its wheel as an aggregated body with one degree of freedom: kinematics and loads of its bodies.

The wheel's spin is eliminated first: what remains of an axisymmetric wheel is a rotor that adds a gyroscopic moment to
the hub, which is the spindle with the wheel on it, and is one rigid body. See body_sums.py for frames.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from proving_ground.kernels.inertia import Symmetric, rod_inertia, rotated_inertia
from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, combine, cross, dot, norm, scale, sub, vector
from vehicle_dynamics.suspension.body_sums import BodyMotion, BodyTerms, CornerSums, add_body, body_terms, first_body
from vehicle_dynamics.suspension.corner_record import CornerRecord
from vehicle_dynamics.suspension.wishbone import (
    WishboneGeometry,
    WishbonePose,
    WishboneRates,
    moving_rates,
    on_spindle,
    tie_end_spin,
    wishbone_acceleration,
    wishbone_column,
    wishbone_pose,
)


class TieEnd(NamedTuple):
    """Inner end of the tie rod, L, relative to the chassis."""

    position: Vector3
    velocity: Vector3
    acceleration: Vector3


class WheelLoad(NamedTuple):
    """Loads on a wheel, chassis axes."""

    moment: Vector3  # [N m]
    force: Vector3  # at the centre of the wheel [N]
    spin_rate: float  # relative to the spindle [rad/s]
    spin_torque: float  # from the spindle on the wheel, such as brake torque [N m]


class CornerMotion(NamedTuple):
    """Kinematics of a corner at one instant, relative to the chassis."""

    pose: WishbonePose
    column: WishboneRates  # per unit theta rate
    velocity: WishboneRates
    bias: WishboneRates  # accelerations at zero theta acceleration


class WheelMotion(NamedTuple):
    """Motion of a wheel, relative to the chassis and in its axes."""

    centre: Vector3  # [m]
    axis: Vector3  # of spin, to the left
    velocity: Vector3  # of the centre [m/s]
    angular_velocity: Vector3  # of the spindle [rad/s]


class SpinEquation(NamedTuple):
    """Angular acceleration of a wheel about its axle, relative to the upright; theta: angle of the lower arm.

    spin' = own - axis . (angular acceleration of the chassis) - carried theta''.
    """

    axis: Vector3  # of the axle, in the chassis
    own: float  # due to the torques on the wheel and to velocities [rad/s^2]
    carried: float  # angular velocity of the upright about the axle per unit of theta' [-]


class RodRotation(NamedTuple):
    """Angular motion of a rod on a universal joint."""

    column: Vector3
    velocity: Vector3
    bias: Vector3


@inlined_part
def corner_motion(g: WishboneGeometry, theta: float, theta_rate: float, end: TieEnd) -> CornerMotion:
    """Kinematics of a corner for given theta and motion of the tie rod's inner end."""
    pose = wishbone_pose(g, theta, end.position)
    column = wishbone_column(g, pose, end.position)
    velocity = moving_rates(g, pose, column, theta_rate, tie_end_spin(pose, end.position, end.velocity))
    bias = wishbone_acceleration(g, pose, velocity, end.position, theta_rate, 0.0, end.velocity, end.acceleration)
    return CornerMotion(pose, column, velocity, bias)


@inlined_part
def wheel_motion(corner: CornerRecord, motion: CornerMotion) -> WheelMotion:
    """Position and motion of the wheel relative to the chassis."""
    pose, velocity, hub = motion.pose, motion.velocity, corner.hub
    arm = on_spindle(pose, add(vector(hub.centre), vector(hub.wheel_arm)))
    return WheelMotion(
        add(pose.lower_ball, arm),
        on_spindle(pose, vector(hub.spin_axis)),
        add(velocity.lower_ball, cross(velocity.spindle, arm)),
        velocity.spindle,
    )


@inlined_part
def corner_sums(
    corner: CornerRecord,
    motion: CornerMotion,
    theta_rate: float,
    end: TieEnd,
    load: WheelLoad,
    chassis_angular_velocity: Vector3,
) -> tuple[CornerSums, SpinEquation, BodyTerms, BodyTerms]:
    """Sums over all bodies of a corner, the wheel's spin equation, and hub and tie rod, which steering moves."""
    g, w0 = corner.geometry, chassis_angular_velocity
    pose, column, velocity, bias = motion.pose, motion.column, motion.velocity, motion.bias
    lower = arm_terms(corner.lower_arm, vector(g.lower_axis), pose.cos_theta, pose.sin_theta, 1.0, theta_rate, 0.0, w0)
    sums = first_body(lower)
    upper = arm_terms(
        corner.upper_arm, vector(g.upper_axis), pose.cos_phi, pose.sin_phi, column.phi, velocity.phi, bias.phi, w0
    )
    sums = add_body(sums, upper)
    sums = add_body(sums, _upright_arm(corner, motion, theta_rate, w0))
    sums = _add_shock(sums, corner, motion, theta_rate, w0)
    tie_rod = _tie_rod(corner, motion, end, w0)
    sums = add_body(sums, tie_rod)
    hub, spin = _hub(corner.hub, motion, load, w0)
    return add_body(sums, hub), spin, hub, tie_rod


@inlined_part
def arm_terms(
    arm: Any,
    axis: Vector3,
    cosine: float,
    sine: float,
    column: float,
    rate: float,
    bias: float,
    chassis_angular_velocity: Vector3,
) -> BodyTerms:
    """Terms of an arm that rotates about an axis of the chassis, at the cosine and sine of its angle.

    column: rate of that angle per unit theta rate; rate [rad/s]; bias: acceleration at zero theta'' [rad/s^2].
    """
    radius, tangent0 = vector(arm.radius), vector(arm.tangent)
    out = combine(cosine, radius, sine, tangent0)
    tangent = combine(cosine, tangent0, -sine, radius)
    return body_terms(
        arm.mass,
        arm_inertia(arm.inertia, cosine, sine),
        add(vector(arm.fixed), out),
        BodyMotion(scale(column, axis), scale(column, tangent)),
        BodyMotion(scale(rate, axis), scale(rate, tangent)),
        BodyMotion(scale(bias, axis), combine(bias, tangent, -rate * rate, out)),
        chassis_angular_velocity,
    )


@inlined_part
def arm_inertia(rows: Any, cosine: float, sine: float) -> Symmetric:
    """Inertia of an arm about its centre, at the cosine and sine of its angle; rows: `inertia` of corner_record.ARM."""
    square, product = cosine * cosine, cosine * sine
    return (
        rows[0, 0] + cosine * rows[1, 0] + sine * rows[2, 0] + square * rows[3, 0] + product * rows[4, 0],
        rows[0, 1] + cosine * rows[1, 1] + sine * rows[2, 1] + square * rows[3, 1] + product * rows[4, 1],
        rows[0, 2] + cosine * rows[1, 2] + sine * rows[2, 2] + square * rows[3, 2] + product * rows[4, 2],
        rows[0, 3] + cosine * rows[1, 3] + sine * rows[2, 3] + square * rows[3, 3] + product * rows[4, 3],
        rows[0, 4] + cosine * rows[1, 4] + sine * rows[2, 4] + square * rows[3, 4] + product * rows[4, 4],
        rows[0, 5] + cosine * rows[1, 5] + sine * rows[2, 5] + square * rows[3, 5] + product * rows[4, 5],
    )


@inlined_part
def _rod_on_lower_arm(axis: Vector3, n: Vector3, n_column: Vector3, rate: float, n_bias: Vector3) -> RodRotation:
    """Rotation of a rod along n on a universal joint of the lower arm, whose first axis is the arm's own.

    Rotation about that axis is the same relative to the chassis: w = rotation about the axis + rotation about the other
    axis, which is normal to both. All velocities are in proportion to the theta rate.
    """
    across = cross(n, axis)
    inverse = 1.0 / norm(across)
    second = scale(inverse, across)
    side = cross(second, n)
    first_column, second_column = -dot(n_column, second) * inverse, dot(n_column, side)
    column = combine(first_column, axis, second_column, second)
    velocity = scale(rate, column)
    carried = scale(rate * rate * first_column * second_column, cross(axis, second))
    rest = sub(sub(n_bias, cross(velocity, scale(rate, n_column))), cross(carried, n))
    bias = add(carried, combine(-dot(rest, second) * inverse, axis, dot(rest, side), second))
    return RodRotation(column, velocity, bias)


@inlined_part
def _upright_arm(
    corner: CornerRecord, motion: CornerMotion, theta_rate: float, chassis_angular_velocity: Vector3
) -> BodyTerms:
    pose, column, velocity, bias = motion.pose, motion.column, motion.velocity, motion.bias
    n, rod = pose.upright, corner.upright_arm
    rod_motion = _rod_on_lower_arm(vector(corner.geometry.lower_axis), n, column.upright, theta_rate, bias.upright)
    return body_terms(
        rod.mass,
        rod_inertia(rod.across, rod.along, n),
        combine(0.5, pose.lower_ball, 0.5, pose.upper_ball),
        BodyMotion(rod_motion.column, combine(0.5, column.lower_ball, 0.5, column.upper_ball)),
        BodyMotion(rod_motion.velocity, combine(0.5, velocity.lower_ball, 0.5, velocity.upper_ball)),
        BodyMotion(rod_motion.bias, combine(0.5, bias.lower_ball, 0.5, bias.upper_ball)),
        chassis_angular_velocity,
    )


@inlined_part
def _add_shock(
    sums: CornerSums, corner: CornerRecord, motion: CornerMotion, theta_rate: float, chassis_angular_velocity: Vector3
) -> CornerSums:
    """Both tubes rotate alike, on a universal joint of the lower arm at B; the upper one slides and ends at J."""
    top, b = vector(corner.geometry.shock_upper), motion.pose.shock_lower
    b_column, b_bias = motion.column.shock_lower, motion.bias.shock_lower
    span = sub(top, b)
    length = norm(span)
    inverse = 1.0 / length
    n = scale(inverse, span)
    # n' = -(B' - (n . B') n) / length, and its derivative.
    length_column = -dot(n, b_column)
    n_column = scale(-inverse, add_scaled(b_column, length_column, n))
    squared = theta_rate * theta_rate
    length_bias = -dot(n, b_bias) + squared * length * dot(n_column, n_column)
    n_bias = scale(-inverse, add(b_bias, combine(length_bias, n, 2.0 * squared * length_column, n_column)))
    rod_motion = _rod_on_lower_arm(vector(corner.geometry.lower_axis), n, n_column, theta_rate, n_bias)
    n_rate = scale(theta_rate, n_column)
    low, high = corner.lower_shock, corner.upper_shock
    sums = add_body(
        sums,
        body_terms(
            low.mass,
            rod_inertia(low.across, low.along, n),
            add_scaled(b, low.reach, n),
            BodyMotion(rod_motion.column, add_scaled(b_column, low.reach, n_column)),
            BodyMotion(rod_motion.velocity, add_scaled(motion.velocity.shock_lower, low.reach, n_rate)),
            BodyMotion(rod_motion.bias, add_scaled(b_bias, low.reach, n_bias)),
            chassis_angular_velocity,
        ),
    )
    return add_body(
        sums,
        body_terms(
            high.mass,
            rod_inertia(high.across, high.along, n),
            add_scaled(top, -high.reach, n),
            BodyMotion(rod_motion.column, scale(-high.reach, n_column)),
            BodyMotion(rod_motion.velocity, scale(-high.reach, n_rate)),
            BodyMotion(rod_motion.bias, scale(-high.reach, n_bias)),
            chassis_angular_velocity,
        ),
    )


@inlined_part
def _universal_angular_velocity(
    first: Vector3, second: Vector3, side: Vector3, shrink: float, n: Vector3, parent: Vector3, n_rate: Vector3
) -> Vector3:
    """Angular velocity of a rod along n on a universal joint of a parent, from the rate of its direction.

    Relative to the parent it rotates about the first axis and about the second; side = second x n, shrink is one over
    the sine of the angle between rod and first axis.
    """
    rest = sub(n_rate, cross(parent, n))
    return add(parent, combine(-dot(rest, second) * shrink, first, dot(rest, side), second))


@inlined_part
def rod_on_spindle_column(
    corner: CornerRecord,
    pose: WishbonePose,
    inner: Vector3,
    spindle_angular_velocity: Vector3,
    outer_rate: Vector3,
    inner_rate: Vector3,
) -> Vector3:
    """Angular velocity [rad/s] of the tie rod for given velocities of the spindle and of the rod's ends.

    inner: position of its inner end [m]; outer_rate, inner_rate: velocities of its ends [m/s].
    """
    inverse = 1.0 / corner.geometry.tie_length
    n = scale(inverse, sub(inner, pose.tie_outer))
    first = on_spindle(pose, vector(corner.hub.tie_cross))
    across = cross(n, first)
    shrink = 1.0 / norm(across)
    second = scale(shrink, across)
    n_rate = scale(inverse, sub(inner_rate, outer_rate))
    return _universal_angular_velocity(first, second, cross(second, n), shrink, n, spindle_angular_velocity, n_rate)


@inlined_part
def _tie_rod(corner: CornerRecord, motion: CornerMotion, end: TieEnd, chassis_angular_velocity: Vector3) -> BodyTerms:
    """Terms of the tie rod, on a universal joint of the spindle at K."""
    pose, column, velocity, bias = motion.pose, motion.column, motion.velocity, motion.bias
    inverse = 1.0 / corner.geometry.tie_length
    n = scale(inverse, sub(end.position, pose.tie_outer))
    n_rate = scale(inverse, sub(end.velocity, velocity.tie_outer))
    n_bias = scale(inverse, sub(end.acceleration, bias.tie_outer))
    first = on_spindle(pose, vector(corner.hub.tie_cross))
    across = cross(n, first)
    shrink = 1.0 / norm(across)  # 1 / sine of the angle between rod and first axis
    second = scale(shrink, across)
    side = cross(second, n)
    # Relative to the spindle the rod rotates about the first axis and about the second.
    angular_column = _universal_angular_velocity(
        first, second, side, shrink, n, column.spindle, scale(-inverse, column.tie_outer)
    )
    rest = sub(n_rate, cross(velocity.spindle, n))
    first_rate, second_rate = -dot(rest, second) * shrink, dot(rest, side)
    on_first = add_scaled(velocity.spindle, first_rate, first)
    rod_angular_velocity = add_scaled(on_first, second_rate, second)
    # The first axis rotates with the spindle, the second with the spindle and about the first.
    carried = add(
        bias.spindle, combine(first_rate, cross(velocity.spindle, first), second_rate, cross(on_first, second))
    )
    rest = sub(sub(n_bias, cross(rod_angular_velocity, n_rate)), cross(carried, n))
    angular_bias = add(carried, combine(-dot(rest, second) * shrink, first, dot(rest, side), second))
    rod = corner.tie_rod
    return body_terms(
        rod.mass,
        rod_inertia(rod.across, rod.along, n),
        combine(0.5, pose.tie_outer, 0.5, end.position),
        BodyMotion(angular_column, scale(0.5, column.tie_outer)),
        BodyMotion(rod_angular_velocity, combine(0.5, velocity.tie_outer, 0.5, end.velocity)),
        BodyMotion(angular_bias, combine(0.5, bias.tie_outer, 0.5, end.acceleration)),
        chassis_angular_velocity,
    )


@inlined_part
def _hub(
    hub: Any, motion: CornerMotion, load: WheelLoad, chassis_angular_velocity: Vector3
) -> tuple[BodyTerms, SpinEquation]:
    """Spindle and wheel as one body, with the loads on the wheel; the spin is eliminated (Eq. 4)."""
    pose, column, velocity, bias = motion.pose, motion.column, motion.velocity, motion.bias
    arm = on_spindle(pose, vector(hub.centre))
    y = on_spindle(pose, vector(hub.spin_axis))
    arm_rate = cross(velocity.spindle, arm)
    centre_bias = add(bias.lower_ball, add(cross(bias.spindle, arm), cross(velocity.spindle, arm_rate)))
    body = body_terms(
        hub.mass,
        rotated_inertia(hub.inertia, pose.upright, pose.tie_side, pose.tie_across),
        add(pose.lower_ball, arm),
        BodyMotion(column.spindle, add(column.lower_ball, cross(column.spindle, arm))),
        BodyMotion(velocity.spindle, add(velocity.lower_ball, arm_rate)),
        BodyMotion(bias.spindle, centre_bias),
        chassis_angular_velocity,
    )
    # Rotor: the momentum along y rotates with the spindle. A moment about y spins the wheel and does not reach the
    # spindle, on which the spin torque reacts.
    total = add(chassis_angular_velocity, velocity.spindle)
    gyroscopic = scale(hub.spin_inertia * (dot(y, total) + load.spin_rate), cross(total, y))
    about_spin = dot(y, load.moment)
    lever = cross(on_spindle(pose, vector(hub.wheel_arm)), load.force)
    acting = add_scaled(add(load.moment, lever), -about_spin - load.spin_torque, y)
    angular = add(bias.spindle, cross(chassis_angular_velocity, velocity.spindle))
    spin = SpinEquation(y, (load.spin_torque + about_spin) / hub.spin_inertia - dot(y, angular), dot(y, column.spindle))
    moment, force = sub(add(body.moment, gyroscopic), acting), sub(body.force, load.force)
    loaded = BodyTerms(body.mass, body.centre, body.inertia, body.angular_column, body.centre_column, moment, force)
    return loaded, spin
