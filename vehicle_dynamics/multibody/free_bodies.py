"""A mechanism as free bodies and joints between them (FA of [Cameron]), as flat arrays for compiled kernels.

Convention: an inertial frame. A body's state is its attitude (quaternion x, y, z, w from its design axes), the position
of its centre of mass, its angular velocity and its centre's velocity, all in inertial axes; so the mass matrix is block
diagonal. Built from tree coordinates, the inertial frame coincides with the root at that instant.

A joint has rows of two kinds. A *point* row: a point of the second body, as seen from the first, keeps its position
along a direction of the first. An *angle* row: a direction of the first body keeps its angle to one of the second.
Rows are in the order in which the constraint matrix is eliminated (sparse_cholesky.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from vehicle_dynamics.multibody.mechanism import Axis, Body, Mechanism, Motion
from vehicle_dynamics.multibody.root_system import BESIDE_COLUMNS
from vehicle_dynamics.multibody.sparse_cholesky import CholeskyPattern, cholesky_pattern, entry, minimum_degree
from vehicle_dynamics.multibody.spatial import point_velocity
from vehicle_dynamics.multibody.tree import TreeLayout, TreeState

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]

RIGHT_ANGLE_TOLERANCE = 1e-9
NO_ANCHOR = -1


class HingeAxes(NamedTuple):
    """One entry per tree coordinate; vectors at design."""

    is_revolute: Flags  # else it slides
    first: Indices  # the bodies of its hinge: parent
    second: Indices  # and child
    carrier: Indices  # which of them carries the direction
    direction: Array  # axes x 3
    reference: Array  # axes x 3: normal direction from which an angle is measured
    first_arm: Array  # axes x 3: from the body's centre to the hinge
    second_arm: Array
    partner: Indices  # the other axis of a universal joint, or the axis itself


class FreeBodies(NamedTuple):
    """Bodies (root first), joints, rows and hinge axes; vectors at design, SI units."""

    mass: Array  # bodies
    centre: Array  # bodies x 3
    inertia: Array  # bodies x 6: xx, yy, zz, xy, xz, yz about the centre
    inverse_inertia: Array  # bodies x 6; the root's is not used
    joint_first: Indices  # joints: bodies
    joint_second: Indices
    joint_first_arm: Array  # joints x 3: from the body's centre to the joint
    joint_second_arm: Array
    joint_anchor: Indices  # joints: the cut whose root side may move, or NO_ANCHOR
    joint_rows: Indices  # joints + 1: first row of each joint
    row_is_angle: Flags  # rows
    row_first: Array  # rows x 3: direction of the first body
    row_second: Array  # rows x 3: direction of the second body, of angle rows
    row_cosine: Array  # rows: of the angle to keep, of angle rows
    cut_rows: Indices  # for each row of the mechanism's cuts: its row here
    share_start: Indices  # bodies + 1: each body's share of the rows
    share_row: Indices  # rows that the body takes part in
    row_share: Indices  # rows x 2: index of a row in the shares of its first and second body
    pair_entry: Indices  # for each pair of rows in a share, but the root's: the matrix entry
    pattern: CholeskyPattern
    axes: HingeAxes


class FreeState(NamedTuple):
    """Pose and velocity of every body in inertial axes, root first."""

    attitude: Array  # bodies x 4: quaternion x, y, z, w
    centre: Array  # bodies x 3 [m]
    velocity: Array  # bodies x 6: angular [rad/s], of the centre [m/s]


class FreeWorkspace(NamedTuple):
    """Work arrays of an evaluation, allocated once per thread."""

    rotated: Array  # bodies x 9: rotation matrix from design, row by row
    inertia: Array  # bodies x 6, inertial axes
    inverse_inertia: Array  # bodies x 6
    force: Array  # bodies x 6: moment about the centre, force; gyroscopic moment included
    free: Array  # bodies x 6: acceleration without constraints ([Cameron], Eq. 6a)
    jacobian: Array  # shares x 6: G, body by body
    weighted: Array  # shares x 6: M^-1 G^T, but for the root
    error: Array  # rows: position error [m] or [-]
    error_rate: Array  # rows: G v - U
    error_bias: Array  # rows: acceleration error with all accelerations zero
    target: Array  # rows: required G v'
    matrix: Array  # G M^-1 G^T of the held root, then its factor
    beside: Array  # rows x BESIDE_COLUMNS (root_system.py)
    root_matrix: Array  # 6 x 6
    hinge_rate: Array  # tree coordinates


class FreeAccelerations(NamedTuple):
    """Accelerations of all free bodies, and multipliers, of the fully augmented model."""

    bodies: Array  # bodies x 6: angular acceleration, acceleration of the centre, in inertial axes
    multipliers: Array  # rows: constraint forces [N] and moments [N m], on the second body


@dataclass(frozen=True)
class _Joint:
    first: int
    second: int
    point: Array
    rows: list[tuple[bool, Array, Array]]  # is an angle, direction of the first body, of the second
    cut: int | None = None


class _Rows(NamedTuple):
    """The fields row_... of FreeBodies."""

    is_angle: Flags
    first: Array
    second: Array
    cosine: Array


def free_bodies(mechanism: Mechanism) -> FreeBodies:
    """Flat arrays of a mechanism. Rejects hinges other than revolute, universal or prismatic, and massless bodies."""
    _check_masses(mechanism)
    layout = TreeLayout(mechanism)
    joints = _joints_in_order(layout)
    starts = _starts([len(joint.rows) for joint in joints])
    rows = _rows(joints)
    shares = _shares(joints, starts, len(mechanism.bodies) + 1)
    pattern = cholesky_pattern(_columns(shares[1:], int(starts[-1])))  # the root is left to the last step
    centres, inertias = _centres(mechanism), _inertias(mechanism)
    first, second = _indices([joint.first for joint in joints]), _indices([joint.second for joint in joints])
    points = _table([joint.point for joint in joints])
    return FreeBodies(
        mass=np.array([mechanism.root_mass, *(body.mass for body in mechanism.bodies)], dtype=float),
        centre=centres,
        inertia=_symmetric(inertias),
        inverse_inertia=_symmetric(np.concatenate([np.zeros((1, 3, 3)), np.linalg.inv(inertias[1:])])),
        joint_first=first,
        joint_second=second,
        joint_first_arm=points - centres[first],
        joint_second_arm=points - centres[second],
        joint_anchor=_indices([_anchor(joint) for joint in joints]),
        joint_rows=starts,
        row_is_angle=rows.is_angle,
        row_first=rows.first,
        row_second=rows.second,
        row_cosine=rows.cosine,
        cut_rows=_cut_rows(joints, starts),
        share_start=_starts([len(share) for share in shares]),
        share_row=_indices([row for share in shares for row, _ in share]),
        row_share=_row_shares(shares, int(starts[-1])),
        pair_entry=_pair_entries(shares[1:], pattern),
        pattern=pattern,
        axes=_axes(layout, centres),
    )


def free_workspace(bodies: FreeBodies) -> FreeWorkspace:
    """New arrays for one thread."""
    count, rows = len(bodies.mass), len(bodies.row_cosine)
    return FreeWorkspace(
        rotated=np.zeros((count, 9)),
        inertia=np.zeros((count, 6)),
        inverse_inertia=np.zeros((count, 6)),
        force=np.zeros((count, 6)),
        free=np.zeros((count, 6)),
        jacobian=np.zeros((len(bodies.share_row), 6)),
        weighted=np.zeros((len(bodies.share_row), 6)),
        error=np.zeros(rows),
        error_rate=np.zeros(rows),
        error_bias=np.zeros(rows),
        target=np.zeros(rows),
        matrix=np.zeros(len(bodies.pattern.row)),
        beside=np.zeros((rows, BESIDE_COLUMNS)),
        root_matrix=np.zeros((6, 6)),
        hinge_rate=np.zeros(len(bodies.axes.first)),
    )


def free_accelerations(bodies: FreeBodies) -> FreeAccelerations:
    """New arrays for a result."""
    return FreeAccelerations(np.zeros((len(bodies.mass), 6)), np.zeros(len(bodies.row_cosine)))


def free_state(tree: TreeState) -> FreeState:
    """The same state as free bodies, in the inertial frame that coincides with the root now."""
    mechanism = tree.layout.mechanism
    centres = [mechanism.root_centre, *(body.centre for body in mechanism.bodies)]
    positions = np.array([tree.position(number, centre) for number, centre in enumerate(centres)])
    speeds = [point_velocity(velocity, position) for velocity, position in zip(tree.velocity, positions, strict=True)]
    attitude = Rotation.from_matrix(tree.rotated).as_quat()
    return FreeState(attitude, positions, np.hstack([tree.velocity[:, :3], speeds]))


def across(direction: Array) -> tuple[Array, Array]:
    """Two unit vectors perpendicular to a unit vector and to each other."""
    first = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    first /= np.linalg.norm(first)
    return first, np.cross(direction, first)


def _check_masses(mechanism: Mechanism) -> None:
    for body in mechanism.bodies:
        if not (body.mass > 0.0 and np.linalg.eigvalsh(body.inertia)[0] > 0.0):
            raise ValueError(f"body {body.name}: a free body needs mass and inertia, the mass matrix is singular")


def _centres(mechanism: Mechanism) -> Array:
    return np.array([mechanism.root_centre, *(body.centre for body in mechanism.bodies)], dtype=float)


def _inertias(mechanism: Mechanism) -> Array:
    return np.array([mechanism.root_inertia, *(body.inertia for body in mechanism.bodies)], dtype=float)


def _joints_in_order(layout: TreeLayout) -> list[_Joint]:
    """Hinges and cuts in the order in which their rows are eliminated."""
    joints = [_hinge(layout, body) for body in layout.mechanism.bodies]
    for number, cut in enumerate(layout.mechanism.cuts):
        rows = [(False, np.array(direction), np.zeros(3)) for direction in cut.directions]
        first, second = layout.body[cut.first], layout.body[cut.second]
        joints.append(_Joint(first, second, np.array(cut.point), rows, number))
    return [joints[index] for index in _elimination_order(joints)]


def _hinge(layout: TreeLayout, body: Body) -> _Joint:
    """The constraints that leave a hinge its axes."""
    first, second = layout.body[body.parent], layout.body[body.name]
    motions = [axis.motion for axis in body.axes]
    lines = [np.array(axis.direction) for axis in body.axes]
    point_rows = [(False, line, np.zeros(3)) for line in np.eye(3)]
    if motions == [Motion.REVOLUTE]:
        rows = point_rows + [(True, side, lines[0]) for side in across(lines[0])]
    elif motions == [Motion.REVOLUTE, Motion.REVOLUTE]:
        _check_universal(body)
        rows = [*point_rows, (True, lines[0], lines[1])]
    elif motions == [Motion.SLIDE]:
        a, b = across(lines[0])
        rows = [(False, a, np.zeros(3)), (False, b, np.zeros(3))]
        rows += [(True, a, b), (True, b, lines[0]), (True, lines[0], a)]
    else:
        words = ", ".join(motion.value for motion in motions)
        raise ValueError(f"body {body.name}: a hinge must have one or two revolute axes or one slide, got ({words})")
    return _Joint(first, second, np.array(body.axes[0].point), rows)


def _check_universal(body: Body) -> None:
    one, other = body.axes
    if abs(np.dot(one.direction, other.direction)) > RIGHT_ANGLE_TOLERANCE or not np.allclose(
        one.point, other.point, rtol=0.0, atol=RIGHT_ANGLE_TOLERANCE
    ):
        raise ValueError(f"body {body.name}: the two turns of a hinge must cross at a right angle in one point")


def _elimination_order(joints: list[_Joint]) -> list[int]:
    """Joints that share a body, other than the root, are neighbours in the constraint matrix."""
    neighbours: list[set[int]] = [set() for _ in joints]
    for (i, one), (j, other) in combinations(enumerate(joints), 2):
        if ({one.first, one.second} & {other.first, other.second}) - {0}:
            neighbours[i].add(j)
            neighbours[j].add(i)
    return minimum_degree(neighbours, [len(joint.rows) for joint in joints])


def _anchor(joint: _Joint) -> int:
    """The cut whose root side may move."""
    return joint.cut if joint.cut is not None and joint.first == 0 else NO_ANCHOR


def _rows(joints: list[_Joint]) -> _Rows:
    rows = [row for joint in joints for row in joint.rows]
    return _Rows(
        is_angle=np.array([is_angle for is_angle, _, _ in rows], dtype=bool),
        first=_table([first for _, first, _ in rows]),
        second=_table([second for _, _, second in rows]),
        cosine=np.array([first @ second for _, first, second in rows], dtype=float),
    )


def _cut_rows(joints: list[_Joint], starts: Indices) -> Indices:
    """Indices of the rows of the cuts, in the mechanism's order of cuts."""
    cuts = sorted((joint.cut, number) for number, joint in enumerate(joints) if joint.cut is not None)
    return _indices([row for _, number in cuts for row in range(starts[number], starts[number + 1])])


