"""A node's side of synchronous time (interfaces.synchrony): its own reports, and the inputs of finished instants."""

from __future__ import annotations

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

LOOK_EVERY_S = 0.5  # wall time
LOST_AFTER_S = 3.0  # wall time without progress after which a reported message counts as lost
SETTLE_S = 1.0  # wall time in which a restarted node is found by those it receives from


class Finished:
    """Publishes what its node has finished."""

    def __init__(self, node: SuiteNode[Any], sent: Sequence[str]) -> None:
        """sent: topics whose messages are counted."""
        self.digest = Digest()  # of the node's core, which fills it
        self._publisher = node.advertise(topics.FINISHED)
        self._message = new_message(topics.FINISHED.type)
        self._sent = dict.fromkeys(sent, 0)
        self._has_sent = False
        self._next_ns, self._resets = 0, 0
        self.begin()

    def count(self, topic: str) -> None:
        """Record that a message was published."""
        self._sent[topic] += 1
        self._has_sent = True

    def begin(self) -> None:
        """Ask for the present instant, with which the node begins."""
        self._next_ns = 0
        self._publish(0, 0, is_over=False)

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
        self._publish(instant_ns, self._next_ns, is_over=is_over)

    def _publish(self, instant_ns: int, next_ns: int, *, is_over: bool) -> None:
        fill_report(self._message, Report(instant_ns, next_ns, self._sent, is_over, self._resets))
        self._publisher.publish(self._message)


class SynchronousInput:
    """Messages of other nodes, once everybody has finished the instants that they belong to."""

    def __init__(
        self, node: SuiteNode[Any], sources: Mapping[str, Sequence[str]], on_progress: Callable[[], None]
    ) -> None:
        """sources: topics that are received from each node; on_progress: called when more instants may be finished."""
        self._node, self._on_progress = node, on_progress
        self._table = Timetable(sources)
        self._progressed_at = node.wall_time()
        self._settles_at = node.wall_time() + SETTLE_S if was_respawned() else 0.0
        for name in sources:
            node.listen(topics.FINISHED.below(name), partial(self._on_message, name))
        node.create_timer(LOOK_EVERY_S, self._look, clock=node.wall_clock)

    @property
    def horizon_ns(self) -> int:
        """Every instant before this one is finished; 0 before the first."""
        return 0 if self._settles_at else self._table.horizon_ns

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
        """Wait for the instants after a reset of the simulation."""
        self._table.restart(resets)

    def on_report(self, name: str, report: Report) -> None:
        """Process the report of a node."""
        before = self._table.horizon_ns
        self._table.on_report(name, report)
        self._go_on(before)

    def _on_message(self, name: str, message: Any) -> None:
        try:
            report = read_report(message)
        except ValueError as error:
            self._node.report("synchrony", Level.ERROR, f"report of {name} rejected: {error}")
            return
        self.on_report(name, report)

    def _go_on(self, before_ns: int) -> None:
        if self._table.horizon_ns == before_ns or self._settles_at:
            return
        self._progressed_at = self._node.wall_time()
        self._on_progress()

    def _look(self) -> None:
        """Join a run that goes on already; give up messages that got lost, which a busy machine alone never does."""
        now = self._node.wall_time()
        if self._settles_at:
            if now >= self._settles_at:
                self._settles_at = 0.0
                self._table.join()
                self._on_progress()
        elif now - self._progressed_at > LOST_AFTER_S:
            lost = self._table.skip()
            if lost:
                self._node.report("synchrony", Level.ERROR, f"messages were lost on {', '.join(lost)}")
                self._on_progress()
