"""The lock-step runner: all cores of a scenario in one process, in a fixed order, repeatable to the bit.

Time is a whole number of ticks. Every PERIOD_S a snapshot is taken, sensors sample, the driver acts, the vehicle
moves; faster sensors sample in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from planner.drive_to_goal import Status
from planner.scripted import ScriptedDriver
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.channels import Channels, channels, estimate_channels
from proving_ground.scenarios.checkpoint import Checkpoint
from proving_ground.scenarios.ending import Standing
from proving_ground.scenarios.observing import Observation
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.scenario import Scenario
from proving_ground.scenarios.script import make_script
from proving_ground.settings import SettingsError
from sensors.kinds import SENSOR_KINDS, SeenWorld
from sensors.lidar.moving import MovingTarget
from sensors.rig import SensorChoice, SensorRig, steps_between_ticks
from terrain.surroundings import Surroundings
from terrain.world import World
from terrain.world_ground import WorldGround
from vehicle_dynamics.control.drive_by_wire import ACCEPTED, DriveByWire, Motion, Order, Verdict
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.equilibrium import NoEquilibriumError
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.stepper import Schedule, Stepper, steps_per_control
from vehicle_dynamics.vehicle_choice import make_vehicle

Array = NDArray[np.float64]


class OtherDriver(Protocol):
    """A driver from outside the scenario file; `state` is all that a checkpoint needs of it."""

    state: tuple[float, ...]

    def act(self, time: float, seen: SnapshotRecord) -> Order | None: ...


Driver = ScriptedDriver | Autonomy | OtherDriver
TakeOver = Callable[[ScriptedDriver | Autonomy], OtherDriver]
Listener = Callable[[str, Any], None]

PROGRESS_EVERY = 100  # periods


@dataclass(frozen=True)
class Run:
    """Result of a scenario."""

    time: Array  # [s]
    history: NDArray[np.void]  # records of SNAPSHOT, one per period and one at the end
    channels: Channels
    centre_of_mass: Array  # of the chassis, whose motion the channels give; chassis frame [m]
    diverged_at: float | None  # [s]
    estimates: NDArray[np.void] | None = None  # records of ESTIMATE, if there is an observer


class _Wire:
    """A driver and the drive-by-wire that obeys it, as a Stepper has them."""

    def __init__(self, driver: Driver, drive: DriveByWire) -> None:
        self._driver, self._drive = driver, drive
        self.order: Order | None = None  # of the latest period, if any
        self.orders = 0  # count
        self.answer = ACCEPTED  # to the latest order

    def pedals(self, now: float, seen: SnapshotRecord) -> Pedals:
        """For the next PERIOD_S; raises ValueError for pedals that are not finite."""
        order = self._driver.act(now, seen)
        self.order = order.within_limits() if isinstance(order, Pedals) else order
        if self.order is not None:
            self.orders += 1
            self.answer = self._drive.receive(now, self.order)
        return self._drive.pedals(now, seen)

    def reset(self) -> None:
        """Never: a LockStep runs once; make another one instead."""


class LockStep:
    """One scenario being run; `run` to the end, or `advance_to` and `checkpoint` in between."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        parameters: VehicleParameters | None = None,
        listener: Listener = lambda name, sample: None,
        world: World | None = None,
        take_over: TakeOver | None = None,
    ) -> None:
        """parameters: in place of the scenario's vehicle file.

        listener gets the name of a sensor and a sample when it arrives; world: in place of the scenario's; take_over:
        makes the driver, given the scenario's own.
        """
        self.parameters = parameters or scenario.vehicle.parameters()
        self.parts = compiled(scenario, self.parameters)
        settings: VehicleNodeSettings = self.parts["vehicle"].settings
        self._there = Surroundings(settings, world)
        self._ground = self._there.ground
        try:
            self.vehicle = make_vehicle(settings.vehicle, self.parameters)
        except ValueError as error:  # parameters that are valid one by one, but make no vehicle together
            raise SettingsError(f"vehicle {settings.vehicle.model}: {error}") from None
        self._period = 0
        self._first = 0  # first period in the history
        self._periods = max(round(scenario.duration_s / PERIOD_S), 1)
        self._start_ns = settings.start.time_ns()
        self.observation = self._make_observation()
        own_driver = self._make_driver()
        self.autonomy = own_driver if isinstance(own_driver, Autonomy) else None
        self._driver: Driver = take_over(own_driver) if take_over is not None else own_driver
        self._standing = Standing()
        self._is_over = False  # the drive ended before its duration
        self._listener = listener
        self.rig = self._make_rig(scenario.targets) if scenario.sensors else None
        self._stepper = self._make_stepper(settings, scenario.sensors)
        self._history = np.zeros(self._periods + 1, SNAPSHOT)
        self._is_sensed = False  # sensors have sampled this instant
        self._diverged_at: float | None = None

    def _make_stepper(self, settings: VehicleNodeSettings, sensors: Sequence[SensorChoice]) -> Stepper:
        """The vehicle at its start; the stepper stops for the driver, and for sensors that sample in between."""
        step_s = self.vehicle.step_s
        steps = steps_between_ticks(sensors, step_s, steps_per_control(step_s))
        start = settings.start.origin(self._there.world)._asdict() | {"gear": settings.start.gear}
        schedule = Schedule(step_s, {"sensors": 1.0 / (steps * step_s)})
        self._wire = _Wire(self._driver, DriveByWire(self.vehicle, settings))
        try:
            return Stepper(self.vehicle, self._ground, self._wire, schedule, start=start, start_ns=self._start_ns)
        except (NoEquilibriumError, ValueError) as error:
            raise SettingsError(f"start: {error}") from None

    def _make_observation(self) -> Observation | None:
        if "observer" not in self.parts:
            return None
        return Observation(self.parts["observer"].settings, self._there)

    def _make_driver(self) -> ScriptedDriver | Autonomy:
        if "script" not in self.parts and "planner" not in self.parts:
            raise SettingsError("driver: missing; in lock-step a scenario needs one")
        if "script" in self.parts:
            return make_script(self.parts["script"].settings, self.vehicle, self._there)
        return Autonomy(
            self.parts["planner"].settings,
            self.vehicle,
            self.parameters,
            self._there.world,
            start_ns=self._start_ns,
            observation=self.observation,
        )

    def _make_rig(self, targets: tuple[MovingTarget, ...]) -> SensorRig:
        x, y, z = (float(value) for value in self.vehicle.base_in_chassis)
        sensors = {
            name: (SENSOR_KINDS[item.part.node], item.settings)
            for name, item in self.parts.items()
            if item.part.node in SENSOR_KINDS
        }
        seen = SeenWorld(self._there, targets)
        return SensorRig(sensors, start_ns=self._start_ns, base_in_chassis=(x, y, z), seen=seen)

    @property
    def world(self) -> World | None:
        """The named world of the run, if any."""
        return self._there.world

    @property
    def period(self) -> int:
        """Number of completed periods."""
        return self._period

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return self._period * PERIOD_S

    @property
    def has_ended(self) -> bool:
        """The run is over: time is up, the motion diverged, or the driver has arrived or given up."""
        return self._period >= self._periods or self._diverged_at is not None or self._is_over

    @property
    def has_diverged(self) -> bool:
        """Whether the motion diverged."""
        return self._diverged_at is not None

    def run(self, progress: Callable[[float], None] = lambda share: None) -> Run:
        """Run to the end; progress gets the completed share."""
        while not self.has_ended:
            self.advance_to(min(self._period + PROGRESS_EVERY, self._periods))
            progress(1.0 if self.has_ended and not self.has_diverged else self._period / self._periods)
        return self.result()

    def result(self) -> Run:
        """Result up to now."""
        self._history[self._period] = self._stepper.seen
        count = self._period + 1
        time: Array = np.arange(self._first, count, dtype=float) * PERIOD_S
        centre, base = np.array(self.parameters.chassis.centre_of_mass_m), self.vehicle.base_in_chassis
        history = self._history[self._first : count]
        found = channels(time, history, centre, base)
        estimates = self.observation.estimates if self.observation is not None else None
        if estimates is not None:
            found |= estimate_channels(self._start_ns, time, history, base, estimates)
        return Run(time, history, found, centre, self._diverged_at, estimates)

    def look(self) -> SnapshotRecord:
        """Snapshot of the vehicle at this instant; sensors sample it on the first call."""
        if not (self._is_sensed or self.has_diverged):  # after divergence, the last valid instant was already sampled
            self._sense(self._stepper.time_ns, self._stepper.seen)
            self._is_sensed = True
        return self._stepper.seen

    @property
    def pedals(self) -> Pedals:
        """Latest pedals of the drive-by-wire."""
        return self._stepper.pedals

    @property
    def order(self) -> tuple[int, Order | None]:
        """Number of commands given by the driver, and the command of the latest period, if any."""
        return self._wire.orders, self._wire.order

    @property
    def rejection(self) -> str:
        """Why drive-by-wire rejected the latest command; empty if it did not."""
        return self._wire.answer.reason if self._wire.answer.verdict is Verdict.REJECTED else ""

    def seen_since(self, period: int) -> NDArray[np.void]:
        """Records of SNAPSHOT from a period on, without the present instant; a view."""
        return self._history[period : self._period]

    def advance_to(self, period: int) -> None:
        """Run until that many periods are completed, or the run has ended."""
        while self._period < period and not self.has_ended:
            seen = self._history[self._period] = self.look()
            is_sound = self._move()
            self._note_end(seen)
            if not is_sound:
                self._diverged_at = self._period * PERIOD_S
                return
            self._is_sensed = False
            self._period += 1

    def _move(self) -> bool:
        """One period; False when the motion diverges. Faster sensors sample in between."""
        stepper = self._stepper
        stepper.move()
        while not stepper.begins_period and not stepper.diverged:
            self._sense(stepper.time_ns, stepper.seen)
            stepper.move()
        return not stepper.diverged

    def _note_end(self, seen: SnapshotRecord) -> None:
        """Detect the end of the drive; a planner that gives up while another driver acts does not end it."""
        self._standing.record(self.time, forward_speed(seen))
        if self.autonomy is not None:
            status = self.autonomy.progress.status
            is_final = status is not Status.FAILED or self.autonomy is self._driver
            self._is_over = is_final and self._standing.ends(self.time, status.value)

    def _sense(self, time_ns: int, seen: SnapshotRecord) -> None:
        if self.rig is None:
            return
        arrived = self.rig.update(time_ns, seen)
        for name, sample in arrived:
            self._listener(name, sample)
        if self.observation is not None:
            self.observation.on_samples(time_ns, (sample for _, sample in arrived))
        if self.autonomy is not None:
            self.autonomy.on_samples(arrived)

    def checkpoint(self) -> Checkpoint:
        """State from which `restore` continues to the bit."""
        ruts = self._ground.copy_ruts() if isinstance(self._ground, WorldGround) else None
        if self.observation is not None:
            raise SettingsError("checkpoint: a run with an observer cannot be saved and restored yet")
        if self.autonomy is not None:
            raise SettingsError("checkpoint: a run with a planner cannot be saved and restored")
        if isinstance(self._wire.order, Motion):
            raise SettingsError("checkpoint: a run that is driven by speed and yaw rate cannot be saved yet")
        if self._is_sensed and self.rig is not None and not self.has_diverged:
            raise SettingsError("checkpoint: this instant was already sampled; advance by a period first")
        sensors = self.rig.save() if self.rig is not None else None
        stepper = self._stepper
        return Checkpoint(self._period, stepper.copy_state(), stepper.pedals, self._driver.state, ruts, sensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint of a run of the same scenario; the history has only what this object has run."""
        if not 0 <= checkpoint.period <= self._periods or checkpoint.state.shape != self._stepper.copy_state().shape:
            raise SettingsError("checkpoint: is of another scenario or another vehicle")
        if self.rig is not None:
            if checkpoint.sensors is None:
                raise SettingsError("checkpoint: has no state of the sensors; restore it in the process that made it")
            self.rig.restore(checkpoint.sensors)
        if checkpoint.period > self._period:
            self._first = checkpoint.period
        self._driver.state = checkpoint.driver_state
        if checkpoint.ruts is not None and isinstance(self._ground, WorldGround):
            self._ground.restore_ruts(checkpoint.ruts)
        self._period, self._is_sensed, self._diverged_at = checkpoint.period, False, None
        self._standing, self._is_over = Standing(), False
        tick = checkpoint.period * steps_per_control(self.vehicle.step_s)
        self._stepper.go_on_from(tick, checkpoint.state, checkpoint.pedals)
