"""Residual and Jacobian of the tree-augmented equations with all levels of constraints ([Bae], Eqs. 19-27).

Unknowns p are the tree coordinates q, the velocities v and accelerations a of root and coordinates, and the
multipliers; equations are those of motion, the constraints of acceleration, velocity and position, and the integration
formula for the independent coordinates. Everything is in root axes, so nothing depends on the pose of the
root: that is what lets one Jacobian serve a whole drive.

Generalised forces and the velocity-coupling terms are constant within a step (section 5 of [Bae]): they are
arguments here. Constraints are the gap of each cut in root axes; only ball joints are cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.vector3 import ZERO, Vector3, add, cross, dot, sub, vector
from vehicle_dynamics.multibody.tree_arrays import ROOT_LEVELS, TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_kernel import (
    linear_part,
    momentum,
    put,
    rotate_by,
    tree_inertias,
    tree_mass_matrix,
    tree_motion,
)

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

ROOT_SPEEDS = 6


class ImplicitLayout(NamedTuple):
    """Indices of the parts of the unknowns p, and of the residual."""

    axes: int  # number of coordinates n
    rows: int  # number of constraints m
    independent: Indices  # coordinates to which the integration formula applies: U0 of Eq. 24 picks them
    velocity: int  # start of v in p; the coordinates start at 0
    acceleration: int
    multiplier: int
    size: int
    acceleration_rows: int  # start of the constraints in the residual; the equations of motion start at 0
    velocity_rows: int
    position_rows: int
    velocity_formula: int
    position_formula: int


class StepTerms(NamedTuple):
    """Terms that are constant within a step."""

    push: Array  # 6 + n: generalised forces less velocity coupling, root first
    acceleration_goal: Array  # m: gamma of Eq. 22
    anchor: Array  # cuts x 9, see tree_arrays.anchors_at_rest
    velocity_past: Array  # 6 + n: zeta_1 of Eq. 23
    position_past: Array  # n: zeta_2
    beta: Array  # 1: step over b0 of Eq. 23


class ImplicitWorkspace(NamedTuple):
    """Work arrays of residual and Jacobian, allocated once."""

    tree: TreeWorkspace
    acceleration: Array  # frames x 6, root included
    load: Array  # frames x 6: inertia times acceleration, summed over all that hangs from a frame
    pull: Array  # frames x 6: constraint forces, summed likewise
    zeros: Array  # 6


def implicit_layout(tree: TreeArrays, independent: Indices) -> ImplicitLayout:
    """Layout for given independent coordinates, whose number must be that of coordinates less constraints."""
    n, m, free = len(tree.parent), len(tree.cut_direction), len(independent)
    if free != n - m:
        raise ValueError(f"independent: must be {n - m} coordinates, got {free}")
    if not np.array_equal(tree.cut_direction, np.tile(np.eye(3), (m // 3, 1))):
        raise ValueError("cuts: all must be ball joints with the root's axes as directions")
    speeds = ROOT_SPEEDS + n
    return ImplicitLayout(
        axes=n,
        rows=m,
        independent=independent.astype(np.int64),
        velocity=n,
        acceleration=n + speeds,
        multiplier=n + 2 * speeds,
        size=n + 2 * speeds + m,
        acceleration_rows=speeds,
        velocity_rows=speeds + m,
        position_rows=speeds + 2 * m,
        velocity_formula=speeds + 3 * m,
        position_formula=speeds + 3 * m + ROOT_SPEEDS + free,
    )


@kernel
def implicit_residual(
    tree: TreeArrays, layout: ImplicitLayout, terms: StepTerms, p: Array, work: ImplicitWorkspace, out: Array
) -> None:
    """Residual H of a step ([Bae] Eq. 23) at the unknowns p, into out."""
    at, n = layout, layout.axes
    v, a = p[at.velocity : at.acceleration], p[at.acceleration : at.multiplier]
    tree_motion(tree, p[:n], v[ROOT_SPEEDS:], work.zeros, ZERO, work.tree)
    tree_inertias(tree, work.tree)
    _accelerate(tree, a, work)
    _sum_loads(tree, p[at.multiplier :], terms.anchor, work)
    # Constraint forces are internal to the root's axes: they do not act on the root's own six equations.
    for k in range(ROOT_SPEEDS):
        out[k] = work.load[0, k] - terms.push[k]
    for k in range(n):
        axis, load, pull = work.tree.axis[k], work.load[k + 1], work.pull[k + 1]
        total = add(vector(load), vector(pull)), add(linear_part(load), linear_part(pull))
        out[ROOT_SPEEDS + k] = dot(vector(axis), total[0]) + dot(linear_part(axis), total[1])
        out[ROOT_SPEEDS + k] -= terms.push[ROOT_SPEEDS + k]
    for cut in range(len(tree.cut_first)):
        position, velocity, acceleration = _gap(tree, cut, terms.anchor, work)
        row = 3 * cut
        for k in range(3):
            out[at.acceleration_rows + row + k] = acceleration[k] - terms.acceleration_goal[row + k]
            out[at.velocity_rows + row + k] = velocity[k]
            out[at.position_rows + row + k] = position[k]
    beta = terms.beta[0]
    for k in range(ROOT_SPEEDS):
        out[at.velocity_formula + k] = beta * a[k] - v[k] - terms.velocity_past[k]
    for k in range(len(at.independent)):
        axis_index = at.independent[k]
        speed = ROOT_SPEEDS + axis_index
        out[at.velocity_formula + ROOT_SPEEDS + k] = beta * a[speed] - v[speed] - terms.velocity_past[speed]
        out[at.position_formula + k] = beta * v[speed] - p[axis_index] - terms.position_past[axis_index]


@part
def velocity_coupling(tree: TreeArrays, anchor: Array, work: ImplicitWorkspace, out: Array) -> None:
    """gamma ([Bae] Eq. 22) into out (m).

    It is the acceleration of the anchors less Phi_q' q'. Call it after tree_motion with the root at rest.
    """
    for cut in range(len(tree.cut_first)):
        change = _point_bias(work, tree.cut_second[cut], _position(tree, cut, tree.cut_second[cut], work))
        goal = ZERO
        if tree.cut_is_at_root[cut]:
            goal = (anchor[cut, 6], anchor[cut, 7], anchor[cut, 8])
        else:
            first = tree.cut_first[cut]
            change = sub(change, _point_bias(work, first, _position(tree, cut, first, work)))
        for k in range(3):
            out[3 * cut + k] = goal[k] - change[k]


@part
def _accelerate(tree: TreeArrays, a: Array, work: ImplicitWorkspace) -> None:
    """Accelerations of all frames, and inertia times acceleration as loads."""
    for k in range(6):
        work.acceleration[0, k] = a[k]
    for index in range(len(tree.parent)):
        parent, rate = tree.parent[index], a[ROOT_SPEEDS + index]
        for k in range(6):
            work.acceleration[index + 1, k] = work.acceleration[parent, k] + rate * work.tree.axis[index, k]


@part
def _sum_loads(tree: TreeArrays, multipliers: Array, anchor: Array, work: ImplicitWorkspace) -> None:
    load, pull = work.load, work.pull
    for frame in range(len(load)):
        for k in range(6):
            load[frame, k], pull[frame, k] = 0.0, 0.0
    for frame in tree.loaded_frames:
        acceleration = work.acceleration[frame]
        angular, linear = momentum(work.tree.own[frame], vector(acceleration), linear_part(acceleration))
        put(load[frame], 0, angular)
        put(load[frame], 3, linear)
    for cut in range(len(tree.cut_first)):
        force = (multipliers[3 * cut], multipliers[3 * cut + 1], multipliers[3 * cut + 2])
        second = tree.cut_second[cut]
        _pull_at(pull[second], _position(tree, cut, second, work), force, 1.0)
        if not tree.cut_is_at_root[cut]:
            first = tree.cut_first[cut]
            _pull_at(pull[first], _position(tree, cut, first, work), force, -1.0)
    for index in range(len(tree.parent) - 1, -1, -1):
        parent = tree.parent[index]
        for k in range(6):
            load[parent, k] += load[index + 1, k]
            pull[parent, k] += pull[index + 1, k]


@part
def _pull_at(pull: Array, position: Vector3, force: Vector3, sign: float) -> None:
    moment = cross(position, force)
    for k in range(3):
        pull[k] += sign * moment[k]
        pull[3 + k] += sign * force[k]


@part
def _position(tree: TreeArrays, cut: int, frame: int, work: ImplicitWorkspace) -> Vector3:
    """Present position of a cut's point on the given frame."""
    design = vector(tree.cut_point[cut])
    return add(rotate_by(work.tree.rotated[frame], design), vector(work.tree.shifted[frame]))


