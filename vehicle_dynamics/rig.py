"""A vehicle on a ground with a test driver and nothing else: for mobility tests and benchmarks of the vehicle alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from terrain.ground import FlatGround, GroundModel
from terrain.spawned import ReplaceableGround
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.stepper import Schedule, Stepper
from vehicle_dynamics.vehicle_state import POSITION

Array = NDArray[np.float64]
Driver = Callable[[float, SnapshotRecord], Pedals]  # pedals for a time [s] and a snapshot
DRY = FlatGround(friction=0.8)
RECORD = "record"  # name of the history among a schedule's outputs


class _Seat:
    """Seat of the test driver, who may change between drives. Implements stepper.Driver."""

    def __init__(self) -> None:
        self.driver: Driver | Pedals = Pedals()

    def pedals(self, now: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for a time [s] and a snapshot."""
        return self.driver if isinstance(self.driver, Pedals) else self.driver(now, seen)

    def reset(self) -> None:
        """Nothing to reset: drivers are made for one drive."""


class Rig:
    """A vehicle with ideal actuators that is driven; the history has record_hz snapshots a second."""

    def __init__(
        self,
        vehicle: Hmmwv,
        ground: GroundModel = DRY,
        *,
        speed: float = 0.0,
        heading_rad: float = 0.0,
        start: tuple[float, float] = (0.0, 0.0),
        gear: int = 0,
        record_hz: float = 1.0 / PERIOD_S,
    ) -> None:
        self._vehicle, self._ground, self._seat = vehicle, ReplaceableGround(ground), _Seat()
        self._start = {"x": start[0], "y": start[1], "heading": heading_rad, "speed": speed, "gear": gear}
        self._stepper = Stepper(
            vehicle, self._ground, self._seat, Schedule(vehicle.step_s, {RECORD: record_hz}), start=self._start
        )
        self.history: list[SnapshotRecord] = []

    @property
    def time(self) -> float:
        """Time driven since the start [s]."""
        return self._stepper.seconds

    @property
    def seen(self) -> SnapshotRecord:
        """Snapshot of the present state, with the latest pedals."""
        return self._stepper.seen

    def drive(
        self, driver: Driver | Pedals, seconds: float, until: Callable[[SnapshotRecord], bool] | None = None
    ) -> SnapshotRecord:
        """Drive for a time [s], or until a condition; returns the last snapshot."""
        self._seat.driver = driver
        for _ in range(round(seconds / PERIOD_S)):
            instants = self._stepper.step()
            if self._stepper.diverged:
                raise RuntimeError(self._stepper.diverged)
            self.history += [instant.seen for instant in instants if RECORD in instant.due]
            if until is not None and until(self.seen):
                break
        return self.seen

    def replace_ground(self, ground: GroundModel) -> None:
        """Drive on another ground from now on."""
        self._ground.replace(ground)

    def return_to_start(self, height: float = 0.0) -> None:
        """Put the vehicle at its start again, higher by a height [m]; ruts stay, the history begins again."""
        self.history.clear()
        state = self._vehicle.start(self._ground, **self._start)  # type: ignore[arg-type]
        state[POSITION][2] += height
        self._stepper.continue_from(state)

    def position(self) -> Array:
        """Position of the chassis origin now, world axes [m]."""
        position: Array = self.seen["position"].copy()
        return position

    def series(self, name: str) -> Array:
        """A field of the snapshots by its name, one row per snapshot of the history."""
        return np.array([seen[name] for seen in self.history])

    def speeds(self) -> Array:
        """Speeds along the vehicle [m/s]."""
        return np.array([forward_speed(seen) for seen in self.history])


def mass_of(vehicle: Hmmwv) -> float:
    """Mass of the whole vehicle [kg]: what its wheels carry at rest."""
    return float(Rig(vehicle).seen["load"].sum() / vehicle.kernel.gravity)
