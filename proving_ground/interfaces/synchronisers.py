"""Time synchronisers: combine messages with matching stamps into instants and samples. No ROS here.

>>> instants = InstantSynchroniser({"odom", "accel"}, leader="odom")
>>> instants.add("odom", 10, "o1"), instants.add("odom", 20, "o2"), instants.add("accel", 10, "a1").parts
(Added(parts=None, has_gone_back=False), Added(parts=None, has_gone_back=False), {'odom': 'o1', 'accel': 'a1'})
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

GAP_NS = 1_000_000_000  # a stamp further ahead is a stray, unless the next one continues from there
KEPT_INSTANTS = 200  # instants whose parts wait for others: more than a node of a synchronous run can be behind
KEPT_PARTNERS = 50
PATIENCE_NS = 100_000_000  # longest wait of a first part for its second, by time of arrival


class Added(NamedTuple):
    """Result of adding a message: the parts of an instant that is complete now, and whether time has gone back."""

    parts: dict[str, Any] | None = None  # of an instant that is complete now
    has_gone_back: bool = False  # time went back: everything before is void


class InstantSynchroniser:
    """Combines parts with equal stamps, in order of time.

    A single out-of-line stamp of the leading topic is a stray; two that follow one another are a jump.
    """

    def __init__(self, needed: Iterable[str], leader: str) -> None:
        """needed: names of the parts; leader: the part whose stamps show jumps."""
        self._needed, self._leader = frozenset(needed), leader
        self.clear()

    def clear(self) -> None:
        """Reset: any time may come next."""
        self.time_ns: int | None = None  # of the last complete instant
        self._waiting: dict[int, dict[str, Any]] = {}
        self._odd_ns: int | None = None  # stamp of the last stray

    def add(self, part: str, time_ns: int, value: Any) -> Added:
        """Add a message; strays, repetitions and late ones change nothing.

        Late parts wait: if the leader shows that time has gone back, they belong to the new time.
        """
        has_gone_back = False
        if part == self._leader:
            is_in_line, has_gone_back = self._judge(time_ns)
            if not is_in_line:
                return Added()
        if has_gone_back and self.time_ns is not None:
            late = {stamp: parts for stamp, parts in self._waiting.items() if stamp <= self.time_ns}
            self.clear()
            self._waiting = late
        found = self._waiting.setdefault(time_ns, {})
        found[part] = value
        if len(found) < len(self._needed):
            if len(self._waiting) > KEPT_INSTANTS:
                del self._waiting[min(self._waiting)]
            return Added(None, has_gone_back)
        self.time_ns = time_ns
        self._waiting = {stamp: parts for stamp, parts in self._waiting.items() if stamp > time_ns}
        return Added(found, has_gone_back)

    def _judge(self, time_ns: int) -> tuple[bool, bool]:
        """Whether a stamp continues from the last one, and whether time has gone back."""
        last = self.time_ns
        if last is None or last < time_ns <= last + GAP_NS:
            self._odd_ns = None
            return True, False
        odd, self._odd_ns = self._odd_ns, time_ns
        if odd is None or not odd < time_ns <= odd + GAP_NS:
            return False, False
        self._odd_ns = None
        return True, time_ns < last


class Timed(Protocol):
    """A value with its own time, `time_ns`."""

    @property
    def time_ns(self) -> int: ...


First = TypeVar("First", bound=Timed)
Second = TypeVar("Second", bound=Timed)


class PairSynchroniser(Generic[First, Second]):
    """Pairs each first part with the second nearest in time, as soon as no nearer one can come."""

    def __init__(self, tolerance_ns: int, *, has_second: bool) -> None:
        """tolerance_ns: largest time difference of a pair; has_second: whether second parts will come."""
        self._tolerance_ns, self._has_second = tolerance_ns, has_second
        self._waiting: list[tuple[int, First]] = []
        self._seconds: deque[Second] = deque(maxlen=KEPT_PARTNERS)
        self._newest_ns = -1

    def first(self, log_ns: int, value: First) -> list[tuple[First, Second | None]]:
        """Add a first part that arrived at log_ns; returns the pairs that are complete now."""
        self._waiting.append((log_ns, value))
        return self.complete(log_ns)

    def second(self, log_ns: int, value: Second) -> list[tuple[First, Second | None]]:
        """Add a second part that arrived at log_ns; returns the pairs that are complete now."""
        self._seconds.append(value)
        self._newest_ns = value.time_ns
        return self.complete(log_ns)

    def complete(self, log_ns: int | None = None) -> list[tuple[First, Second | None]]:
        """First parts whose second has come or will not come by now; without a time, all."""
        done: list[tuple[First, Second | None]] = []
        still: list[tuple[int, First]] = []
        for since, value in self._waiting:  # one with an absurd stamp does not block the others
            waits = self._has_second and self._newest_ns < value.time_ns
            if waits and log_ns is not None and log_ns - since <= PATIENCE_NS:
                still.append((since, value))
            else:
                done.append((value, self._nearest(value)))
        self._waiting = still
        return done

    def _nearest(self, value: First) -> Second | None:
        if self._seconds and self._seconds[-1].time_ns == value.time_ns:  # as with the suite's own
            return self._seconds[-1]
        near = min(self._seconds, key=lambda item: abs(item.time_ns - value.time_ns), default=None)
        return near if near is not None and abs(near.time_ns - value.time_ns) <= self._tolerance_ns else None
