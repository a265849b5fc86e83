"""The lock-step runner: all cores of a scenario in one process, in a fixed order, repeatable to the bit.

Time is a whole number of ticks. Every PERIOD_S a snapshot is taken, sensors sample, the driver acts, the vehicle
moves; faster sensors sample in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from planner.drive_to_goal import Status
from planner.scripted import ScriptedDriver
from proving_ground.interfaces.digest import Digest
from proving_ground.saving.stateful import Stateful
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.channels import Channels, Points, channels, estimate_channels
from proving_ground.scenarios.observing import Observation
from proving_ground.scenarios.parts import compiled
from proving_ground.scenarios.resuming import Resumable
from proving_ground.scenarios.scenario import Scenario
from proving_ground.scenarios.script import make_script
from proving_ground.settings import SettingsError
from sensors.kinds import SENSOR_KINDS, SeenWorld
from sensors.rig import SensorRig
from terrain.ground import GroundModel
from terrain.surroundings import Surroundings
from terrain.world import World
from vehicle_dynamics.conditions import MULTIBODY_ONLY, Condition, ConditionChange, check_changes
from vehicle_dynamics.control.drive_by_wire import ACCEPTED, DriveByWire, Order, Verdict
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.equilibrium import NoEquilibriumError
from vehicle_dynamics.driving.snapshot import SNAPSHOT, SnapshotRecord
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.node_settings import VehicleNodeSettings
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.standing import Standing, periods_of
from vehicle_dynamics.stepper import Schedule, Stepper
from vehicle_dynamics.vehicle_choice import make_vehicle

Array = NDArray[np.float64]


class OtherDriver(Protocol):
    """A driver from outside the scenario file. Only one that is Stateful can go into a checkpoint."""

    def act(self, time: float, seen: SnapshotRecord) -> Order | None: ...


Driver = ScriptedDriver | Autonomy | OtherDriver
TakeOver = Callable[[ScriptedDriver | Autonomy], OtherDriver]
Listener = Callable[[str, Any], None]

PROGRESS_EVERY = 100  # periods


@dataclass(frozen=True)
class Run:
    """Result of a run of a scenario: its history, channels and estimates."""

    time: Array  # [s]
    history: NDArray[np.void]  # records of SNAPSHOT, one per period and one at the end
    channels: Channels
    centre_of_mass: Array  # of the chassis, whose motion the channels give; chassis frame [m]
    diverged_at: float | None  # [s]
    estimates: NDArray[np.void] | None = None  # records of ESTIMATE, if there is an observer


class _Wire(Stateful):
    """A driver and the drive-by-wire that obeys it, as a Stepper has them."""

    STATE = ("order", "orders", "answer", "_drive")

    def __init__(self, driver: Driver, drive: DriveByWire) -> None:
        self._driver, self._drive = driver, drive
        self.order: Order | None = None  # of the latest period, if any
        self.orders = 0  # count
        self.answer = ACCEPTED  # to the latest order

    def pedals(self, now: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next PERIOD_S; raises ValueError for pedals that are not finite."""
        order = self._driver.act(now, seen)
        self.order = order.as_command() if isinstance(order, Pedals) else order
        if self.order is not None:
            self.orders += 1
            self.answer = self._drive.receive(now, self.order)
        return self._drive.pedals(now, seen)

    def reset(self) -> None:
        """Never: a LockStep runs once; make another one instead."""


