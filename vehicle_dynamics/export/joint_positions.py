"""Positions of all joints of the exported vehicle, closed form: what /joint_states needs to show the suspension moving.

The joints are the tree coordinates of vehicle_mechanism with free steering, in that order; see urdf.py for names.

>>> from proving_ground.settings.share import share_file
>>> joints = JointPositions(VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml")))
>>> len(joints.names), joints.names[:4]
(47, ['steering_pitman_arm', 'steering_link', 'steering_idler', 'front_left_lower_arm'])
>>> bool(np.abs(joints.of(arm_angle=np.zeros(4), spin=np.zeros(4), pitman_angle=0.0)).max() < 1e-9)  # at design
True
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.jit import inlined_part, kernel
from proving_ground.kernels.vector3 import Vector3, add_scaled, combine, cross, dot, norm, rotate, sub, vector
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.export.joint_frames import joint_name
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.pitman import PitmanGeometry, link_motion, link_point
from vehicle_dynamics.suspension.wishbone import WISHBONE, wishbone_pose
from vehicle_dynamics.vehicle_mechanism import CornerBuilder, vehicle_mechanism

Array = NDArray[np.float64]

# A universal joint that carries a rod, at design: both axes, the normal to both, and the angle from the first axis to
# the rod, which lies between the first and the third. All in chassis axes.
UNIVERSAL = np.dtype([("first", "f8", 3), ("second", "f8", 3), ("third", "f8", 3), ("lean", "f8")])
CORNER_JOINTS = np.dtype(
    [
        ("geometry", WISHBONE),
        ("upright_arm", UNIVERSAL),
        ("tie_rod", UNIVERSAL),
        ("shock", UNIVERSAL),
        ("shock_length", "f8"),  # |BJ|
    ]
)
CornerJoints: TypeAlias = Any
Universal: TypeAlias = Any

STEERING_JOINTS = 3
JOINTS_PER_CORNER = 11  # in the order of CornerBuilder.bodies
WHEEL = 4  # its index among those
MOMENT = 1e-5  # [s] before and after, for rates


class JointPositions:
    """Names and positions [rad, m] of all joints; immutable."""

    def __init__(self, parameters: VehicleParameters) -> None:
        mechanism = vehicle_mechanism(parameters, steering_is_free=True)
        self.names = [joint_name(name) for name in mechanism.coordinate_names]
        self._steering = parameters.steering.points().geometry()
        self._corners = np.zeros(len(CORNERS), CORNER_JOINTS)
        for record, corner in zip(self._corners, CORNERS, strict=True):
            _fill_corner(record, CornerBuilder(parameters, corner))
        first = STEERING_JOINTS + WHEEL
        self._wheels = slice(first, first + len(CORNERS) * JOINTS_PER_CORNER, JOINTS_PER_CORNER)

    def at(self, snapshot: SnapshotRecord) -> Array:
        """Positions in the order of names. Beyond its reach a suspension is at the nearest pose; NaN gives NaN."""
        return self.of(snapshot["arm_angle"], snapshot["spin"], float(snapshot["pitman_angle"]))

    def rates_at(self, snapshot: SnapshotRecord, pitman_rate: float = 0.0) -> Array:
        """Velocities [rad/s, m/s], to 1e-6 of the largest; a snapshot does not hold the Pitman arm's rate."""
        arm, spin, pitman = snapshot["arm_angle"], np.zeros(4), float(snapshot["pitman_angle"])
        step = MOMENT * snapshot["arm_rate"]
        after = self.of(arm + step, spin, pitman + MOMENT * pitman_rate)
        before = self.of(arm - step, spin, pitman - MOMENT * pitman_rate)
        rates: Array = (after - before) / (2.0 * MOMENT)
        rates[self._wheels] = snapshot["spin_rate"]
        return rates

    def of(self, arm_angle: Array, spin: Array, pitman_angle: float) -> Array:
        """Joint positions from lower-arm angles (4), wheel angles (4) and Pitman angle [rad]."""
        positions = np.empty(len(self.names))
        _positions(self._steering, self._corners, arm_angle, spin, pitman_angle, positions)
        return positions