@part
def _point_velocity(motion: Array, position: Vector3) -> Vector3:
    """Velocity (or acceleration per coordinate acceleration) of a spatial motion at a point."""
    return add(linear_part(motion), cross(vector(motion), position))


@part
def _point_bias(work: ImplicitWorkspace, frame: int, position: Vector3) -> Vector3:
    """Acceleration of a point with all coordinate accelerations zero, the root at rest."""
    velocity, bias = work.tree.velocity[frame], work.tree.bias[frame]
    return add(_point_velocity(bias, position), cross(vector(velocity), _point_velocity(velocity, position)))


@part
def _gap(tree: TreeArrays, cut: int, anchor: Array, work: ImplicitWorkspace) -> tuple[Vector3, Vector3, Vector3]:
    """Gap of a cut, its rate, and Phi_q a: all of the second point as seen from the first, root axes."""
    second = tree.cut_second[cut]
    position = _position(tree, cut, second, work)
    velocity = _point_velocity(work.tree.velocity[second], position)
    acceleration = sub(
        _point_velocity(work.acceleration[second], position), _point_velocity(work.acceleration[0], position)
    )
    if tree.cut_is_at_root[cut]:
        return sub(position, vector(anchor[cut])), sub(velocity, linear_part(anchor[cut])), acceleration
    first = tree.cut_first[cut]
    other = _position(tree, cut, first, work)
    acceleration = sub(
        acceleration,
        sub(_point_velocity(work.acceleration[first], other), _point_velocity(work.acceleration[0], other)),
    )
    return sub(position, other), sub(velocity, _point_velocity(work.tree.velocity[first], other)), acceleration