class LockStep(Resumable):
    """One scenario being run; `run` to the end, or `advance_to`, `save` and `fork` in between."""

    STATE = (
        "_period", "_standing", "_is_over", "_is_sensed", "_diverged_at",
        "_stepper", "_wire", "_own_driver", "rig", "observation",
    )  # fmt: skip

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
        self._given = {"parameters": parameters, "take_over": take_over}  # for a fork
        self.scenario = scenario
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
        self._periods = periods_of(scenario.duration_s)
        self._start_ns = settings.start.time_ns()
        self.observation = self._make_observation()
        own_driver = self._own_driver = self._make_driver()
        self.autonomy = own_driver if isinstance(own_driver, Autonomy) else None
        self._driver: Driver = take_over(own_driver) if take_over is not None else own_driver
        self._standing = Standing()
        self._is_over = False  # the drive ended before its duration
        self._listener = listener
        self.on_instant: Callable[[int, SnapshotRecord], None] = lambda time_ns, seen: None  # before its samples
        self.rig = self._make_rig() if scenario.sensors else None
        self._stepper = self._make_stepper(settings)
        self._history = np.zeros(self._periods + 1, SNAPSHOT)
        self._is_sensed = False  # sensors have sampled this instant
        self._diverged_at: float | None = None

    def _make_stepper(self, settings: VehicleNodeSettings) -> Stepper:
        """The vehicle at its start; the stepper stops for the driver, and whenever sensors get the truth."""
        start = settings.start.origin(self._there.world)._asdict() | {"gear": settings.start.gear}
        schedule = Schedule(self.vehicle.step_s, {"truth": settings.odom_rate_hz})
        self._wire = _Wire(self._driver, DriveByWire(self.vehicle, settings))
        conditions = settings.made_conditions(self.parameters, self._ground)
        try:
            return Stepper(
                self.vehicle,
                self._ground,
                self._wire,
                schedule,
                start=start,
                start_ns=self._start_ns,
                actuators=settings.actuators(self.parameters.actuators),
                conditions=conditions,
            )
        except (NoEquilibriumError, ValueError) as error:
            raise SettingsError(f"start: {error}") from None

    def _make_observation(self) -> Observation | None:
        if "observer" not in self.parts:
            return None
        return Observation(self.parts["observer"].settings, self._there)

    def _make_driver(self) -> ScriptedDriver | Autonomy:
        if "script" not in self.parts and "planner" not in self.parts:
            raise SettingsError("driver: missing; in lock-step a scenario needs one, also where a program commands")
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

    def _make_rig(self) -> SensorRig:
        x, y, z = (float(value) for value in self.vehicle.base_in_chassis)
        sensors = {
            name: (SENSOR_KINDS[item.part.node], item.settings)
            for name, item in self.parts.items()
            if item.part.node in SENSOR_KINDS
        }
        seen = SeenWorld.of(self._there, (settings for _, settings in sensors.values()))
        return SensorRig(sensors, start_ns=self._start_ns, base_in_chassis=(x, y, z), seen=seen)

    @property
    def ground(self) -> GroundModel:
        """The ground that the vehicle drives on, with its ruts."""
        return self._ground

    @property
    def world(self) -> World | None:
        """The named world of the run, if any."""
        return self._there.world

    @property
    def period(self) -> int:
        """Number of completed control periods of 10 ms."""
        return self._period

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self._period * PERIOD_S

    @property
    def has_ended(self) -> bool:
        """The run is over: time is up, the motion diverged, or the driver has arrived or given up."""
        return self._period >= self._periods or self._diverged_at is not None or self._is_over

    @property
    def has_diverged(self) -> bool:
        """Whether the motion diverged."""
        return self._diverged_at is not None

    @property
    def collisions(self) -> int:
        """Times that the body hit an obstacle."""
        return self._stepper.collisions

    def run(self, progress: Callable[[float], None] = lambda share: None, until: int | None = None) -> Run:
        """Run to the end, or until a period; progress gets the completed share."""
        end = self._periods if until is None else min(until, self._periods)
        while not self.has_ended and self._period < end:
            self.advance_to(min(self._period + PROGRESS_EVERY, end))
            progress(1.0 if self.has_ended and not self.has_diverged else self._period / self._periods)
        return self.result()

    def result(self) -> Run:
        """Result up to now."""
        self._history[self._period] = self._stepper.seen
        count = self._period + 1
        time: Array = np.arange(count, dtype=float) * PERIOD_S
        centre, base = np.array(self.parameters.chassis.centre_of_mass_m), self.vehicle.base_in_chassis
        history = self._history[:count]
        found = channels(time, history, Points(centre, base, np.array(self.parameters.seat_m)))
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
        """Latest pedals of the vehicle: those of the drive-by-wire, as its actuators move them."""
        return self._stepper.pedals

    @property
    def condition(self) -> Condition:
        """Present conditions: friction, payload and tyre pressures that differ from the world and the file."""
        return self._stepper.conditions.present

    def change(self, change: ConditionChange) -> None:
        """Change a condition from this instant on, whatever the time of the change; raises SettingsError.

        The scenario does not know of it; a checkpoint does.
        """
        if self.parts["vehicle"].settings.vehicle.fidelity == "single_track":
            raise SettingsError(f"conditions: {MULTIBODY_ONLY}")
        check_changes([change], self.parameters, self._ground)
        self._stepper.conditions.change(change)

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
            self._detect_end(seen)
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

    def _detect_end(self, seen: SnapshotRecord) -> None:
        """Detect the end of the drive; a planner that gives up while another driver acts does not end it."""
        self._standing.record(self.time, forward_speed(seen))
        if self.autonomy is not None:
            status = self.autonomy.progress.status
            is_final = status is not Status.FAILED or self.autonomy is self._driver
            self._is_over = is_final and self._standing.ends(self.time, is_over=status.is_over)

    def _sense(self, time_ns: int, seen: SnapshotRecord) -> None:
        self.on_instant(time_ns, seen)
        if self.rig is None:
            return
        arrived = self.rig.update(time_ns, seen)
        for name, sample in arrived:
            self._listener(name, sample)
        if self.observation is not None:
            self.observation.on_samples(time_ns, arrived)
        if self.autonomy is not None:
            self.autonomy.on_samples(arrived)

    def hashed(self) -> dict[str, Digest]:
        """Hash inputs and outputs of every part from now on, by name."""
        digests = {name: Digest() for name, item in self.parts.items() if item.part.takes_part}
        self._stepper.digest = digests["vehicle"]
        if self.rig is not None:
            self.rig.digests.update({name: digests[name] for name in self.rig.sensors})
        if self.observation is not None:
            self.observation.run.digest = digests["observer"]
        if isinstance(self._driver, Autonomy):
            self._driver.navigator.digest = digests["planner"]
        elif isinstance(self._driver, ScriptedDriver):
            self._driver.digest = digests["script"]
        return digests

    def finish_instant(self) -> None:
        """Let sensors, observer and driver process the last instant, as nodes do at the end; nobody else gets it."""
        self._listener, self.on_instant = (lambda name, sample: None), (lambda time_ns, seen: None)
        seen = self.look()
        self._driver.act(self._stepper.seconds, seen)
