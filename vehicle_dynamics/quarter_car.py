"""The standalone suspension of seed 002 ("quarter car"): one corner on a held chassis under a known load on its wheel.

Four formulations of the same bodies with the same strut: constraint embedding in closed form and by numbers (CE), tree
augmented (TA) and fully augmented (FA), to compare motion, constraint error and time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from vehicle_dynamics.multibody.embedding import ClosureError, EmbeddedSystem
from vehicle_dynamics.multibody.embedding_arrays import embedded_result, embedding_workspace, numeric_embedding
from vehicle_dynamics.multibody.free_bodies import FreeState, free_accelerations, free_bodies, free_state, free_workspace
from vehicle_dynamics.multibody.mechanism import ROOT, Mechanism
from vehicle_dynamics.multibody.tree_arrays import anchors_at_rest, tree_accelerations, tree_arrays, tree_workspace
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.quarter_car_kernel import (
    ANALYTIC,
    FREE_BODIES,
    NUMERIC,
    RECORD_SIZE,
    TREE,
    QuarterCarArrays,
    QuarterCarMemory,
    WheelTable,
    corner_accelerations,
    run_quarter_car,
)
from vehicle_dynamics.suspension.corner_record import CORNER, corner_record
from vehicle_dynamics.suspension.reach import Range, free_travel
from vehicle_dynamics.vehicle_mechanism import CORNERS, CornerBuilder

Array = NDArray[np.float64]

GRAVITY = (0.0, 0.0, -9.81)  # [m/s^2]


class Method(Enum):
    """A formulation, by the name that the papers use."""

    ANALYTIC_CE = "CE, analytic"
    NUMERIC_CE = "CE, numerical"
    TA = "TA"
    FA = "FA"


_NUMBERS = {Method.ANALYTIC_CE: ANALYTIC, Method.NUMERIC_CE: NUMERIC, Method.TA: TREE, Method.FA: FREE_BODIES}


@dataclass(frozen=True, kw_only=True)
class StepSettings:
    """How to integrate."""

    step: float = 1e-3  # [s]
    seconds: float = 5.0
    every: int = 1  # steps between records
    is_rk4: bool = True  # else semi-implicit Euler
    alpha: float = 0.0  # Baumgarte's e'' + 2 alpha e' + beta^2 e = 0 [1/s], of TA and FA
    beta: float = 0.0

    def __post_init__(self) -> None:
        if not (self.step > 0.0 and self.seconds > 0.0 and self.every >= 1):
            raise ValueError(f"step, seconds and every must be > 0, got {self.step}, {self.seconds}, {self.every}")
        if self.alpha < 0.0 or self.beta < 0.0:
            raise ValueError(f"alpha and beta must not be negative, got {self.alpha} and {self.beta}")


class QuarterCarRun(NamedTuple):
    """Motion over time."""

    time: Array  # [s]
    theta: Array  # lower-arm angle, positive raises the wheel [rad]
    wheel_height: Array  # of its centre, above the chassis origin [m]
    spin: Array  # [rad]
    constraint_error: Array  # largest gap of a cut [m]; of FA of all joints, of analytic CE of the lengths of its bodies


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
    """One corner of a vehicle with its chassis held."""

    def __init__(self, parameters: VehicleParameters, corner: str = "front_left") -> None:
        if corner not in CORNERS:
            raise ValueError(f"corner: must be one of {', '.join(CORNERS)}, got {corner}")
        builder = CornerBuilder(parameters, corner)
        mechanism = Mechanism(tuple(builder.bodies()), tuple(builder.cuts(ROOT)))
        free = (f"{corner}.lower_arm", f"{corner}.wheel")
        self._system = EmbeddedSystem(mechanism, free)
        corners = np.zeros(1, CORNER)
        corners[0] = corner_record(builder, [builder.points.tie_rod_inner])
        self.arrays = QuarterCarArrays(
            corners=corners,
            embedding=numeric_embedding(mechanism, free),
            tree=tree_arrays(mechanism),
            bodies=free_bodies(mechanism),
            anchor=anchors_at_rest(mechanism.cuts),
            wheel=self._system.layout.body[f"{corner}.wheel"],
            spin=mechanism.coordinate_names.index(f"{corner}.wheel"),
        )

    def rest_angle(self, table: WheelTable) -> float:
        """Lower-arm angle [rad] at which the strut carries the table's first load."""
        corner, wrench = self.arrays.corners[0], table.wrench[0]
        lowest = 0.99 * corner["lowest"]  # a wheel without a load hangs on the rebound stop
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
        memory = self.memory(method, table)
        rows = round(settings.seconds / (settings.step * settings.every)) + 1
        record = np.zeros((rows, RECORD_SIZE))
        failed = self.advance(method, table, settings, memory, record)
        if failed >= 0 or not np.isfinite(record).all():
            at = f"{max(failed, 0) * settings.step:g} s" if failed >= 0 else "the end"
            raise ClosureError(f"{method.value}: the suspension has left its reach by {at}")
        time = settings.step * settings.every * np.arange(rows)
        theta, height, spin, error = record.T
        # Free bodies know the spin within half a turn only.
        return QuarterCarRun(time, theta, height, np.unwrap(spin) if method is Method.FA else spin, error)

    def advance(
        self, method: Method, table: WheelTable, settings: StepSettings, memory: QuarterCarMemory, record: Array
    ) -> int:
        """Fill the record from a memory that is ready; the part of a run that is worth timing. -1 when all went well."""
        return run_quarter_car(
            _NUMBERS[method], self.arrays, table, GRAVITY, settings.alpha, settings.beta, settings.is_rk4,
            settings.step, settings.every, memory, record,
        )  # fmt: skip

    def memory(self, method: Method, table: WheelTable) -> QuarterCarMemory:
        """Arrays for a run of one method, at rest under the table's first load."""
        car, layout = self.arrays, self._system.layout
        closed = self._system.close(np.array([self.rest_angle(table), 0.0]))
        at_rest = self._system.state(closed, np.zeros(2), np.zeros(6))
        start = _start(method, car.embedding.independent, at_rest.coordinates, free_state(at_rest))
        positions, velocities = len(start), 6 * len(car.bodies.mass) if method is Method.FA else len(start)
        at_position, position_rate = np.zeros(positions), np.zeros(positions)
        at_velocity, acceleration = np.zeros(velocities), np.zeros(velocities)
        count = len(car.bodies.mass) if method is Method.FA else 0
        return QuarterCarMemory(
            position=start,
            velocity=np.zeros(velocities),
            at_position=at_position,
            at_velocity=at_velocity,
            position_rate=position_rate,
            acceleration=acceleration,
            total_position=np.zeros(positions),
            total_velocity=np.zeros(velocities),
            free_state=_views(at_position, at_velocity, count),
            free_rate=_views(position_rate, acceleration, count),
            guess=closed,
            wrench=np.zeros(6),
            body_forces=np.zeros((len(car.tree.mass), 6)),
            coordinate_forces=np.zeros(layout.count),
            lower_arm=np.zeros(1),
            lower_arm_rate=np.zeros(1),
            coordinates=np.zeros(layout.count),
            still=np.zeros(6),
            motion=tree_workspace(car.tree),
            embedding=embedding_workspace(car.embedding, car.tree),
            embedded=embedded_result(car.embedding, car.tree),
            accelerations=tree_accelerations(car.tree),
            free=free_workspace(car.bodies),
            free_accelerations=free_accelerations(car.bodies),
        )


def _start(method: Method, independent: NDArray[np.int64], coordinates: Array, free: FreeState) -> Array:
    if method is Method.FA:
        return np.concatenate([free.attitude.ravel(), free.centre.ravel()])
    return coordinates.copy() if method is Method.TA else coordinates[independent]


def _views(position: Array, velocity: Array, count: int) -> FreeState:
    """Flat arrays as poses and velocities of that many bodies."""
    return FreeState(
        position[: 4 * count].reshape(count, 4),
        position[4 * count : 7 * count].reshape(count, 3),
        velocity[: 6 * count].reshape(count, 6),
    )
