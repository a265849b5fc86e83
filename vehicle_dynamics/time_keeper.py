"""Decides in a synchronous run when time may go on: everybody has finished the present instant, and it has not ended.

Called by the simulation's thread, apart from `on_progress`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from proving_ground.interfaces.synchrony import Arrival
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.participants import Participants
from vehicle_dynamics.standing import RunEnd
from vehicle_dynamics.stepper import Instant, Stepper

FIRST_COMMAND_S = 5.0  # wall time after which the first instant is published again for a driver from outside
REPEAT_S = 0.2  # wall time after which an instant is published again for nodes that begin
NAMED_AFTER_S = 1.0  # wall time after which those who hold time are named


class Waiting(NamedTuple):
    """Nodes that time waits for, and for how long."""

    names: tuple[str, ...]
    seconds: float  # of wall time


class TimeKeeper:
    """Holds time at the beginning of each control period."""

    def __init__(
        self,
        simulation: Stepper,
        participants: Participants,
        end: RunEnd,
        publish: Callable[[Instant], None],
        obey: Callable[[Sequence[Arrival]], None],
    ) -> None:
        """obey: gets the commands of the period that begins."""
        self._simulation, self._participants, self._end = simulation, participants, end
        self._publish, self._obey = publish, obey
        self._has_shown = False  # the first instant, or the first after a reset
        self._held_at: float | None = None
        self._shown_at = 0.0
        self.waiting = Waiting((), 0.0)
        self.longest = self.waiting  # of those that were long enough to be named
        self._is_longest = False  # the present one
        self.waited_s = 0.0  # in all

    @property
    def holds(self) -> bool:
        """Whether somebody has not finished the present instant, which begins a period."""
        simulation = self._simulation
        if not simulation.begins_period:
            return False
        now = time.monotonic()
        if not self._has_shown:
            self._has_shown = True
            self._show(now)
        if self._participants.is_finished(simulation.time_ns):
            self._go_on(now)
            return False
        self._held_at = now if self._held_at is None else self._held_at
        self.waiting = Waiting(tuple(self._participants.awaited(simulation.time_ns)), now - self._held_at)
        self._compare()
        if now - self._shown_at > REPEAT_S and self._participants.starting():
            self._show(now)
        elif now - self._shown_at > FIRST_COMMAND_S and not self._participants.has_commands:
            self._show(now)  # a driver from outside may have missed it
        return True

    def is_free(self) -> bool:
        """Whether nobody is waited for; any thread may ask."""
        return self._participants.is_finished(self._simulation.time_ns)

    def begin_period(self) -> None:
        """Pass on the commands of the period; call before the vehicle moves."""
        simulation = self._simulation
        if simulation.begins_period:
            self._obey(self._participants.commands(simulation.time_ns))
            speed = forward_speed(simulation.seen)
            self._end.record(simulation.seconds, speed, is_over=self._participants.is_over())

    def is_over(self) -> bool:
        """Whether the run ends at this instant."""
        return self._simulation.begins_period and self._end.is_over(self._simulation.period)

    def reset(self) -> None:
        """The simulation was reset: everybody begins again."""
        self._participants.restart(self._simulation.time_ns)
        self._end.reset()
        self._simulation.is_over = self._has_shown = False

    def _go_on(self, now: float) -> None:
        if self._held_at is not None:
            self.waited_s += now - self._held_at
        self._held_at, self.waiting, self._is_longest = None, Waiting((), 0.0), False

    def _compare(self) -> None:
        """Record a wait that is the longest so far, with those who were named first: the last are only behind them."""
        waiting = self.waiting
        if waiting.seconds > max(self.longest.seconds, NAMED_AFTER_S):
            names = self.longest.names if self._is_longest else waiting.names
            self.longest, self._is_longest = Waiting(names, waiting.seconds), True

    def _show(self, now: float) -> None:
        self._shown_at = now
        self._publish(self._simulation.look())