@kernel
def implicit_jacobian(
    tree: TreeArrays, layout: ImplicitLayout, terms: StepTerms, p: Array, work: ImplicitWorkspace, out: Array
) -> None:
    """Jacobian H_p of the residual ([Bae] Eq. 27) into out (size x size), in closed form.

    With S_j the axes, A the frames' accelerations, I and F composite inertia and load of what hangs from a frame:
    d(M a)_k / dq_j is -(I_k S_k) . (S_j x A_before_j) where j moves k, and S_k . (S_j x* F_j - I_j (S_j x A_before_j))
    where k moves j; other pairs are zero.
    """
    at, n = layout, layout.axes
    a = p[at.acceleration : at.multiplier]
    for i in range(at.size):
        for j in range(at.size):
            out[i, j] = 0.0
    tree_motion(tree, p[:n], p[at.velocity + ROOT_SPEEDS : at.acceleration], work.zeros, ZERO, work.tree)
    tree_inertias(tree, work.tree)
    tree_mass_matrix(tree, work.tree)
    _accelerate(tree, a, work)
    _sum_loads(tree, p[at.multiplier :], terms.anchor, work)
    for i in range(ROOT_SPEEDS):
        for j in range(i + 1):
            out[i, at.acceleration + j] = work.tree.root_matrix[i, j]
            out[j, at.acceleration + i] = work.tree.root_matrix[i, j]
    for k in range(n):
        _motion_column(tree, at, k, work, out)
    for cut in range(len(tree.cut_first)):
        _cut_block(tree, at, cut, tree.cut_second[cut], 1.0, p, work, out)
        if not tree.cut_is_at_root[cut]:
            _cut_block(tree, at, cut, tree.cut_first[cut], -1.0, p, work, out)
    beta = terms.beta[0]
    for k in range(ROOT_SPEEDS):
        out[at.velocity_formula + k, at.velocity + k] = -1.0
        out[at.velocity_formula + k, at.acceleration + k] = beta
    for k in range(len(at.independent)):
        axis, row = at.independent[k], at.velocity_formula + ROOT_SPEEDS + k
        out[row, at.velocity + ROOT_SPEEDS + axis] = -1.0
        out[row, at.acceleration + ROOT_SPEEDS + axis] = beta
        out[at.position_formula + k, axis] = -1.0
        out[at.position_formula + k, at.velocity + ROOT_SPEEDS + axis] = beta


