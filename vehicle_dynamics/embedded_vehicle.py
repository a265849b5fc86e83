"""Forward dynamics of the 14-degree-of-freedom vehicle by constraint embedding, closed form throughout, in one kernel.

Coordinates: the chassis (6), four lower-arm angles, four wheel spins. Each corner is reduced to a scalar D (corner.py),
the chassis to a symmetric 6x6 system. Everything is in chassis axes about the chassis origin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.inertia import RigidInertia
from proving_ground.kernels.jit import inlined_part, kernel
from proving_ground.kernels.vector3 import Vector3, three
from proving_ground.settings import SettingsError
from vehicle_dynamics.chassis_system import add_rigidly, eliminate, pull, set_coupling, solve_chassis, start_chassis
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.suspension.body_sums import BodyTerms
from vehicle_dynamics.suspension.corner import (
    CornerMotion,
    SpinEquation,
    TieEnd,
    WheelLoad,
    corner_motion,
    corner_sums,
)
from vehicle_dynamics.suspension.corner_record import CORNER, CornerRecord, corner_record, rigid_inertia
from vehicle_dynamics.suspension.pitman import link_motion, link_point
from vehicle_dynamics.suspension.strut import strut_moment
from vehicle_dynamics.vehicle_mechanism import CornerBuilder, chassis_lump

Array = NDArray[np.float64]

LEAST_TRAVEL = 0.05  # [rad] that a suspension must be able to move from design to either side
OUT_SIZE = 14  # angular and linear acceleration of the chassis, theta'' and spin' of the corners


class VehicleBodies(NamedTuple):
    """The rigid-body model in the form that the kernel uses."""

    corners: NDArray[np.void]  # four records of CORNER, in the order of CORNERS
    chassis: RigidInertia


class Workspace(NamedTuple):
    """Work arrays of an evaluation, allocated once."""

    matrix: Array  # 6 x 6
    right: Array  # 6
    coupling: Array  # 4 x 6
    corner: Array  # 4 x 7: 1 / D, drive, and the spin equation's axis (3), own and carried part


def workspace() -> Workspace:
    """New arrays for one thread."""
    return Workspace(np.zeros((6, 6)), np.zeros(6), np.zeros((4, 6)), np.zeros((4, 7)))


class LowerArm(NamedTuple):
    """Angle theta of a corner's lower arm [rad], its rate, and the generalised force on it."""

    theta: float  # [rad]
    rate: float  # [rad/s]
    force: float  # [N m]


class EliminatedCorner(NamedTuple):
    """Result of eliminating a corner's theta."""

    inverse: float  # 1 / D
    drive: float  # generalised force on theta, less the loads
    spin: SpinEquation
    motion: CornerMotion
    hub: BodyTerms
    tie_rod: BodyTerms


@inlined_part
def eliminate_corner(
    corner: CornerRecord,
    arm: LowerArm,
    end: TieEnd,
    load: WheelLoad,
    chassis_angular_velocity: Vector3,
    matrix: Array,
    right: Array,
    coupling: Array,
) -> EliminatedCorner:
    """Add a corner to the chassis' system (matrix 6 x 6, right 6) and eliminate its lower arm's angle theta from it.

    The corner's momentum per theta rate goes into coupling (6). Returns what is needed to find theta's acceleration
    once the chassis' is known.
    """
    motion = corner_motion(corner.geometry, arm.theta, arm.rate, end)
    sums, spin, hub, tie_rod = corner_sums(corner, motion, arm.rate, end, load, chassis_angular_velocity)
    strut = strut_moment(corner.strut, motion.pose.cos_theta, motion.pose.sin_theta, arm.rate)
    drive, inverse = sums.drive + arm.force + strut, 1.0 / sums.d
    set_coupling(coupling, sums)
    add_rigidly(matrix, right, sums)
    eliminate(matrix, right, coupling, drive, inverse)
    return EliminatedCorner(inverse, drive, spin, motion, hub, tie_rod)


