"""Closed-form kinematics of a three-dimensional double wishbone suspension, with a tie-rod end that may move.

Letters are those of seed 000, Fig. 5. The lower ball joint D runs on a circle about the lower arm's axis (angle theta),
the upper ball joint F on one about the upper arm's axis (angle phi) at a constant distance from D; the spindle turns
about DF so that the tie rod KL keeps its length; the shock runs from B on the lower arm to J on the chassis. With flat
hardpoints this is the papers' four-bar (Eqs. 15-32), which planar_wishbone.py has as printed.

All vectors are in chassis axes, positions from the chassis origin, angles are zero at the design position. Rates are
those that an observer on the chassis sees.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from settings import SettingsError
from vehicle_dynamics.jit import kernel
from vehicle_dynamics.loop_angle import branch_at_zero, solve_angle
from vehicle_dynamics.vector3 import Vector3, add, add_scaled, cross, dot, norm, scale, sub, turn, unit


class WishboneGeometry(NamedTuple):
    """What the kernels know of a suspension, all at the design position."""

    lower_pivot: Vector3  # A: the point of the lower arm's axis that is nearest to D
    lower_axis: Vector3  # unit
    lower_ball: Vector3  # D
    upper_pivot: Vector3  # G: the point of the upper arm's axis that is nearest to F
    upper_axis: Vector3  # unit
    upper_ball: Vector3  # F
    upright_length: float  # |DF|
    upper_branch: float
    tie_outer: Vector3  # K
    tie_inner: Vector3  # L at the design position
    tie_length: float  # |KL|
    spindle_branch: float
    shock_lower: Vector3  # B
    shock_upper: Vector3  # J
    wheel_centre: Vector3


class WishbonePose(NamedTuple):
    """Where the suspension is at one angle."""

    lower_ball: Vector3  # D
    upper_ball: Vector3  # F
    tie_outer: Vector3  # K
    shock_lower: Vector3  # B
    upright: Vector3  # unit vector from D to F
    cos_theta: float
    sin_theta: float
    cos_phi: float
    sin_phi: float
    upper_margin: (
        float  # how far the upper loop is from where its two branches meet (0) and beyond which it cannot close
    )
    spindle_margin: float  # likewise for the tie-rod loop


class WishboneRates(NamedTuple):
    """First or second time derivatives, as an observer on the chassis sees them."""

    phi: float  # upper arm [rad/s] or [rad/s^2]
    spin: float  # spindle about DF, beyond what turning DF itself brings
    spindle: Vector3  # angular velocity or acceleration of the spindle
    lower_ball: Vector3
    upper_ball: Vector3
    tie_outer: Vector3
    shock_lower: Vector3
    upright: Vector3  # of the unit vector DF


@kernel
def wishbone_pose(geometry: WishboneGeometry, theta: float, tie_inner: Vector3) -> WishbonePose:
    """Position of all points at the lower-arm angle theta [rad] and tie-rod end L [m].

    Where a loop cannot close its margin is negative and the pose is the nearest that can.
    """
    g = geometry
    cos_theta, sin_theta = np.cos(theta), np.sin(theta)
    d = add(g.lower_pivot, turn(g.lower_axis, cos_theta, sin_theta, sub(g.lower_ball, g.lower_pivot)))
    b = add(g.lower_pivot, turn(g.lower_axis, cos_theta, sin_theta, sub(g.shock_lower, g.lower_pivot)))

    # |F - D| = |F0 - D0| with F = G + f cos(phi) + (axis x f) sin(phi): f is perpendicular to the axis by choice of G.
    arm, reach = sub(g.upper_ball, g.upper_pivot), sub(d, g.upper_pivot)
    x = 0.5 * (dot(reach, reach) + dot(arm, arm) - g.upright_length**2)
    cos_phi, sin_phi, upper_margin = solve_angle(
        dot(reach, arm), dot(reach, cross(g.upper_axis, arm)), x, g.upper_branch
    )
    f = add(g.upper_pivot, turn(g.upper_axis, cos_phi, sin_phi, arm))
    upright = scale(1.0 / g.upright_length, sub(f, d))

    k, spindle_margin = _tie_outer(g, d, upright, tie_inner)
    return WishbonePose(d, f, k, b, upright, cos_theta, sin_theta, cos_phi, sin_phi, upper_margin, spindle_margin)


@kernel
def _tie_outer(g: WishboneGeometry, d: Vector3, upright: Vector3, tie_inner: Vector3) -> tuple[Vector3, float]:
    """K at a constant height and distance from the line DF, and at the tie rod's length from L; and the margin."""
    upright0 = scale(1.0 / g.upright_length, sub(g.upper_ball, g.lower_ball))
    k0 = sub(g.tie_outer, g.lower_ball)
    height = dot(k0, upright0)
    radius = norm(add_scaled(k0, -height, upright0))
    # K = D + height n + radius (e1 cos + e2 sin), e1 in the plane of n and L: then B = 0 in A cos + B sin = X, and the
    # branch is the side of that plane on which K lies.
    w = sub(tie_inner, d)
    e1 = unit(add_scaled(w, -dot(w, upright), upright))
    e2 = cross(upright, e1)
    x = 0.5 * (dot(w, w) + height**2 + radius**2 - g.tie_length**2) - height * dot(w, upright)
    cosine, sine, margin = solve_angle(radius * dot(w, e1), 0.0, x, g.spindle_branch)
    side = add_scaled(scale(radius * cosine, e1), radius * sine, e2)
    return add(d, add_scaled(side, height, upright)), margin


