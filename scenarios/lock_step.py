"""The lock-step runner: all cores of a scenario in one process, in a fixed order, repeatable to the bit.

Time is a whole number of ticks. Every PERIOD_S the vehicle is looked at, sensors sample, the driver acts, the vehicle
moves; faster sensors look in between.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planner.scripted import Origin, ScriptedDriver
from scenarios.autonomy import Autonomy
from scenarios.channels import Channels, channels
from scenarios.observing import Observation, make_observer
from scenarios.scenario import Scenario
from scenarios.sensing import make_rig
from sensors.rig import steps_between_ticks
from settings import SettingsError
from terrain.ruts import EMPTY
from terrain.world import World
from terrain.world_ground import RUT_CELLS, RutsCopy, WorldGround
from vehicle_dynamics.control.helm import PERIOD_S, Helm
from vehicle_dynamics.driving.equilibrium import NoEquilibriumError
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle_choice import make_vehicle
from vehicle_dynamics.vehicle_files import vehicle_file

Array = NDArray[np.float64]

Driver = ScriptedDriver | Autonomy
Listener = Callable[[str, Any], None]

PROGRESS_EVERY = 100  # periods
PERIOD_NS = round(PERIOD_S * 1e9)


@dataclass(frozen=True)
class Checkpoint:
    """All that a run depends on from here on."""

    period: int
    state: Array
    pedals: Pedals
    memory: tuple[float, ...]  # the driver's
    ruts: RutsCopy | None = None  # of ground that remembers
    sensors: dict[str, Any] | None = None  # of scenarios that have some; not in the text

    def to_json(self) -> str:
        """Text that from_json reads back to the bit, but for the sensors' memory."""
        values = {"period": self.period, "state": self.state.tolist(), "pedals": self.pedals, "memory": self.memory}
        if self.ruts is not None:
            used = np.flatnonzero(self.ruts.keys != EMPTY)
            keys, depth = self.ruts.keys[used].tolist(), self.ruts.depth[used].tolist()
            values["ruts"] = {"size": len(self.ruts.keys), "place": used.tolist(), "key": keys, "depth": depth}
        return json.dumps(values)

    @staticmethod
    def from_json(text: str) -> Checkpoint:
        """Raises SettingsError when the text is no checkpoint."""
        try:
            values = json.loads(text)
            pedals = Pedals(*values["pedals"]).within_limits()
            state = np.array(values["state"], dtype=float)
            memory = tuple(float(value) for value in values["memory"])
            period = int(values["period"])
            ruts = _ruts_from(values["ruts"]) if "ruts" in values else None
        except (ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"not a checkpoint: {error}") from None
        if state.ndim != 1 or not np.isfinite(state).all() or period < 0:
            raise SettingsError("not a checkpoint: its state must be a list of finite numbers")
        return Checkpoint(period, state, pedals, memory, ruts)


@dataclass(frozen=True)
class Run:
    """What came of a scenario."""

    time: Array  # [s]
    history: NDArray[np.void]  # records of SNAPSHOT, one per period and one at the end
    channels: Channels
    centre_of_mass: Array  # of the chassis, whose motion the channels give; chassis frame [m]
    diverged_at: float | None  # [s]
    estimates: NDArray[np.void] | None = None  # records of ESTIMATE, if there is an observer


