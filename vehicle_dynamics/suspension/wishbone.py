"""Closed-form kinematics of a three-dimensional double wishbone suspension, with a tie-rod end that may move.

Letters are those of [Jain], Fig. 5. The lower ball joint D runs on a circle about the lower arm's axis (angle theta),
the upper ball joint F on one about the upper arm's axis (angle phi) at a constant distance from D; the spindle rotates
about DF so that the tie rod KL keeps its length; the shock runs from B on the lower arm to J on the chassis. With flat
hardpoints this is the papers' four-bar (Eqs. 15-32), implemented as printed in test/helpers/planar_wishbone.py.

All vectors are in chassis axes, positions from the chassis origin, angles are zero at the design position. Rates are
relative to the chassis.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, inlined_part
from proving_ground.kernels.loop_angle import branch_at_zero, solve_angle
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, combine, cross, dot, norm, scale, sub, vector
from proving_ground.settings import SettingsError

Array = NDArray[np.float64]

# A suspension for the kernels: a record, which numba passes as a pointer. A point that runs on a circle is
# centre + radius cos + tangent sin.
WISHBONE = np.dtype(
    [
        ("lower_pivot", "f8", 3),  # A: the point of the lower arm's axis that is nearest to D
        ("lower_axis", "f8", 3),  # unit
        ("lower_radius", "f8", 3),  # from A to D at design
        ("lower_tangent", "f8", 3),
        ("shock_centre", "f8", 3),  # the point of the lower arm's axis that is nearest to B
        ("shock_radius", "f8", 3),
        ("shock_tangent", "f8", 3),
        ("upper_pivot", "f8", 3),  # G: the point of the upper arm's axis that is nearest to F
        ("upper_axis", "f8", 3),  # unit
        ("upper_radius", "f8", 3),  # from G to F at design
        ("upper_tangent", "f8", 3),
        ("upper_branch", "f8"),
        ("upper_offset", "f8"),  # constant part of X of the upper loop
        ("upright_length", "f8"),  # |DF|
        ("tie_height", "f8"),  # of K above D along DF
        ("tie_radius", "f8"),  # distance of K from DF
        ("tie_length", "f8"),  # |KL|
        ("tie_branch", "f8"),
        ("tie_offset", "f8"),  # constant part of X of the tie-rod loop
        ("spindle_axes", "f8", (3, 3)),  # rows at design: along DF, from DF towards K, across both
        # Points at design
        ("lower_ball", "f8", 3),  # D
        ("upper_ball", "f8", 3),  # F
        ("tie_outer", "f8", 3),  # K
        ("tie_inner", "f8", 3),  # L
        ("shock_lower", "f8", 3),  # B
        ("shock_upper", "f8", 3),  # J, fixed to the chassis
        ("wheel_centre", "f8", 3),
    ]
)
WishboneGeometry: TypeAlias = Any  # a record of this type: fields by name


class WishbonePose(NamedTuple):
    """Position of the suspension at one angle."""

    lower_ball: Vector3  # D
    upper_ball: Vector3  # F
    tie_outer: Vector3  # K
    shock_lower: Vector3  # B
    upright: Vector3  # unit vector from D to F
    tie_side: Vector3  # unit vector from DF to K; with `upright` and `tie_across` the spindle's axes
    tie_across: Vector3
    lower_arm: Vector3  # from A to D
    lower_tangent: Vector3  # change of D per theta
    shock_arm: Vector3  # from the centre of its circle to B
    shock_tangent: Vector3
    upper_arm: Vector3  # from G to F
    upper_tangent: Vector3  # change of F per phi
    cos_theta: float
    sin_theta: float
    cos_phi: float
    sin_phi: float
    phi_gain: float  # change of phi per motion of D along DF
    spin_gain: float  # rotation of the spindle about DF per (motion of L along KL times |KL|)
    upper_margin: float  # distance of the upper loop from where its branches meet (0), beyond which it cannot close
    tie_margin: float  # likewise for the tie-rod loop


class WishboneRates(NamedTuple):
    """First or second time derivatives, relative to the chassis."""

    phi: float  # upper arm [rad/s] or [rad/s^2]
    spin: float  # spindle about DF, beyond the rotation of DF itself
    spindle: Vector3  # angular velocity or acceleration of the spindle
    lower_ball: Vector3
    upper_ball: Vector3
    tie_outer: Vector3
    shock_lower: Vector3
    upright: Vector3  # of the unit vector DF


@inlined
def wishbone_pose(geometry: WishboneGeometry, theta: float, tie_inner: Vector3) -> WishbonePose:
    """Position of all points at the lower-arm angle theta [rad] and tie-rod end L [m].

    Where a loop cannot close, its margin is negative and the pose is the nearest that can.
    """
    g = geometry
    cos_theta, sin_theta = math.cos(theta), math.sin(theta)
    lower_arm = combine(cos_theta, vector(g.lower_radius), sin_theta, vector(g.lower_tangent))
    lower_tangent = combine(cos_theta, vector(g.lower_tangent), -sin_theta, vector(g.lower_radius))
    shock_arm = combine(cos_theta, vector(g.shock_radius), sin_theta, vector(g.shock_tangent))
    shock_tangent = combine(cos_theta, vector(g.shock_tangent), -sin_theta, vector(g.shock_radius))
    d = add(vector(g.lower_pivot), lower_arm)

    # |F - D| = |F0 - D0| with F = G + f cos(phi) + (axis x f) sin(phi): f is perpendicular to the axis by choice of G.
    reach = sub(d, vector(g.upper_pivot))
    radius, tangent = vector(g.upper_radius), vector(g.upper_tangent)
    x = 0.5 * dot(reach, reach) + g.upper_offset
    cos_phi, sin_phi, upper_margin = solve_angle(dot(reach, radius), dot(reach, tangent), x, g.upper_branch)
    upper_arm = combine(cos_phi, radius, sin_phi, tangent)
    upper_tangent = combine(cos_phi, tangent, -sin_phi, radius)
    f = add(vector(g.upper_pivot), upper_arm)
    n = scale(1.0 / g.upright_length, sub(f, d))

    # K = D + height n + radius (e1 cos + e2 sin), e1 in the plane of n and L: then B = 0 in A cos + B sin = X, and the
    # branch is the side of that plane on which K lies.
    w = sub(tie_inner, d)
    along = dot(w, n)
    in_plane = add_scaled(w, -along, n)
    distance = norm(in_plane)
    e1 = scale(1.0 / distance, in_plane)
    x = 0.5 * dot(w, w) + g.tie_offset - g.tie_height * along
    cosine, sine, tie_margin = solve_angle(g.tie_radius * distance, 0.0, x, g.tie_branch)
    tie_side = combine(cosine, e1, sine, cross(n, e1))
    tie_across = cross(n, tie_side)
    k = add(d, combine(g.tie_height, n, g.tie_radius, tie_side))
    return WishbonePose(
        d,
        f,
        k,
        add(vector(g.shock_centre), shock_arm),
        n,
        tie_side,
        tie_across,
        lower_arm,
        lower_tangent,
        shock_arm,
        shock_tangent,
        upper_arm,
        upper_tangent,
        cos_theta,
        sin_theta,
        cos_phi,
        sin_phi,
        1.0 / dot(n, upper_tangent),
        1.0 / (g.tie_radius * dot(sub(k, tie_inner), tie_across)),
        upper_margin,
        tie_margin,
    )


@inlined_part
def wishbone_column(geometry: WishboneGeometry, pose: WishbonePose, tie_inner: Vector3) -> WishboneRates:
    """Velocities at unit theta rate with the tie rod's inner end L at rest: X_S of [Jain] Eq. 9."""
    g, n = geometry, pose.upright
    d_rate = pose.lower_tangent
    # (F - D) . (F' - D') = 0
    phi_rate = dot(n, d_rate) * pose.phi_gain
    f_rate = scale(phi_rate, pose.upper_tangent)
    n_rate = scale(1.0 / g.upright_length, sub(f_rate, d_rate))
    # The spindle rotates with DF (n x n') and about it (spin); (K - L) . (K' - L') = 0 gives the spin.
    # With K - D = height n + radius e the first part moves K by height n' - radius (n' . e) n.
    rod = sub(pose.tie_outer, tie_inner)
    k_carried = add(d_rate, combine(g.tie_height, n_rate, -g.tie_radius * dot(n_rate, pose.tie_side), n))
    spin = -dot(rod, k_carried) * pose.spin_gain
    spindle = add_scaled(cross(n, n_rate), spin, n)
    k_rate = add_scaled(k_carried, spin * g.tie_radius, pose.tie_across)
    return WishboneRates(phi_rate, spin, spindle, d_rate, f_rate, k_rate, pose.shock_tangent, n_rate)