@inlined_part
def lower_arm(motion: RigidMotion, loads: RigidLoads, index: int) -> LowerArm:
    """Angle, rate and force of the lower arm of corner `index`."""
    return LowerArm(motion.theta[index], motion.theta_rate[index], loads.theta_force[index])


@inlined_part
def wheel_load(motion: RigidMotion, loads: RigidLoads, index: int) -> WheelLoad:
    """Spin of wheel `index` and the loads on it."""
    force = loads.wheel_force[index]
    return WheelLoad(three(force, 0), three(force, 3), motion.spin_rate[index], loads.spin_torque[index])


@kernel
def forward_dynamics(
    vehicle: VehicleBodies, motion: RigidMotion, tie_end: Array, loads: RigidLoads, work: Workspace, out: Array
) -> None:
    """Accelerations into out (14): chassis angular [rad/s^2] and of its origin [m/s^2], theta'' (4), spin' (4).

    tie_end (4 x 9) holds position, velocity and acceleration of each tie rod's inner end relative to the chassis.
    Springs, stops and dampers are included.
    """
    matrix, right, chassis_angular_velocity = work.matrix, work.right, motion.angular_velocity
    start_chassis(vehicle.chassis, chassis_angular_velocity, loads.chassis_force, matrix, right)
    for index in range(4):
        end = TieEnd(three(tie_end[index], 0), three(tie_end[index], 3), three(tie_end[index], 6))
        arm, load = lower_arm(motion, loads, index), wheel_load(motion, loads, index)
        reduced = eliminate_corner(
            vehicle.corners[index], arm, end, load, chassis_angular_velocity, matrix, right, work.coupling[index]
        )
        corner, spin = work.corner[index], reduced.spin
        corner[0], corner[1] = reduced.inverse, reduced.drive
        corner[2], corner[3], corner[4] = spin.axis
        corner[5], corner[6] = spin.own, spin.carried
    solve_chassis(matrix, right, loads.gravity, out)
    for index in range(4):
        corner = work.corner[index]
        theta_acceleration = (corner[1] - pull(work.coupling[index], right)) * corner[0]
        out[6 + index] = theta_acceleration
        carried = corner[2] * right[0] + corner[3] * right[1] + corner[4] * right[2]
        out[10 + index] = corner[5] - carried - corner[6] * theta_acceleration


def vehicle_bodies(parameters: VehicleParameters) -> VehicleBodies:
    """The kernel's model of a vehicle: the same bodies as vehicle_mechanism builds."""
    builders = [CornerBuilder(parameters, corner) for corner in CORNERS]
    corners = np.zeros(len(CORNERS), CORNER)
    for index, builder in enumerate(builders):
        is_steered = builder.corner.startswith("front")
        ends = _tie_ends(parameters, builder) if is_steered else [builder.points.tie_rod_inner]
        corners[index] = corner_record(builder, ends)
        low, high = corners[index]["lowest"], corners[index]["highest"]
        if not low < -LEAST_TRAVEL < LEAST_TRAVEL < high:
            raise SettingsError(
                f"{builder.corner}: the hardpoints leave the lower arm {low:.3f} to {high:.3f} rad of travel, at least"
                f" {LEAST_TRAVEL} to either side is needed; with the front wheels also at full steering"
            )
    return VehicleBodies(corners, rigid_inertia(chassis_lump(parameters, steering_is_fixed=True)))


def _tie_ends(parameters: VehicleParameters, builder: CornerBuilder) -> list[Vector3]:
    """Positions of the inner end of a front tie rod, from lock to lock."""
    steering = parameters.steering.points().geometry()
    lock = np.deg2rad(parameters.steering.max_pitman_angle_deg)
    motions = [link_motion(steering, angle) for angle in np.linspace(-lock, lock, 5)]
    return [link_point(steering, motion, builder.points.tie_rod_inner)[0] for motion in motions]


@kernel
def out_of_reach(vehicle: VehicleBodies, theta: Array) -> int:
    """The first corner whose lower arm is out of reach or not finite; -1 when all are valid."""
    for index in range(4):
        corner = vehicle.corners[index]
        if not corner.lowest < theta[index] < corner.highest:
            return index
    return -1
