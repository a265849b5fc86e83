"""Fully augmented (FA) forward dynamics of any mechanism: free bodies, every joint by Lagrange multipliers, compiled.

The Schur complement of [Cameron], Eqs. 5-6: M is block diagonal, G M^-1 G^T sparse, factored in an order found once
(sparse_cholesky.py). As in tree_augmented.py the root comes last: without it the constraint matrix splits into one
block per group of bodies, and a free root adds a 6x6 system. All in the inertial frame of free_bodies.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.inertia import Symmetric, rotated_inertia, times
from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, cross, dot, scale, sub
from vehicle_dynamics.multibody.free_bodies import NO_ANCHOR, FreeAccelerations, FreeBodies, FreeState, FreeWorkspace
from vehicle_dynamics.multibody.free_hinges import add_hinge_forces, rotate_bodies
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces
from vehicle_dynamics.multibody.root_system import FREE, solve_root
from vehicle_dynamics.multibody.sparse_cholesky import backward, factor, forward
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, rotate_by, vector

Array = NDArray[np.float64]


@kernel
def fully_augmented_accelerations(
    bodies: FreeBodies,
    state: FreeState,
    root_is_held: bool,
    gravity: Vector3,
    forces: Forces,
    constraints: Constraints,
    work: FreeWorkspace,
    out: FreeAccelerations,
) -> None:
    """Accelerations of all bodies and constraint forces into out.

    gravity [m/s^2] is in inertial axes; spatial forces on bodies are about the inertial origin in inertial axes, forces
    on coordinates act as pairs along the hinge axes. A held root keeps its spatial velocity. Anchors are in root axes.
    """
    rotate_bodies(state, work)
    _forces(bodies, state, gravity, forces.bodies, work)
    add_hinge_forces(bodies, state, forces.coordinates, work)
    _free_motion(bodies, work)
    _rows(bodies, state, constraints.anchor, work)
    alpha, beta = constraints.alpha, constraints.beta
    for row in range(len(work.target)):
        drift = 2.0 * alpha * work.error_rate[row] + beta * beta * work.error[row]
        work.target[row] = -work.error_bias[row] - drift
    _constraint_matrix(bodies, work)
    factor(bodies.pattern, work.matrix)
    forward(bodies.pattern, work.matrix, work.beside)
    root, velocity = out.bodies[0], state.velocity[0]
    if root_is_held:
        put(root, 0, (0.0, 0.0, 0.0))
        put(root, 3, cross(vector(velocity), linear_part(velocity)))
    else:
        _root_matrix(bodies.mass[0], work.inertia[0], work.root_matrix)
        solve_root(work.root_matrix, work.force[0], work.beside, root)
    for row in range(len(work.target)):
        value, side = work.beside[row, FREE], work.beside[row]
        for k in range(6):
            value += side[k] * root[k]
        out.multipliers[row] = value
    backward(bodies.pattern, work.matrix, out.multipliers)  # [Cameron], Eq. 6b
    _accelerate(bodies, work, out)


@part
def _forces(bodies: FreeBodies, state: FreeState, gravity: Vector3, body_forces: Array, work: FreeWorkspace) -> None:
    """Inertias in inertial axes, and forces about each centre: external, weight and gyroscopic."""
    for body in range(len(bodies.mass)):
        r = work.rotated[body]
        x, y, z = (r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])
        inertia = rotated_inertia(_symmetric(bodies.inertia[body]), x, y, z)
        inverse = rotated_inertia(_symmetric(bodies.inverse_inertia[body]), x, y, z)
        for k in range(6):
            work.inertia[body, k] = inertia[k]
            work.inverse_inertia[body, k] = inverse[k]
        w = vector(state.velocity[body])
        external = linear_part(body_forces[body])
        moment = sub(vector(body_forces[body]), cross(vector(state.centre[body]), external))
        put(work.force[body], 0, sub(moment, cross(w, times(inertia, w))))
        put(work.force[body], 3, add_scaled(external, bodies.mass[body], gravity))


@part
def _free_motion(bodies: FreeBodies, work: FreeWorkspace) -> None:
    """Accelerations without constraints, [Cameron], Eq. 6a; the root's stays zero because it comes last."""
    for k in range(6):
        work.free[0, k] = 0.0
    for body in range(1, len(bodies.mass)):
        force = work.force[body]
        put(work.free[body], 0, times(_symmetric(work.inverse_inertia[body]), vector(force)))
        put(work.free[body], 3, scale(1.0 / bodies.mass[body], linear_part(force)))


