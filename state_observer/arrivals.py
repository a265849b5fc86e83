"""Arrival statistics of a node's messages: silent topics, delays, latency, recently rejected samples. No ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

FIRST_WAIT_S = 3.0  # wait for the first message of a topic
SILENT_S = 0.5  # and at least three periods, while other topics are active
NEWEST_SHARE = 0.1  # share of the newest message in the mean period
ONE_CLOCK_S = 10.0  # a stamp farther from the node's clock belongs to another clock
KEPT = 100  # stamps whose estimate is not published yet
RECENT_S = 5.0


@dataclass
class _Topic:
    last_s: float = 0.0
    period_s: float = 0.0
    delays: list[float] = field(default_factory=list)  # since the last report [s]


class Arrivals:
    """Arrivals of messages by topic; times are seconds of a steady clock."""

    def __init__(self, topics: Iterable[str], now_s: float) -> None:
        self._topics = {topic: _Topic() for topic in topics}
        self._begun_s = now_s
        self.last_s: float | None = None  # latest message of any topic
        self._came: dict[int, float] = {}  # arrival by stamp, until its estimate is published
        self._latencies: list[float] = []

    def record(self, topic: str, now_s: float, delay_s: float) -> None:
        """Record a message; delay_s: from its stamp to now by the node's clock, which may differ from the stamps'."""
        item = self._topics[topic]
        if item.last_s:
            passed = now_s - item.last_s
            usual = item.period_s
            item.period_s = usual + NEWEST_SHARE * (min(passed, 2.0 * usual) - usual) if usual else passed
        item.last_s = self.last_s = now_s
        if abs(delay_s) < ONE_CLOCK_S:
            item.delays.append(delay_s)

    def expect(self, time_ns: int, now_s: float) -> None:
        """Record that a message with this stamp arrived, to which an estimate may follow."""
        self._came.setdefault(time_ns, now_s)
        if len(self._came) > KEPT:
            del self._came[next(iter(self._came))]

    def published(self, time_ns: int, now_s: float) -> None:
        """Record that an estimate with this stamp was published."""
        came = self._came.pop(time_ns, None)
        if came is not None:
            self._latencies.append(now_s - came)

    def missing(self, now_s: float) -> list[str]:
        """Topics without any message, and topics that stopped while others go on."""
        found = []
        is_alive = self.last_s is not None and now_s - self.last_s < SILENT_S
        for name, item in self._topics.items():
            if not item.last_s:
                found += [f"{name}: none has come"] if now_s - self._begun_s > FIRST_WAIT_S else []
            elif is_alive and now_s - item.last_s > max(SILENT_S, 3.0 * item.period_s):
                found.append(f"{name}: silent")
        return found

    def figures(self) -> dict[str, str]:
        """Means since the last call [ms]: delay of each topic, latency from arrival to estimate."""
        found = {f"delay_ms {name}": _mean_ms(item.delays) for name, item in self._topics.items() if item.last_s}
        found["latency_ms"] = _mean_ms(self._latencies)
        found["latency_max_ms"] = _mean_ms([max(self._latencies)] if self._latencies else [])
        self._latencies.clear()
        for item in self._topics.values():
            item.delays.clear()
        return found


def _mean_ms(values: list[float]) -> str:
    return f"{1e3 * sum(values) / len(values):.2f}" if values else "unknown"


class RecentCounts:
    """Finds which of several counters have changed recently."""

    def __init__(self) -> None:
        self._before: dict[str, int] = {}
        self._grew_s: dict[str, float] = {}

    def update(self, counts: Mapping[str, int], now_s: float) -> list[str]:
        """Names of counters that changed within the last RECENT_S [s]; a fall, as after a reset, is a change, too."""
        for name, value in counts.items():
            if value != self._before.get(name, 0):
                self._grew_s[name] = now_s
        self._before = dict(counts)
        self._grew_s = {name: since for name, since in self._grew_s.items() if now_s - since <= RECENT_S}
        return list(self._grew_s)
