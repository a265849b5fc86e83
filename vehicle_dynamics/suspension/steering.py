"""The Pitman steering in the vehicle's kernels: positions of the front tie rods' inner ends, and its own bodies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part, kernel
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, combine, cross, scale, vector
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.body_sums import BodyMotion, BodyTerms, CornerSums, add_body, body_terms, first_body
from vehicle_dynamics.suspension.corner import TieEnd, arm_inertia, arm_terms
from vehicle_dynamics.suspension.corner_record import ARM, fill_arm
from vehicle_dynamics.suspension.pitman import LinkMotion, PitmanGeometry, link_motion, link_point
from vehicle_dynamics.suspension.reach import ReachError
from vehicle_dynamics.suspension.wishbone import on_spindle, wishbone_pose
from vehicle_dynamics.vehicle_mechanism import steering_lumps

Array = NDArray[np.float64]


class SteeringBodies(NamedTuple):
    """Geometry and bodies of the steering."""

    geometry: PitmanGeometry
    left_end: Vector3  # L of the left and of the right tie rod at design
    right_end: Vector3
    bodies: NDArray[np.void]  # records of ARM: Pitman arm, link (about U at design), idler


@inlined_part
def tie_end(
    geometry: PitmanGeometry, motion: LinkMotion, design: Vector3, rate: float, acceleration: float
) -> tuple[TieEnd, Vector3]:
    """Position, velocity and acceleration of a tie rod's inner end; and its position's derivative by the Pitman angle.

    motion: of the link at the present Pitman angle; design: the end's position at the design angle; rate [rad/s] and
    acceleration [rad/s^2] of the Pitman arm. All vectors in chassis axes.
    """
    position, column, change = link_point(geometry, motion, design)
    return TieEnd(position, scale(rate, column), combine(rate * rate, change, acceleration, column)), column


@kernel
def steered_ends(steering: SteeringBodies, angle: float, rate: float, acceleration: float, out: Array) -> None:
    """Write the front rows of the vehicle's `tie_end` (4 x 9) for a prescribed Pitman motion [rad, rad/s, rad/s^2]."""
    motion = link_motion(steering.geometry, angle)
    for index in range(2):
        design = steering.left_end if index == 0 else steering.right_end
        end, _ = tie_end(steering.geometry, motion, design, rate, acceleration)
        for k in range(3):
            out[index, k], out[index, 3 + k], out[index, 6 + k] = end.position[k], end.velocity[k], end.acceleration[k]


@inlined_part
def steering_sums(
    steering: SteeringBodies, motion: LinkMotion, angle: float, rate: float, chassis_angular_velocity: Vector3
) -> CornerSums:
    """Sums over the steering's own bodies, with the Pitman angle [rad] as their coordinate, at its rate [rad/s]."""
    axis, squared = steering.geometry.axis, rate * rate
    sums = first_body(
        arm_terms(steering.bodies[0], axis, np.cos(angle), np.sin(angle), 1.0, rate, 0.0, chassis_angular_velocity)
    )
    idler = arm_terms(
        steering.bodies[2],
        axis,
        motion.idler_cosine,
        motion.idler_sine,
        motion.idler_rate,
        rate * motion.idler_rate,
        squared * motion.idler_change,
        chassis_angular_velocity,
    )
    return add_body(
        add_body(sums, idler), _link_terms(steering.bodies[1], axis, motion, rate, chassis_angular_velocity)
    )


@inlined_part
def _link_terms(
    link: Any, axis: Vector3, motion: LinkMotion, rate: float, chassis_angular_velocity: Vector3
) -> BodyTerms:
    """The link: carried by U, rotating in its plane."""
    radius, tangent0 = vector(link.radius), vector(link.tangent)
    out = combine(motion.cosine, radius, motion.sine, tangent0)
    tangent = cross(axis, out)
    # `fixed` is the part along the axis from U at design, which U carries along; see steering_bodies.
    offset = add(vector(link.fixed), out)
    column = add_scaled(motion.joint_rate, motion.link_rate, tangent)
    change = add_scaled(motion.joint_change, motion.link_change, tangent)
    change = add_scaled(change, -motion.link_rate * motion.link_rate, out)
    link_angular_velocity = rate * motion.link_rate
    return body_terms(
        link.mass,
        arm_inertia(link.inertia, motion.cosine, motion.sine),
        add(motion.pitman_joint, offset),
        BodyMotion(scale(motion.link_rate, axis), column),
        BodyMotion(scale(link_angular_velocity, axis), scale(rate, column)),
        BodyMotion(scale(rate * rate * motion.link_change, axis), scale(rate * rate, change)),
        chassis_angular_velocity,
    )


def steering_bodies(parameters: VehicleParameters) -> SteeringBodies:
    """The kernel's model of the steering: the same bodies as vehicle_mechanism builds when steering is free."""
    geometry = parameters.steering.points().geometry()
    axis = np.array(geometry.axis)
    pivots = {
        "pitman_arm": np.array(geometry.pitman_pivot),
        "link": np.array(geometry.pitman_joint),
        "idler": np.array(geometry.idler_pivot),
    }
    records = np.zeros(3, ARM)
    for index, (name, lump) in enumerate(steering_lumps(parameters).items()):
        fill_arm(records[index : index + 1], lump, pivots[name], axis)
    records["fixed"][1] -= geometry.pitman_joint
    left = parameters.front_suspension.hardpoints_left_m.hardpoints()
    return SteeringBodies(geometry, left.tie_rod_inner, left.mirrored().tie_rod_inner, records)


def pitman_angle(position: float, lock: float) -> float:
    """Pitman angle [rad], relative to the chassis, of a steering wheel from -1 (full right) to 1 (full left).

    lock [rad] is the angle at full steering. Steering left rotates the arm the other way.
    """
    if not -1.0 <= position <= 1.0:
        raise ValueError(f"steering wheel: must be from -1 (right) to 1 (left), got {position}")
    return -lock * position


def road_wheel_angles(
    steering: SteeringBodies, front: NDArray[np.void], angle: float, theta: tuple[float, float] = (0.0, 0.0)
) -> tuple[float, float]:
    """Angles [rad] of the left and the right front wheel about the chassis' z axis, left positive.

    front holds the records of both front corners; angle is the Pitman angle [rad], theta the lower-arm angles [rad].
    Raises ReachError where a tie rod cannot hold its wheel.
    """
    motion = link_motion(steering.geometry, angle)
    if not motion.margin > 0.0:
        raise ReachError(f"the steering cannot be assembled at a Pitman angle of {angle:.4g} rad")
    wheels = []
    for corner, design, arm in zip(front, (steering.left_end, steering.right_end), theta, strict=True):
        end = link_point(steering.geometry, motion, design)[0]
        pose = wishbone_pose(corner["geometry"], arm, end)
        if not pose.upper_margin > 0.0:
            raise ReachError(
                f"the front suspension cannot be assembled at {arm:.4g} rad; its reach is {corner['lowest']:.4f} to"
                f" {corner['highest']:.4f} rad"
            )
        if not pose.tie_margin > 0.0:
            raise ReachError(f"a tie rod cannot hold its wheel with the Pitman arm at {angle:.4g} rad")
        axis = on_spindle(pose, tuple(corner["hub"]["spin_axis"]))
        wheels.append(float(np.arctan2(-axis[0], axis[1])))
    return wheels[0], wheels[1]