@part
def _rows(bodies: FreeBodies, state: FreeState, anchor: Array, work: FreeWorkspace) -> None:
    """G of every row, its error, rate G v - U and bias G' v - U' ([Cameron], Eqs. 2 and 4)."""
    for joint in range(len(bodies.joint_first)):
        first, second = bodies.joint_first[joint], bodies.joint_second[joint]
        r1, r2 = work.rotated[first], work.rotated[second]
        w1, w2 = vector(state.velocity[first]), vector(state.velocity[second])
        v1, v2 = linear_part(state.velocity[first]), linear_part(state.velocity[second])
        arm = rotate_by(r2, vector(bodies.joint_second_arm[joint]))
        reach = sub(add(vector(state.centre[second]), arm), vector(state.centre[first]))
        # Velocity and acceleration of the second body's point relative to the first body.
        relative = sub(add(v2, cross(w2, arm)), add(v1, cross(w1, reach)))
        change = sub(cross(w2, cross(w2, arm)), cross(w1, cross(w1, reach)))
        change = add_scaled(change, -2.0, cross(w1, relative))
        number = bodies.joint_anchor[joint]
        if number == NO_ANCHOR:
            apart = sub(reach, rotate_by(r1, vector(bodies.joint_first_arm[joint])))
        else:
            moving = anchor[number]
            apart = sub(reach, rotate_by(r1, sub(vector(moving), vector(bodies.centre[first]))))
            relative = sub(relative, rotate_by(r1, linear_part(moving)))
            change = sub(change, rotate_by(r1, (moving[6], moving[7], moving[8])))
        spin_apart = sub(w2, w1)
        for row in range(bodies.joint_rows[joint], bodies.joint_rows[joint + 1]):
            a = rotate_by(r1, vector(bodies.row_first[row]))
            one, other = work.jacobian[bodies.row_share[row, 0]], work.jacobian[bodies.row_share[row, 1]]
            if bodies.row_is_angle[row]:
                b = rotate_by(r2, vector(bodies.row_second[row]))
                normal = cross(b, a)
                normal_rate = add(cross(cross(w2, b), a), cross(b, cross(w1, a)))
                work.error[row] = dot(a, b) - bodies.row_cosine[row]
                work.error_rate[row] = dot(normal, spin_apart)
                work.error_bias[row] = dot(normal_rate, spin_apart)
                put(one, 0, scale(-1.0, normal))
                put(one, 3, (0.0, 0.0, 0.0))
                put(other, 0, normal)
                put(other, 3, (0.0, 0.0, 0.0))
            else:
                work.error[row] = dot(a, apart)
                work.error_rate[row] = dot(a, relative)
                work.error_bias[row] = dot(a, change)
                put(one, 0, cross(a, reach))
                put(one, 3, scale(-1.0, a))
                put(other, 0, cross(arm, a))
                put(other, 3, a)


@part
def _constraint_matrix(bodies: FreeBodies, work: FreeWorkspace) -> None:
    """G M^-1 G^T of the held root, and beside it the root's columns and the target less the free motion."""
    matrix, jacobian = work.matrix, work.jacobian
    matrix[:] = 0.0
    work.beside[:] = 0.0
    for row in range(len(work.target)):
        work.beside[row, FREE] = work.target[row]
    for share in range(bodies.share_start[1]):
        for k in range(6):
            work.beside[bodies.share_row[share], k] -= work.jacobian[share, k]
    pair = 0
    for body in range(1, len(bodies.mass)):
        inverse, inverse_mass = _symmetric(work.inverse_inertia[body]), 1.0 / bodies.mass[body]
        angular_free, linear_free = vector(work.free[body]), linear_part(work.free[body])
        start = bodies.share_start[body]
        for share in range(start, bodies.share_start[body + 1]):
            angular, linear = vector(jacobian[share]), linear_part(jacobian[share])
            work.beside[bodies.share_row[share], FREE] -= dot(angular, angular_free) + dot(linear, linear_free)
            angular, linear = times(inverse, angular), scale(inverse_mass, linear)
            put(work.weighted[share], 0, angular)
            put(work.weighted[share], 3, linear)
            for k in range(start, share + 1):
                product = dot(angular, vector(jacobian[k])) + dot(linear, linear_part(jacobian[k]))
                matrix[bodies.pair_entry[pair]] += product
                pair += 1


@part
def _accelerate(bodies: FreeBodies, work: FreeWorkspace, out: FreeAccelerations) -> None:
    """Free and correction accelerations of all bodies but the root ([Cameron], Eqs. 5 and 6c)."""
    for body in range(1, len(bodies.mass)):
        own = out.bodies[body]
        for k in range(6):
            own[k] = work.free[body, k]
        for share in range(bodies.share_start[body], bodies.share_start[body + 1]):
            multiplier = out.multipliers[bodies.share_row[share]]
            for k in range(6):
                own[k] += work.weighted[share, k] * multiplier


@part
def _root_matrix(mass: float, inertia: Array, matrix: Array) -> None:
    """Lower triangle of the root's inertia about its centre."""
    matrix[:] = 0.0
    matrix[0, 0], matrix[1, 1], matrix[2, 2] = inertia[0], inertia[1], inertia[2]
    matrix[1, 0], matrix[2, 0], matrix[2, 1] = inertia[3], inertia[4], inertia[5]
    matrix[3, 3], matrix[4, 4], matrix[5, 5] = mass, mass, mass


@part
def _symmetric(row: Array) -> Symmetric:
    return (row[0], row[1], row[2], row[3], row[4], row[5])
