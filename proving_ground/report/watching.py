"""A lock-step run watched for its report: innovations, and the status of planner and observer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.report.run_record import Event, Innovations
from proving_ground.saving.stateful import Stateful, restored
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.lock_step import Driver, Listener, LockStep, TakeOver
from proving_ground.scenarios.observing import Observation
from proving_ground.scenarios.scenario import Scenario
from state_observer.vehicle.layout import SENSORS
from terrain.world import World
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]

STATUS_EVERY_S = 0.2  # between looks at the observer's status


class Watch(Stateful):
    """Recorded events and innovations. Read-only: a watched run is the same to the bit."""

    STATE = ("events", "_rows", "_nis", "_freedom", "_said", "_looked_at")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._rows: list[list[tuple[float, float, Array]]] = [[] for _ in SENSORS]
        self._nis, self._freedom = np.zeros(len(SENSORS)), np.zeros(len(SENSORS))
        self._said: dict[str, str] = {}
        self._looked_at = -STATUS_EVERY_S

    def look(self, seconds: float, observation: Observation | None, driver: Driver) -> None:
        """Look at a time since the start [s], after arrivals were processed."""
        if observation is not None:
            self._record_innovations(seconds, observation)
            if seconds >= self._looked_at + STATUS_EVERY_S - 1e-9:
                self._looked_at = seconds
                self._record_status(seconds, "observer", observation.observer.health().status)
        if isinstance(driver, Autonomy) and seconds > 0.0:  # before, it has not acted yet
            progress = driver.progress
            words, reason = progress.status.value.replace("_", " "), progress.reason.value
            self._record_status(seconds, "planner", f"{words}: {reason}" if reason else words)

    def innovations(self) -> dict[str, Innovations]:
        """Innovations of the sensors that had some."""
        found = {}
        for name, rows in zip(SENSORS, self._rows, strict=True):
            if rows:
                time, nis, values = zip(*rows, strict=True)
                found[name] = Innovations(np.array(time), np.array(nis), np.array(values))
        return found

    def _record_innovations(self, seconds: float, observation: Observation) -> None:
        tally = observation.observer.filter.filter_state[0]
        nis, degrees_of_freedom = tally["nis"], tally["degrees_of_freedom"]
        if (degrees_of_freedom == self._freedom).all():
            return
        for k in np.flatnonzero(degrees_of_freedom > self._freedom).tolist():
            mean = (nis[k] - self._nis[k]) / (degrees_of_freedom[k] - self._freedom[k])
            self._rows[k].append((seconds, float(mean), tally["innovation"][k].copy()))
        self._nis, self._freedom = nis.copy(), degrees_of_freedom.copy()  # counts fall where a filter restarts

    def _record_status(self, seconds: float, node: str, words: str) -> None:
        if self._said.get(node) != words:
            self._said[node] = words
            self.events.append(Event(seconds, node, words))


class WatchedLockStep(LockStep):
    """LockStep whose `watch` sees every instant."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        world: World | None,
        parameters: VehicleParameters | None = None,
        listener: Listener = lambda name, sample: None,
        take_over: TakeOver | None = None,
    ) -> None:
        """Arguments as of LockStep; world: what scenario.world.load returned."""
        super().__init__(scenario, parameters=parameters, listener=listener, world=world, take_over=take_over)
        self.watch = Watch()

    def saved_state(self) -> dict[str, Any]:
        """State of the run, and the events and innovations recorded so far."""
        return super().saved_state() | {"watch": self.watch}

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """See Stateful. A checkpoint of a run that was not watched has nothing to report from before."""
        super().restore_state(state, keep_random=keep_random)
        self.watch = restored(Watch(), state.get("watch", Watch()), keep_random)

    def _sense(self, time_ns: int, seen: SnapshotRecord) -> None:
        super()._sense(time_ns, seen)
        self.watch.look(self._stepper.seconds, self.observation, self._driver)
