"""Forward dynamics of the 14-degree-of-freedom vehicle by constraint embedding, closed form throughout, in one kernel.

Coordinates: the chassis (6), four lower-arm angles, four wheel spins. Each corner is reduced to a scalar D (corner.py),
the chassis to a symmetric 6x6 system. Everything is in chassis axes about the chassis origin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.corner import CornerBodies, add_force, add_moment, corner_motion, corner_sums
from vehicle_dynamics.inertia import ArmBody, RodBody, Symmetric, about_origin, times
from vehicle_dynamics.jit import kernel
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vector3 import Vector3, add, add_scaled, cross, dot, scale
from vehicle_dynamics.vehicle_mechanism import CORNERS, CornerBuilder, Lump, chassis_lump
from vehicle_dynamics.wishbone import WishboneGeometry

Array = NDArray[np.float64]

OUT_SIZE = 14  # angular and linear acceleration of the chassis, theta'' and spin' of the corners


class VehicleBodies(NamedTuple):
    """The rigid-body model as the kernel sees it; corners in the order of CORNERS."""

    geometry: tuple[WishboneGeometry, WishboneGeometry, WishboneGeometry, WishboneGeometry]
    corners: tuple[CornerBodies, CornerBodies, CornerBodies, CornerBodies]
    chassis: ArmBody


class Workspace(NamedTuple):
    """Arrays that an evaluation writes to, made once."""

    matrix: Array  # 6 x 6
    right: Array  # 6
    coupling: Array  # 4 x 6
    corner: Array  # 4 x 7: D, drive, spin axis (3), the wheel's own spin acceleration, spin axis on the theta column


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
    tie_inner: Array,
    theta_force: Array,
    spin_torque: Array,
    wheel_force: Array,
    chassis_force: Array,
    work: Workspace,
    out: Array,
) -> None:
    """Accelerations into out (14): chassis angular [rad/s^2] and of its origin [m/s^2], theta'' (4), spin' (4).

    chassis_turn [rad/s] and gravity [m/s^2] are in chassis axes. tie_inner (4 x 9) holds position, velocity and
    acceleration of each tie rod's inner end relative to the chassis; a moving end is not validated yet. theta_force
    [N m] are generalised forces on the lower-arm angles (springs, dampers); spin_torque [N m] acts from the spindle on
    the wheel, as a brake does. wheel_force (4 x 6) is moment [N m] and force [N] on each wheel at its centre,
    chassis_force (6) the same on the chassis at its origin.
    """
    matrix, right = work.matrix, work.right
    _start_chassis(vehicle.chassis, chassis_turn, chassis_force, matrix, right)
    for index in range(4):
        geometry, bodies = vehicle.geometry[index], vehicle.corners[index]
        end = (tie_inner[index, 0], tie_inner[index, 1], tie_inner[index, 2])
        end_rate = (tie_inner[index, 3], tie_inner[index, 4], tie_inner[index, 5])
        end_acceleration = (tie_inner[index, 6], tie_inner[index, 7], tie_inner[index, 8])
        rate = theta_rate[index]
        motion = corner_motion(geometry, theta[index], rate, end, end_rate, end_acceleration)
        sums, gyroscopic = corner_sums(
            geometry, bodies, motion, rate, end, end_rate, end_acceleration, chassis_turn, spin_rate[index]
        )
        # Forces on the wheel; their moment about the spin axis turns the wheel and does not reach the spindle.
        y = motion.spin_axis
        moment = (wheel_force[index, 0], wheel_force[index, 1], wheel_force[index, 2])
        force = (wheel_force[index, 3], wheel_force[index, 4], wheel_force[index, 5])
        about_spin = dot(y, moment)
        column = add(motion.column.lower_ball, cross(motion.column.spindle, motion.wheel_arm))
        # The spin torque reacts on the spindle.
        needed = add_scaled(scale(-1.0, moment), about_spin + spin_torque[index], y)
        sums = add_moment(sums, motion.column.spindle, needed)
        sums = add_force(sums, add(motion.pose.lower_ball, motion.wheel_arm), column, scale(-1.0, force))

        drive = sums.drive + theta_force[index]
        coupling = work.coupling[index]
        for k in range(3):
            coupling[k] = sums.coupling_moment[k]
            coupling[3 + k] = sums.coupling_force[k]
        factor = drive / sums.d
        for k in range(3):
            right[k] -= sums.load_moment[k] + coupling[k] * factor
            right[3 + k] -= sums.load_force[k] + coupling[3 + k] * factor
        _add_inertia(matrix, sums.mass, sums.moment, sums.inertia)
        for i in range(6):
            for j in range(i + 1):
                matrix[i, j] -= coupling[i] * coupling[j] / sums.d
        corner = work.corner[index]
        corner[0], corner[1] = sums.d, drive
        corner[2], corner[3], corner[4] = y
        corner[5] = (spin_torque[index] + about_spin - dot(y, gyroscopic)) / bodies.wheel_spin
        corner[6] = dot(y, motion.column.spindle)
    _solve_symmetric(matrix, right)
    for k in range(3):
        out[k] = right[k]
        out[3 + k] = right[3 + k] + gravity[k]
    for index in range(4):
        corner, coupling = work.corner[index], work.coupling[index]
        pull = 0.0
        for k in range(6):
            pull += coupling[k] * right[k]
        theta_acceleration = (corner[1] - pull) / corner[0]
        out[6 + index] = theta_acceleration
        carried = corner[2] * right[0] + corner[3] * right[1] + corner[4] * right[2]
        out[10 + index] = corner[5] - carried - corner[6] * theta_acceleration


@kernel
def _start_chassis(chassis: ArmBody, turn: Vector3, force: Array, matrix: Array, right: Array) -> None:
    matrix[:] = 0.0
    c, m = chassis.centre, chassis.mass
    _add_inertia(matrix, m, scale(m, c), about_origin(chassis.inertia, m, c))
    centripetal = scale(m, cross(turn, cross(turn, c)))
    moment = add(cross(turn, times(chassis.inertia, turn)), cross(c, centripetal))
    for k in range(3):
        right[k] = force[k] - moment[k]
        right[3 + k] = force[3 + k] - centripetal[k]


@kernel
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


@kernel
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
    chassis = chassis_lump(parameters, [builder.rods["upper_shock"] for builder in builders])
    front_left, front_right, rear_left, rear_right = (_corner_bodies(builder) for builder in builders)
    geometries = tuple(builder.geometry for builder in builders)
    return VehicleBodies(
        (geometries[0], geometries[1], geometries[2], geometries[3]),
        (front_left, front_right, rear_left, rear_right),
        _arm(chassis),
    )


def _corner_bodies(builder: CornerBuilder) -> CornerBodies:
    lumps, points = builder.lumps(), builder.points
    wheel_mass, _, wheel_inertia = lumps["wheel"]
    x, y, z = (float(value) for value in builder.tie_cross())
    return CornerBodies(
        lower_arm=_arm(lumps["lower_arm"]),
        upper_arm=_arm(lumps["upper_arm"]),
        spindle=_arm(lumps["spindle"]),
        upright_arm=_rod(lumps["upright_arm"], points.lower_ball_joint, points.upper_ball_joint),
        tie_rod=_rod(lumps["tie_rod"], points.tie_rod_outer, points.tie_rod_inner),
        lower_shock=_rod(lumps["lower_shock"], points.shock_lower_arm, points.shock_chassis),
        upper_shock=_rod(lumps["upper_shock"], points.shock_chassis, points.shock_lower_arm),
        tie_cross=(x, y, z),
        wheel_mass=wheel_mass,
        wheel_across=float(wheel_inertia[0, 0]),
        wheel_spin=float(wheel_inertia[1, 1]),
    )


def _arm(lump: Lump) -> ArmBody:
    mass, centre, inertia = lump
    x, y, z = (float(value) for value in centre)
    xx, yy, zz = (float(inertia[k, k]) for k in range(3))
    return ArmBody(mass, (x, y, z), (xx, yy, zz, float(inertia[0, 1]), float(inertia[0, 2]), float(inertia[1, 2])))


def _rod(lump: Lump, end: Vector3, other: Vector3) -> RodBody:
    mass, centre, inertia = lump
    along = np.subtract(other, end) / np.linalg.norm(np.subtract(other, end))
    axial = float(along @ inertia @ along)
    return RodBody(mass, (float(np.trace(inertia)) - axial) / 2.0, axial, float(np.linalg.norm(centre - np.array(end))))
