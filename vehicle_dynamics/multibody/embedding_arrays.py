"""The aggregated bodies of a mechanism as flat arrays for compiled kernels ([Jain], section 3.1).

Groups are the aggregates of embedding.py, each after the one it hangs from. Axes, frames, cuts and rows are those of
tree_arrays.py. The reduced mass matrix has one row per independent coordinate, in the order of the groups, packed by
level as in tree_arrays.py: six root levels, the free coordinates of the groups above, then the group's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from vehicle_dynamics.multibody.embedding import Aggregate, EmbeddedSystem
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.root_system import BESIDE_COLUMNS
from vehicle_dynamics.multibody.tree_arrays import (
    ROOT_LEVELS,
    Array,
    Indices,
    TreeArrays,
    TreeWorkspace,
    anchors_at_rest,
    tree_arrays,
    tree_workspace,
)


class EmbeddingArrays(NamedTuple):
    """Groups, and the rows of the reduced mass matrix. Each `..._start` has one entry per group, and the end."""

    independent: Indices  # free coordinates, ascending: the order of the callers' vectors
    group_frame: Indices  # groups: the frame that the group hangs from
    group_above: Indices  # groups: the group of that frame, -1 for the root
    axis: Indices  # coordinates, group by group
    axis_start: Indices
    frame: Indices  # frames with bodies on them, group by group
    frame_start: Indices
    cut: Indices  # cuts, group by group
    dependent: Indices  # dependent coordinates, group by group: as many as rows of its cuts
    dependent_start: Indices
    row_coordinate: Indices  # reduced rows: the free coordinate
    row_slot: Indices  # reduced rows: its index in `independent`
    row_level: Indices  # reduced rows: position of its own entry
    row_path: Indices  # reduced rows x levels: the row at each level from ROOT_LEVELS to its own
    row_start: Indices  # groups + 1
    support_slot: Indices  # entries of tree.support: column among the dependent ones, or -1 - (free one of the group)


class EmbeddingWorkspace(NamedTuple):
    """Work arrays of an evaluation besides those of TreeWorkspace, allocated once per thread."""

    coordinates: Array  # trial values while loops are closed
    rates: Array
    map: Array  # coordinates x free ones of the group: X of Eq. 13
    map_bias: Array  # coordinates: X' theta' of Eq. 14, zero for free ones
    carried: Array  # axes x 6: Coriolis acceleration of each axis
    position: Array  # cuts x 3: the second body's point [m]
    direction: Array  # rows x 3
    matrix: Array  # dependent ones x most of a group: Y1 of each group, then its factors (small_lu.py)
    pivot: Indices  # dependent ones
    right: Array  # right sides x dependent ones: Y2, and last the position errors and whatever comes after them
    motion: Array  # frames x free ones of the group x 6: H of Eq. 10
    row: Array  # reduced mass matrix, then its factor L (M = L^T L), its diagonal inverted
    push: Array  # reduced forces
    beside: Array  # no rows: the root system without constraints (root_system.py)


class LoopedTree(NamedTuple):
    """A mechanism in the form that numerical embedding uses."""

    embedding: EmbeddingArrays
    tree: TreeArrays
    anchor: Array  # cuts x 9: see tree_arrays.anchors_at_rest


class LoopWorkspace(NamedTuple):
    """All work arrays of an evaluation, allocated once per thread."""

    motion: TreeWorkspace
    embedding: EmbeddingWorkspace


class EmbeddedResult(NamedTuple):
    """Accelerations of root and independent coordinates by compiled constraint embedding."""

    root: Array  # spatial acceleration of the root, 6 [rad/s^2, m/s^2]
    independent: Array  # accelerations of the independent coordinates
    coordinates: Array  # accelerations of all tree coordinates


def numeric_embedding(mechanism: Mechanism, independent: tuple[str, ...] = ()) -> EmbeddingArrays:
    """Flat arrays of a mechanism's aggregates; names of coordinates to keep free as for EmbeddedSystem."""
    system, tree = EmbeddedSystem(mechanism, independent), tree_arrays(mechanism)
    groups = system.aggregates
    group_of = {body: number for number, group in enumerate(groups) for body in group.bodies}
    above = [group_of.get(group.parent, -1) for group in groups]
    rows = np.concatenate([group.independent for group in groups]).astype(np.int64)
    row_start = _starts([group.independent for group in groups])
    paths = _row_paths(above, row_start)
    row_path = np.zeros((len(rows), ROOT_LEVELS + max((len(path) for path in paths), default=0)), dtype=np.int64)
    for row, path in enumerate(paths):
        row_path[row, ROOT_LEVELS : ROOT_LEVELS + len(path)] = path
    # A body without axes shares the frame of its parent.
    frames = [
        np.setdiff1d(tree.body_frame[list(group.bodies)], tree.body_frame[[group.parent]]).astype(np.int64)
        for group in groups
    ]
    names = [cut.name for cut in mechanism.cuts]
    cuts = [[names.index(cut.name) for cut in group.cuts] for group in groups]
    return EmbeddingArrays(
        independent=system.independent.astype(np.int64),
        group_frame=_indices([tree.body_frame[group.parent] for group in groups]),
        group_above=_indices(above),
        axis=_joined([group.coordinates for group in groups]),
        axis_start=_starts([group.coordinates for group in groups]),
        frame=_joined(frames),
        frame_start=_starts(frames),
        cut=_joined(cuts),
        dependent=_joined([group.dependent for group in groups]),
        dependent_start=_starts([group.dependent for group in groups]),
        row_coordinate=rows,
        row_slot=np.searchsorted(system.independent, rows).astype(np.int64),
        row_level=_indices([ROOT_LEVELS - 1 + len(path) for path in paths]),
        row_path=row_path,
        row_start=row_start,
        support_slot=_support_slots(tree, groups, cuts),
    )


