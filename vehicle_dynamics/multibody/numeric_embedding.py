"""Constraint embedding of any mechanism with numerical loop kinematics, compiled ([Jain], section 3).

What embedding.py does in numpy, without allocation: loops are closed by Newton's method (loop_closure.py), then the
recursion of Eqs. 4-7 runs over the tree of aggregated bodies. That is done on the reduced mass matrix X^T M X: it has
entries only where one group hangs from another, so that factoring it from the tips to the root causes no fill-in, as in
tree_augmented.py, and eliminates group by group, whatever body a group hangs from. The root's 6x6 comes last.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.vector3 import dot
from vehicle_dynamics.multibody.embedding import MOST_ITERATIONS, ClosureError
from vehicle_dynamics.multibody.embedding_arrays import (
    EmbeddedResult,
    EmbeddingArrays,
    EmbeddingWorkspace,
    LoopedTree,
    LoopWorkspace,
    embedded_result,
    loop_workspace,
    looped_tree,
)
from vehicle_dynamics.multibody.loop_closure import NOT_CLOSED, close_loops
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Forces, RootMotion
from vehicle_dynamics.multibody.root_system import solve_root
from vehicle_dynamics.multibody.tree_arrays import ROOT_LEVELS, TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_kernel import (
    linear_part,
    momentum,
    root_matrix,
    tree_forces,
    tree_inertias,
    vector,
)

__all__ = [
    "NOT_CLOSED",
    "EmbeddedResult",
    "LoopWorkspace",
    "LoopedTree",
    "NumericEmbedding",
    "embedded_accelerations",
    "embedded_result",
    "loop_workspace",
    "looped_tree",
]

Array = NDArray[np.float64]


@kernel
def embedded_accelerations(
    mechanism: LoopedTree,
    independent: Array,
    independent_rates: Array,
    root: RootMotion,
    forces: Forces,
    guess: Array,
    workspace: LoopWorkspace,
    out: EmbeddedResult,
) -> int:
    """Accelerations into out; returns the number of Newton steps, or NOT_CLOSED with out unchanged.

    independent and its rates are in the order of EmbeddingArrays.independent; spatial forces on bodies are about the
    root origin in root axes. guess (all tree coordinates) is where Newton's method starts, and becomes the closed
    coordinates; it is unchanged when loops do not close.
    """
    steps = close_loops(mechanism, independent, independent_rates, root, guess, workspace)
    if steps >= 0:
        accelerations_after_closure(mechanism, root.is_held, forces, workspace, out)
    return steps


@part
def accelerations_after_closure(
    mechanism: LoopedTree, root_is_held: bool, forces: Forces, workspace: LoopWorkspace, out: EmbeddedResult
) -> None:
    """As embedded_accelerations, after close_loops: for forces that depend on the bodies' positions."""
    arrays, tree, _ = mechanism
    motion, work = workspace
    tree_inertias(tree, motion)
    tree_forces(tree, forces.bodies, forces.coordinates, motion)
    _group_motions(arrays, tree, motion, work)
    _reduced_masses(arrays, tree, motion, work)
    _factor(arrays, work)
    for k in range(6):
        out.root[k] = 0.0
    if not root_is_held:
        _eliminate_into_root(motion, work)
        solve_root(motion.root_matrix, motion.root_push, work.beside, out.root)
    _accelerate(arrays, work, out)


class NumericEmbedding:
    """One mechanism with its arrays, for use from Python."""

    def __init__(self, mechanism: Mechanism, independent: tuple[str, ...] = ()) -> None:
        self.mechanism = looped_tree(mechanism, independent)
        names = mechanism.coordinate_names
        self.independent_names = [names[index] for index in self.mechanism.embedding.independent]
        self._workspace = loop_workspace(self.mechanism)

    def closed(self, independent: Array, independent_rates: Array, anchor: Array | None = None) -> tuple[Array, Array]:
        """All coordinates and rates for given independent ones, with Newton's method from the design position.

        anchor: as tree_arrays.anchors_at_rest, which is the default. Raises ClosureError.
        """
        tree = self.mechanism.tree
        coordinates = np.zeros(len(tree.parent))
        unloaded = Forces(np.zeros((len(tree.mass), 6)), np.zeros(len(tree.parent)))
        root = RootMotion(np.zeros(6), True, (0.0, 0.0, 0.0))
        self.accelerations(independent, independent_rates, root, unloaded, coordinates, anchor)
        return coordinates, self._workspace.embedding.rates.copy()

    def accelerations(
        self,
        independent: Array,
        independent_rates: Array,
        root: RootMotion,
        forces: Forces,
        guess: Array,
        anchor: Array | None = None,
    ) -> EmbeddedResult:
        """Accelerations; arguments as for embedded_accelerations. Raises ClosureError when loops do not close."""
        anchor = self.mechanism.anchor if anchor is None else anchor
        tree, free = self.mechanism.tree, len(self.mechanism.embedding.independent)
        _check_shape("independent", independent, (free,))
        _check_shape("independent_rates", independent_rates, (free,))
        _check_shape("root velocity", root.velocity, (6,))
        _check_shape("forces on bodies", forces.bodies, (len(tree.mass), 6))
        _check_shape("forces on coordinates", forces.coordinates, (len(tree.parent),))
        _check_shape("guess", guess, (len(tree.parent),))
        _check_shape("anchor", anchor, self.mechanism.anchor.shape)
        out, mechanism = embedded_result(self.mechanism), self.mechanism._replace(anchor=anchor)
        steps = embedded_accelerations(
            mechanism, independent, independent_rates, root, forces, guess, self._workspace, out
        )
        if steps == NOT_CLOSED:
            values = dict(zip(self.independent_names, independent.tolist(), strict=True))
            raise ClosureError(f"loops stay open after {MOST_ITERATIONS} iterations at {values}: out of reach?")
        return out