@kernel
def wishbone_velocity(
    geometry: WishboneGeometry, pose: WishbonePose, tie_inner: Vector3, theta_rate: float, tie_inner_rate: Vector3
) -> WishboneRates:
    """Velocities, linear in the theta rate and the velocity of L. With rate 1 and L at rest they are X_S (Eq. 9)."""
    g = geometry
    d_rate = scale(theta_rate, cross(g.lower_axis, sub(pose.lower_ball, g.lower_pivot)))
    b_rate = scale(theta_rate, cross(g.lower_axis, sub(pose.shock_lower, g.lower_pivot)))
    f_per_phi = cross(g.upper_axis, sub(pose.upper_ball, g.upper_pivot))
    # (F - D) . (F' - D') = 0
    n = pose.upright
    phi_rate = dot(n, d_rate) / dot(n, f_per_phi)
    f_rate = scale(phi_rate, f_per_phi)
    n_rate = scale(1.0 / g.upright_length, sub(f_rate, d_rate))

    # The spindle turns with DF (n x n') and about it (spin); (K - L) . (K' - L') = 0 gives the spin.
    carried = cross(n, n_rate)
    arm, rod = sub(pose.tie_outer, pose.lower_ball), sub(pose.tie_outer, tie_inner)
    k_carried = add(d_rate, cross(carried, arm))
    spin = -dot(rod, sub(k_carried, tie_inner_rate)) / dot(rod, cross(n, arm))
    spindle = add_scaled(carried, spin, n)
    k_rate = add_scaled(k_carried, spin, cross(n, arm))
    return WishboneRates(phi_rate, spin, spindle, d_rate, f_rate, k_rate, b_rate, n_rate)


@kernel
def wishbone_acceleration(
    geometry: WishboneGeometry,
    pose: WishbonePose,
    velocity: WishboneRates,
    tie_inner: Vector3,
    theta_rate: float,
    theta_acceleration: float,
    tie_inner_rate: Vector3,
    tie_inner_acceleration: Vector3,
) -> WishboneRates:
    """Accelerations; with theta acceleration 0 they are the bias term, X_S' theta' and the rheonomic part (Eq. 11)."""
    g, v = geometry, velocity
    d_acc = _on_circle(g.lower_axis, sub(pose.lower_ball, g.lower_pivot), theta_rate, theta_acceleration)
    b_acc = _on_circle(g.lower_axis, sub(pose.shock_lower, g.lower_pivot), theta_rate, theta_acceleration)
    # (F - D) . (F'' - D'') + |F' - D'|^2 = 0
    n = pose.upright
    f_arm = sub(pose.upper_ball, g.upper_pivot)
    f_bias = _on_circle(g.upper_axis, f_arm, v.phi, 0.0)
    f_per_phi = cross(g.upper_axis, f_arm)
    squared = g.upright_length * dot(v.upright, v.upright)
    phi_acc = (dot(n, sub(d_acc, f_bias)) - squared) / dot(n, f_per_phi)
    f_acc = add_scaled(f_bias, phi_acc, f_per_phi)
    n_acc = scale(1.0 / g.upright_length, sub(f_acc, d_acc))

    # Angular acceleration n x n'' + spin n' + spin' n; (K - L) . (K'' - L'') + |K' - L'|^2 = 0 gives spin'.
    carried = add_scaled(cross(n, n_acc), v.spin, v.upright)
    arm, rod = sub(pose.tie_outer, pose.lower_ball), sub(pose.tie_outer, tie_inner)
    centripetal = cross(v.spindle, cross(v.spindle, arm))
    k_carried = add(d_acc, add(cross(carried, arm), centripetal))
    gap_rate = sub(v.tie_outer, tie_inner_rate)
    numerator = dot(rod, sub(k_carried, tie_inner_acceleration)) + dot(gap_rate, gap_rate)
    spin_acc = -numerator / dot(rod, cross(n, arm))
    spindle = add_scaled(carried, spin_acc, n)
    k_acc = add_scaled(k_carried, spin_acc, cross(n, arm))
    return WishboneRates(phi_acc, spin_acc, spindle, d_acc, f_acc, k_acc, b_acc, n_acc)


