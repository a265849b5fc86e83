"""A vehicle's run through time in whole ticks: when the driver acts, and which outputs are due. Every run uses it.

No clock and no thread here; simulation_loop.py has both. All times are whole nanoseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.digest import Digest
from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from terrain.ground import GroundModel
from terrain.own_friction import OwnFriction
from terrain.ruts import clear_ruts
from vehicle_dynamics.choices import DIVERGED, OVER
from vehicle_dynamics.conditions import Conditions
from vehicle_dynamics.control.actuators import Actuators
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle import Vehicle

Array = NDArray[np.float64]

CONTROL_NS = round(PERIOD_S * NS_PER_S)
MOST_DEBT_NS = NS_PER_S // 5  # a simulation further behind than this continues from the present instead of catching up
WHOLE = 1e-6  # a rate or step this close to a whole number of ticks is one


def ns(seconds: float) -> int:
    """Seconds as the nearest whole number of nanoseconds."""
    return round(seconds * NS_PER_S)


def steps_per_control(step_s: float) -> int:
    """Time steps between two actions of the driver; raises ValueError unless that is a whole number."""
    steps = PERIOD_S / step_s
    if abs(steps - round(steps)) > WHOLE or ns(step_s) * round(steps) != CONTROL_NS:
        raise ValueError(f"step_s: must fit into {PERIOD_S:g} s a whole number of times, got {step_s:g}")
    return round(steps)


def ticks_between(name: str, rate_hz: float, step_s: float) -> int:
    """Time steps between messages of a rate, 0 for none; raises ValueError with the nearest rates if not whole."""
    if rate_hz == 0.0:
        return 0
    ticks = 1.0 / (rate_hz * step_s)
    if ticks < 1.0 - WHOLE or abs(ticks - round(ticks)) > WHOLE * ticks:
        near = sorted({max(int(ticks), 1), int(ticks) + 1}, reverse=True)
        rates = " and ".join(f"{1.0 / (count * step_s):g}" for count in near)
        raise ValueError(f"{name}: must be a whole number of steps of {step_s:g} s apart, near are {rates} Hz")
    return round(ticks)


class Driver(Protocol):
    """Controls steering wheel and pedals, once every PERIOD_S."""

    def pedals(self, now: float, seen: SnapshotRecord) -> Pedals: ...

    def reset(self) -> None: ...


class Instant(NamedTuple):
    """Outputs that are due at one instant."""

    time_ns: int  # since 1970
    due: frozenset[str]  # names of outputs
    seen: SnapshotRecord | None  # None when there is no valid state
    has_jumped: bool = False  # first instant after a reset
    is_whole: bool = False  # for receivers that begin with it: not only changes


class Schedule:
    """Outputs due at each tick."""

    def __init__(self, step_s: float, rates_hz: Mapping[str, float]) -> None:
        """rates_hz by output name; 0 for never. Raises ValueError for a rate that is not a whole number of ticks."""
        self.step_ns = ns(step_s)
        self.control_ticks = steps_per_control(step_s)
        ticks = {name: ticks_between(name, rate, step_s) for name, rate in rates_hz.items()}
        self._ticks = {name: count for name, count in ticks.items() if count}
        self._periods = sorted({self.control_ticks, *self._ticks.values()})
        self.outputs = frozenset(self._ticks)

    def due(self, tick: int) -> frozenset[str]:
        """Outputs due at the tick."""
        return frozenset(name for name, count in self._ticks.items() if tick % count == 0)

    def steps_to_next(self, tick: int) -> int:
        """Steps until an output is due or the driver acts."""
        return min(period - tick % period for period in self._periods)


class Stepper(Stateful):
    """Vehicle, driver, actuators and time. `move` to the next event, `reset` to the start while time continues."""

    STATE = (
        "tick",
        "is_paused",
        "_has_jumped",
        "_state",
        "pedals",
        "actuators",
        "conditions",
        "seen",
        "diverged",
        "collisions",
        "last_collision",
    )
    FIXED = ("_state",)

    def __init__(
        self,
        vehicle: Vehicle,
        ground: GroundModel,
        driver: Driver,
        schedule: Schedule,
        *,
        start: Mapping[str, float],
        start_ns: int = 0,
        actuators: Actuators | None = None,
        conditions: Conditions | None = None,
    ) -> None:
        """start: position, heading and speed as for Vehicle.start.

        actuators: ideal ones by default; conditions: those of the vehicle and the ground by default.
        """
        self._vehicle, self._driver, self._schedule = vehicle, driver, schedule
        self._ground = OwnFriction(ground)  # others may have the same ground, and do not notice changes of conditions
        self.conditions = conditions or Conditions()
        self._adapt()
        self._start = vehicle.start(self._ground, **start)  # type: ignore[arg-type]
        self._start_ns = start_ns
        self.actuators = actuators or Actuators()
        self.tick = 0
        self.is_paused = False
        self.digest: Digest | None = None  # hashes pedals and states
        self.is_over = False  # the run has ended; time stands still
        self._has_jumped = False
        self._put_at_start()

    @property
    def seconds(self) -> float:
        """Time since the start; used by drivers."""
        return self.tick * self._schedule.step_ns / NS_PER_S

    @property
    def time_ns(self) -> int:
        """Simulated time since 1970 [ns]."""
        return self._start_ns + self.tick * self._schedule.step_ns

    @property
    def next_time_ns(self) -> int:
        """Time after the next `move`."""
        return self.time_ns + self._schedule.steps_to_next(self.tick) * self._schedule.step_ns

    @property
    def word(self) -> str:
        """State of the simulation: running, paused, over or diverged."""
        if self.diverged:
            return DIVERGED
        return OVER if self.is_over else "paused" if self.is_paused else "running"

    def warm_up(self) -> None:
        """Compile everything that moving needs, without moving."""
        self._vehicle.advance(self._state.copy(), self.pedals, self._ground, 1)
        clear_ruts(self._ground.kernel().ruts)

    def reset(self) -> None:
        """Reset vehicle, driver and soil to the start; time continues. The next instant reports each reset once."""
        self._driver.reset()
        self.actuators.reset()
        self.conditions.reset()
        self._adapt()
        self._put_at_start()
        self._has_jumped = True

    def start_from(self, start: Mapping[str, float]) -> None:
        """Reset to another start, as after a change of the ground; raises ValueError when there is no equilibrium."""
        before = self.conditions.saved_state()
        self.conditions.reset()
        self._adapt()
        try:
            self._start = self._vehicle.start(self._ground, **start)  # type: ignore[arg-type]
        except ValueError:
            self.conditions.restore_state(before)
            self._adapt()
            raise
        self.reset()

    def place(self, start: Mapping[str, float]) -> None:
        """Put the vehicle elsewhere, in equilibrium, while time goes on; raises ValueError as start_from does."""
        self.continue_from(self._vehicle.start(self._ground, **start))  # type: ignore[arg-type]

    def continue_from(self, state: Array) -> None:
        """Continue from another state of the vehicle, such as one not in equilibrium, while time goes on."""
        self._state = state.copy()
        self.pedals, self.diverged = Pedals(), ""
        self.seen = self._vehicle.snapshot(self._state, self.pedals, self._ground)
        self._has_jumped = True

    def restart_time(self) -> None:
        """Go back to the time of the start with the present state."""
        self._driver.reset()
        self.conditions.restart_time()
        self.tick = 0
        self._has_jumped = True

    def look(self) -> Instant:
        """All outputs at the present tick, whether due or not."""
        return Instant(self.time_ns, self._schedule.outputs, None if self.diverged else self.seen, is_whole=True)

    def move(self) -> Instant:
        """Let the driver act, if it is time, and advance the vehicle until an output is due.

        A vehicle whose motion diverged stays at its last valid state, and time goes on without it.
        """
        steps = self._schedule.steps_to_next(self.tick)
        if not self.diverged:
            self._drive(steps)
        self.tick += steps
        if self.digest is not None:
            self.digest.received(self.time_ns, self.pedals)
            self.digest.produced(self.time_ns, self.seen)
        has_jumped, self._has_jumped = self._has_jumped, False
        return self.look()._replace(due=self._schedule.due(self.tick), has_jumped=has_jumped, is_whole=False)

    @property
    def period(self) -> int:
        """Number of control periods that have begun before this tick."""
        return self.tick // self._schedule.control_ticks

    @property
    def begins_period(self) -> bool:
        """Whether the driver acts at this tick."""
        return self.tick % self._schedule.control_ticks == 0

    def step(self) -> list[Instant]:
        """Advance by one control period; returns all instants at which something was due."""
        end = self.tick + self._schedule.control_ticks
        instants = []
        while self.tick < end:
            instants.append(self.move())
        return instants

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """See Stateful."""
        super().restore_state(state, keep_random=keep_random)
        self._adapt()

    def _adapt(self) -> None:
        """Let vehicle and ground have the present conditions."""
        present = self.conditions.present
        self._vehicle.adapt(present.payload_kg, present.pressures_pa)
        self._ground.set_friction(present.friction)

    def _put_at_start(self) -> None:
        clear_ruts(self._ground.kernel().ruts)
        self._state = self._start.copy()
        self.pedals = Pedals()
        self.seen = self._vehicle.snapshot(self._state, self.pedals, self._ground)
        self.diverged = ""  # or time and position
        self.collisions, self.last_collision = 0, ""

    def _drive(self, steps: int) -> None:
        if self.begins_period:
            if self.conditions.advance(self.seconds):
                self._adapt()
            self.pedals = self.actuators.moved(self.seconds, self._driver.pedals(self.seconds, self.seen))
        made = self._vehicle.advance(self._state, self.pedals, self._ground, steps)
        seen = self._vehicle.snapshot(self._state, self.pedals, self._ground)
        if made == steps and np.isfinite(np.frombuffer(seen.tobytes())).all():
            if seen["collision"] > 0.0 and not self.seen["collision"] > 0.0:
                self.collisions += 1
                x, y, _ = seen["position"].tolist()
                self.last_collision = f"hit an obstacle at {self.seconds:.2f} s near x {x:.1f}, y {y:.1f} m"
            self.seen = seen
            return
        when = self.seconds + made * self._schedule.step_ns / NS_PER_S
        x, y, z = self.seen["position"].tolist()
        self.diverged = f"the motion diverged at {when:.3f} s near x {x:.1f}, y {y:.1f}, z {z:.1f} m; reset it"


class Pacer:
    """The linear map from simulation time to the machine's steady clock; factor 0 is as fast as possible."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        self._wall_ns, self._time_ns = 0, 0  # a point on the line
        self.given_up_ns = 0  # total lateness that was not caught up

    @property
    def factor(self) -> float:
        """Simulated time over real time; 0 for unpaced."""
        return self._factor

    def restart(self, wall_ns: int, time_ns: int, factor: float | None = None) -> None:
        """Restart the map with this pair of times [ns]; factor: the new one, None for no change."""
        self._wall_ns, self._time_ns = wall_ns, time_ns
        self._factor = self._factor if factor is None else factor

    def early_ns(self, wall_ns: int, time_ns: int) -> int:
        """Time until a simulation time is due, negative when late. When too late, the map restarts here."""
        if self._factor == 0.0:
            return 0
        early = self._wall_ns + round((time_ns - self._time_ns) / self._factor) - wall_ns
        if early < -MOST_DEBT_NS:
            self.given_up_ns -= early
            self.restart(wall_ns, time_ns)
        return early