def looped_tree(mechanism: Mechanism, independent: tuple[str, ...] = ()) -> LoopedTree:
    """Arrays of a mechanism whose anchors are at rest; names of coordinates to keep free as for EmbeddedSystem."""
    arrays = numeric_embedding(mechanism, independent)
    return LoopedTree(arrays, tree_arrays(mechanism), anchors_at_rest(mechanism.cuts))


def loop_workspace(mechanism: LoopedTree) -> LoopWorkspace:
    """New arrays for one thread."""
    return LoopWorkspace(tree_workspace(mechanism.tree), embedding_workspace(mechanism.embedding, mechanism.tree))


def embedding_workspace(arrays: EmbeddingArrays, tree: TreeArrays) -> EmbeddingWorkspace:
    """New arrays for one thread."""
    axes, rows = len(tree.parent), len(arrays.row_coordinate)
    most_free, most_dependent = (_largest(start) for start in (arrays.row_start, arrays.dependent_start))
    return EmbeddingWorkspace(
        coordinates=np.zeros(axes),
        rates=np.zeros(axes),
        map=np.zeros((axes, most_free)),
        map_bias=np.zeros(axes),
        carried=np.zeros((axes, 6)),
        position=np.zeros((len(tree.cut_first), 3)),
        direction=np.zeros((len(tree.cut_direction), 3)),
        matrix=np.zeros((len(arrays.dependent), most_dependent)),
        pivot=np.zeros(len(arrays.dependent), dtype=np.int64),
        right=np.zeros((most_free + 1, len(arrays.dependent))),
        motion=np.zeros((axes + 1, most_free, 6)),
        row=np.zeros((rows, arrays.row_path.shape[1])),
        push=np.zeros(rows),
        beside=np.zeros((0, BESIDE_COLUMNS)),
    )


def embedded_result(mechanism: LoopedTree) -> EmbeddedResult:
    """New arrays for a result."""
    free, axes = len(mechanism.embedding.independent), len(mechanism.tree.parent)
    return EmbeddedResult(np.zeros(6), np.zeros(free), np.zeros(axes))


def _row_paths(above: list[int], row_start: Indices) -> list[list[int]]:
    """Rows above each reduced row and itself, from the root down."""
    paths: list[list[int]] = []
    hanging: list[list[int]] = []  # of each group: all rows down to its last
    for group, parent in enumerate(above):
        line = list(hanging[parent]) if parent >= 0 else []
        for row in range(row_start[group], row_start[group + 1]):
            line = [*line, row]
            paths.append(line)
        hanging.append(line)
    return paths


def _support_slots(tree: TreeArrays, groups: list[Aggregate], cuts: list[list[int]]) -> Indices:
    slots = np.zeros(len(tree.support), dtype=np.int64)
    for group, own in zip(groups, cuts, strict=True):
        columns = {int(axis): number for number, axis in enumerate(group.dependent)}
        columns |= {int(axis): -1 - number for number, axis in enumerate(group.independent)}
        for cut in own:
            for entry in range(tree.support_start[cut], tree.support_start[cut + 1]):
                slots[entry] = columns[int(tree.support[entry])]
    return slots


def _largest(starts: Indices) -> int:
    return int(np.diff(starts).max(initial=0))


def _indices(values: Sequence[int]) -> Indices:
    return np.array(values, dtype=np.int64)


def _joined(lists: Sequence[Sequence[int] | Indices | Array]) -> Indices:
    return _indices([int(value) for values in lists for value in values])


def _starts(lists: Sequence[Sequence[int] | Indices | Array]) -> Indices:
    return np.cumsum([0] + [len(values) for values in lists]).astype(np.int64)