@inlined_part
def tie_end_spin(pose: WishbonePose, tie_inner: Vector3, tie_inner_rate: Vector3) -> float:
    """Angular rate [rad/s] of the spindle about the line of its ball joints, D to F, due to the velocity of L alone."""
    return dot(sub(pose.tie_outer, tie_inner), tie_inner_rate) * pose.spin_gain


@inlined_part
def moving_rates(
    geometry: WishboneGeometry, pose: WishbonePose, column: WishboneRates, theta_rate: float, end_spin: float
) -> WishboneRates:
    """Velocities of all points at a theta rate and the spin due to the tie-rod end, both [rad/s].

    They are X_S theta' and the rheonomic part, which the tie rod's motion adds ([Jain]).
    """
    c = column
    return WishboneRates(
        theta_rate * c.phi,
        theta_rate * c.spin + end_spin,
        combine(theta_rate, c.spindle, end_spin, pose.upright),
        scale(theta_rate, c.lower_ball),
        scale(theta_rate, c.upper_ball),
        combine(theta_rate, c.tie_outer, end_spin * geometry.tie_radius, pose.tie_across),
        scale(theta_rate, c.shock_lower),
        scale(theta_rate, c.upright),
    )


@inlined
def wishbone_velocity(
    geometry: WishboneGeometry, pose: WishbonePose, tie_inner: Vector3, theta_rate: float, tie_inner_rate: Vector3
) -> WishboneRates:
    """Velocities, linear in the theta rate [rad/s] and the velocity [m/s] of L, the tie rod's inner end."""
    column = wishbone_column(geometry, pose, tie_inner)
    return moving_rates(geometry, pose, column, theta_rate, tie_end_spin(pose, tie_inner, tie_inner_rate))


