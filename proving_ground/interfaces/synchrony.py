"""Synchronous time: which instants a node has finished, and messages in the order of the instants they belong to.

Every node of a synchronous run reports what it has published and up to which instant nothing more will come. Whoever
depends on it waits for that, not for the clock: the order of messages is then the same on any machine. This is
conservative parallel simulation, with promises in place of null messages (Chandy and Misra 1979). No ROS here.

>>> table = Timetable({"a": ("a/data",), "b": ("b/data",)})
>>> table.on_report("a", Report(0, 0, {"a/data": 0})), table.on_report("b", Report(0, 0, {"b/data": 0}))
(None, None)
>>> table.on_message("a/data", "message"), table.on_report("a", Report(10, 20, {"a/data": 1}))
(None, None)
>>> table.horizon_ns, table.awaited(10)
(0, ['b'])
>>> table.on_report("b", Report(10, 200, {"b/data": 0})), table.horizon_ns, table.take(20)
(None, 20, [Arrival(instant_ns=10, topic='a/data', message='message')])
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from proving_ground.settings import setting

LONGEST_PROMISE_NS: Final = 100_000_000  # so that nobody runs further ahead of a node than its queues hold


def sync_with() -> tuple[str, ...]:
    """A setting of nodes to keep in step with."""
    words = (
        "Names of the nodes that this node receives from and waits for at every instant of simulated time, such as "
        "vehicle or imu; launches of scenarios set them; empty: messages are processed as they arrive"
    )
    names: tuple[str, ...] = setting((), words, read_only=True)
    return names


class Report(NamedTuple):
    """Instant that a node has finished. `next_ns` of 0: it has just started, and needs an instant to begin with."""

    instant_ns: int  # all messages of this instant and of those before are published
    next_ns: int  # earliest instant of its next message
    sent: Mapping[str, int]  # number of messages published so far, by topic
    is_over: bool = False  # its drive has ended
    resets: int = 0  # of the simulation that it has followed
    begun: int = 0  # identifies the start of the node, or its restart after a reset


class Arrival(NamedTuple):
    """A message, with the instant in which it was published."""

    instant_ns: int
    topic: str
    message: Any


def fill_report(message: Any, report: Report) -> None:
    """std_msgs/String: the report as JSON."""
    message.data = json.dumps(report._asdict())


def read_report(message: Any) -> Report:
    """The reverse; raises ValueError for other texts."""
    try:
        report = Report(**json.loads(message.data))
        numbers = (report.instant_ns, report.next_ns, report.resets, report.begun, *report.sent.values())
        is_valid = all(type(number) is int and number >= 0 for number in numbers)
    except (AttributeError, TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise ValueError(f"must be JSON with whole numbers for {', '.join(Report._fields)}")
    return report


class _Source:
    """A node that others depend on."""

    def __init__(self, topics: Collection[str]) -> None:
        self.topics = tuple(topics)
        self.reports: deque[Report] = deque()  # whose messages have not all arrived
        self.newest: Report | None = None
        self.horizon_ns = 0
        self.received = dict.fromkeys(topics, 0)
        self.queues: dict[str, deque[Any]] = {topic: deque() for topic in topics}
        self.past = dict.fromkeys(topics, 0)  # messages of before its restart that have not arrived yet

    def restart(self, sent: Mapping[str, int]) -> None:
        """Begin again; sent: messages of the past, which are not waited for."""
        self.reports.clear()
        self.horizon_ns = 0
        self.received = {topic: sent.get(topic, 0) for topic in self.topics}
        self.past = dict.fromkeys(self.topics, 0)
        for queue in self.queues.values():
            queue.clear()

    def follow_reset(self, sent: Mapping[str, int]) -> None:
        """Begin again in the same process: messages after those sent before the reset may be here already."""
        self.reports.clear()
        self.horizon_ns = 0
        for topic, queue in self.queues.items():
            past = sent.get(topic, 0)
            later = max(self.received[topic] - past, 0)
            while len(queue) > later:
                queue.popleft()
            self.past[topic] += max(past - self.received[topic], 0)
            self.received[topic] = max(self.received[topic], past)


class Timetable:
    """Messages of several nodes, by the instant in which they were published."""

    def __init__(self, sources: Mapping[str, Collection[str]]) -> None:
        """sources: the topics that are received from each node, in the order of messages within an instant."""
        self._sources = {name: _Source(topics) for name, topics in sources.items()}
        self._source_of = {topic: source for source in self._sources.values() for topic in source.topics}
        self._order = {topic: index for index, topic in enumerate(self._source_of)}
        self._arrivals: list[tuple[int, int, int, Any]] = []
        self._count = 0
        self.resets = 0  # reports of before the latest reset do not count

    @property
    def horizon_ns(self) -> int:
        """Every message of an instant before this one has arrived; 0 while a node has not begun."""
        return min((source.horizon_ns for source in self._sources.values()), default=0)

    def awaited(self, instant_ns: int, names: Collection[str] | None = None) -> list[str]:
        """Nodes that have not finished an instant; names: those to consider, by default all."""
        considered = self._sources if names is None else names
        return [name for name in considered if self._sources[name].horizon_ns <= instant_ns]

    @property
    def slowest(self) -> str:
        """The node that holds the horizon back, the last of several; the others may have finished when it has."""
        return min(reversed(self._sources), key=lambda name: self._sources[name].horizon_ns)

    def starting(self) -> list[str]:
        """Nodes that have reported, and need an instant to begin with."""
        found = ((name, source.newest) for name, source in self._sources.items())
        return [name for name, report in found if report is not None and report.next_ns == 0]

    def is_over(self) -> bool:
        """Whether a drive has ended."""
        return any(source.newest is not None and source.newest.is_over for source in self._sources.values())

    def on_message(self, topic: str, message: Any) -> None:
        """Add a message; those of one topic in the order in which they were published."""
        source = self._source_of[topic]
        if source.past[topic]:
            source.past[topic] -= 1
            return
        source.received[topic] += 1
        source.queues[topic].append(message)
        self._assign(source)

    def on_report(self, node: str, report: Report) -> None:
        """Add a report; those of one node in order, any of them repeated. With a `next_ns` of 0 the node begins."""
        source = self._sources[node]
        before, source.newest = source.newest, report
        if report.next_ns == 0:
            if report != before:  # else messages may have arrived since, which belong to its first instant
                if before is not None and _has_followed_reset(before, report):
                    source.follow_reset(report.sent)
                else:
                    source.restart(report.sent)
        elif before is not None and before.begun != report.begun:  # its first report, and what it published, is missing
            source.restart(report.sent)
            source.reports.append(report)
            self._assign(source)
        elif report.resets >= self.resets:
            source.reports.append(report)
            self._assign(source)

    def restart(self, resets: int) -> None:
        """The simulation was reset: wait for reports of after it, which may be here already."""
        self.resets = resets
        self._arrivals.clear()  # no report of after the reset was used so far
        for source in self._sources.values():
            if source.newest is None or source.newest.resets < resets:
                source.reports.clear()
                source.horizon_ns = 0
            self._assign(source)

    def missing(self) -> list[str]:
        """Topics with messages that are reported, but have not arrived, with the numbers of both."""
        behind = [(source, source.reports[0]) for source in self._sources.values() if source.reports]
        return [
            f"{topic} ({source.received[topic]} of {report.sent[topic]})"
            for source, report in behind
            for topic in source.topics
            if source.received[topic] < report.sent.get(topic, 0)
        ]

    @property
    def is_known(self) -> bool:
        """Whether every node has reported."""
        return all(source.newest is not None for source in self._sources.values())

    def join(self) -> None:
        """Begin in the middle of a run: messages up to the newest reports belong to the past."""
        self._arrivals.clear()
        for source in self._sources.values():
            if source.newest is not None:
                source.restart(source.newest.sent)
                source.horizon_ns = source.newest.next_ns

    def take(self, before_ns: int) -> list[Arrival]:
        """Messages of instants before the given one, in order of instants, nodes, topics; each once."""
        found = sorted(item for item in self._arrivals if item[0] < before_ns)
        self._arrivals = [item for item in self._arrivals if item[0] >= before_ns]
        return [Arrival(instant_ns, message[0], message[1]) for instant_ns, _, _, message in found]

    def _assign(self, source: _Source) -> None:
        """Give messages the instants of the reports that are now complete."""
        while source.reports:
            report = source.reports[0]
            if report.resets > self.resets:  # this node has not followed the reset yet
                return
            if any(source.received[topic] < report.sent.get(topic, 0) for topic in source.topics):
                return
            source.reports.popleft()
            for topic in source.topics:
                queue = source.queues[topic]
                later = source.received[topic] - report.sent.get(topic, 0)
                while len(queue) > later:
                    self._count += 1
                    item = (report.instant_ns, self._order[topic], self._count, (topic, queue.popleft()))
                    self._arrivals.append(item)
            source.horizon_ns = max(source.horizon_ns, report.next_ns)


def _has_followed_reset(before: Report, report: Report) -> bool:
    """Whether a node that begins did so because of a reset, not because its process is another one."""
    return report.resets > before.resets and all(
        report.sent.get(topic, 0) >= count for topic, count in before.sent.items()
    )
