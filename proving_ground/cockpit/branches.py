"""A run in lock-step with branches: save it, go back, change something, run on. No page here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from proving_ground.recording.recording import Recording
from proving_ground.recording.writing import Sink
from proving_ground.scenarios.judging import judge_run
from proving_ground.scenarios.lock_step import LockStep
from proving_ground.scenarios.metrics import load_reference, verdict
from proving_ground.scenarios.scenario import Scenario
from proving_ground.scenarios.simulation import Command, Wheel
from proving_ground.settings import SettingsError, build
from proving_ground.settings.units import NS_PER_S
from sensors.faults import FAULTS
from sensors.rig import SensorFault
from terrain.own_friction import hard_friction
from vehicle_dynamics.conditions import FRICTION, ConditionChange
from vehicle_dynamics.control.actuators import ACTUATOR_FAULTS, ACTUATORS, ActuatorFault


class Checkpoint(NamedTuple):
    """A run at an instant, to go back to."""

    time_s: float
    branch: int
    scenario: Scenario  # with the changes up to then
    data: bytes

    @property
    def words(self) -> str:
        """Name of the checkpoint in a list."""
        return f"{self.time_s:.2f} s of branch {self.branch}"


class Ending(NamedTuple):
    """Result of a branch: the time it reached, the changes made in it, and its verdict."""

    branch: int
    time_s: float
    changes: tuple[str, ...]
    has_ended: bool  # by itself, not because the user left it
    passed: bool | None  # up to then; None: the scenario asks for nothing

    @property
    def words(self) -> str:
        """What became of a branch of the run, in one line."""
        outcome = {True: "PASSED", False: "FAILED", None: "driven"}[self.passed] if self.has_ended else "left"
        changes = f", with {'; '.join(self.changes)}" if self.changes else ""
        return f"branch {self.branch}: {outcome} after {self.time_s:.2f} s{changes}"


class BranchedRun:
    """The present branch of a run, and the checkpoints of all."""

    def __init__(self, scenario: Scenario, sink: Sink) -> None:
        """sink: gets the messages that a launch would publish. Raises SettingsError."""
        self._sink, self._world = sink, scenario.world.load()
        self._original, self._count = scenario, 1
        self.scenario, self.branch = scenario, 1
        self.changes: list[str] = []  # in this branch
        self.checkpoints: list[Checkpoint] = []
        self.endings: list[Ending] = []  # of earlier branches
        self.runner = self._made(scenario)

    @property
    def fallible(self) -> dict[str, tuple[str, ...]]:
        """Kinds of faults of the sensors and actuators by name; a sensor hides an actuator of the same name."""
        sensors = {choice.called: tuple(FAULTS) for choice in self.scenario.sensors}
        return sensors | {name: tuple(ACTUATOR_FAULTS) for name in ACTUATORS if name not in sensors}

    def advance(self, periods: int) -> None:
        """Run on for some control periods, at most to the end."""
        self.runner.advance_to(self.runner.period + periods)

    def show_instant(self) -> None:
        """Send the messages of the present instant, while nothing moves."""
        runner = self.runner
        runner.on_instant(self.scenario.start.time_ns() + round(runner.time * NS_PER_S), runner.look())

    def command(self, command: Command | None) -> None:
        """Drive by this command from now on; None: the scenario's own driver does."""
        words = "driven by hand"
        if command is not None and words not in self.changes:
            self.changes.append(words)
        self._wheel.action = command

    def save(self) -> Checkpoint:
        """Save this instant, to go back to; raises SettingsError if a part cannot be saved."""
        found = Checkpoint(self.runner.time, self.branch, self.scenario, self.runner.save())
        self.checkpoints.append(found)
        return found

    def go_back(self, checkpoint: Checkpoint | None) -> None:
        """Begin another branch at a checkpoint; None: at the start, as the scenario's file has it."""
        scenario = self._original if checkpoint is None else checkpoint.scenario
        runner = self._made(scenario, None if checkpoint is None else checkpoint.data)
        self.endings.append(self.ending())
        self._count += 1
        self.scenario, self.runner, self.branch, self.changes = scenario, runner, self._count, []

    @property
    def friction(self) -> float | None:
        """Present friction of hard ground; None if it cannot be changed."""
        if self.scenario.vehicle.fidelity == "single_track":
            return None
        changed = self.runner.condition.friction
        return hard_friction(self.runner.ground) if changed is None else changed

    def set_friction(self, friction: float) -> None:
        """Change the friction of hard ground under the vehicle from now on; raises SettingsError."""
        values = {"what": FRICTION, "value": friction, "at_s": self.runner.time}
        changes = (*self.scenario.changes, build(ConditionChange, values))
        try:
            scenario = replace(self.scenario, changes=changes)
        except ValueError as error:  # a vehicle without tyres
            raise SettingsError(str(error)) from None
        self._change(scenario, f"friction {friction:g}")

    def add_fault(self, name: str, kind: str, value: float) -> None:
        """Let the sensor or actuator of a name fail from now on, as faults of a scenario do; raises SettingsError."""
        is_actuator = self.fallible.get(name) == tuple(ACTUATOR_FAULTS)
        fault_type: type[SensorFault | ActuatorFault] = ActuatorFault if is_actuator else SensorFault
        values = {fault_type.known_by: name, "kind": kind, "value": value, "start_s": self.runner.time}
        fault = build(fault_type, values)
        try:
            scenario = replace(self.scenario, faults=(*self.scenario.faults, fault))
        except ValueError as error:  # an unknown sensor, or a fault that it cannot have
            raise SettingsError(str(error)) from None
        self._change(scenario, f"{kind} {value:g} of {name}")

    def clear_faults(self) -> None:
        """End all faults."""
        self._change(replace(self.scenario, faults=()), "no faults")

    def ending(self) -> Ending:
        """Outcome of the present branch up to now."""
        findings = judge_run(self.scenario, self.runner.result(), load_reference(self.scenario))
        passed = False if self.runner.has_diverged else verdict(findings)
        return Ending(self.branch, self.runner.time, tuple(self.changes), self.runner.has_ended, passed)

    def _change(self, scenario: Scenario, words: str) -> None:
        action = self._wheel.action
        self.runner = self._made(scenario, self.runner.save())
        self._wheel.action = action
        self.scenario = scenario
        self.changes.append(words)

    def _made(self, scenario: Scenario, data: bytes | None = None) -> LockStep:
        """A run of a scenario, or one that goes on from data of another with the same parts."""
        recording = Recording(self._sink)
        wheels: list[Wheel] = []

        def take_over(own: Any) -> Wheel:
            wheels.append(Wheel(own))
            return wheels[-1]

        runner = LockStep(scenario, world=self._world, listener=recording.sample, take_over=take_over)
        if data is not None:
            runner.restore(data, changed=True)
        recording.watch(runner, scenario.start.time_ns())
        self._wheel = wheels[-1]
        return runner
