"""Forward dynamics of the 14-degree-of-freedom vehicle by constraint embedding, closed form throughout, in one kernel.

Coordinates: the chassis (6), four lower-arm angles, four wheel spins. Each corner is reduced to a scalar D (corner.py),
the chassis to a symmetric 6x6 system. Everything is in chassis axes about the chassis origin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.corner import TieEnd, WheelLoad, corner_motion, corner_sums
from vehicle_dynamics.corner_record import CORNER, corner_record, symmetric
from vehicle_dynamics.inertia import RigidInertia, Symmetric, about_origin, times
from vehicle_dynamics.jit import inlined, kernel
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.strut import strut_moment
from vehicle_dynamics.vector3 import Vector3, add, cross, scale
from vehicle_dynamics.vehicle_mechanism import CORNERS, CornerBuilder, chassis_lump

Array = NDArray[np.float64]

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
    _start_chassis(vehicle.chassis, chassis_turn, chassis_force, matrix, right)
    for index in range(4):
        record, rate = vehicle.corners[index], theta_rate[index]
        end = TieEnd(_three(tie_end[index], 0), _three(tie_end[index], 3), _three(tie_end[index], 6))
        load = WheelLoad(
            _three(wheel_force[index], 0), _three(wheel_force[index], 3), spin_rate[index], spin_torque[index]
        )
        motion = corner_motion(record.geometry, theta[index], rate, end)
        sums, spin, _, _ = corner_sums(record, motion, rate, end, load, chassis_turn)
        drive = sums.drive + theta_force[index]
        drive += strut_moment(record.strut, motion.pose.cos_theta, motion.pose.sin_theta, rate)

        # Eliminate theta: P - P H* H P / D and z + P H* (drive) / D on the chassis (Eqs. 4, 6).
        coupling = work.coupling[index]
        for k in range(3):
            coupling[k] = sums.coupling_moment[k]
            coupling[3 + k] = sums.coupling_force[k]
        inverse = 1.0 / sums.d
        factor = drive * inverse
        for k in range(3):
            right[k] -= sums.load_moment[k] + coupling[k] * factor
            right[3 + k] -= sums.load_force[k] + coupling[3 + k] * factor
        _add_inertia(matrix, sums.mass, sums.moment, sums.inertia)
        for i in range(6):
            scaled = coupling[i] * inverse
            for j in range(i + 1):
                matrix[i, j] -= scaled * coupling[j]
        corner = work.corner[index]
        corner[0], corner[1] = inverse, drive
        corner[2], corner[3], corner[4] = spin.axis
        corner[5], corner[6] = spin.own, spin.carried
    _solve_symmetric(matrix, right)
    for k in range(3):
        out[k] = right[k]
        out[3 + k] = right[3 + k] + gravity[k]
    for index in range(4):
        corner, coupling = work.corner[index], work.coupling[index]
        pull = 0.0
        for k in range(6):
            pull += coupling[k] * right[k]
        theta_acceleration = (corner[1] - pull) * corner[0]
        out[6 + index] = theta_acceleration
        carried = corner[2] * right[0] + corner[3] * right[1] + corner[4] * right[2]
        out[10 + index] = corner[5] - carried - corner[6] * theta_acceleration


@inlined
def _three(row: Array, start: int) -> Vector3:
    return (row[start], row[start + 1], row[start + 2])


@inlined
def _start_chassis(chassis: RigidInertia, turn: Vector3, force: Array, matrix: Array, right: Array) -> None:
    matrix[:] = 0.0
    c, m = chassis.centre, chassis.mass
    _add_inertia(matrix, m, scale(m, c), about_origin(chassis.inertia, m, c))
    centripetal = scale(m, cross(turn, cross(turn, c)))
    moment = add(cross(turn, times(chassis.inertia, turn)), cross(c, centripetal))
    for k in range(3):
        right[k] = force[k] - moment[k]
        right[3 + k] = force[3 + k] - centripetal[k]


@inlined
def _add_inertia(matrix: Array, mass: float, moment: Vector3, inertia: Symmetric) -> None:
    """Add a spatial inertia about the origin to the lower triangle."""
    x, y, z = moment
    matrix[0, 0] += inertia[0]
    matrix[1, 0] += inertia[3]
    matrix[1, 1] += inertia[1]
    matrix[2, 0] += inertia[4]
    matrix[2, 1] += inertia[5]
    matrix[2, 2] += inertia[2]
    # Force rows, moment columns: -m c~
    matrix[3, 1] += z
    matrix[3, 2] -= y
    matrix[4, 0] -= z
    matrix[4, 2] += x
    matrix[5, 0] += y
    matrix[5, 1] -= x
    matrix[3, 3] += mass
    matrix[4, 4] += mass
    matrix[5, 5] += mass


@inlined
def _solve_symmetric(matrix: Array, right: Array) -> None:
    """Solve in place by L D L^T on the lower triangle of a positive definite 6x6 matrix."""
    for j in range(6):
        for k in range(j):
            scaled = matrix[j, k] * matrix[k, k]
            for i in range(j, 6):
                matrix[i, j] -= scaled * matrix[i, k]
        inverse = 1.0 / matrix[j, j]
        for i in range(j + 1, 6):
            matrix[i, j] *= inverse
    for i in range(6):
        for k in range(i):
            right[i] -= matrix[i, k] * right[k]
    for i in range(6):
        right[i] /= matrix[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            right[i] -= matrix[k, i] * right[k]


def vehicle_bodies(parameters: VehicleParameters) -> VehicleBodies:
    """The kernel's model of a vehicle: the same bodies as vehicle_mechanism builds."""
    builders = [CornerBuilder(parameters, corner) for corner in CORNERS]
    corners = np.zeros(len(CORNERS), CORNER)
    for index, builder in enumerate(builders):
        corners[index] = corner_record(builder)
    mass, centre, inertia = chassis_lump(parameters, [builder.rods["upper_shock"] for builder in builders])
    x, y, z = (float(value) for value in centre)
    return VehicleBodies(corners, RigidInertia(mass, (x, y, z), symmetric(inertia)))
