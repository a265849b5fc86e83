"""Runs of the tree-augmented model at a fixed step, compiled: springs on coordinates and a force table on one body.

The inertial frame is arbitrary; the root's pose is its attitude and origin in it, the root's velocity is in root axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import normalise, quaternion_rate, rotate_back, rotation_matrix
from proving_ground.kernels.vector3 import add, cross
from vehicle_dynamics.multibody.model_inputs import Forces
from vehicle_dynamics.multibody.run_loads import (
    RK4_SHARES,
    RunPlan,
    add_stage,
    advance,
    at_stage,
    spring_forces,
    stages,
    table_wrench,
)
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.multibody.tree_arrays import (
    TreeAccelerations,
    TreeArrays,
    TreeWorkspace,
    tree_accelerations,
    tree_workspace,
)
from vehicle_dynamics.multibody.tree_augmented import accelerations_after_motion
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, rotate_by, tree_motion, vector
from vehicle_dynamics.multibody.tree_projection import largest, project_on_constraints

Array = NDArray[np.float64]


class TreeRunState(NamedTuple):
    """State of a run, or its rate of change."""

    attitude: Array  # 4: quaternion x, y, z, w of the root
    origin: Array  # 3: of the root [m]
    root_velocity: Array  # 6: angular, of the origin, in root axes
    coordinates: Array
    rates: Array


class TreeRunWorkspace(NamedTuple):
    """Arrays of a run, allocated once."""

    stage: TreeRunState
    slope: TreeRunState
    total: TreeRunState
    forces: Forces
    wrench: Array
    root_rotation: Array
    work: TreeWorkspace
    out: TreeAccelerations


def tree_run_state(state: TreeState) -> TreeRunState:
    """The state as the start of a run, in the inertial frame that coincides with the root now."""
    attitude = np.array([0.0, 0.0, 0.0, 1.0])
    return TreeRunState(attitude, np.zeros(3), state.velocity[0].copy(), state.coordinates.copy(), state.rates.copy())


def tree_run_workspace(tree: TreeArrays) -> TreeRunWorkspace:
    """New arrays for one thread."""
    count = len(tree.parent)
    stage, slope, total = (
        TreeRunState(np.zeros(4), np.zeros(3), np.zeros(6), np.zeros(count), np.zeros(count)) for _ in range(3)
    )
    return TreeRunWorkspace(
        stage=stage,
        slope=slope,
        total=total,
        forces=Forces(np.zeros((len(tree.mass), 6)), np.zeros(count)),
        wrench=np.zeros(6),
        root_rotation=np.zeros(9),
        work=tree_workspace(tree),
        out=tree_accelerations(tree),
    )


@kernel
def run_tree_augmented(
    tree: TreeArrays,
    state: TreeRunState,
    plan: RunPlan,
    workspace: TreeRunWorkspace,
    record: Array,
) -> float:
    """Advance the state in place; returns the largest closure error of the run [m].

    record (rows x 2n) gets coordinates and rates at evenly spaced steps, whose number must be a multiple of the rows.
    """
    worst, every, is_held = 0.0, plan.steps // len(record), plan.root_is_held
    work, out = workspace.work, workspace.out
    workspace.forces.bodies[:] = 0.0
    for number in range(plan.steps):
        for stage in range(stages(plan)):
            at = at_stage(state, stage, plan.step, workspace.slope, workspace.stage)
            _loads(tree, at, (number + RK4_SHARES[stage]) * plan.step, plan, workspace)
            accelerations_after_motion(tree, is_held, workspace.forces, plan.constraints, work, out)
            _slope(at, workspace)
            if stage == 0:
                worst = largest(work.error, worst)
            if plan.is_rk4:
                add_stage(state, stage, plan.step, workspace.slope, workspace.total)
        if not plan.is_rk4:
            _step_semi_implicit(state, plan.step, workspace)
        normalise(state.attitude)
        if plan.is_projected:
            project_on_constraints(
                tree, state.coordinates, state.rates, state.root_velocity, is_held, plan.constraints.anchor, work, out
            )
        if (number + 1) % every == 0:
            _record(state, record[number // every])
    return worst


@part
def _loads(tree: TreeArrays, state: TreeRunState, time: float, plan: RunPlan, workspace: TreeRunWorkspace) -> None:
    """Motion of the tree and the forces on it."""
    springs, table = plan.springs, plan.table
    work, wrench, r = workspace.work, workspace.wrench, workspace.root_rotation
    rotation_matrix(state.attitude, r)
    tree_motion(tree, state.coordinates, state.rates, state.root_velocity, rotate_back(r, plan.gravity), work)
    spring_forces(springs, state.coordinates, state.rates, workspace.forces.coordinates)
    table_wrench(table, time, wrench)
    frame = tree.body_frame[table.body]
    position = add(rotate_by(work.rotated[frame], vector(table.point)), vector(work.shifted[frame]))
    force, on_body = rotate_back(r, linear_part(wrench)), workspace.forces.bodies[table.body]
    put(on_body, 0, add(rotate_back(r, vector(wrench)), cross(position, force)))
    put(on_body, 3, force)


@part
def _slope(state: TreeRunState, workspace: TreeRunWorkspace) -> None:
    """Rate of change of the state into workspace.slope, after the accelerations."""
    # In root axes the components of a spatial velocity change by the spatial acceleration: V x V is zero.
    for k in range(6):
        workspace.slope.root_velocity[k] = workspace.out.root[k]
    for k in range(len(state.rates)):
        workspace.slope.rates[k] = workspace.out.coordinates[k]
    _kinematics(state, workspace)


@part
def _kinematics(state: TreeRunState, workspace: TreeRunWorkspace) -> None:
    """Rate of change of the pose and the coordinates into workspace.slope."""
    slope, r = workspace.slope, workspace.root_rotation
    rotation_matrix(state.attitude, r)
    quaternion_rate(state.attitude, vector(state.root_velocity), True, slope.attitude)
    put(slope.origin, 0, rotate_by(r, linear_part(state.root_velocity)))
    for k in range(len(state.rates)):
        slope.coordinates[k] = state.rates[k]


@part
def _step_semi_implicit(state: TreeRunState, step: float, workspace: TreeRunWorkspace) -> None:
    """Velocities first, then the pose with the new ones."""
    advance(state.rates, state.rates, step, workspace.slope.rates)
    advance(state.root_velocity, state.root_velocity, step, workspace.slope.root_velocity)
    _kinematics(state, workspace)
    advance(state.coordinates, state.coordinates, step, workspace.slope.coordinates)
    advance(state.attitude, state.attitude, step, workspace.slope.attitude)
    advance(state.origin, state.origin, step, workspace.slope.origin)


@part
def _record(state: TreeRunState, row: Array) -> None:
    count = len(state.rates)
    for k in range(count):
        row[k] = state.coordinates[k]
        row[count + k] = state.rates[k]