def _row_shares(shares: list[list[tuple[int, int]]], rows: int) -> Indices:
    """Indices of each constraint row's forces on its first and second body in the list of all forces.

    shares: for each body, the (row, side) pairs of the constraints that act on it.
    """
    numbers = {pair: number for number, pair in enumerate(pair for share in shares for pair in share)}
    return _indices([numbers[row, side] for row in range(rows) for side in (0, 1)]).reshape(-1, 2)


def _pair_entries(shares: list[list[tuple[int, int]]], pattern: CholeskyPattern) -> Indices:
    """The matrix entry of each pair of rows in a share."""
    pairs = [(row, column) for share in shares for n, (row, _) in enumerate(share) for column, _ in share[: n + 1]]
    return _indices([entry(pattern, row, column) for row, column in pairs])


def _shares(joints: list[_Joint], starts: Indices, bodies: int) -> list[list[tuple[int, int]]]:
    """Rows that each body takes part in, and whether as first (0) or second body (1)."""
    shares: list[list[tuple[int, int]]] = [[] for _ in range(bodies)]
    for number, joint in enumerate(joints):
        for side, body in enumerate((joint.first, joint.second)):
            shares[body] += [(row, side) for row in range(starts[number], starts[number + 1])]
    return shares


def _columns(shares: list[list[tuple[int, int]]], rows: int) -> list[set[int]]:
    columns: list[set[int]] = [set() for _ in range(rows)]
    for share in shares:
        for column, _ in share:
            columns[column] |= {row for row, _ in share}
    return columns


