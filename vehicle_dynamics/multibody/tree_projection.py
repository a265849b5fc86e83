"""Projects a tree's coordinates and rates onto the constraints, for long runs of the tree-augmented model.

Corrections are minimal in the kinetic energy's metric, so that a projection of rates is an impulse of the
constraint forces: a free mechanism keeps its momentum, and no energy is added.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from vehicle_dynamics.multibody.tree_arrays import TreeAccelerations, TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_augmented import solve_tree
from vehicle_dynamics.multibody.tree_kernel import tree_closures, tree_inertias, tree_mass_matrix, tree_motion

Array = NDArray[np.float64]

CLOSURE_TOLERANCE = 1e-12  # [m]
MOST_ITERATIONS = 10
WEIGHTLESS = (0.0, 0.0, 0.0)


@kernel
def project_on_constraints(
    tree: TreeArrays,
    coordinates: Array,
    rates: Array,
    root_velocity: Array,
    root_is_held: bool,
    anchor: Array,
    work: TreeWorkspace,
    out: TreeAccelerations,
) -> float:
    """Close the loops by Newton steps on the coordinates, then make the rates consistent; all in place.

    The root's pose stays, the velocity of a free root changes with the rates: G q' = U ([Cameron], Eq. 2). Returns
    the largest error left [m], which is below CLOSURE_TOLERANCE unless Newton did not converge; out is overwritten.
    """
    for iteration in range(MOST_ITERATIONS + 1):
        tree_motion(tree, coordinates, rates, root_velocity, WEIGHTLESS, work)
        tree_closures(tree, anchor, work)
        worst = largest(work.error, 0.0)
        is_closed = worst < CLOSURE_TOLERANCE or iteration == MOST_ITERATIONS
        _correct(tree, root_is_held or not is_closed, work.error_rate if is_closed else work.error, work, out)
        corrected = rates if is_closed else coordinates
        for index in range(len(corrected)):
            corrected[index] += out.coordinates[index]
        if is_closed:
            break
    for k in range(6):
        root_velocity[k] += out.root[k]
    return worst


@part
def largest(values: Array, least: float) -> float:
    """Largest magnitude, at least `least`; NaN if any value is."""
    result = least
    for value in values:
        if abs(value) > result or math.isnan(value):
            result = abs(value)
    return result


@part
def _correct(tree: TreeArrays, root_is_held: bool, error: Array, work: TreeWorkspace, out: TreeAccelerations) -> None:
    """The correction with M d = G^T lambda and G d = -error, into out."""
    tree_inertias(tree, work)
    tree_mass_matrix(tree, work)
    for index in range(len(work.push)):
        work.push[index] = 0.0
    for k in range(6):
        work.root_push[k] = 0.0
    for row in range(len(error)):
        work.target[row] = -error[row]
    solve_tree(tree, root_is_held, work, out)
