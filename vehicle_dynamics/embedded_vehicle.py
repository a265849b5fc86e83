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
from vehicle_dynamics.chassis_system import (
    add_rigidly,
    eliminate,
    pull,
    set_coupling,
    solve_symmetric,
    start_chassis,
)
from vehicle_dynamics.parameters import VehicleParameters
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

LEAST_TRAVEL = 0.05  # [rad] from design to either side that a suspension must be able to move
OUT_SIZE = 14  # angular and linear acceleration of the chassis, theta'' and spin' of the corners


class VehicleBodies(NamedTuple):
    """The rigid-body model as the kernel sees it."""

    corners: NDArray[np.void]  # four records of CORNER, in the order of CORNERS
    chassis: RigidInertia


class Workspace(NamedTuple):
    """Arrays that an evaluation writes to, made once."""

    matrix: Array  # 6 x 6
    right: Array  # 6
    coupling: Array  # 4 x 6
    corner: Array  # 4 x 7: 1 / D, drive, and the spin equation's axis (3), own and carried part


def workspace() -> Workspace:
    """Fresh arrays for one thread."""
    return Workspace(np.zeros((6, 6)), np.zeros(6), np.zeros((4, 6)), np.zeros((4, 7)))


class EliminatedCorner(NamedTuple):
    """What is left of a corner after its theta is eliminated."""

    inverse: float  # 1 / D
    drive: float  # generalised force on theta, less the loads
    spin: SpinEquation
    motion: CornerMotion
    hub: BodyTerms
    tie_rod: BodyTerms


@inlined_part
def eliminate_corner(
    corner: CornerRecord,
    theta: float,
    theta_rate: float,
    theta_force: float,
    end: TieEnd,
    load: WheelLoad,
    chassis_turn: Vector3,
    matrix: Array,
    right: Array,
    coupling: Array,
) -> EliminatedCorner:
    """Add a corner to the chassis' system and free its theta; its momentum per theta rate goes into coupling (6)."""
    motion = corner_motion(corner.geometry, theta, theta_rate, end)
    sums, spin, hub, tie_rod = corner_sums(corner, motion, theta_rate, end, load, chassis_turn)
    strut = strut_moment(corner.strut, motion.pose.cos_theta, motion.pose.sin_theta, theta_rate)
    drive, inverse = sums.drive + theta_force + strut, 1.0 / sums.d
    set_coupling(coupling, sums)
    add_rigidly(matrix, right, sums)
    eliminate(matrix, right, coupling, drive, inverse)
    return EliminatedCorner(inverse, drive, spin, motion, hub, tie_rod)


@kernel
def forward_dynamics(
    vehicle: VehicleBodies,
    chassis_turn: Vector3,
    gravity: Vector3,
    theta: Array,
    theta_rate: Array,
    spin_rate: Array,
    tie_end: Array,
    theta_force: Array,
    spin_torque: Array,
    wheel_force: Array,
    chassis_force: Array,
    work: Workspace,
    out: Array,
) -> None:
    """Accelerations into out (14): chassis angular [rad/s^2] and of its origin [m/s^2], theta'' (4), spin' (4).

    chassis_turn [rad/s] and gravity [m/s^2] are in chassis axes. tie_end (4 x 9) holds position, velocity and
    acceleration of each tie rod's inner end relative to the chassis. Springs, stops and dampers are included;
    theta_force [N m] are further generalised forces on the lower-arm angles. spin_torque [N m] acts from the spindle on
    the wheel, as a brake does. wheel_force (4 x 6) is moment [N m] and force [N] on each wheel at its centre,
    chassis_force (6) the same on the chassis at its origin.
    """
    matrix, right = work.matrix, work.right
    start_chassis(vehicle.chassis, chassis_turn, chassis_force, matrix, right)
    for index in range(4):
        end = TieEnd(three(tie_end[index], 0), three(tie_end[index], 3), three(tie_end[index], 6))
        load = WheelLoad(
            three(wheel_force[index], 0), three(wheel_force[index], 3), spin_rate[index], spin_torque[index]
        )
        reduced = eliminate_corner(
            vehicle.corners[index], theta[index], theta_rate[index], theta_force[index], end, load, chassis_turn,
            matrix, right, work.coupling[index],
        )  # fmt: skip
        corner, spin = work.corner[index], reduced.spin
        corner[0], corner[1] = reduced.inverse, reduced.drive
        corner[2], corner[3], corner[4] = spin.axis
        corner[5], corner[6] = spin.own, spin.carried
    solve_symmetric(matrix, right)
    for k in range(3):
        out[k] = right[k]
        out[3 + k] = right[3 + k] + gravity[k]
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
    """Where the steering holds the inner end of a front tie rod, from lock to lock."""
    steering = parameters.steering.points().geometry()
    lock = np.deg2rad(parameters.steering.max_pitman_angle_deg)
    motions = [link_motion(steering, angle) for angle in np.linspace(-lock, lock, 5)]
    return [link_point(steering, motion, builder.points.tie_rod_inner)[0] for motion in motions]


@kernel
def out_of_reach(vehicle: VehicleBodies, theta: Array) -> int:
    """The first corner whose lower arm is where it cannot be, or at no number; -1 when all are well."""
    for index in range(4):
        corner = vehicle.corners[index]
        if not corner.lowest < theta[index] < corner.highest:
            return index
    return -1