def _axes(layout: TreeLayout, centres: Array) -> HingeAxes:
    axes: list[tuple[int, int, int, Axis, Array, int]] = []
    for body in layout.mechanism.bodies:
        first, second = layout.body[body.parent], layout.body[body.name]
        for n, axis in enumerate(body.axes):
            is_pair = len(body.axes) == 2
            # Each axis of a universal joint is normal to the other, which makes that one the reference.
            reference = np.array(body.axes[1 - n].direction) if is_pair else across(np.array(axis.direction))[0]
            partner = len(axes) + 1 - 2 * n if is_pair else len(axes)
            axes.append((first, second, second if n else first, axis, reference, partner))
    return HingeAxes(
        is_revolute=np.array([item[3].motion is Motion.REVOLUTE for item in axes], dtype=bool),
        first=_indices([item[0] for item in axes]),
        second=_indices([item[1] for item in axes]),
        carrier=_indices([item[2] for item in axes]),
        direction=_table([item[3].direction for item in axes]),
        reference=_table([item[4] for item in axes]),
        first_arm=_table([np.array(item[3].point) - centres[item[0]] for item in axes]),
        second_arm=_table([np.array(item[3].point) - centres[item[1]] for item in axes]),
        partner=_indices([item[5] for item in axes]),
    )


def _symmetric(matrices: Array) -> Array:
    return np.stack([matrices[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=1)


def _starts(sizes: list[int]) -> Indices:
    """First index of groups of these sizes, and the end of the last one."""
    return np.cumsum([0, *sizes]).astype(np.int64)


def _indices(values: object) -> Indices:
    return np.array(values, dtype=np.int64).reshape(-1)


def _table(rows: object) -> Array:
    return np.array(rows, dtype=float).reshape(-1, 3)
