"""Tree-augmented dynamics: the spanning tree with the cuts as constraints and Lagrange multipliers ([Jain], Eq. 8).

A plain dense solution, the reference for all faster solutions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.multibody.tree import TreeState

Array = NDArray[np.float64]


class AugmentedSolution(NamedTuple):
    """Accelerations and constraint forces of the tree-augmented model."""

    root: Array  # spatial acceleration of the root, 6
    coordinates: Array  # accelerations of all tree coordinates
    multipliers: Array  # constraint forces along each cut's directions, on its second body


def solve_augmented(
    state: TreeState, body_forces: Array, coordinate_forces: Array, root_is_held: bool
) -> AugmentedSolution:
    """Accelerations under external spatial forces (bodies x 6, root first) and forces on the tree coordinates."""
    layout = state.layout
    inertias = state.inertias()
    n = layout.count
    mass = np.zeros((6 + n, 6 + n))
    force = np.concatenate([np.zeros(6), coordinate_forces])
    loads = body_forces - state.gyroscopic(inertias)
    for body, (inertia, load) in enumerate(zip(inertias, loads, strict=True)):
        jacobian = np.hstack([np.eye(6), state.jacobian(body)])
        mass += jacobian.T @ inertia @ jacobian
        force += jacobian.T @ (load - inertia @ state.bias[body])
    closures = [state.closure(cut) for cut in layout.mechanism.cuts]
    constraint = np.vstack([np.zeros((0, n)), *(item[1] for item in closures)])
    right = -np.concatenate([np.zeros(0), *(item[2] for item in closures)])
    constraint = np.hstack([np.zeros((len(right), 6)), constraint])  # the root moves both ends of a cut alike
    free = np.arange(6 + n) if not root_is_held else np.arange(6, 6 + n)
    size = len(free)
    matrix = np.zeros((size + len(right), size + len(right)))
    matrix[:size, :size] = mass[np.ix_(free, free)]
    matrix[size:, :size] = constraint[:, free]
    matrix[:size, size:] = constraint[:, free].T
    solution = np.linalg.solve(matrix, np.concatenate([force[free], right]))
    accelerations = np.zeros(6 + n)
    accelerations[free] = solution[:size]
    return AugmentedSolution(accelerations[:6], accelerations[6:], -solution[size:])
