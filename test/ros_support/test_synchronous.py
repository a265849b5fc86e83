"""A node's reports in synchronous time, and its inputs: joining, repeating, and messages that do not arrive."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from std_msgs.msg import String

from proving_ground.interfaces.synchrony import Report, fill_report, read_report
from proving_ground.ros_support.health import Health, Level
from proving_ground.ros_support.respawn import RESPAWN
from proving_ground.ros_support.synchronous import LATE_AFTER_S, LOOK_EVERY_S, SETTLE_S, Finished, SynchronousInput

TOPIC = "data"


class _Publisher:
    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.subscribers = 0

    def publish(self, message: Any) -> None:
        self.reports.append(read_report(message))

    def get_subscription_count(self) -> int:
        return self.subscribers


class _Node:
    """Stands for a node, whose wall time passes only in `wait`."""

    wall_clock = None

    def __init__(self) -> None:
        self.health, self.publisher = Health(), _Publisher()
        self.listeners: dict[str, Callable[[Any], None]] = {}
        self.subscriptions: dict[str, Any] = {}
        self._timers: list[Callable[[], None]] = []
        self._now = 100.0

    def wall_time(self) -> float:
        return self._now

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds / LOOK_EVERY_S)):
            self._now += LOOK_EVERY_S
            for look in self._timers:
                look()

    def create_timer(self, period_s: float, callback: Callable[[], None], clock: Any) -> None:
        self._timers.append(callback)

    def advertise(self, topic: Any) -> _Publisher:
        return self.publisher

    def listen(self, topic: Any, callback: Callable[[Any], None]) -> Any:
        self.listeners[topic.name] = callback
        self.subscriptions[topic.name] = SimpleNamespace()
        return self.subscriptions[topic.name]

    def report(self, check: str, level: Level, message: str) -> None:
        self.health.report(check, level, message)


@pytest.fixture
def node() -> Any:
    return _Node()


def _message(report: Report) -> String:
    message = String()
    fill_report(message, report)
    return message


def test_last_report_is_repeated_only_while_nothing_moves(node: Any) -> None:
    finished = Finished(node, [TOPIC])
    node.wait(2 * LOOK_EVERY_S)
    begins = node.publisher.reports[:]
    assert len(begins) == 2
    assert begins[0] == begins[1]

    for instant_ns in (10, 20, 30):
        finished.report(instant_ns, instant_ns + 10)
        node.wait(LOOK_EVERY_S)
    node.wait(LOOK_EVERY_S)

    assert [report.instant_ns for report in node.publisher.reports[2:]] == [10, 20, 30, 30]


def test_restarted_node_begins_when_its_subscribers_have_found_it(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RESPAWN, "1")
    finished = Finished(node, [TOPIC])
    node.wait(10 * SETTLE_S)
    assert node.publisher.reports == []

    node.publisher.subscribers = 1
    node.wait(SETTLE_S)
    node.publisher.subscribers = 2
    finished.count(TOPIC)
    finished.report(10, 20)  # an instant for another node that begins
    node.wait(SETTLE_S)
    assert node.publisher.reports == []

    node.wait(SETTLE_S)
    begin, first = node.publisher.reports[:2]
    assert (begin.next_ns, begin.sent) == (0, {TOPIC: 1})  # which nobody may have received
    assert (first.instant_ns, first.next_ns) == (10, 20)


def test_restarted_node_joins_when_every_source_has_reported(node: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RESPAWN, "1")
    progress: list[int] = []
    inputs = SynchronousInput(node, {"a": [TOPIC], "b": []}, lambda: progress.append(inputs.horizon_ns))
    node.listeners["a/finished"](_message(Report(500, 510, {TOPIC: 50})))
    node.wait(10 * SETTLE_S)
    assert progress == []

    node.listeners["b/finished"](_message(Report(500, 600, {})))
    node.wait(2 * SETTLE_S)

    assert progress == [510]


def test_message_that_does_not_arrive_is_waited_for_and_named(node: Any) -> None:
    inputs = SynchronousInput(node, {"a": [TOPIC]}, lambda: None)
    node.listeners["a/finished"](_message(Report(10, 20, {TOPIC: 1})))

    node.wait(2 * LATE_AFTER_S)
    assert node.health.checks["synchrony"].level is Level.ERROR
    assert f"messages were published, but have not all arrived: {TOPIC} (0 of 1)" in (
        node.health.checks["synchrony"].message
    )
    assert inputs.horizon_ns == 0

    inputs.add(TOPIC, "late")
    node.wait(LOOK_EVERY_S)
    assert [item.message for item in inputs.take(20)] == ["late"]
    assert node.health.checks["synchrony"].level is Level.OK


def test_only_the_slowest_source_wakes_the_node(node: Any) -> None:
    SynchronousInput(node, {"a": [], "b": []}, lambda: None)

    def waking() -> list[str]:
        return [name for name, item in node.subscriptions.items() if item.is_awaited()]

    assert waking() == ["b/finished"]
    node.listeners["b/finished"](_message(Report(10, 20, {})))
    assert waking() == ["a/finished"]
    node.listeners["a/finished"](_message(Report(10, 100, {})))
    assert waking() == ["b/finished"]
