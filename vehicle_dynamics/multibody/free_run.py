"""Runs of the fully augmented model at a fixed step, compiled; loads and methods as in tree_run.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import normalise, quaternion_rate
from proving_ground.kernels.vector3 import add, cross, sub
from vehicle_dynamics.multibody.free_bodies import (
    FreeAccelerations,
    FreeBodies,
    FreeState,
    FreeWorkspace,
    free_accelerations,
    free_workspace,
)
from vehicle_dynamics.multibody.free_hinges import hinge_coordinates, hinge_rates
from vehicle_dynamics.multibody.fully_augmented import fully_augmented_accelerations
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
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, rotate_by, vector
from vehicle_dynamics.multibody.tree_projection import largest

Array = NDArray[np.float64]


class FreeRunWorkspace(NamedTuple):
    """Arrays of a run, allocated once."""

    stage: FreeState
    slope: FreeState
    total: FreeState
    coordinates: Array
    rates: Array
    forces: Forces
    wrench: Array
    work: FreeWorkspace
    out: FreeAccelerations


def free_run_workspace(bodies: FreeBodies) -> FreeRunWorkspace:
    """New arrays for one thread."""
    count, axes = len(bodies.mass), len(bodies.axes.first)
    stage, slope, total = (
        FreeState(np.zeros((count, 4)), np.zeros((count, 3)), np.zeros((count, 6))) for _ in range(3)
    )
    return FreeRunWorkspace(
        stage=stage,
        slope=slope,
        total=total,
        coordinates=np.zeros(axes),
        rates=np.zeros(axes),
        forces=Forces(np.zeros((count, 6)), np.zeros(axes)),
        wrench=np.zeros(6),
        work=free_workspace(bodies),
        out=free_accelerations(bodies),
    )


@kernel
def run_fully_augmented(
    bodies: FreeBodies,
    state: FreeState,
    plan: RunPlan,
    workspace: FreeRunWorkspace,
    record: Array,
) -> float:
    """Advance the state in place; returns the largest constraint error of the run [m] or [-].

    record: as for tree_run.run_tree_augmented.
    """
    worst, every = 0.0, plan.steps // len(record)
    workspace.forces.bodies[:] = 0.0
    for number in range(plan.steps):
        for stage in range(stages(plan)):
            at = at_stage(state, stage, plan.step, workspace.slope, workspace.stage)
            _loads(bodies, at, (number + RK4_SHARES[stage]) * plan.step, plan, workspace)
            fully_augmented_accelerations(
                bodies,
                at,
                plan.root_is_held,
                plan.gravity,
                workspace.forces,
                plan.constraints,
                workspace.work,
                workspace.out,
            )
            _slope(at, workspace)
            if stage == 0:
                worst = largest(workspace.work.error, worst)
            if plan.is_rk4:
                add_stage(state, stage, plan.step, workspace.slope, workspace.total)
        if not plan.is_rk4:
            _step_semi_implicit(state, plan.step, workspace)
        for body in range(len(state.attitude)):
            normalise(state.attitude[body])
        if (number + 1) % every == 0:
            _record(bodies, state, workspace, record[number // every])
    return worst


@part
def _loads(bodies: FreeBodies, state: FreeState, time: float, plan: RunPlan, workspace: FreeRunWorkspace) -> None:
    """Forces on the bodies and the coordinates."""
    springs, table = plan.springs, plan.table
    work, wrench, body = workspace.work, workspace.wrench, table.body
    hinge_coordinates(bodies, state, work, workspace.coordinates)
    hinge_rates(bodies, state, work, workspace.rates)
    spring_forces(springs, workspace.coordinates, workspace.rates, workspace.forces.coordinates)
    table_wrench(table, time, wrench)
    arm = rotate_by(work.rotated[body], sub(vector(table.point), vector(bodies.centre[body])))
    force, on_body = linear_part(wrench), workspace.forces.bodies[body]
    put(on_body, 0, add(vector(wrench), cross(add(vector(state.centre[body]), arm), force)))
    put(on_body, 3, force)


@part
def _slope(state: FreeState, workspace: FreeRunWorkspace) -> None:
    """Rate of change of the state into workspace.slope, after the accelerations."""
    for body in range(len(state.velocity)):
        for k in range(6):
            workspace.slope.velocity[body, k] = workspace.out.bodies[body, k]
    _kinematics(state, workspace.slope)


@part
def _kinematics(state: FreeState, slope: FreeState) -> None:
    """Rate of change of all poses."""
    for body in range(len(state.attitude)):
        quaternion_rate(state.attitude[body], vector(state.velocity[body]), False, slope.attitude[body])
        put(slope.centre[body], 0, linear_part(state.velocity[body]))


@part
def _step_semi_implicit(state: FreeState, step: float, workspace: FreeRunWorkspace) -> None:
    """Velocities first, then the poses with the new ones."""
    advance(state.velocity, state.velocity, step, workspace.slope.velocity)
    _kinematics(state, workspace.slope)
    advance(state.attitude, state.attitude, step, workspace.slope.attitude)
    advance(state.centre, state.centre, step, workspace.slope.centre)


@part
def _record(bodies: FreeBodies, state: FreeState, workspace: FreeRunWorkspace, row: Array) -> None:
    count = len(workspace.rates)
    hinge_coordinates(bodies, state, workspace.work, workspace.coordinates)
    hinge_rates(bodies, state, workspace.work, workspace.rates)
    for k in range(count):
        row[k] = workspace.coordinates[k]
        row[count + k] = workspace.rates[k]
