"""Tree-augmented (TA) forward dynamics of any mechanism: spanning tree, cuts by Lagrange multipliers, compiled.

The Schur complement of [Cameron], Eqs. 5-6, exploiting sparsity: the mass matrix is factored over the parent array
(M = L^T L has no fill-in), each constraint involves only the axes that move its cut, and the root's six velocities are
eliminated last. No constraint has a column there, so that the constraint matrix of the held root splits into one small
block per group of loops; a free root adds a 6x6 system, and a held root simply omits it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces, RootMotion
from vehicle_dynamics.multibody.root_system import BESIDE_COLUMNS, FREE, solve_root
from vehicle_dynamics.multibody.tree_arrays import ROOT_LEVELS, TreeAccelerations, TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_kernel import (
    tree_closures,
    tree_forces,
    tree_inertias,
    tree_mass_matrix,
    tree_motion,
)

Array = NDArray[np.float64]


@kernel
def tree_augmented_accelerations(
    tree: TreeArrays,
    coordinates: Array,
    rates: Array,
    root: RootMotion,
    forces: Forces,
    constraints: Constraints,
    work: TreeWorkspace,
    out: TreeAccelerations,
) -> None:
    """Accelerations and constraint forces into out; spatial forces on bodies are about the root origin in root axes."""
    tree_motion(tree, coordinates, rates, root.velocity, root.gravity, work)
    accelerations_after_motion(tree, root.is_held, forces, constraints, work, out)


@part
def accelerations_after_motion(
    tree: TreeArrays,
    root_is_held: bool,
    forces: Forces,
    constraints: Constraints,
    work: TreeWorkspace,
    out: TreeAccelerations,
) -> None:
    """As tree_augmented_accelerations, after tree_motion: for forces that depend on the bodies' positions."""
    tree_closures(tree, constraints.anchor, work)
    tree_inertias(tree, work)
    tree_mass_matrix(tree, work)
    tree_forces(tree, forces.bodies, forces.coordinates, work)
    alpha, beta = constraints.alpha, constraints.beta
    for row in range(len(tree.reach)):
        drift = 2.0 * alpha * work.error_rate[row] + beta * beta * work.error[row]
        work.target[row] = -work.error_bias[row] - drift
    solve_tree(tree, root_is_held, work, out)


@part
def solve_tree(tree: TreeArrays, root_is_held: bool, work: TreeWorkspace, out: TreeAccelerations) -> None:
    """Solve M a - G^T lambda = push, G a = target ([Cameron], Eq. 4), with all of them in the workspace.

    With C the root columns of L, u = L^-T push, Y = L^-T G^T (all of the held root) and U^T U = Y^T Y:
    lambda = U^-1 (s + E a_root) where s = U^-T (target - Y^T u), E = U^-T Y^T C, and
    (M_root - C^T C + E^T E) a_root = push_root - C^T u - E^T s.
    """
    _factor_tree(tree, work)
    _gather(tree, work)
    _factor_constraints(tree, work)
    root = out.root
    for k in range(6):
        root[k] = 0.0
    if not root_is_held:
        solve_root(work.root_matrix, work.root_push, work.beside, root)
    _multipliers(tree, work, root, out.multipliers)
    _tree_accelerations(tree, work, root, out.multipliers, out.coordinates)


@part
def _factor_tree(tree: TreeArrays, work: TreeWorkspace) -> None:
    """L^T L = M over the parent array (Featherstone), and L^-T of push and G^T on the way, tip to base."""
    rows, push, column = work.row, work.push, work.column
    for index in range(len(tree.parent) - 1, -1, -1):
        row, own, level = rows[index], column[index], tree.level[index]
        start, end = tree.first_row[index], tree.end_row[index]
        inverse = 1.0 / math.sqrt(row[level])
        row[level] = inverse
        for k in range(level):
            row[k] *= inverse
        for k in range(start, end):
            own[k] *= inverse
        push[index] *= inverse
        for above in range(ROOT_LEVELS, level):
            ancestor = tree.path[index, above]
            factor = row[above]
            other, others = rows[ancestor], column[ancestor]
            for k in range(above + 1):
                other[k] -= factor * row[k]
            for k in range(start, end):
                others[k] -= factor * own[k]
            push[ancestor] -= factor * push[index]


@part
def _gather(tree: TreeArrays, work: TreeWorkspace) -> None:
    """Y^T Y (upper triangle), Y^T C and target - Y^T u, and the root's share of C and u."""
    matrix, beside, root_matrix, root_push = work.matrix, work.beside, work.root_matrix, work.root_push
    for row in range(len(tree.reach)):
        for k in range(row, tree.reach[row]):
            matrix[row, k] = 0.0
        for k in range(BESIDE_COLUMNS):
            beside[row, k] = 0.0
        beside[row, FREE] = work.target[row]
    for index in range(len(tree.parent)):
        own, above, push = work.column[index], work.row[index], work.push[index]
        start, end = tree.first_row[index], tree.end_row[index]
        for row in range(start, end):
            factor, line, side = own[row], matrix[row], beside[row]
            for k in range(row, end):
                line[k] += factor * own[k]
            for k in range(ROOT_LEVELS):
                side[k] += factor * above[k]
            side[FREE] -= factor * push
        for i in range(ROOT_LEVELS):
            for j in range(i + 1):
                root_matrix[i, j] -= above[i] * above[j]
            root_push[i] -= above[i] * push


@part
def _factor_constraints(tree: TreeArrays, work: TreeWorkspace) -> None:
    """U^T U of the constraint matrix within its envelope, and U^-T of what stands beside it."""
    matrix, beside = work.matrix, work.beside
    for row in range(len(tree.reach)):
        line, side, end = matrix[row], beside[row], tree.reach[row]
        inverse = 1.0 / math.sqrt(line[row])
        line[row] = inverse
        for k in range(row + 1, end):
            line[k] *= inverse
        for k in range(BESIDE_COLUMNS):
            side[k] *= inverse
        for below in range(row + 1, end):
            factor, other, others = line[below], matrix[below], beside[below]
            for k in range(below, end):
                other[k] -= factor * line[k]
            for k in range(BESIDE_COLUMNS):
                others[k] -= factor * side[k]


@part
def _multipliers(tree: TreeArrays, work: TreeWorkspace, root: Array, multipliers: Array) -> None:
    """lambda = U^-1 (s + E a_root): [Cameron], Eq. 6b."""
    for row in range(len(tree.reach) - 1, -1, -1):
        line, side = work.matrix[row], work.beside[row]
        value = side[FREE]
        for k in range(6):
            value += side[k] * root[k]
        for k in range(row + 1, tree.reach[row]):
            value -= line[k] * multipliers[k]
        multipliers[row] = value * line[row]


@part
def _tree_accelerations(
    tree: TreeArrays, work: TreeWorkspace, root: Array, multipliers: Array, accelerations: Array
) -> None:
    """L^-1 (u - C a_root + Y lambda): free and correction accelerations in one ([Cameron], Eqs. 5, 6a, 6c)."""
    for index in range(len(tree.parent)):
        row, own, level = work.row[index], work.column[index], tree.level[index]
        value = work.push[index]
        for k in range(6):
            value -= row[k] * root[k]
        for k in range(tree.first_row[index], tree.end_row[index]):
            value += own[k] * multipliers[k]
        for above in range(ROOT_LEVELS, level):
            value -= row[above] * accelerations[tree.path[index, above]]
        accelerations[index] = value * row[level]