@inlined
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
    """Accelerations relative to the chassis, for given motions of theta and of the tie rod's inner end.

    With theta acceleration 0 they are the bias term, X_S' theta' and the rheonomic part ([Jain] Eq. 11).
    """
    g, v, n = geometry, velocity, pose.upright
    squared = theta_rate * theta_rate
    d_acc = combine(theta_acceleration, pose.lower_tangent, -squared, pose.lower_arm)
    b_acc = combine(theta_acceleration, pose.shock_tangent, -squared, pose.shock_arm)
    # (F - D) . (F'' - D'') + |F' - D'|^2 = 0
    phi2 = v.phi * v.phi
    stretch = g.upright_length * dot(v.upright, v.upright)
    phi_acc = (dot(n, add_scaled(d_acc, phi2, pose.upper_arm)) - stretch) * pose.phi_gain
    f_acc = combine(phi_acc, pose.upper_tangent, -phi2, pose.upper_arm)
    n_acc = scale(1.0 / g.upright_length, sub(f_acc, d_acc))

    # Angular acceleration n x n'' + spin n' + spin' n; (K - L) . (K'' - L'') + |K' - L'|^2 = 0 gives spin'.
    carried = add_scaled(cross(n, n_acc), v.spin, v.upright)
    arm, rod = sub(pose.tie_outer, pose.lower_ball), sub(pose.tie_outer, tie_inner)
    centripetal = cross(v.spindle, sub(v.tie_outer, v.lower_ball))
    k_carried = add(d_acc, add(cross(carried, arm), centripetal))
    gap_rate = sub(v.tie_outer, tie_inner_rate)
    spin_acc = -(dot(rod, sub(k_carried, tie_inner_acceleration)) + dot(gap_rate, gap_rate)) * pose.spin_gain
    spindle = add_scaled(carried, spin_acc, n)
    k_acc = add_scaled(k_carried, spin_acc * g.tie_radius, pose.tie_across)
    return WishboneRates(phi_acc, spin_acc, spindle, d_acc, f_acc, k_acc, b_acc, n_acc)


@inlined
def on_spindle(pose: WishbonePose, components: Vector3) -> Vector3:
    """The vector with the given components along the spindle's axes, in chassis axes."""
    return add_scaled(
        combine(components[0], pose.upright, components[1], pose.tie_side), components[2], pose.tie_across
    )