@kernel
def _positions(
    steering: PitmanGeometry, corners: NDArray[np.void], arm_angle: Array, spin: Array, pitman: float, out: Array
) -> None:
    link = link_motion(steering, pitman)
    out[0] = pitman
    out[1] = math.atan2(link.sine, link.cosine) - pitman
    out[2] = math.atan2(link.idler_sine, link.idler_cosine)
    for k in range(4):
        tie_inner = vector(corners[k].geometry.tie_inner)
        if k < 2:
            tie_inner = link_point(steering, link, tie_inner)[0]
        start = STEERING_JOINTS + JOINTS_PER_CORNER * k
        _corner_positions(corners[k], arm_angle[k], spin[k], tie_inner, out[start : start + JOINTS_PER_CORNER])


@inlined_part
def _corner_positions(corner: CornerJoints, theta: float, spin: float, tie_inner: Vector3, out: Array) -> None:
    g = corner.geometry
    pose = wishbone_pose(g, theta, tie_inner)
    lower_axis = vector(g.lower_axis)
    upright = rotate(lower_axis, pose.cos_theta, -pose.sin_theta, pose.upright)  # relative to the lower arm
    first, second = _universal_angles(corner.upright_arm, upright)
    out[0], out[1], out[2] = theta, first, second
    # The upright arm carries the side on which K was at design; the spindle rotates from there to K's present side.
    side = rotate(vector(corner.upright_arm.second), math.cos(second), math.sin(second), vector(g.spindle_axes[1]))
    side = rotate(lower_axis, math.cos(theta + first), math.sin(theta + first), side)
    out[3] = math.atan2(dot(pose.tie_side, cross(pose.upright, side)), dot(pose.tie_side, side))
    out[4] = spin

    rod = sub(tie_inner, pose.tie_outer)
    along, outwards, across = g.spindle_axes[0], g.spindle_axes[1], g.spindle_axes[2]
    seen = combine(dot(rod, pose.upright), vector(along), dot(rod, pose.tie_side), vector(outwards))
    seen = add_scaled(seen, dot(rod, pose.tie_across), vector(across))  # relative to the spindle
    out[5], out[6] = _universal_angles(corner.tie_rod, seen)
    out[7] = math.atan2(pose.sin_phi, pose.cos_phi)

    shock = sub(vector(g.shock_upper), pose.shock_lower)
    out[8], out[9] = _universal_angles(corner.shock, rotate(lower_axis, pose.cos_theta, -pose.sin_theta, shock))
    out[10] = norm(shock) - corner.shock_length


@inlined_part
def _universal_angles(joint: Universal, rod: Vector3) -> tuple[float, float]:
    """Angles that take the rod from design to the given direction, seen by the body that carries the joint.

    With lean as the angle from first axis to rod, the second angle b and then the first a lead it to
    cos(lean - b) first + sin(lean - b) (cos a third - sin a second).
    """
    along, across = dot(rod, vector(joint.first)), -dot(rod, vector(joint.second))
    out = dot(rod, vector(joint.third))
    return math.atan2(across, out), joint.lean - math.atan2(math.hypot(across, out), along)


def _fill_corner(record: CornerJoints, builder: CornerBuilder) -> None:
    g = builder.geometry
    axes = {body.name.split(".")[1]: body.axes for body in builder.bodies()}
    rods = {
        "upright_arm": (axes["upright_arm"], g.upper_ball - g.lower_ball),
        "tie_rod": (axes["tie_rod"], g.tie_inner - g.tie_outer),
        "shock": (axes["lower_shock"], g.shock_upper - g.shock_lower),
    }
    record["geometry"] = g
    record["shock_length"] = np.linalg.norm(g.shock_upper - g.shock_lower)
    for name, ((one, two), rod) in rods.items():
        first, second = np.array(one.direction), np.array(two.direction)
        third = np.cross(first, second)
        record[name] = (first, second, third, np.arctan2(rod @ third, rod @ first))