def _check_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name}: must have the shape {shape}, got {array.shape}")
    if name != "independent" and not np.isfinite(array).all():  # loop closure reports those itself
        raise ValueError(f"{name}: all numbers must be finite")


@part
def _group_motions(arrays: EmbeddingArrays, tree: TreeArrays, motion: TreeWorkspace, work: EmbeddingWorkspace) -> None:
    """Motion of each frame per free rate, relative to the body that its group hangs from (H of Eq. 10); X^T (T - C)."""
    columns = work.motion
    work.push[:] = 0.0
    for group in range(len(arrays.group_frame)):
        first, outside = arrays.row_start[group], arrays.group_frame[group]
        for position in range(arrays.axis_start[group], arrays.axis_start[group + 1]):
            index = arrays.axis[position]
            parent = tree.parent[index]
            for number in range(arrays.row_start[group + 1] - first):
                share = work.map[index, number]
                work.push[first + number] += share * motion.push[index]
                for k in range(6):
                    before = 0.0 if parent == outside else columns[parent, number, k]
                    columns[index + 1, number, k] = before + share * motion.axis[index, k]


@part
def _reduced_masses(arrays: EmbeddingArrays, tree: TreeArrays, motion: TreeWorkspace, work: EmbeddingWorkspace) -> None:
    """X^T M X row by row: momenta of unit free rates, tip to base; a group above moves all that hangs from it alike."""
    composite, rows, columns = motion.composite, work.row, work.motion
    for frame in tree.loaded_frames:
        for k in range(10):
            composite[frame, k] = motion.own[frame, k]
    rows[:] = 0.0
    for group in range(len(arrays.group_frame) - 1, -1, -1):
        first, end = arrays.row_start[group], arrays.row_start[group + 1]
        parent = composite[arrays.group_frame[group]]
        for position in range(arrays.frame_start[group], arrays.frame_start[group + 1]):
            frame = arrays.frame[position]
            own = composite[frame]
            for k in range(10):
                parent[k] += own[k]
            for row in range(first, end):
                column, line = columns[frame, row - first], rows[row]
                angular, linear = momentum(own, vector(column), linear_part(column))
                for k in range(3):
                    line[k] += angular[k]
                    line[3 + k] += linear[k]
                for other in range(first, row + 1):
                    column = columns[frame, other - first]
                    line[arrays.row_level[other]] += dot(vector(column), angular) + dot(linear_part(column), linear)
        frame, above = arrays.group_frame[group], arrays.group_above[group]
        while above >= 0:
            start = arrays.row_start[above]
            for row in range(first, end):
                angular, linear = vector(rows[row]), linear_part(rows[row])
                for other in range(start, arrays.row_start[above + 1]):
                    column = columns[frame, other - start]
                    power = dot(vector(column), angular) + dot(linear_part(column), linear)
                    rows[row, arrays.row_level[other]] = power
            frame, above = arrays.group_frame[above], arrays.group_above[above]
    root_matrix(composite[0], motion.root_matrix)


@part
def _factor(arrays: EmbeddingArrays, work: EmbeddingWorkspace) -> None:
    """L^T L of the reduced mass matrix and L^-T of the forces, tip to base (D of Eq. 4, epsilon of Eq. 6)."""
    rows, push = work.row, work.push
    for number in range(len(push) - 1, -1, -1):
        row, level = rows[number], arrays.row_level[number]
        inverse = 1.0 / math.sqrt(row[level])
        row[level] = inverse
        for k in range(level):
            row[k] *= inverse
        push[number] *= inverse
        for above in range(ROOT_LEVELS, level):
            ancestor, factor = arrays.row_path[number, above], row[above]
            other = rows[ancestor]
            for k in range(above + 1):
                other[k] -= factor * row[k]
            push[ancestor] -= factor * push[number]


@part
def _eliminate_into_root(motion: TreeWorkspace, work: EmbeddingWorkspace) -> None:
    """The root's remaining inertia and force, P+ and z+ of Eqs. 4 and 6."""
    matrix, push = motion.root_matrix, motion.root_push
    for number in range(len(work.push)):
        row, own = work.row[number], work.push[number]
        for i in range(ROOT_LEVELS):
            for j in range(i + 1):
                matrix[i, j] -= row[i] * row[j]
            push[i] -= row[i] * own


@part
def _accelerate(arrays: EmbeddingArrays, work: EmbeddingWorkspace, out: EmbeddedResult) -> None:
    """Base to tip (Eq. 7): free accelerations, and with X those of all coordinates."""
    solved = work.push
    for number in range(len(solved)):
        row, level, value = work.row[number], arrays.row_level[number], solved[number]
        for k in range(ROOT_LEVELS):
            value -= row[k] * out.root[k]
        for above in range(ROOT_LEVELS, level):
            value -= row[above] * solved[arrays.row_path[number, above]]
        solved[number] = value * row[level]
        out.independent[arrays.row_slot[number]] = solved[number]
    for group in range(len(arrays.group_frame)):
        first = arrays.row_start[group]
        for position in range(arrays.axis_start[group], arrays.axis_start[group + 1]):
            index = arrays.axis[position]
            value = work.map_bias[index]
            for number in range(arrays.row_start[group + 1] - first):
                value += work.map[index, number] * solved[first + number]
            out.coordinates[index] = value