@inlined_part
def spindle_components(geometry: WishboneGeometry, design: Vector3) -> Vector3:
    """Components along the spindle's axes of a vector of the design position."""
    axes = geometry.spindle_axes
    return (dot(vector(axes[0]), design), dot(vector(axes[1]), design), dot(vector(axes[2]), design))


@inlined
def spindle_vector(geometry: WishboneGeometry, pose: WishbonePose, design: Vector3) -> Vector3:
    """Present direction of a vector of the design position, fixed to the spindle (chassis axes)."""
    return on_spindle(pose, spindle_components(geometry, design))


@inlined
def wheel_centre(geometry: WishboneGeometry, pose: WishbonePose) -> Vector3:
    """Centre of the wheel [m]."""
    offset = sub(vector(geometry.wheel_centre), vector(geometry.lower_ball))
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
        """Geometry for the kernels; raises SettingsError when the points do not make a suspension."""
        points = {name: np.array(point) for name, point in asdict(self).items()}
        lower_ball, upper_ball = points["lower_ball_joint"], points["upper_ball_joint"]
        lower_rear, upper_rear = points["lower_arm_pivot_rear"], points["upper_arm_pivot_rear"]
        tie_outer, tie_inner = points["tie_rod_outer"], points["tie_rod_inner"]
        with np.errstate(invalid="ignore", divide="ignore"):  # reported below
            lower_axis = _raising_axis(lower_rear, points["lower_arm_pivot_front"], lower_ball)
            upper_axis = _raising_axis(upper_rear, points["upper_arm_pivot_front"], upper_ball)
            lower_pivot = _foot(lower_rear, lower_axis, lower_ball)
            upper_pivot = _foot(upper_rear, upper_axis, upper_ball)
            shock_centre = _foot(lower_rear, lower_axis, points["shock_lower_arm"])
            lower, upper = lower_ball - lower_pivot, upper_ball - upper_pivot
            shock, upright = points["shock_lower_arm"] - shock_centre, upper_ball - lower_ball
            along = _unit(upright)
            k, w = tie_outer - lower_ball, tie_inner - lower_ball
            height = float(k @ along)
            across = k - height * along
            length, radius = float(np.linalg.norm(tie_outer - tie_inner)), float(np.linalg.norm(across))
            upper_tangent = np.cross(upper_axis, upper)
            values: dict[str, Any] = {
                "lower_pivot": lower_pivot,
                "lower_axis": lower_axis,
                "lower_radius": lower,
                "lower_tangent": np.cross(lower_axis, lower),
                "shock_centre": shock_centre,
                "shock_radius": shock,
                "shock_tangent": np.cross(lower_axis, shock),
                "upper_pivot": upper_pivot,
                "upper_axis": upper_axis,
                "upper_radius": upper,
                "upper_tangent": upper_tangent,
                "upper_branch": branch_at_zero(float((lower_ball - upper_pivot) @ upper_tangent)),
                "upper_offset": 0.5 * (upper @ upper - upright @ upright),
                "upright_length": np.linalg.norm(upright),
                "tie_height": height,
                "tie_radius": radius,
                "tie_length": length,
                "tie_branch": 1.0 if np.cross(along, w) @ k > 0.0 else -1.0,
                "tie_offset": 0.5 * (height**2 + radius**2 - length**2),
                "spindle_axes": (along, _unit(across), np.cross(along, _unit(across))),
                "lower_ball": lower_ball,
                "upper_ball": upper_ball,
                "tie_outer": tie_outer,
                "tie_inner": tie_inner,
                "shock_lower": points["shock_lower_arm"],
                "shock_upper": points["shock_chassis"],
                "wheel_centre": points["wheel_centre"],
            }
        if not all(np.isfinite(value).all() for value in values.values()):
            raise SettingsError("hardpoints: two points that must differ coincide")
        record = np.recarray(1, WISHBONE)
        for name, value in values.items():
            record[name] = value
        return record[0]


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.linalg.norm(vector))


def _raising_axis(rear: Array, front: Array, ball: Array) -> Array:
    """Unit axis through both pivots about which a positive rotation raises the ball joint, on either side."""
    axis = _unit(front - rear)
    return axis if np.cross(axis, ball - rear)[2] > 0.0 else -axis


def _foot(pivot: Array, axis: Array, point: Array) -> Array:
    """The point of an axis nearest to a given point."""
    return np.asarray(pivot + ((point - pivot) @ axis) * axis)
