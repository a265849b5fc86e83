"""A node's side of synchronous time (interfaces.synchrony): its own reports, and the inputs of finished instants."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.digest import Digest
from proving_ground.interfaces.synchrony import (
    LONGEST_PROMISE_NS,
    Arrival,
    Report,
    Timetable,
    fill_report,
    read_report,
)
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode
from proving_ground.ros_support.respawn import was_respawned

LOOK_EVERY_S = 0.5  # wall time; a report is repeated when nothing moves for this long
LATE_AFTER_S = 3.0  # wall time without progress after which messages that are reported and missing are named
SETTLE_S = 1.0  # wall time in which all connections of a restarted node are made, after the first


class Finished:
    """Publishes what its node has finished, and repeats it while nothing moves: a new subscriber may have missed it."""

    def __init__(self, node: SuiteNode[Any], sent: Sequence[str]) -> None:
        """sent: topics whose messages are counted."""
        self.digest = Digest()  # of the node's core, which fills it
        self._publisher = node.advertise(topics.FINISHED)
        self._message = new_message(topics.FINISHED.type)
        self._sent = dict.fromkeys(sent, 0)
        self._has_sent = False
        self._next_ns, self._resets = 0, 0
        self._wall_time = node.wall_time
        self._is_settled = not was_respawned()
        self._matched, self._matched_at = 0, node.wall_time()  # subscribers, and since when
        self._has_moved = False  # since the last look
        self.begin()
        node.create_timer(LOOK_EVERY_S, self._look, clock=node.wall_clock)

    def count(self, topic: str) -> None:
        """Record that a message was published."""
        self._sent[topic] += 1
        self._has_sent = True

    def begin(self) -> None:
        """Ask for the present instant, with which the node begins."""
        self._next_ns, self._begun = 0, time.time_ns()
        self._publish(Report(0, 0, self._sent, resets=self._resets, begun=self._begun))

    def on_resets(self, resets: int) -> None:
        """Begin again when the number of resets of the simulation has changed."""
        if resets != self._resets:
            self._resets = resets
            self.begin()

    def report(self, instant_ns: int, next_ns: int, *, is_over: bool = False) -> None:
        """Report an instant, unless the last report covers it; next_ns: earliest instant of the next message."""
        if not self._has_sent and instant_ns < self._next_ns and not is_over:
            return
        self._next_ns, self._has_sent = min(next_ns, instant_ns + LONGEST_PROMISE_NS), False
        self._publish(Report(instant_ns, self._next_ns, self._sent, is_over, self._resets, self._begun))

    def _publish(self, report: Report) -> None:
        self._last, self._has_moved = report, True
        if self._is_settled:
            fill_report(self._message, report)
            self._publisher.publish(self._message)

    def _look(self) -> None:
        if not self._is_settled:
            self._settle()
        elif not self._has_moved:
            self._publisher.publish(self._message)
        self._has_moved = False

    def _settle(self) -> None:
        """Begin when those who wait for a restarted node have found it, as they would miss its first messages."""
        now, matched = self._wall_time(), self._publisher.get_subscription_count()
        if matched != self._matched:
            self._matched, self._matched_at = matched, now
        if matched and now - self._matched_at >= SETTLE_S:
            self._is_settled, last = True, self._last
            self._publish(Report(0, 0, self._sent, resets=self._resets, begun=self._begun))
            if last.next_ns:  # an instant has come already, and does not come again
                self._publish(last)


class SynchronousInput:
    """Messages of other nodes, once everybody has finished the instants that they belong to."""

    def __init__(
        self, node: SuiteNode[Any], sources: Mapping[str, Sequence[str]], on_progress: Callable[[], None]
    ) -> None:
        """sources: topics that are received from each node; on_progress: called when more instants may be finished."""
        self._node, self._on_progress = node, on_progress
        self._table = Timetable(sources)
        self._progressed_at = node.wall_time()
        self._is_settled = not was_respawned()
        self._known_at: float | None = None  # wall time at which every source had reported
        for name in sources:
            reports = node.listen(topics.FINISHED.below(name), partial(self._on_message, name))
            reports.is_awaited = partial(self._is_slowest, name)  # one wake for an instant, not one for each source
        node.create_timer(LOOK_EVERY_S, self._look, clock=node.wall_clock)

    @property
    def horizon_ns(self) -> int:
        """Every instant before this one is finished; 0 before the first."""
        return self._table.horizon_ns if self._is_settled else 0

    def on_message(self, topic: str) -> Callable[[Any], None]:
        """The callback of a topic."""

        return partial(self.add, topic)

    def add(self, topic: str, message: Any) -> None:
        """Add a message of a topic."""
        before = self._table.horizon_ns
        self._table.on_message(topic, message)
        self._go_on(before)

    @property
    def resets(self) -> int:
        """Number of resets of the simulation that were followed."""
        return self._table.resets

    def take(self, before_ns: int) -> list[Arrival]:
        """Messages of finished instants before a time, each once."""
        return self._table.take(before_ns)

    def restart(self, resets: int) -> None:
        """Wait for the instants after a reset of the simulation; some may be finished already."""
        self._table.restart(resets)
        self._go_on(0)

    def on_report(self, name: str, report: Report) -> None:
        """Process the report of a node."""
        before = self._table.horizon_ns
        self._table.on_report(name, report)
        self._go_on(before)

    def _is_slowest(self, name: str) -> bool:
        return self._table.slowest == name

    def _on_message(self, name: str, message: Any) -> None:
        try:
            report = read_report(message)
        except ValueError as error:
            self._node.report("synchrony", Level.ERROR, f"report of {name} rejected: {error}")
            return
        self.on_report(name, report)

    def _go_on(self, before_ns: int) -> None:
        if self._table.horizon_ns == before_ns or not self._is_settled:
            return
        self._progressed_at = self._node.wall_time()
        self._on_progress()

    def _look(self) -> None:
        """Join a run that goes on already; name messages that do not arrive: time waits for them."""
        now = self._node.wall_time()
        if not self._is_settled:
            self._settle(now)
            return
        missing = self._table.missing() if now - self._progressed_at > LATE_AFTER_S else []
        if missing:
            words = f"time stands still: messages were published, but have not all arrived: {', '.join(missing)}"
            self._node.report("synchrony", Level.ERROR, words)
        elif "synchrony" in self._node.health.checks:
            self._node.report("synchrony", Level.OK, "all messages arrive")

    def _settle(self, now: float) -> None:
        if self._known_at is None and self._table.is_known:
            self._known_at = now
        if self._known_at is not None and now - self._known_at >= SETTLE_S:
            self._is_settled = True
            self._table.join()
            self._on_progress()
