"""Runs a Stepper in a thread of its own, paced by the machine's steady clock.

Only this thread touches simulation and vehicle, and it alone publishes; others ask it to do things between two moves.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from proving_ground.settings.units import NS_PER_S
from vehicle_dynamics.stepper import Instant, Pacer, Stepper

PAUSED_CLOCK_S = 0.1  # real time between clock messages of a paused simulation
ANSWER_WAIT_S = 5.0
LONGEST_WAIT_S = 0.1  # so that the end does not wait for a slow simulation
BREATH_S = 2e-5  # others get the interpreter at least this long ...
BREATH_EVERY_NS = 2_000_000  # ... this often, when the simulation does not wait by itself

Result = TypeVar("Result")


@dataclass
class Effort:
    """What moving took since the last report."""

    worst_move_ns: int = 0  # physics and driver
    worst_turn_ns: int = 0  # with publishing
    worst_late_ns: int = 0  # behind the time when it was due
    moves: int = 0


class SimulationLoop:
    """`start`, `ask` for changes, `stop` before what `publish` needs is gone."""

    def __init__(
        self,
        simulation: Stepper,
        pacer: Pacer,
        publish: Callable[[Instant], None],
        on_failure: Callable[[], None] = lambda: None,
        steady_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """on_failure is called from the thread when it ends by an exception, which is then in `failure`."""
        self.simulation = simulation
        self.pacer = pacer
        self.overruns = 0  # moves that took longer than the real time they have
        self.failure: BaseException | None = None
        self._publish, self._on_failure, self._steady_ns = publish, on_failure, steady_ns
        self._effort = Effort()
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._wake = threading.Event()
        self._ends = False
        self._breathed_at = 0
        self._thread = threading.Thread(target=self._guarded_run, name="simulation")

    def start(self) -> None:
        """Begin to run; the first instant is published at once."""
        self._thread.start()

    def stop(self) -> None:
        """End and wait for it; may be called again, and before start."""
        self._ends = True
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def ask(self, request: Callable[[], Result]) -> Result:
        """What a request gives that is run in the simulation's thread, between two moves."""
        answer: Future[Result] = Future()
        self._requests.append((request, answer))
        self._wake.set()
        return answer.result(ANSWER_WAIT_S)

    def pause(self, wanted: bool) -> None:
        """Let time stand or run. Call only through `ask`."""
        self.simulation.is_paused = wanted
        self.pacer.restart(self._steady_ns(), self.simulation.time_ns)

    def step(self) -> bool:
        """One period of a paused simulation; False when it runs. Call only through `ask`."""
        if not self.simulation.is_paused:
            return False
        for instant in self.simulation.step():
            self._publish(instant)
        return True

    def reset(self) -> None:
        """Back to the start. Call only through `ask`."""
        self.simulation.reset()

    def set_factor(self, factor: float) -> None:
        """Another pace from now on. Call only through `ask`."""
        self.pacer.restart(self._steady_ns(), self.simulation.time_ns, factor)

    def take_effort(self) -> Effort:
        """What it took since the last call."""
        effort, self._effort = self._effort, Effort()
        return effort

    def _guarded_run(self) -> None:
        try:
            self._run()
        except BaseException as error:
            self.failure = error
            self._on_failure()

    def _run(self) -> None:
        simulation = self.simulation
        self.pacer.restart(self._steady_ns(), simulation.time_ns)
        self._publish(simulation.look())
        while not self._ends:
            self._serve()
            if simulation.is_paused:
                self._wait(PAUSED_CLOCK_S)
                self._publish(Instant(simulation.time_ns, frozenset({"clock"}), None))
                continue
            early = self.pacer.early_ns(self._steady_ns(), simulation.next_time_ns)
            if early > 0:
                self._wait(min(early / NS_PER_S, LONGEST_WAIT_S))  # and look again: a request may have changed all
                continue
            self._effort.worst_late_ns = max(self._effort.worst_late_ns, -early)
            self._turn()
            self._breathe()

    def _turn(self) -> None:
        simulation, effort = self.simulation, self._effort
        before, began_at = simulation.time_ns, self._steady_ns()
        instant = simulation.move()
        moved_at = self._steady_ns()
        self._publish(instant)
        ended_at = self._steady_ns()
        effort.moves += 1
        effort.worst_move_ns = max(effort.worst_move_ns, moved_at - began_at)
        effort.worst_turn_ns = max(effort.worst_turn_ns, ended_at - began_at)
        if self.pacer.factor > 0.0:
            self.overruns += ended_at - began_at > (instant.time_ns - before) / self.pacer.factor

    def _wait(self, seconds: float) -> None:
        """Until then, or until someone asks for something."""
        self._wake.wait(seconds)
        self._breathed_at = self._steady_ns()

    def _serve(self) -> None:
        self._wake.clear()
        while self._requests:
            request, answer = self._requests.popleft()
            try:
                answer.set_result(request())
            except Exception as error:
                answer.set_exception(error)

    def _breathe(self) -> None:
        now = self._steady_ns()
        if now - self._breathed_at > BREATH_EVERY_NS:
            time.sleep(BREATH_S)
            self._breathed_at = self._steady_ns()