class LockStep:
    """One scenario being run; `run` to the end, or `advance_to` and `checkpoint` in between."""

    def __init__(
        self,
        scenario: Scenario,
        folder: Path | None = None,
        parameters: VehicleParameters | None = None,
        listener: Listener = lambda name, sample: None,
        world: World | None = None,
    ) -> None:
        """folder: where relative paths of the scenario begin; parameters: in place of the scenario's vehicle file.

        listener gets the name of a sensor and a sample when it arrives; world: in place of the scenario's.
        """
        world = world or scenario.world.load(folder or Path())
        self._ground = scenario.world.ground(world)
        self._parameters = parameters or VehicleParameters.from_yaml(vehicle_file(scenario.vehicle.model, folder))
        try:
            self.vehicle = make_vehicle(scenario.vehicle, self._parameters)
        except ValueError as error:  # numbers that are each allowed, but together make no vehicle
            raise SettingsError(f"vehicle {scenario.vehicle.model}: {error}") from None
        start = scenario.start
        heading = math.radians(start.heading_deg)
        try:
            self._state = self.vehicle.start(
                self._ground, x=start.x_m, y=start.y_m, heading=heading, speed=start.speed_mps, gear=start.gear
            )
        except (NoEquilibriumError, ValueError) as error:
            raise SettingsError(f"start: {error}") from None
        self._pedals = Pedals()
        self._period = 0
        self._first = 0  # of the periods that the history has
        self._periods = max(round(scenario.duration_s / PERIOD_S), 1)
        self._steps = round(PERIOD_S / self.vehicle.step_s)
        self._start_ns = scenario.start.time_ns()
        origin = Origin(start.x_m, start.y_m, heading, start.speed_mps)
        self.observation = self._make_observation(scenario, origin, world, folder or Path())
        self._driver = self._make_driver(scenario, origin, world)
        self._listener = listener
        self.rig = make_rig(scenario, self.vehicle, self._ground, world) if scenario.sensors else None
        self._tick_steps = steps_between_ticks(scenario.sensors, self.vehicle.step_s, self._steps)
        self._history = np.zeros(self._periods + 1, SNAPSHOT)
        self._diverged_at: float | None = None

    def _make_observation(
        self, scenario: Scenario, origin: Origin, world: World | None, folder: Path
    ) -> Observation | None:
        if scenario.observer is None:
            return None
        georeference = world.georeference if world is not None else None
        observer = make_observer(
            scenario.observer, scenario.sensors, ground=self._ground, georeference=georeference, folder=folder
        )
        start = (origin.x, origin.y, origin.heading) if scenario.observer.knows_start else None
        return Observation(observer, start)

    def _make_driver(self, scenario: Scenario, origin: Origin, world: World | None) -> Driver:
        if scenario.driver.to_goal is None:
            return ScriptedDriver(scenario.driver.script(), Helm(self.vehicle), origin)
        lidars = [choice.lidar for choice in scenario.sensors if choice.lidar is not None]
        return Autonomy(
            scenario.driver.to_goal,
            self.vehicle,
            self._parameters,
            world,
            start_ns=self._start_ns,
            lidar=lidars[0] if lidars else None,
            observation=self.observation,
        )

    def run(self, progress: Callable[[float], None] = lambda share: None) -> Run:
        """To the end; progress gets the share that is done."""
        while self._period < self._periods and self._diverged_at is None:
            self.advance_to(min(self._period + PROGRESS_EVERY, self._periods))
            progress(self._period / self._periods)
        self._history[self._period] = self.vehicle.snapshot(self._state, self._pedals, self._ground)
        count = self._period + 1
        time: Array = np.arange(self._first, count, dtype=float) * PERIOD_S
        centre = np.array(self._parameters.chassis.centre_of_mass_m)
        history = self._history[self._first : count]
        found = channels(time, history, centre, self.vehicle.base_in_chassis)
        estimates = self.observation.estimates if self.observation is not None else None
        return Run(time, history, found, centre, self._diverged_at, estimates)

    def advance_to(self, period: int) -> None:
        """Run until that many periods are done, or the motion diverges."""
        while self._period < period:
            seen = self.vehicle.snapshot(self._state, self._pedals, self._ground)
            self._sense(0, seen)
            self._pedals = self._driver.act(self._period * PERIOD_S, seen).within_limits()
            self._history[self._period] = seen
            if not self._move():
                self._diverged_at = self._period * PERIOD_S
                return
            self._period += 1

    def _move(self) -> bool:
        """One period; False when the motion diverges. Sensors that are faster look in between."""
        for step in range(0, self._steps, self._tick_steps):
            if step:
                self._sense(step, self.vehicle.snapshot(self._state, self._pedals, self._ground))
            if self.vehicle.advance(self._state, self._pedals, self._ground, self._tick_steps) < self._tick_steps:
                return False
        return True

    def _sense(self, step: int, seen: SnapshotRecord) -> None:
        if self.rig is not None:
            time_ns = self._start_ns + self._period * PERIOD_NS + step * round(self.vehicle.step_s * 1e9)
            arrived = self.rig.update(time_ns, seen)
            for name, sample in arrived:
                self._listener(name, sample)
            if self.observation is not None:
                self.observation.hear(time_ns, (sample for _, sample in arrived))
            if isinstance(self._driver, Autonomy):
                self._driver.hear(sample for _, sample in arrived)

    def checkpoint(self) -> Checkpoint:
        """What `restore` needs to go on from here, to the bit."""
        ruts = self._ground.copy_ruts() if isinstance(self._ground, WorldGround) else None
        if self.observation is not None:
            raise SettingsError("checkpoint: a run with an observer cannot be kept and restored yet")
        sensors = self.rig.memory() if self.rig is not None else None
        return Checkpoint(self._period, self._state.copy(), self._pedals, self._driver.memory, ruts, sensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint of a run of the same scenario; the history has what this object has seen of it."""
        if not 0 <= checkpoint.period <= self._periods or checkpoint.state.shape != self._state.shape:
            raise SettingsError("checkpoint: is of another scenario or another vehicle")
        if self.rig is not None:
            if checkpoint.sensors is None:
                raise SettingsError("checkpoint: has no memory of sensors; restore it in the process that made it")
            self.rig.remember(checkpoint.sensors)
        if checkpoint.period > self._period:
            self._first = checkpoint.period
        self._period, self._state, self._pedals = checkpoint.period, checkpoint.state.copy(), checkpoint.pedals
        self._driver.memory = checkpoint.memory
        if checkpoint.ruts is not None and isinstance(self._ground, WorldGround):
            self._ground.restore_ruts(checkpoint.ruts)
        self._diverged_at = None


def _ruts_from(values: dict[str, Any]) -> RutsCopy:
    """Ruts of a checkpoint's text; raises ValueError, TypeError or KeyError where it is none."""
    size = int(values["size"])
    if not 1 <= size <= RUT_CELLS:
        raise ValueError(f"ruts: size must be from 1 to {RUT_CELLS}, got {size}")
    keys, depth = np.full(size, EMPTY), np.zeros(size, np.float32)
    place = np.array(values["place"], dtype=np.int64)
    if place.size and not (place.min() >= 0 and place.max() < size):
        raise ValueError("ruts: a place is beyond the size")
    keys[place], depth[place] = values["key"], values["depth"]
    return RutsCopy(keys, depth)
