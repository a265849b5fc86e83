"""A mechanism's spanning tree as flat arrays for compiled kernels, and the work arrays of an evaluation.

Bodies with hinges of several axes become chains: one *frame* follows each axis, frame 0 is the root and frame k + 1
follows axis k. Rows of the mass matrix are packed by level, as in Featherstone's sparse factorisation over the parent
array: only an axis' ancestors have an entry, the six root velocities at levels 0 to 5, then the axes down the path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.multibody.mechanism import ROOT, Cut, Mechanism, Motion
from vehicle_dynamics.multibody.root_system import BESIDE_COLUMNS
from vehicle_dynamics.multibody.tree import TreeLayout

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

ROOT_LEVELS = 6


class TreeArrays(NamedTuple):
    """The tree; points, directions, centres and inertias at design in root axes, SI units."""

    parent: Indices  # axes: the frame it is on
    is_revolute: Flags  # axes: else it slides
    direction: Array  # axes x 3
    point: Array  # axes x 3
    level: Indices  # axes: position of its own entry in its row
    path: Indices  # axes x levels: the axis at each level from ROOT_LEVELS to its own
    body_frame: Indices  # bodies, root first: the frame a body is fixed to
    loaded_frames: Indices  # frames that have bodies on them
    mass: Array  # bodies
    centre: Array  # bodies x 3
    inertia: Array  # bodies x 6: xx, yy, zz, xy, xz, yz about the centre
    cut_first: Indices  # cuts: frames
    cut_second: Indices
    cut_is_at_root: Flags  # cuts: the first body is the root, so that the anchor may move
    cut_point: Array  # cuts x 3
    cut_rows: Indices  # cuts + 1: first row of each cut
    cut_direction: Array  # rows x 3
    support: Indices  # axes that move one end of a cut and not the other, cut by cut
    support_sign: Array  # +1 when it moves the second end, -1 the first
    support_start: Indices  # cuts + 1
    first_row: Indices  # axes: constraint rows that the axis takes part in, itself or through its children
    end_row: Indices
    reach: Indices  # rows: end of the row's columns in the upper factor of the constraint matrix


class TreeWorkspace(NamedTuple):
    """Work arrays of an evaluation, allocated once per thread. All about the root origin in root axes."""

    rotated: Array  # frames x 9: rotation matrix from design to now, row by row
    shifted: Array  # frames x 3: a frame's design origin, now
    velocity: Array  # frames x 6
    bias: Array  # frames x 6: acceleration with all accelerations zero, less gravity
    axis: Array  # axes x 6: spatial velocity of a unit rate
    own: Array  # frames x 10: mass, mass times centre (3), inertia (6) of the bodies on the frame
    composite: Array  # frames x 10: the same of all that hangs from the frame
    load: Array  # frames x 6: force needed by all that hangs from the frame at zero accelerations
    row: Array  # axes x levels: mass matrix, then its factor L (M = L^T L), its diagonal inverted
    push: Array  # axes: generalised forces, then L^-T of them
    column: Array  # axes x rows: G^T, then L^-T G^T
    error: Array  # rows: position error of the cuts [m]
    error_rate: Array  # rows: G q' - U [m/s]
    error_bias: Array  # rows: acceleration error with all accelerations zero [m/s^2]
    target: Array  # rows: required G q''
    matrix: Array  # rows x rows: G M^-1 G^T of the held root, then its factor U (U^T U), upper triangle
    beside: Array  # rows x BESIDE_COLUMNS: right sides that go with the rows of `matrix` (root_system.py)
    root_matrix: Array  # 6 x 6, lower triangle
    root_push: Array  # 6


class TreeAccelerations(NamedTuple):
    """Accelerations of root and tree coordinates, and multipliers, of the tree-augmented model."""

    root: Array  # spatial acceleration of the root, 6 [rad/s^2, m/s^2]
    coordinates: Array  # accelerations of all tree coordinates
    multipliers: Array  # constraint forces along each cut's directions, on its second body [N]


def tree_arrays(mechanism: Mechanism) -> TreeArrays:
    """Flat arrays of a mechanism. Cuts of the same loops should be neighbours: that keeps `reach` short."""
    layout = TreeLayout(mechanism)
    axes = [axis for body in mechanism.bodies for axis in body.axes]
    parent, body_frame = _frames(layout)
    paths = [_path(parent, frame) for frame in range(len(axes) + 1)]
    ends = [(body_frame[layout.body[cut.first]], body_frame[layout.body[cut.second]]) for cut in mechanism.cuts]
    supports = [_support(paths[first], paths[second]) for first, second in ends]
    rows = _starts([len(cut.directions) for cut in mechanism.cuts])
    first_row, end_row = _row_ranges(len(axes), paths, ends, rows)
    return TreeArrays(
        parent=np.array(parent, dtype=np.int64),
        is_revolute=np.array([axis.motion is Motion.REVOLUTE for axis in axes], dtype=bool),
        direction=_table([axis.direction for axis in axes]),
        point=_table([axis.point for axis in axes]),
        level=np.array([ROOT_LEVELS - 1 + len(path) for path in paths[1:]], dtype=np.int64),
        path=_path_table(paths[1:]),
        body_frame=np.array(body_frame, dtype=np.int64),
        loaded_frames=np.unique(body_frame).astype(np.int64),
        mass=np.array([mechanism.root_mass, *(body.mass for body in mechanism.bodies)], dtype=float),
        centre=_table([mechanism.root_centre, *(body.centre for body in mechanism.bodies)]),
        inertia=_inertias(mechanism),
        cut_first=np.array([first for first, _ in ends], dtype=np.int64),
        cut_second=np.array([second for _, second in ends], dtype=np.int64),
        cut_is_at_root=np.array([cut.first == ROOT for cut in mechanism.cuts], dtype=bool),
        cut_point=_table([cut.point for cut in mechanism.cuts]),
        cut_rows=rows,
        cut_direction=_table([direction for cut in mechanism.cuts for direction in cut.directions]),
        support=_joined_axes(supports),
        support_sign=_joined_signs(supports),
        support_start=_starts([len(support) for support in supports]),
        first_row=first_row,
        end_row=end_row,
        reach=_reach(int(rows[-1]), first_row, end_row),
    )


def tree_workspace(tree: TreeArrays) -> TreeWorkspace:
    """New arrays for one thread."""
    axes, rows, frames = len(tree.parent), len(tree.cut_direction), len(tree.parent) + 1
    return TreeWorkspace(
        rotated=np.zeros((frames, 9)),
        shifted=np.zeros((frames, 3)),
        velocity=np.zeros((frames, 6)),
        bias=np.zeros((frames, 6)),
        axis=np.zeros((axes, 6)),
        own=np.zeros((frames, 10)),
        composite=np.zeros((frames, 10)),
        load=np.zeros((frames, 6)),
        row=np.zeros((axes, tree.path.shape[1])),
        push=np.zeros(axes),
        column=np.zeros((axes, rows)),
        error=np.zeros(rows),
        error_rate=np.zeros(rows),
        error_bias=np.zeros(rows),
        target=np.zeros(rows),
        matrix=np.zeros((rows, rows)),
        beside=np.zeros((rows, BESIDE_COLUMNS)),
        root_matrix=np.zeros((6, 6)),
        root_push=np.zeros(6),
    )


def tree_accelerations(tree: TreeArrays) -> TreeAccelerations:
    """New arrays for a result."""
    return TreeAccelerations(np.zeros(6), np.zeros(len(tree.parent)), np.zeros(len(tree.cut_direction)))


def anchors_at_rest(cuts: tuple[Cut, ...]) -> Array:
    """cuts x 9: position, velocity and acceleration, as seen from the root, of the root's side of each cut.

    Only rows of cuts whose first body is the root are read. To move one, write its motion there (U in [Cameron] Eq. 2).
    """
    return np.hstack([_table([cut.point for cut in cuts]), np.zeros((len(cuts), 6))])


def _frames(layout: TreeLayout) -> tuple[list[int], list[int]]:
    """The frame that each axis is on, and the frame that each body is fixed to, root first."""
    parent: list[int] = []
    body_frame = [0]
    for number in range(1, len(layout.mechanism.bodies) + 1):
        frame = body_frame[layout.parent[number]]
        for index in range(layout.coordinates[number].start, layout.coordinates[number].stop):
            parent.append(frame)
            frame = index + 1
        body_frame.append(frame)
    return parent, body_frame


def _path_table(paths: list[list[int]]) -> Indices:
    """Axes on the path from the root to each axis, itself included, without the first ROOT_LEVELS."""
    table = np.zeros((len(paths), ROOT_LEVELS + max((len(path) for path in paths), default=0)), dtype=np.int64)
    for index, path in enumerate(paths):
        table[index, ROOT_LEVELS : ROOT_LEVELS + len(path)] = path
    return table


def _inertias(mechanism: Mechanism) -> Array:
    inertias = [mechanism.root_inertia, *(body.inertia for body in mechanism.bodies)]
    return np.array([_symmetric(np.asarray(inertia, dtype=float)) for inertia in inertias])


def _path(parent: list[int], frame: int) -> list[int]:
    """Axes from the root to a frame."""
    path: list[int] = []
    while frame:
        path.append(frame - 1)
        frame = parent[frame - 1]
    return path[::-1]


def _support(first: list[int], second: list[int]) -> list[tuple[int, float]]:
    return [(axis, 1.0) for axis in second if axis not in first] + [
        (axis, -1.0) for axis in first if axis not in second
    ]


def _joined_axes(supports: list[list[tuple[int, float]]]) -> Indices:
    return np.array([axis for support in supports for axis, _ in support], dtype=np.int64)


def _joined_signs(supports: list[list[tuple[int, float]]]) -> Array:
    return np.array([sign for support in supports for _, sign in support], dtype=float)


def _row_ranges(
    axes: int, paths: list[list[int]], ends: list[tuple[int, int]], rows: NDArray[np.int64]
) -> tuple[Indices, Indices]:
    first_row, end_row = np.full(axes, rows[-1], dtype=np.int64), np.zeros(axes, dtype=np.int64)
    for number, (first, second) in enumerate(ends):
        for axis in {*paths[first], *paths[second]}:
            first_row[axis] = min(first_row[axis], rows[number])
            end_row[axis] = max(end_row[axis], rows[number + 1])
    return np.minimum(first_row, end_row), end_row


def _reach(rows: int, first_row: Indices, end_row: Indices) -> Indices:
    """Rows that share an axis have an entry in the constraint matrix; elimination fills up to the farthest."""
    reach = np.arange(1, rows + 1, dtype=np.int64)
    for start, end in zip(first_row, end_row, strict=True):
        reach[start:end] = np.maximum(reach[start:end], end)
    return np.maximum.accumulate(reach) if rows else reach


def _starts(sizes: list[int]) -> Indices:
    """First index of groups of these sizes, and the end of the last one."""
    return np.cumsum([0, *sizes]).astype(np.int64)


def _symmetric(inertia: Array) -> Array:
    return np.array([*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]])


def _table(rows: list[tuple[float, float, float]]) -> Array:
    return np.array(rows, dtype=float).reshape(-1, 3)
