"""Numerical loop kinematics of aggregated bodies, compiled ([Jain], section 3.3): Newton, X and X' theta'.

Each function loops over all groups: passing the arrays costs as much as the work on one group. A group hangs from
one body, so its cuts do not depend on other groups, and all take their Newton steps together. Poses and
velocities are separate here, unlike in tree_motion: an iteration needs no velocities.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import part
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, cross, dot, sub
from vehicle_dynamics.multibody.embedding import CLOSURE_TOLERANCE, MOST_ITERATIONS
from vehicle_dynamics.multibody.embedding_arrays import EmbeddingArrays, EmbeddingWorkspace, LoopedTree, LoopWorkspace
from vehicle_dynamics.multibody.model_inputs import RootMotion
from vehicle_dynamics.multibody.small_lu import lu_factor, lu_solve
from vehicle_dynamics.multibody.tree_arrays import TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, rotate_by, start_at_root, tree_poses, vector

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

NOT_CLOSED = -1


@part
def close_loops(
    mechanism: LoopedTree,
    independent: Array,
    independent_rates: Array,
    root: RootMotion,
    guess: Array,
    workspace: LoopWorkspace,
) -> int:
    """Motion of all frames into the workspace, with X and X' theta' of all groups, for given independent coordinates.

    guess (all tree coordinates) becomes the closed coordinates. Returns the number of Newton steps, or NOT_CLOSED with
    the guess unchanged.
    """
    arrays, tree, anchor = mechanism
    motion, work = workspace
    _take(arrays, independent, independent_rates, guess, work)
    steps = _newton(arrays, tree, anchor, motion, work)
    if steps >= 0:
        is_moving = _anchor_rates(arrays, tree, anchor, work)
        _solve_loops(arrays, work, True, is_moving)
        _velocity_map(arrays, work, guess)
        tree_velocities(tree, work.rates, root.velocity, root.gravity, work.carried, motion)
        _closure_accelerations(arrays, tree, anchor, motion, work)
        _solve_loops(arrays, work, False, True)
        _add_map_bias(arrays, tree, motion, work)
    return steps


@part
def _newton(
    arrays: EmbeddingArrays, tree: TreeArrays, anchor: Array, motion: TreeWorkspace, work: EmbeddingWorkspace
) -> int:
    """Close the trial coordinates; leaves poses, Y2 and the factors of Y1. Returns the steps taken, or NOT_CLOSED."""
    steps = 0
    tree_poses(tree, work.coordinates, motion)
    worst = _closure_errors(arrays, tree, anchor, motion, work)
    is_regular = _factor_loops(arrays, work)
    while worst >= CLOSURE_TOLERANCE and is_regular and steps < MOST_ITERATIONS:
        steps += 1
        _newton_step(arrays, work)
        tree_poses(tree, work.coordinates, motion)
        worst = _closure_errors(arrays, tree, anchor, motion, work)
        is_regular = _factor_loops(arrays, work)
    return steps if worst < CLOSURE_TOLERANCE and is_regular else NOT_CLOSED


@part
def _take(
    arrays: EmbeddingArrays, independent: Array, independent_rates: Array, guess: Array, work: EmbeddingWorkspace
) -> None:
    for index in range(len(guess)):
        work.coordinates[index] = guess[index]
    for row in range(len(arrays.row_coordinate)):
        work.coordinates[arrays.row_coordinate[row]] = independent[arrays.row_slot[row]]
        work.rates[arrays.row_coordinate[row]] = independent_rates[arrays.row_slot[row]]


@part
def _factor_loops(arrays: EmbeddingArrays, work: EmbeddingWorkspace) -> bool:
    return lu_factor(arrays.dependent_start, work.matrix, work.pivot)


@part
def _solve_loops(arrays: EmbeddingArrays, work: EmbeddingWorkspace, with_map: bool, with_last: bool) -> None:
    """Y1^-1 of the right sides of X, of the last right side, or of both."""
    last = len(work.right) - 1
    first, end = 0 if with_map else last, last + 1 if with_last else last
    lu_solve(arrays.dependent_start, work.matrix, work.pivot, work.right, first, end)


@part
def _newton_step(arrays: EmbeddingArrays, work: EmbeddingWorkspace) -> None:
    _solve_loops(arrays, work, False, True)
    last = len(work.right) - 1
    for line in range(len(arrays.dependent)):
        work.coordinates[arrays.dependent[line]] -= work.right[last, line]


@part
def tree_velocities(
    tree: TreeArrays, rates: Array, root_velocity: Array, gravity: Vector3, carried: Array, work: TreeWorkspace
) -> None:
    """Velocity and bias acceleration of every frame, the second half of tree_motion; carried: Coriolis of each axis."""
    start_at_root(root_velocity, gravity, work)
    velocity, bias, axes = work.velocity, work.bias, work.axis
    for index in range(len(tree.parent)):
        parent, rate = tree.parent[index], rates[index]
        w, v = vector(velocity[parent]), linear_part(velocity[parent])
        angular, linear = vector(axes[index]), linear_part(axes[index])
        rotating, shifting = cross(w, angular), add(cross(v, angular), cross(w, linear))
        put(velocity[index + 1], 0, add_scaled(w, rate, angular))
        put(velocity[index + 1], 3, add_scaled(v, rate, linear))
        for k in range(3):
            carried[index, k], carried[index, 3 + k] = rate * rotating[k], rate * shifting[k]
        for k in range(6):
            bias[index + 1, k] = bias[parent, k] + carried[index, k]


@part
def _closure_errors(
    arrays: EmbeddingArrays, tree: TreeArrays, anchor: Array, motion: TreeWorkspace, work: EmbeddingWorkspace
) -> float:
    """Y1 and Y2 of Eq. 12, and after Y2 the position errors [m]; returns the largest of these, or NaN."""
    matrix, right = work.matrix, work.right
    matrix[:] = 0.0
    right[:] = 0.0
    worst, line, last = 0.0, 0, len(right) - 1
    for cut in arrays.cut:
        first, second = tree.cut_first[cut], tree.cut_second[cut]
        design = vector(tree.cut_point[cut])
        position = add(rotate_by(motion.rotated[second], design), vector(motion.shifted[second]))
        if tree.cut_is_at_root[cut]:
            apart = sub(position, vector(anchor[cut]))
        else:
            apart = sub(position, add(rotate_by(motion.rotated[first], design), vector(motion.shifted[first])))
        put(work.position[cut], 0, position)
        for row in range(tree.cut_rows[cut], tree.cut_rows[cut + 1]):
            direction = rotate_by(motion.rotated[first], vector(tree.cut_direction[row]))
            moment = cross(position, direction)
            put(work.direction[row], 0, direction)
            error = dot(direction, apart)
            right[last, line] = error
            motion.error[row] = error
            if abs(error) > worst or math.isnan(error):
                worst = abs(error)
            for entry in range(tree.support_start[cut], tree.support_start[cut + 1]):
                axis, column = motion.axis[tree.support[entry]], arrays.support_slot[entry]
                power = dot(moment, vector(axis)) + dot(direction, linear_part(axis))
                if column >= 0:
                    matrix[line, column] = tree.support_sign[entry] * power
                else:
                    right[-1 - column, line] = tree.support_sign[entry] * power
            line += 1
    return worst


@part
def _anchor_rates(arrays: EmbeddingArrays, tree: TreeArrays, anchor: Array, work: EmbeddingWorkspace) -> bool:
    """Velocities that moving anchors impose on the loops [m/s], as the last right side; False when all are zero."""
    last, line, largest = len(work.right) - 1, 0, 0.0
    for cut in arrays.cut:
        for row in range(tree.cut_rows[cut], tree.cut_rows[cut + 1]):
            value = dot(vector(work.direction[row]), linear_part(anchor[cut])) if tree.cut_is_at_root[cut] else 0.0
            work.right[last, line] = value
            largest = max(largest, abs(value))
            line += 1
    return largest > 0.0


@part
def _velocity_map(arrays: EmbeddingArrays, work: EmbeddingWorkspace, closed: Array) -> None:
    """X = [-Y1^-1 Y2; 1] (Eq. 13) and the rates X theta', plus those of moving anchors; coordinates out."""
    right, last = work.right, len(work.right) - 1
    for group in range(len(arrays.group_frame)):
        first, end = arrays.row_start[group], arrays.row_start[group + 1]
        for row in range(first, end):
            for other in range(first, end):
                work.map[arrays.row_coordinate[row], other - first] = 1.0 if other == row else 0.0
        for line in range(arrays.dependent_start[group], arrays.dependent_start[group + 1]):
            index, rate = arrays.dependent[line], right[last, line]
            for row in range(first, end):
                share = -right[row - first, line]
                work.map[index, row - first] = share
                rate += share * work.rates[arrays.row_coordinate[row]]
            work.rates[index] = rate
    for index in range(len(closed)):
        closed[index] = work.coordinates[index]


