"""Common code of runs of both multiplier models: steps, springs on coordinates, a force table on one body."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proving_ground.kernels.jit import inlined_part, part
from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Constraints
from vehicle_dynamics.multibody.tree import TreeLayout

Array = NDArray[np.float64]
State = TypeVar("State", bound=tuple[Array, ...])  # of a run, or its rate of change: a NamedTuple of arrays

RK4_SHARES = (0.0, 0.5, 0.5, 1.0)  # fractions of the step at which the stages are
RK4_WEIGHTS = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)


class Springs(NamedTuple):
    """Linear springs and dampers, one entry per tree coordinate; angles count within half a turn."""

    stiffness: Array  # [N m/rad] or [N/m]
    damping: Array  # [N m s/rad] or [N s/m]
    rest: Array  # coordinate at which the spring has no force [rad] or [m]


class ForceTable(NamedTuple):
    """Moment and force on one body over time, at a point that moves with it; in inertial axes."""

    body: int  # its index, 0 for the root
    point: Array  # 3, at design [m]
    time: Array  # increasing [s]; linear between, constant before the first and after the last
    wrench: Array  # times x 6: moment [N m], force [N]


class RunPlan(NamedTuple):
    """Integration method and constants of the whole run."""

    step: float  # [s]
    steps: int
    is_rk4: bool  # else semi-implicit Euler
    is_projected: bool  # coordinates and rates are projected onto the constraints after each step; tree model only
    root_is_held: bool
    gravity: Vector3  # [m/s^2] in inertial axes
    constraints: Constraints
    springs: Springs
    table: ForceTable


def no_springs(mechanism: Mechanism) -> Springs:
    """Springs of no stiffness on all coordinates, to be filled in."""
    count = TreeLayout(mechanism).count
    return Springs(np.zeros(count), np.zeros(count), np.zeros(count))


def force_table(
    mechanism: Mechanism, body: str, point: tuple[float, float, float], time: ArrayLike, wrench: ArrayLike
) -> ForceTable:
    """Loads on the body of a name: rows of wrench (moment [N m], force [N], inertial axes) at times [s].

    point: of the body at design, in root axes [m], at which they act.
    """
    times, rows = np.array(time, dtype=float), np.array(wrench, dtype=float)
    if times.ndim != 1 or len(times) == 0 or rows.shape != (len(times), 6) or not (np.diff(times) > 0.0).all():
        raise ValueError(f"force table: needs rising times and one row of 6 for each, got {times.shape}, {rows.shape}")
    return ForceTable(TreeLayout(mechanism).body[body], np.array(point, dtype=float), times, rows)


def no_table() -> ForceTable:
    """A table without force at any time."""
    return ForceTable(0, np.zeros(3), np.zeros(1), np.zeros((1, 6)))


@inlined_part
def stages(plan: RunPlan) -> int:
    """Number of evaluations of the model per step."""
    return 4 if plan.is_rk4 else 1


@part
def at_stage(state: State, stage: int, step: float, slope: State, middle: State) -> State:
    """The state at which a stage evaluates the model: itself, or middle after a part of the step along the slope."""
    if stage == 0:
        return state
    _advance_all(middle, state, RK4_SHARES[stage] * step, slope)
    return middle


@part
def add_stage(state: State, stage: int, step: float, slope: State, total: State) -> None:
    """Add a stage's slope to the total of RK4; the last one makes it the new state."""
    into, start = state if stage == 3 else total, total if stage > 0 else state
    _advance_all(into, start, RK4_WEIGHTS[stage] * step, slope)


@part
def spring_forces(springs: Springs, coordinates: Array, rates: Array, out: Array) -> None:
    """Forces of springs and dampers on the tree coordinates, into out."""
    for k in range(len(out)):
        out[k] = springs.stiffness[k] * (springs.rest[k] - coordinates[k]) - springs.damping[k] * rates[k]


@part
def table_wrench(table: ForceTable, time: float, out: Array) -> None:
    """Moment and force of a table at a time [s], interpolated linearly, into out."""
    last = len(table.time) - 1
    after = 0
    while after < last and table.time[after] < time:
        after += 1
    before = max(after - 1, 0)
    span = table.time[after] - table.time[before]
    share = min(max((time - table.time[before]) / span, 0.0), 1.0) if span > 0.0 else 1.0
    for k in range(6):
        out[k] = (1.0 - share) * table.wrench[before, k] + share * table.wrench[after, k]


@part
def _advance_all(out: State, start: State, step: float, slope: State) -> None:
    """Advance all arrays of a state, which must be of one type."""
    for k in range(len(out)):
        advance(out[k], start[k], step, slope[k])


@part
def advance(out: Array, start: Array, step: float, slope: Array) -> None:
    """out = start + step * slope, for arrays of any shape."""
    results, values, slopes = out.ravel(), start.ravel(), slope.ravel()
    for k in range(len(results)):
        results[k] = values[k] + step * slopes[k]
