"""Runs of the fully augmented model at a fixed step, compiled; loads and methods as in tree_run.py."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import normalise, quaternion_rate
from proving_ground.kernels.vector3 import Vector3, add, cross, sub
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
from vehicle_dynamics.multibody.run_loads import (
    RK4_SHARES,
    RK4_WEIGHTS,
    ForceTable,
    Springs,
    advance,
    spring_forces,
    table_wrench,
)
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, turn_by, vector
from vehicle_dynamics.multibody.tree_projection import largest

Array = NDArray[np.float64]


class FreeRunMemory(NamedTuple):
    """Arrays of a run, made once."""

    stage: FreeState
    slope: FreeState
    total: FreeState
    body_forces: Array
    coordinates: Array
    rates: Array
    coordinate_forces: Array
    wrench: Array
    work: FreeWorkspace
    out: FreeAccelerations


def free_run_memory(bodies: FreeBodies) -> FreeRunMemory:
    """Fresh arrays for one thread."""
    count, axes = len(bodies.mass), len(bodies.axes.first)
    stage, slope, total = (
        FreeState(np.zeros((count, 4)), np.zeros((count, 3)), np.zeros((count, 6))) for _ in range(3)
    )
    return FreeRunMemory(
        stage=stage,
        slope=slope,
        total=total,
        body_forces=np.zeros((count, 6)),
        coordinates=np.zeros(axes),
        rates=np.zeros(axes),
        coordinate_forces=np.zeros(axes),
        wrench=np.zeros(6),
        work=free_workspace(bodies),
        out=free_accelerations(bodies),
    )


@kernel
def run_fully_augmented(
    bodies: FreeBodies,
    state: FreeState,
    root_is_held: bool,
    gravity: Vector3,
    springs: Springs,
    table: ForceTable,
    anchor: Array,
    alpha: float,
    beta: float,
    is_rk4: bool,
    start_time: float,
    step: float,
    steps: int,
    memory: FreeRunMemory,
    record: Array,
) -> float:
    """Advance the state in place by a number of steps [s]; gives the largest constraint error on the way [m] or [-].

    Arguments and record as of tree_run.run_tree_augmented.
    """
    worst, every = 0.0, steps // len(record)
    memory.body_forces[:] = 0.0
    for number in range(steps):
        for stage in range(4 if is_rk4 else 1):
            share = RK4_SHARES[stage]
            time = start_time + (number + share) * step
            if stage > 0:
                _step(memory.stage, state, share * step, memory.slope)
            at = memory.stage if stage > 0 else state
            _loads(bodies, at, time, springs, table, memory)
            fully_augmented_accelerations(
                bodies, at, root_is_held, gravity, memory.body_forces, memory.coordinate_forces, anchor, alpha, beta,
                memory.work, memory.out,
            )  # fmt: skip
            _slope(at, memory)
            if stage == 0:
                worst = largest(memory.work.error, worst)
            if is_rk4:
                into, start = state if stage == 3 else memory.total, memory.total if stage > 0 else state
                _step(into, start, RK4_WEIGHTS[stage] * step, memory.slope)
        if not is_rk4:
            advance(state.velocity, state.velocity, step, memory.slope.velocity)
            _kinematics(state, memory.slope)
            advance(state.attitude, state.attitude, step, memory.slope.attitude)
            advance(state.centre, state.centre, step, memory.slope.centre)
        for body in range(len(state.attitude)):
            normalise(state.attitude[body])
        if (number + 1) % every == 0:
            _record(bodies, state, memory, record[number // every])
    return worst


@part
def _loads(
    bodies: FreeBodies, state: FreeState, time: float, springs: Springs, table: ForceTable, memory: FreeRunMemory
) -> None:
    """Forces on the bodies and the coordinates."""
    work, wrench, body = memory.work, memory.wrench, table.body
    hinge_coordinates(bodies, state, work, memory.coordinates)
    hinge_rates(bodies, state, work, memory.rates)
    spring_forces(springs, memory.coordinates, memory.rates, memory.coordinate_forces)
    table_wrench(table, time, wrench)
    arm = turn_by(work.turned[body], sub(vector(table.point), vector(bodies.centre[body])))
    force, on_body = linear_part(wrench), memory.body_forces[body]
    put(on_body, 0, add(vector(wrench), cross(add(vector(state.centre[body]), arm), force)))
    put(on_body, 3, force)


@part
def _slope(state: FreeState, memory: FreeRunMemory) -> None:
    """Rate of change of the state into memory.slope, after the accelerations."""
    for body in range(len(state.velocity)):
        for k in range(6):
            memory.slope.velocity[body, k] = memory.out.bodies[body, k]
    _kinematics(state, memory.slope)


@part
def _kinematics(state: FreeState, slope: FreeState) -> None:
    """Rate of change of all poses."""
    for body in range(len(state.attitude)):
        quaternion_rate(state.attitude[body], vector(state.velocity[body]), False, slope.attitude[body])
        put(slope.centre[body], 0, linear_part(state.velocity[body]))


@part
def _step(out: FreeState, start: FreeState, step: float, slope: FreeState) -> None:
    advance(out.attitude, start.attitude, step, slope.attitude)
    advance(out.centre, start.centre, step, slope.centre)
    advance(out.velocity, start.velocity, step, slope.velocity)


@part
def _record(bodies: FreeBodies, state: FreeState, memory: FreeRunMemory, row: Array) -> None:
    count = len(memory.rates)
    hinge_coordinates(bodies, state, memory.work, memory.coordinates)
    hinge_rates(bodies, state, memory.work, memory.rates)
    for k in range(count):
        row[k] = memory.coordinates[k]
        row[count + k] = memory.rates[k]
