"""Messages of several topics put together by their stamps, in time's order. No ROS here.

>>> instants = Instants({"odom", "accel"}, leader="odom")
>>> instants.take("odom", 10, "o1"), instants.take("odom", 20, "o2"), instants.take("accel", 10, "a1").parts
(Taken(parts=None, has_gone_back=False), Taken(parts=None, has_gone_back=False), {'odom': 'o1', 'accel': 'a1'})
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

GAP_NS = 1_000_000_000  # a stamp further ahead is odd, unless the next one goes on from there
KEPT = 30  # instants of which parts wait for others


class Taken(NamedTuple):
    """What came of a message."""

    parts: dict[str, Any] | None = None  # of an instant that is whole now
    has_gone_back: bool = False  # time has: all that was before is void


class Instants:
    """One stamp of the leading topic that is out of line is a stray; two that follow one another are a jump."""

    def __init__(self, needed: Iterable[str], leader: str) -> None:
        """needed: names of the topics; leader: that of the one that tells jumps."""
        self._needed, self._leader = frozenset(needed), leader
        self.clear()

    def clear(self) -> None:
        """Any time may come next."""
        self.time_ns: int | None = None  # of the last whole instant
        self._waiting: dict[int, dict[str, Any]] = {}
        self._odd_ns: int | None = None  # stamp of the last stray

    def take(self, part: str, time_ns: int, value: Any) -> Taken:
        """A message; strays, repetitions and what is too late change nothing."""
        has_gone_back = False
        if part == self._leader:
            is_in_line, has_gone_back = self._judge(time_ns)
            if not is_in_line:
                return Taken()
        if has_gone_back:
            self.clear()
        if self.time_ns is not None and time_ns <= self.time_ns:
            return Taken()
        found = self._waiting.setdefault(time_ns, {})
        found[part] = value
        if len(found) < len(self._needed):
            if len(self._waiting) > KEPT:
                del self._waiting[min(self._waiting)]
            return Taken(None, has_gone_back)
        self.time_ns = time_ns
        self._waiting = {stamp: parts for stamp, parts in self._waiting.items() if stamp > time_ns}
        return Taken(found, has_gone_back)

    def _judge(self, time_ns: int) -> tuple[bool, bool]:
        """Whether a stamp goes on from the last one, and whether time has gone back."""
        last = self.time_ns
        if last is None or last < time_ns <= last + GAP_NS:
            self._odd_ns = None
            return True, False
        odd, self._odd_ns = self._odd_ns, time_ns
        if odd is None or not odd < time_ns <= odd + GAP_NS:
            return False, False
        self._odd_ns = None
        return True, time_ns < last
