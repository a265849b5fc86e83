"""A scenario driven from Python, step by step: for learning agents, notebooks and your own controllers.

    sim = Simulation("lane_change", seed=3)
    observation = sim.reset()
    while not (step := sim.step(Command(speed=10.0, curvature=0.0), seconds=0.1)).has_ended:
        observation = step.observation

It is the lock-step runner with another driver: same cores, same order, repeatable to the bit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.maps.grid import LocalGrid
from planner.scripted import ScriptedDriver
from proving_ground.kernels.vector3 import vector
from proving_ground.saving.stateful import Stateful
from proving_ground.scenarios.autonomy import Autonomy
from proving_ground.scenarios.judging import judge_run
from proving_ground.scenarios.lock_step import LockStep, Run
from proving_ground.scenarios.metrics import Finding, load_reference
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import build
from proving_ground.settings.units import LARGEST_SEED
from vehicle_dynamics.base_motion import base_motion
from vehicle_dynamics.conditions import ConditionChange
from vehicle_dynamics.control.drive_by_wire import Motion, Order
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import heading
from vehicle_dynamics.pedals import Pedals

Array = NDArray[np.float64]


class Command(NamedTuple):
    """Speed and curvature, as /cmd_vel commands them; the vehicle's drive-by-wire obeys within its limits."""

    speed: float  # [m/s], negative in reverse
    curvature: float = 0.0  # [1/m], left positive


Action = Pedals | Command  # a Command, and KEEP in Pedals, leave range, locks and parking brake as they are


@dataclass(frozen=True, eq=False)
class Truth:
    """The motion of base_link."""

    position: Array  # world, 3 [m]
    attitude: Array  # world_from_base, x y z w
    velocity: Array  # base_link's axes, 3 [m/s]
    angular_velocity: Array  # angular velocity, base_link's axes, 3 [rad/s]
    heading: float  # from x to the left [rad], -pi to pi


@dataclass(frozen=True, eq=False)
class Observation:
    """All that is known at an instant of a run."""

    time: float  # since the start [s]
    truth: Truth
    sensors: Mapping[str, Any]  # the latest sample of each sensor that has sent one, by name; see sensors.samples
    estimate: Any  # a record of ESTIMATE (state_observer.vehicle.layout), or None until an observer has started
    local_map: LocalGrid | None  # of the scenario's planner, once it has one


class Step(NamedTuple):
    """Result of an action."""

    observation: Observation
    has_ended: bool
    # diverged; collision_n: hardest push of obstacles during the step; pedals: the latest; rejected: why, or empty
    info: dict[str, Any]


Policy = Callable[[Observation], Action]