@part
def _closure_accelerations(
    arrays: EmbeddingArrays, tree: TreeArrays, anchor: Array, motion: TreeWorkspace, work: EmbeddingWorkspace
) -> None:
    """Accelerations of the errors at zero coordinate accelerations, with the sign of Eq. 14, as right side after Y2."""
    last, line = len(work.right) - 1, 0
    for cut in arrays.cut:
        first, second, position = tree.cut_first[cut], tree.cut_second[cut], vector(work.position[cut])
        # The second body's point relative to the first body, as in tree_closures.
        w1, w2 = vector(motion.velocity[first]), vector(motion.velocity[second])
        v1 = add(linear_part(motion.velocity[first]), cross(w1, position))
        v2 = add(linear_part(motion.velocity[second]), cross(w2, position))
        angular = sub(vector(motion.bias[second]), vector(motion.bias[first]))
        linear = sub(linear_part(motion.bias[second]), linear_part(motion.bias[first]))
        change = add(add(linear, cross(angular, position)), sub(cross(w2, v2), cross(w1, v1)))
        change = add_scaled(change, -2.0, cross(w1, sub(v2, v1)))
        if tree.cut_is_at_root[cut]:
            change = sub(change, (anchor[cut, 6], anchor[cut, 7], anchor[cut, 8]))
        for row in range(tree.cut_rows[cut], tree.cut_rows[cut + 1]):
            work.right[last, line] = -dot(vector(work.direction[row]), change)
            line += 1


@part
def _add_map_bias(arrays: EmbeddingArrays, tree: TreeArrays, motion: TreeWorkspace, work: EmbeddingWorkspace) -> None:
    """X' theta' of Eq. 14, and bias accelerations with it: the free coordinates do not accelerate (a of Eq. 11)."""
    bias, axis, last = motion.bias, motion.axis, len(work.right) - 1
    for line in range(len(arrays.dependent)):
        work.map_bias[arrays.dependent[line]] = work.right[last, line]
    for index in range(len(tree.parent)):
        parent, extra = tree.parent[index], work.map_bias[index]
        for k in range(6):
            bias[index + 1, k] = bias[parent, k] + work.carried[index, k] + extra * axis[index, k]
