"""The chassis at the root of the recursion: a symmetric 6x6 system that corners are eliminated into (Eqs. 4, 6).

Rows are moment about the chassis origin and force, in chassis axes; only the lower triangle is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.inertia import RigidInertia, Symmetric, about_origin, times
from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.vector3 import Vector3, add, cross, scale
from vehicle_dynamics.suspension.body_sums import CornerSums

Array = NDArray[np.float64]


@inlined_part
def start_chassis(chassis: RigidInertia, angular_velocity: Vector3, force: Array, matrix: Array, right: Array) -> None:
    """Set matrix (6 x 6) and right side (6) to those of the chassis alone.

    force (6): moment [N m] and force [N] on it at its origin, chassis axes.
    """
    matrix[:] = 0.0
    c, m = chassis.centre, chassis.mass
    add_inertia(matrix, m, scale(m, c), about_origin(chassis.inertia, m, c))
    centripetal = scale(m, cross(angular_velocity, cross(angular_velocity, c)))
    moment = add(cross(angular_velocity, times(chassis.inertia, angular_velocity)), cross(c, centripetal))
    for k in range(3):
        right[k] = force[k] - moment[k]
        right[3 + k] = force[3 + k] - centripetal[k]


@inlined_part
def add_inertia(matrix: Array, mass: float, moment: Vector3, inertia: Symmetric) -> None:
    """Add a spatial inertia about the chassis origin to the lower triangle of a matrix (6 x 6).

    moment: mass times position of the centre of mass; inertia: about the origin, not about the centre of mass.
    """
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


@inlined_part
def solve_symmetric(matrix: Array, right: Array) -> None:
    """Replace the right side (6) by the solution, by L D L^T on the lower triangle of a positive definite matrix."""
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


@inlined_part
def solve_chassis(matrix: Array, right: Array, gravity: Vector3, out: Array) -> None:
    """Write angular acceleration and acceleration of the origin, gravity added, to out (6); matrix is overwritten."""
    solve_symmetric(matrix, right)
    for k in range(3):
        out[k] = right[k]
        out[3 + k] = right[3 + k] + gravity[k]


@inlined_part
def add_rigidly(matrix: Array, right: Array, sums: CornerSums) -> None:
    """Add the bodies of some sums to matrix (6 x 6) and right side (6), as if they were fixed to the chassis."""
    add_inertia(matrix, sums.mass, sums.moment, sums.inertia)
    for k in range(3):
        right[k] -= sums.load_moment[k]
        right[3 + k] -= sums.load_force[k]


@inlined_part
def eliminate(matrix: Array, right: Array, coupling: Array, drive: float, inverse: float) -> None:
    """Free one coordinate: P - P H* H P / D and z + P H* drive / D on the chassis ([Jain] Eqs. 4, 6).

    coupling (6) is P H*, inverse 1 / D; matrix P and right side -z are changed in place.
    """
    for i in range(6):
        scaled = coupling[i] * inverse
        right[i] -= scaled * drive
        for j in range(i + 1):
            matrix[i, j] -= scaled * coupling[j]


@inlined_part
def set_coupling(coupling: Array, sums: CornerSums) -> None:
    """Momentum per unit rate of a coordinate, P H*, into an array (6)."""
    for k in range(3):
        coupling[k] = sums.coupling_moment[k]
        coupling[3 + k] = sums.coupling_force[k]


@inlined_part
def pull(coupling: Array, acceleration: Array) -> float:
    """Share of a coordinate's drive that an acceleration of the chassis takes up: H P alpha."""
    total = 0.0
    for k in range(6):
        total += coupling[k] * acceleration[k]
    return total