class Simulation:
    """One scenario; `reset` starts it, `step` continues. An unpickled one starts afresh."""

    def __init__(
        self,
        scenario: str | Path | Scenario,
        *,
        seed: int | None = None,
        driver: Policy | None = None,
    ) -> None:
        """scenario: name in config/scenarios, path of a YAML file, or a Scenario; seed: in place of its own;
        driver: acts in steps without an action; None: the scenario's own driver does.
        """
        self._recipe = {"scenario": scenario, "seed": seed, "driver": driver}
        self.scenario = scenario if isinstance(scenario, Scenario) else load_scenario(scenario_file(str(scenario)))
        self._policy = driver
        self._seed = _checked(self.scenario.seed if seed is None else seed)
        self._world = self.scenario.world.load()
        self._parameters = self.scenario.vehicle.parameters()
        self._lock_step: LockStep | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self._recipe | {"seed": self._seed},)

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return self._running.time

    def reset(self, seed: int | None = None) -> Observation:
        """Restart; seed: of this run and those after it."""
        self._seed = self._seed if seed is None else _checked(seed)
        chosen = replace(self.scenario, seed=self._seed)
        self._lock_step = LockStep(
            chosen,
            parameters=self._parameters,
            listener=self._on_sample,
            world=self._world,
            take_over=self._take_over,
        )
        return self._observation()

    def step(self, action: Action | None = None, seconds: float = PERIOD_S) -> Step:
        """Hold an action for a time [s], a multiple of 10 ms, or to the end. None: let the driver act."""
        runner, periods = self._running, _periods(seconds)
        if runner.has_ended:
            raise RuntimeError("the run has ended; reset() begins another")
        if action is None and self._policy is not None:
            action = self._policy(self._observation())
        self._wheel.action = None if action is None else _finite(action)
        begin = runner.period
        runner.advance_to(begin + periods)
        observation = self._observation()
        pushes = [*runner.seen_since(begin)["collision"].tolist(), float(runner.look()["collision"])]
        info = {
            "diverged": runner.has_diverged,
            "collision_n": max(pushes),
            "pedals": runner.pedals,
            "rejected": runner.rejection,
        }
        return Step(observation, runner.has_ended, info)

    def change(self, what: str, value: float, wheels: str = "all") -> None:
        """Change friction, payload_kg [kg] or tyre_pressure_pa [Pa] to a value from this instant on, as `changes` do.

        Raises SettingsError for what the vehicle or the world cannot have.
        """
        self._running.change(build(ConditionChange, {"what": what, "value": value, "wheels": wheels}))

    def save(self) -> bytes:
        """The whole run at this instant, to `restore`; see LockStep.save."""
        return self._running.save()

    def restore(self, data: bytes, *, changed: bool = False) -> Observation:
        """Go on from a checkpoint of the same scenario and seed, of this class or of a run; see LockStep.restore."""
        self._wheel.latest = {}  # where the checkpoint is of a run without a simulation
        self._running.restore(data, changed=changed)
        return self._observation()

    def fork(self) -> Simulation:
        """Another simulation that goes on from here as this one does."""
        twin = copy.copy(self)
        twin._lock_step = self._running.fork(twin._on_sample, twin._take_over)
        return twin

    def result(self) -> Run:
        """History and channels of the run up to now."""
        return self._running.result()

    def findings(self) -> list[Finding]:
        """The scenario's criteria against the run up to now."""
        return judge_run(self.scenario, self.result(), load_reference(self.scenario))

    def close(self) -> None:
        """Release the run and the resources of its sensors; reset() starts another."""
        self._lock_step = None

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _running(self) -> LockStep:
        if self._lock_step is None:
            raise RuntimeError("reset() comes first")
        return self._lock_step

    def _on_sample(self, name: str, sample: Any) -> None:
        self._wheel.latest[name] = sample

    def _take_over(self, own: ScriptedDriver | Autonomy) -> Wheel:
        self._wheel = Wheel(own)
        return self._wheel

    def _observation(self) -> Observation:
        runner = self._running
        seen = runner.look()
        motion = base_motion(seen, vector(runner.vehicle.base_in_chassis))
        truth = Truth(
            np.array(motion.position),
            np.array(motion.attitude),
            np.array(motion.velocity),
            np.array(motion.angular_velocity),
            heading(seen),
        )
        observer = runner.observation.observer if runner.observation is not None else None
        return Observation(
            runner.time,
            truth,
            MappingProxyType(dict(self._wheel.latest)),
            observer.estimate() if observer is not None and observer.is_running else None,
            self._wheel.local_map,
        )


class Wheel(Stateful):
    """Driver that follows the action of `step`, else the scenario's own driver.

    The latter always gets the snapshots, so that its planner's map stays current.

    The action is set by every step, so it is not part of the state.
    """

    STATE = ("latest",)

    def __init__(self, own: ScriptedDriver | Autonomy) -> None:
        self._own = own
        self.action: Action | None = None  # None: the scenario's own driver acts
        self.latest: dict[str, Any] = {}  # samples by sensor

    @property
    def local_map(self) -> LocalGrid | None:
        """Local map of the scenario's planner."""
        return self._own.progress.grid if isinstance(self._own, Autonomy) else None

    def act(self, time: float, seen: SnapshotRecord) -> Order | None:
        """Command to the vehicle at an instant."""
        own = self._own.act(time, seen) if self.action is None or isinstance(self._own, Autonomy) else None
        if isinstance(self.action, Command):
            return Motion(self.action.speed, self.action.speed * self.action.curvature)
        return own if self.action is None else self.action


def _remade(recipe: dict[str, Any]) -> Simulation:
    return Simulation(recipe["scenario"], seed=recipe["seed"], driver=recipe["driver"])


def _checked(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"seed: must be a whole number from 0 to {LARGEST_SEED}, got {seed!r}")
    return int(seed)


def _periods(seconds: float) -> int:
    periods = _number("seconds", seconds) / PERIOD_S
    if periods < 0.5 or abs(periods - round(periods)) > 1e-6 * max(periods, 1.0):
        raise ValueError(f"seconds: must be a whole number of {PERIOD_S:g} s, got {seconds!r}")
    return round(periods)


def _finite(action: Action) -> Action:
    """The action; raises ValueError for an invalid one."""
    if isinstance(action, Pedals):
        steering, throttle, brake = (_number("action: pedals", value) for value in action[:3])
        parking = _number("action: pedals", action.parking_brake)
        pedals = action._replace(steering=steering, throttle=throttle, brake=brake, parking_brake=parking)
        return pedals.as_command()
    if not isinstance(action, Command):
        raise ValueError(f"action: must be Pedals or a Command, got {type(action).__name__}")
    return Command(*(_number("action: speed and curvature", value) for value in action))


def _number(name: str, value: Any) -> float:
    """The value as a float; raises ValueError unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ValueError(f"{name} must be finite numbers, got {value!r}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite numbers, got {number}")
    return number