@part
def _motion_column(tree: TreeArrays, at: ImplicitLayout, j: int, work: ImplicitWorkspace, out: Array) -> None:
    """Equations of motion: the mass matrix entries of coordinate j, and the change of M a with it."""
    tree_work = work.tree
    row, axis = tree_work.row[j], tree_work.axis[j]
    for k in range(ROOT_SPEEDS):
        out[k, at.acceleration + ROOT_SPEEDS + j] = row[k]
        out[ROOT_SPEEDS + j, at.acceleration + k] = row[k]
    # S_j x A_before_j, and its effect on all that hangs from j.
    before = work.acceleration[tree.parent[j]]
    w, u = vector(axis), linear_part(axis)
    angular_change = cross(w, vector(before))
    linear_change = add(cross(u, vector(before)), cross(w, linear_part(before)))
    angular, linear = momentum(tree_work.composite[j + 1], angular_change, linear_change)
    load = work.load[j + 1]
    moment = sub(add(cross(w, vector(load)), cross(u, linear_part(load))), angular)
    force = sub(cross(w, linear_part(load)), linear)
    for k in range(3):
        out[k, j], out[3 + k, j] = moment[k], force[k]
    for level in range(ROOT_LEVELS, tree.level[j] + 1):
        k = tree.path[j, level]
        out[ROOT_SPEEDS + k, at.acceleration + ROOT_SPEEDS + j] = row[level]
        out[ROOT_SPEEDS + j, at.acceleration + ROOT_SPEEDS + k] = row[level]
        ancestor = tree_work.axis[k]
        if k != j:  # k moves j
            out[ROOT_SPEEDS + k, j] = dot(vector(ancestor), moment) + dot(linear_part(ancestor), force)
        # k moves j or is j: row j, column k; (row[0:3], row[3:6]) is I_j S_j.
        earlier = work.acceleration[tree.parent[k]]
        w_k, u_k = vector(ancestor), linear_part(ancestor)
        angular_k = cross(w_k, vector(earlier))
        linear_k = add(cross(u_k, vector(earlier)), cross(w_k, linear_part(earlier)))
        out[ROOT_SPEEDS + j, k] = -dot((row[0], row[1], row[2]), angular_k) - dot((row[3], row[4], row[5]), linear_k)


@part
def _cut_block(
    tree: TreeArrays,
    at: ImplicitLayout,
    cut: int,
    frame: int,
    sign: float,
    p: Array,
    work: ImplicitWorkspace,
    out: Array,
) -> None:
    """One end of a cut: Phi_q at all levels, and its change with the coordinates against v, a and the multipliers.

    The second derivative of a point's position by q_j and q_k is w_near x J_far, with J its first derivative; near and
    far as seen from the root.
    """
    if frame == 0:
        return
    tree_work, last = work.tree, frame - 1
    position = _position(tree, cut, frame, work)
    force = (p[at.multiplier + 3 * cut], p[at.multiplier + 3 * cut + 1], p[at.multiplier + 3 * cut + 2])
    end = tree.level[last]
    for level in range(ROOT_LEVELS, end + 1):
        j = tree.path[last, level]
        axis = tree_work.axis[j]
        w, column = vector(axis), _point_velocity(axis, position)
        # v and a of the root's frame to j, rotated; and of j to the point.
        nearer_v, nearer_a = (
            vector(tree_work.velocity[j + 1]),
            sub(vector(work.acceleration[j + 1]), vector(work.acceleration[0])),
        )
        farther_v = sub(
            _point_velocity(tree_work.velocity[frame], position), _point_velocity(tree_work.velocity[j + 1], position)
        )
        farther_a = sub(
            _point_velocity(work.acceleration[frame], position), _point_velocity(work.acceleration[j + 1], position)
        )
        change_v = add(cross(nearer_v, column), cross(w, farther_v))
        change_a = add(cross(nearer_a, column), cross(w, farther_a))
        for k in range(3):
            row = 3 * cut + k
            out[at.acceleration_rows + row, at.acceleration + ROOT_SPEEDS + j] += sign * column[k]
            out[at.velocity_rows + row, at.velocity + ROOT_SPEEDS + j] += sign * column[k]
            out[at.position_rows + row, j] += sign * column[k]
            out[ROOT_SPEEDS + j, at.multiplier + row] += sign * column[k]
            out[at.velocity_rows + row, j] += sign * change_v[k]
            out[at.acceleration_rows + row, j] += sign * change_a[k]
        for other in range(ROOT_LEVELS, level + 1):
            i = tree.path[last, other]
            bend = sign * dot(force, cross(vector(tree_work.axis[i]), column))
            out[ROOT_SPEEDS + i, j] += bend
            if i != j:
                out[ROOT_SPEEDS + j, i] += bend


def implicit_workspace(tree: TreeArrays, tree_work: TreeWorkspace) -> ImplicitWorkspace:
    """New arrays for one thread."""
    frames = len(tree.parent) + 1
    return ImplicitWorkspace(
        tree_work, np.zeros((frames, 6)), np.zeros((frames, 6)), np.zeros((frames, 6)), np.zeros(6)
    )
