"""Common code of quarter car runs, whatever the formulation: steps, the load on the wheel, gaps. Kernels.

A state is two flat arrays, positions and velocities, of whatever the formulation has: lower arm and spin (CE), tree
coordinates (TA), poses of free bodies (FA).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, part
from proving_ground.kernels.vector3 import Vector3, add, cross
from vehicle_dynamics.multibody.model_inputs import Forces
from vehicle_dynamics.multibody.run_loads import RK4_SHARES, RK4_WEIGHTS
from vehicle_dynamics.multibody.tree_arrays import TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, rotate_by, vector

Array = NDArray[np.float64]

THETA, HEIGHT, SPIN, GAP = range(4)  # columns of a record: lower-arm angle, wheel height, spin, constraint error
RECORD_SIZE = 4


class WheelTable(NamedTuple):
    """Moment and force on the wheel at its centre, in chassis axes, over time from zero; the last one stays."""

    interval: float  # [s], linear between
    wrench: Array  # times x 6: moment [N m], force [N]


class StepPlan(NamedTuple):
    """Integration method, step, and steps between records."""

    is_rk4: bool  # else semi-implicit Euler
    step: float  # [s]
    every: int  # steps between records


class StepWorkspace(NamedTuple):
    """State of a quarter-car run and work arrays of its steps, allocated once per run."""

    position: Array
    velocity: Array
    at_position: Array  # where the model is evaluated
    at_velocity: Array
    position_rate: Array
    acceleration: Array
    total_position: Array
    total_velocity: Array
    wrench: Array  # 6, on the wheel
    forces: Forces  # the first tree coordinate is the lower arm


class WheelPoint(NamedTuple):
    """Indices of the wheel in a mechanism."""

    body: int
    spin: int  # coordinate


@inlined
def stages(plan: StepPlan, is_to_step: bool) -> int:
    """Evaluations of the model per step; one where only a record is needed."""
    return 4 if plan.is_rk4 and is_to_step else 1


@inlined
def start_stage(plan: StepPlan, table: WheelTable, number: int, stage: int, workspace: StepWorkspace) -> None:
    """Set the state at which a stage evaluates the model, and the table's load."""
    share = RK4_SHARES[stage] * plan.step
    _add(workspace.at_position, workspace.position, share, workspace.position_rate)
    _add(workspace.at_velocity, workspace.velocity, share, workspace.acceleration)
    wrench_at(table, number * plan.step + share, workspace.wrench)


@inlined
def is_recorded(plan: StepPlan, number: int, stage: int) -> bool:
    """Whether a row of the record shows the state of this stage."""
    return stage == 0 and number % plan.every == 0


@inlined
def end_stage(plan: StepPlan, stage: int, workspace: StepWorkspace) -> None:
    """Add the stage's rates to the sum; after the last one, and for Euler's velocities, that is the new state."""
    if plan.is_rk4:
        weight = RK4_WEIGHTS[stage] * plan.step
        _add(
            workspace.total_position,
            workspace.total_position if stage else workspace.position,
            weight,
            workspace.position_rate,
        )
        _add(
            workspace.total_velocity,
            workspace.total_velocity if stage else workspace.velocity,
            weight,
            workspace.acceleration,
        )
        if stage == 3:
            _add(workspace.position, workspace.total_position, 0.0, workspace.position_rate)
            _add(workspace.velocity, workspace.total_velocity, 0.0, workspace.acceleration)
    else:
        _add(workspace.velocity, workspace.velocity, plan.step, workspace.acceleration)


@inlined
def end_euler_step(plan: StepPlan, workspace: StepWorkspace) -> None:
    """Positions with the new velocities, where these are the rates of the positions."""
    if not plan.is_rk4:
        _add(workspace.position, workspace.position, plan.step, workspace.velocity)


@inlined
def _add(out: Array, start: Array, factor: float, rate: Array) -> None:
    for k in range(len(out)):
        out[k] = start[k] + factor * rate[k]


@inlined
def copy(out: Array, values: Array) -> None:
    """out = values, both flat."""
    for k in range(len(out)):
        out[k] = values[k]


@part
def wrench_at(table: WheelTable, time: float, out: Array) -> None:
    """Moment and force of a table at a time [s], into out."""
    last = len(table.wrench) - 1
    position = min(time / table.interval, float(last))
    before = min(int(position), last - 1)
    share = position - before
    for k in range(6):
        out[k] = (1.0 - share) * table.wrench[before, k] + share * table.wrench[before + 1, k]


@inlined
def load_wheel(wheel: WheelPoint, position: Vector3, moment_on_arm: float, workspace: StepWorkspace) -> None:
    """Write the wheel's load, as a spatial force about the origin, and the strut's moment on the arm to the workspace.

    position: centre of the wheel [m], at which workspace.wrench acts.
    """
    force, on_wheel = linear_part(workspace.wrench), workspace.forces.bodies[wheel.body]
    put(on_wheel, 0, add(vector(workspace.wrench), cross(position, force)))
    put(on_wheel, 3, force)
    workspace.forces.coordinates[0] = moment_on_arm


@part
def wheel_point(tree: TreeArrays, wheel: WheelPoint, motion: TreeWorkspace) -> Vector3:
    """Centre of the wheel [m], after the motion of the tree."""
    frame = tree.body_frame[wheel.body]
    return add(rotate_by(motion.rotated[frame], vector(tree.centre[wheel.body])), vector(motion.shifted[frame]))


@part
def largest_gap(starts: NDArray[np.int64], is_angle: NDArray[np.bool_], error: Array) -> float:
    """Largest distance between the two points of a cut or joint [m]; errors of angles are ignored."""
    worst = 0.0
    for joint in range(len(starts) - 1):
        square = 0.0
        for row in range(starts[joint], starts[joint + 1]):
            square += 0.0 if is_angle[row] else error[row] * error[row]
        worst = max(worst, square)
    return math.sqrt(worst)
