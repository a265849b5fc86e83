"""The standalone suspension of [Cameron] ("quarter car"): one corner on a held chassis under a known load on its wheel.

Four formulations of the same bodies with the same strut: constraint embedding in closed form and numerical (CE), tree
augmented (TA) and fully augmented (FA), to compare motion, constraint error and time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.multibody.embedding import ClosureError, EmbeddedSystem
from vehicle_dynamics.multibody.embedding_arrays import embedded_result, loop_workspace, looped_tree
from vehicle_dynamics.multibody.free_bodies import (
    FreeState,
    free_accelerations,
    free_bodies,
    free_state,
    free_workspace,
)
from vehicle_dynamics.multibody.mechanism import ROOT, Mechanism
from vehicle_dynamics.multibody.model_inputs import Constraints, Forces, RootMotion
from vehicle_dynamics.multibody.tree_arrays import tree_accelerations, tree_workspace
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.quarter_car_kernels import (
    Case,
    FreeModel,
    NumericModel,
    TreeModel,
    corner_accelerations,
    run_analytic,
    run_free,
    run_numeric,
    run_tree,
)
from vehicle_dynamics.quarter_car_steps import RECORD_SIZE, StepPlan, StepWorkspace, WheelPoint, WheelTable
from vehicle_dynamics.suspension.corner_record import CORNER, corner_record
from vehicle_dynamics.suspension.reach import Range, free_travel
from vehicle_dynamics.vehicle_mechanism import CornerBuilder

Array = NDArray[np.float64]

GRAVITY = (0.0, 0.0, -9.81)  # [m/s^2]
HELD = RootMotion(np.zeros(6), True, GRAVITY)  # the chassis


class Method(Enum):
    """A formulation, by the name that the papers use."""

    ANALYTIC_CE = "CE, analytic"
    NUMERIC_CE = "CE, numerical"
    TA = "TA"
    FA = "FA"


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """Integration method, step and duration of a quarter-car run."""

    step: float = 1e-3  # [s]
    seconds: float = 5.0
    every: int = 1  # steps between records
    is_rk4: bool = True  # else semi-implicit Euler
    alpha: float = 0.0  # Baumgarte's e'' + 2 alpha e' + beta^2 e = 0 [1/s], for TA and FA
    beta: float = 0.0

    def __post_init__(self) -> None:
        if not (self.step > 0.0 and self.seconds > 0.0 and self.every >= 1):
            raise ValueError(f"step, seconds and every must be > 0, got {self.step}, {self.seconds}, {self.every}")
        if self.alpha < 0.0 or self.beta < 0.0:
            raise ValueError(f"alpha and beta must not be negative, got {self.alpha} and {self.beta}")


class QuarterCarRun(NamedTuple):
    """Motion of the quarter car over time, and how far its joints opened."""

    time: Array  # [s]
    theta: Array  # lower-arm angle, positive raises the wheel [rad]
    wheel_height: Array  # of its centre, above the chassis origin [m]
    spin: Array  # [rad]
    constraint_error: (
        Array  # largest gap of a cut [m]; for FA of all joints, for analytic CE of the lengths of its bodies
    )


def rough_road(seconds: float = 5.0, interval: float = 0.01) -> WheelTable:
    """A known load for some seconds: the wheel carries its share of the vehicle, rolls over waves and hits a stone.

    Vertical waves of 3 kN at 1.3 Hz, a blow of 7 kN for 0.12 s at 1.5 s, cornering and braking forces of 1 kN, and a
    torque of 60 N m that spins the wheel up and down. All begin smoothly from the static load of 6.3 kN.
    """
    time = np.arange(0.0, seconds + 1.5 * interval, interval)
    swell = 0.5 * (1.0 - np.cos(np.pi * np.clip(time / 0.5, 0.0, 1.0)))
    blow = np.where(np.abs(time - 1.56) < 0.06, np.cos(np.pi * (time - 1.56) / 0.12) ** 2, 0.0)
    wrench = np.zeros((len(time), 6))
    wrench[:, 1] = 60.0 * np.sin(2.0 * np.pi * 0.4 * time)
    wrench[:, 3] = -1000.0 * swell * np.sin(2.0 * np.pi * 0.5 * time)
    wrench[:, 4] = 1000.0 * swell * np.sin(2.0 * np.pi * 0.7 * time)
    wrench[:, 5] = 6300.0 + 3000.0 * swell * np.sin(2.0 * np.pi * 1.3 * time) + 7000.0 * blow
    return WheelTable(interval, wrench)


class QuarterCar:
    """One corner of a vehicle with its chassis held, in each formulation."""

    def __init__(self, parameters: VehicleParameters, corner: str = "front_left") -> None:
        if corner not in CORNERS:
            raise ValueError(f"corner: must be one of {', '.join(CORNERS)}, got {corner}")
        builder = CornerBuilder(parameters, corner)
        mechanism = Mechanism(tuple(builder.bodies()), tuple(builder.cuts(ROOT)))
        free = (f"{corner}.lower_arm", f"{corner}.wheel")
        self._system = EmbeddedSystem(mechanism, free)
        self._corners = np.zeros(1, CORNER)
        self._corners[0] = corner_record(builder, [builder.points.tie_rod_inner])
        self._looped, self._bodies = looped_tree(mechanism, free), free_bodies(mechanism)
        wheel = f"{corner}.wheel"
        self._wheel = WheelPoint(self._system.layout.body[wheel], mechanism.coordinate_names.index(wheel))

    def rest_angle(self, table: WheelTable) -> float:
        """Lower-arm angle [rad] at which the strut carries the table's first load."""
        corner, wrench = self._corners[0], table.wrench[0]
        lowest = 0.99 * corner["lowest"]  # an unloaded wheel hangs on the rebound stop
        highest = free_travel(corner["strut"], Range(corner["lowest"], corner["highest"])).highest
        return float(
            brentq(
                lambda theta: corner_accelerations(corner, theta, 0.0, 0.0, wrench, GRAVITY)[0],
                lowest,
                highest,
                xtol=1e-14,
            )
        )

    def run(self, method: Method, table: WheelTable, settings: StepSettings | None = None) -> QuarterCarRun:
        """Motion from rest under the table's loads; raises ClosureError when the suspension leaves its reach."""
        settings = settings or StepSettings()
        rows = round(settings.seconds / (settings.step * settings.every)) + 1
        record = np.zeros((rows, RECORD_SIZE))
        failed = self.prepared(method, table, settings, record)()
        if failed >= 0 or not np.isfinite(record).all():
            when = f"after {failed * settings.step:g} s" if failed >= 0 else "before the end"
            raise ClosureError(f"{method.value}: the suspension left its reach {when}")
        time = settings.step * settings.every * np.arange(rows, dtype=np.float64)
        theta, height, spin, error = record.T
        # Free bodies give the spin within half a turn only.
        return QuarterCarRun(time, theta, height, np.unwrap(spin) if method is Method.FA else spin, error)

    def prepared(self, method: Method, table: WheelTable, settings: StepSettings, record: Array) -> Callable[[], int]:
        """A prepared run that fills the record, once: the part to be timed. Returns the failed step or -1."""
        plan = StepPlan(settings.is_rk4, settings.step, settings.every)
        case = Case(self._corners, self._wheel, table, GRAVITY, plan)
        constraints = Constraints(self._looped.anchor, settings.alpha, settings.beta)
        closed = self._system.close(np.array([self.rest_angle(table), 0.0]))
        if method is Method.FA:
            return self._prepared_free(case, constraints, closed, record)
        if method is Method.TA:
            return self._prepared_tree(case, constraints, closed, record)
        workspace = self._workspace(closed[self._looped.embedding.independent], 2)
        if method is Method.ANALYTIC_CE:
            return lambda: run_analytic(case, workspace, record)
        model = NumericModel(
            mechanism=self._looped,
            root=HELD,
            no_angles=self._no_angles(),
            guess=closed,
            workspace=loop_workspace(self._looped),
            out=embedded_result(self._looped),
        )
        return lambda: run_numeric(case, model, workspace, record)

    def _prepared_tree(self, case: Case, constraints: Constraints, closed: Array, record: Array) -> Callable[[], int]:
        tree, workspace = self._looped.tree, self._workspace(closed.copy(), len(closed))
        model = TreeModel(tree, HELD, constraints, self._no_angles(), tree_workspace(tree), tree_accelerations(tree))
        return lambda: run_tree(case, model, workspace, record)

    def _prepared_free(self, case: Case, constraints: Constraints, closed: Array, record: Array) -> Callable[[], int]:
        at_rest = self._system.state(closed, np.zeros(2), np.zeros(6))
        start, count = free_state(at_rest), len(self._bodies.mass)
        workspace = self._workspace(np.concatenate([start.attitude.ravel(), start.centre.ravel()]), 6 * count)
        model = FreeModel(
            bodies=self._bodies,
            constraints=constraints,
            state=_views(workspace.at_position, workspace.at_velocity, count),
            rate=_views(workspace.position_rate, workspace.acceleration, count),
            arm=np.zeros(1),
            arm_rate=np.zeros(1),
            coordinates=np.zeros(self._system.layout.count),
            work=free_workspace(self._bodies),
            out=free_accelerations(self._bodies),
        )
        return lambda: run_free(case, model, workspace, record)

    def _no_angles(self) -> NDArray[np.bool_]:
        return np.zeros(len(self._looped.tree.cut_direction), dtype=bool)

    def _workspace(self, position: Array, velocities: int) -> StepWorkspace:
        size = len(position)
        return StepWorkspace(
            position=position,
            velocity=np.zeros(velocities),
            at_position=np.zeros(size),
            at_velocity=np.zeros(velocities),
            position_rate=np.zeros(size),
            acceleration=np.zeros(velocities),
            total_position=np.zeros(size),
            total_velocity=np.zeros(velocities),
            wrench=np.zeros(6),
            forces=Forces(np.zeros((len(self._bodies.mass), 6)), np.zeros(self._system.layout.count)),
        )


def _views(position: Array, velocity: Array, count: int) -> FreeState:
    """Flat arrays as poses and velocities of this many bodies."""
    return FreeState(
        position[: 4 * count].reshape(count, 4), position[4 * count :].reshape(count, 3), velocity.reshape(count, 6)
    )
