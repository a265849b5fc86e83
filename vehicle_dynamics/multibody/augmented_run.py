"""Runs of a mechanism by either multiplier model, from Python: the same arguments, comparable results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.multibody.free_bodies import free_bodies, free_state
from vehicle_dynamics.multibody.free_run import free_run_workspace, run_fully_augmented
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.multibody.model_inputs import Constraints
from vehicle_dynamics.multibody.run_loads import ForceTable, RunPlan, Springs, no_springs, no_table
from vehicle_dynamics.multibody.tree import TreeState
from vehicle_dynamics.multibody.tree_arrays import anchors_at_rest, tree_arrays
from vehicle_dynamics.multibody.tree_run import run_tree_augmented, tree_run_state, tree_run_workspace

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Integration settings and constants of the whole run."""

    step: float  # [s]
    steps: int
    records: int  # evenly spaced, the last one at the end
    is_rk4: bool = False  # else semi-implicit Euler
    alpha: float = 0.0  # Baumgarte's e'' + 2 alpha e' + beta^2 e = 0 [1/s]
    beta: float = 0.0
    is_projected: bool = False  # tree model only
    root_is_held: bool = False
    gravity: Vector3 = (0.0, 0.0, 0.0)  # [m/s^2], in the axes that the root has at the start

    def __post_init__(self) -> None:
        if not self.step > 0.0:
            raise ValueError(f"step must be > 0, got {self.step}")
        if self.records < 1 or self.steps < 1 or self.steps % self.records:
            raise ValueError(f"steps must be a multiple of records, got {self.steps} and {self.records}")
        if self.alpha < 0.0 or self.beta < 0.0:
            raise ValueError(f"alpha and beta must not be negative, got {self.alpha} and {self.beta}")

    def plan(self, mechanism: Mechanism, springs: Springs | None, table: ForceTable | None) -> RunPlan:
        """The plan for kernels, with the loads on the mechanism."""
        return RunPlan(
            step=self.step,
            steps=self.steps,
            is_rk4=self.is_rk4,
            is_projected=self.is_projected,
            root_is_held=self.root_is_held,
            gravity=self.gravity,
            constraints=Constraints(anchors_at_rest(mechanism.cuts), self.alpha, self.beta),
            springs=springs or no_springs(mechanism),
            table=table or no_table(),
        )


class Run(NamedTuple):
    """Tree coordinates over time, and the largest constraint error."""

    time: Array  # [s] from the start
    coordinates: Array  # records x coordinates; angles of the FA model within half a turn
    rates: Array
    worst_error: float  # [m]; for the FA model also angles [-]


def run_tree(
    start: TreeState, settings: RunSettings, springs: Springs | None = None, table: ForceTable | None = None
) -> Run:
    """Simulate the tree-augmented model from a start state under springs and a table of loads."""
    mechanism = start.layout.mechanism
    tree = tree_arrays(mechanism)
    record = np.zeros((settings.records, 2 * start.layout.count))
    plan = settings.plan(mechanism, springs, table)
    worst = run_tree_augmented(tree, tree_run_state(start), plan, tree_run_workspace(tree), record)
    return _run(settings, record, worst)


def run_free(
    start: TreeState, settings: RunSettings, springs: Springs | None = None, table: ForceTable | None = None
) -> Run:
    """Simulate the fully augmented model from a start state under springs and a table of loads."""
    mechanism = start.layout.mechanism
    bodies = free_bodies(mechanism)
    if settings.is_projected:
        raise ValueError("the fully augmented model has no projection; use alpha and beta")
    record = np.zeros((settings.records, 2 * start.layout.count))
    plan = settings.plan(mechanism, springs, table)
    worst = run_fully_augmented(bodies, free_state(start), plan, free_run_workspace(bodies), record)
    return _run(settings, record, worst)


def _run(settings: RunSettings, record: Array, worst: float) -> Run:
    count = record.shape[1] // 2
    time = settings.step * (settings.steps // settings.records) * np.arange(1.0, settings.records + 1)
    return Run(time, record[:, :count], record[:, count:], worst)