@kernel
def _on_circle(axis: Vector3, arm: Vector3, rate: float, acceleration: float) -> Vector3:
    tangent = cross(axis, arm)
    return add_scaled(scale(acceleration, tangent), rate * rate, cross(axis, tangent))


@kernel
def spindle_vector(geometry: WishboneGeometry, pose: WishbonePose, design: Vector3) -> Vector3:
    """Where a vector of the design position, fixed to the spindle, points now (chassis axes)."""
    g = geometry
    n0 = scale(1.0 / g.upright_length, sub(g.upper_ball, g.lower_ball))
    a0 = sub(g.tie_outer, g.lower_ball)
    e0 = unit(add_scaled(a0, -dot(a0, n0), n0))
    a = sub(pose.tie_outer, pose.lower_ball)
    e = unit(add_scaled(a, -dot(a, pose.upright), pose.upright))
    side = add_scaled(scale(dot(design, e0), e), dot(design, cross(n0, e0)), cross(pose.upright, e))
    return add_scaled(side, dot(design, n0), pose.upright)


@kernel
def wheel_centre(geometry: WishboneGeometry, pose: WishbonePose) -> Vector3:
    """Centre of the wheel [m]."""
    offset = sub(geometry.wheel_centre, geometry.lower_ball)
    return add(pose.lower_ball, spindle_vector(geometry, pose, offset))


@dataclass(frozen=True, kw_only=True)
class Hardpoints:
    """Points of one suspension at the design position [m], chassis frame."""

    lower_arm_pivot_front: Vector3
    lower_arm_pivot_rear: Vector3
    lower_ball_joint: Vector3
    upper_arm_pivot_front: Vector3
    upper_arm_pivot_rear: Vector3
    upper_ball_joint: Vector3
    tie_rod_inner: Vector3
    tie_rod_outer: Vector3
    shock_chassis: Vector3
    shock_lower_arm: Vector3
    wheel_centre: Vector3

    def mirrored(self) -> Hardpoints:
        """The same suspension on the other side of the vehicle."""
        return Hardpoints(**{name: (x, -y, z) for name, (x, y, z) in asdict(self).items()})

    def geometry(self) -> WishboneGeometry:
        """What the kernels need; raises SettingsError when the points do not make a suspension."""
        lower_axis = _raising_axis(self.lower_arm_pivot_rear, self.lower_arm_pivot_front, self.lower_ball_joint)
        upper_axis = _raising_axis(self.upper_arm_pivot_rear, self.upper_arm_pivot_front, self.upper_ball_joint)
        lower_pivot = _foot(self.lower_arm_pivot_rear, lower_axis, self.lower_ball_joint)
        upper_pivot = _foot(self.upper_arm_pivot_rear, upper_axis, self.upper_ball_joint)
        upright = sub(self.upper_ball_joint, self.lower_ball_joint)
        arm = sub(self.upper_ball_joint, upper_pivot)
        reach = sub(self.lower_ball_joint, upper_pivot)
        k, w = sub(self.tie_rod_outer, self.lower_ball_joint), sub(self.tie_rod_inner, self.lower_ball_joint)
        geometry = WishboneGeometry(
            lower_pivot=lower_pivot,
            lower_axis=lower_axis,
            lower_ball=self.lower_ball_joint,
            upper_pivot=upper_pivot,
            upper_axis=upper_axis,
            upper_ball=self.upper_ball_joint,
            upright_length=norm(upright),
            upper_branch=branch_at_zero(dot(reach, cross(upper_axis, arm))),
            tie_outer=self.tie_rod_outer,
            tie_inner=self.tie_rod_inner,
            tie_length=norm(sub(self.tie_rod_outer, self.tie_rod_inner)),
            spindle_branch=1.0 if dot(cross(unit(upright), w), k) > 0.0 else -1.0,
            shock_lower=self.shock_lower_arm,
            shock_upper=self.shock_chassis,
            wheel_centre=self.wheel_centre,
        )
        if not all(np.isfinite(value).all() for value in geometry):
            raise SettingsError("hardpoints: two points that must differ coincide")
        return geometry


def _raising_axis(rear: Vector3, front: Vector3, ball: Vector3) -> Vector3:
    """Unit axis through both pivots about which a positive turn raises the ball joint, on either side."""
    axis = unit(sub(front, rear))
    return axis if cross(axis, sub(ball, rear))[2] > 0.0 else scale(-1.0, axis)


def _foot(pivot: Vector3, axis: Vector3, point: Vector3) -> Vector3:
    """The point of an axis nearest to a given point."""
    return add_scaled(pivot, dot(sub(point, pivot), axis), axis)
