"""Runs a Stepper in its own thread, paced by the machine's steady clock; a synchronous run also waits for others.

Only this thread touches simulation and vehicle, and it alone publishes; others send it requests between two moves.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from proving_ground.settings.units import NS_PER_S
from vehicle_dynamics.stepper import Instant, Pacer, Stepper
from vehicle_dynamics.time_keeper import TimeKeeper, Waiting

PAUSED_CLOCK_S = 0.1  # real time between clock messages of a paused simulation
ANSWER_WAIT_S = 5.0
LONGEST_WAIT_S = 0.1  # so that stopping does not wait for a slow simulation
HELD_S = 0.05  # real time after which a held simulation looks again, if nothing wakes it
BREATH_S = 2e-5  # other threads get the interpreter at least this long ...
BREATH_EVERY_NS = 2_000_000  # ... this often, when the simulation does not wait by itself

Result = TypeVar("Result")


class Wake(Protocol):
    """What the simulation's thread waits for between moves; has the methods of threading.Event."""

    def set(self) -> None: ...
    def clear(self) -> None: ...
    def wait(self, timeout: float) -> bool: ...


@dataclass
class Effort:
    """Longest durations and number of moves since the last report."""

    worst_move_ns: int = 0  # physics and driver
    worst_turn_ns: int = 0  # with publishing
    worst_late_ns: int = 0  # lateness against the due time
    moves: int = 0


class SimulationLoop:
    """`start`, `ask` for changes, `stop` before anything `publish` needs is destroyed."""

    def __init__(
        self,
        simulation: Stepper,
        pacer: Pacer,
        publish: Callable[[Instant], None],
        on_failure: Callable[[], None] = lambda: None,
        steady_ns: Callable[[], int] = time.monotonic_ns,
        keeper: TimeKeeper | None = None,
        on_over: Callable[[], None] = lambda: None,
        wake: Wake | None = None,
    ) -> None:
        """keeper: of a synchronous run; on_over: called from the thread when the run is over.

        wake: what the thread waits for, instead of an event; it may process reports of others before it returns.

        on_failure is called from the thread when it ends by an exception, which is then in `failure`."""
        self.simulation = simulation
        self.pacer = pacer
        self.overruns = 0  # moves that took longer than their real time
        self.failure: BaseException | None = None
        self._publish, self._on_failure, self._steady_ns = publish, on_failure, steady_ns
        self._keeper, self._on_over = keeper, on_over
        self._effort = Effort()
        self._requests: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._wake: Wake = wake if wake is not None else threading.Event()
        self._ends = False
        self._breathed_at = 0
        self._thread = threading.Thread(target=self._guarded_run, name="simulation")

    def start(self) -> None:
        """Start running; the first instant is published at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop and join; may be called again, and before start."""
        self._ends = True
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def ask(self, request: Callable[[], Result], within_s: float = ANSWER_WAIT_S) -> Result:
        """Run a request in the simulation's thread, between two moves; returns its result."""
        return self.post(request).result(within_s)

    def post(self, request: Callable[[], Result]) -> Future[Result]:
        """Run a request in the simulation's thread, as `ask` does, without waiting for the result."""
        answer: Future[Result] = Future()
        self._requests.append((request, answer))
        self._wake.set()
        return answer

    def on_progress(self) -> None:
        """Wake the simulation if it need not wait for anybody any more; any thread may call it."""
        if self._keeper is not None and self._keeper.is_free():
            self._wake.set()

    def pause(self, wanted: bool) -> None:
        """Pause or resume time. Call only through `ask`."""
        self.simulation.is_paused = wanted
        self.pacer.restart(self._steady_ns(), self.simulation.time_ns)

    def step(self) -> bool:
        """Run one period of a paused simulation; False when it is running. Call only through `ask` or `post`.

        In a synchronous run it returns when everybody has finished the instant at its end.
        """
        if not self.simulation.is_paused:
            return False
        if self._keeper is not None:
            self._wait_for_all(self._keeper)
            self._keeper.begin_period()
        for instant in self.simulation.step():
            self._publish(instant)
        if self._keeper is not None:
            self._wait_for_all(self._keeper)
        return True

    def reset(self) -> None:
        """Reset to the start. Call only through `ask`."""
        self.simulation.reset()

    def begin_again(self) -> None:
        """Wait for everybody to follow a reset, which the caller announces. Call only through `ask`."""
        if self._keeper is not None:
            self._keeper.reset()

    def set_factor(self, factor: float) -> None:
        """Set a new pace. Call only through `ask`."""
        self.pacer.restart(self._steady_ns(), self.simulation.time_ns, factor)

    @property
    def waiting(self) -> Waiting:
        """Nodes that time waits for, and for how long; none while time runs free."""
        return self._keeper.waiting if self._keeper is not None else Waiting((), 0.0)

    @property
    def longest_wait(self) -> Waiting:
        """The longest wait so far, with the nodes that were waited for."""
        return self._keeper.longest if self._keeper is not None else Waiting((), 0.0)

    @property
    def waited_s(self) -> float:
        """Wall time spent waiting for other nodes, in all [s]."""
        return self._keeper.waited_s if self._keeper is not None else 0.0

    def take_effort(self) -> Effort:
        """Longest durations and number of moves since the last call."""
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
        if self._keeper is None:
            self._publish(simulation.look())
        while not self._ends:
            self._serve()
            if simulation.is_paused or simulation.is_over:
                self._wait(PAUSED_CLOCK_S)
                self._publish(Instant(simulation.time_ns, frozenset({"clock"}), None))
                continue
            if self._keeper is not None and self._is_held(self._keeper):
                continue
            early = self.pacer.early_ns(self._steady_ns(), simulation.next_time_ns)
            if early > 0:
                self._wait(min(early / NS_PER_S, LONGEST_WAIT_S))  # then check again for requests
                continue
            self._effort.worst_late_ns = max(self._effort.worst_late_ns, -early)
            self._turn()
            self._breathe()

    def _is_held(self, keeper: TimeKeeper) -> bool:
        """Whether time must stand still: somebody is waited for, or the run is over."""
        if keeper.holds:
            self._wait(HELD_S)
            return True
        self.simulation.is_over = keeper.is_over()
        if self.simulation.is_over:
            self._on_over()
        return self.simulation.is_over

    def _wait_for_all(self, keeper: TimeKeeper) -> None:
        while keeper.holds and not self._ends:
            self._wake.clear()
            if not keeper.is_free():
                self._wait(HELD_S)

    def _turn(self) -> None:
        simulation, effort = self.simulation, self._effort
        if self._keeper is not None:
            self._keeper.begin_period()
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
        """Wait for a time, or until a request arrives."""
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
