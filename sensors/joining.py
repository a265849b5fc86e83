"""Two messages that belong to one sample: a fix and its velocity, wheels and what drives them."""

from __future__ import annotations

from collections import deque
from typing import Generic, Protocol, TypeVar

KEPT = 50  # partners
PATIENCE_NS = 100_000_000  # so long a first waits for its second, by the time of arrival


class Timed(Protocol):
    """Has a time of its own."""

    @property
    def time_ns(self) -> int: ...


First = TypeVar("First", bound=Timed)
Second = TypeVar("Second", bound=Timed)


class Joiner(Generic[First, Second]):
    """Gives each first with the second that is nearest in time, as soon as no nearer one can come."""

    def __init__(self, tolerance_ns: int, *, has_second: bool) -> None:
        """tolerance_ns: seconds that are farther away do not belong; has_second: whether any will come."""
        self._tolerance_ns, self._has_second = tolerance_ns, has_second
        self._waiting: list[tuple[int, First]] = []
        self._seconds: deque[Second] = deque(maxlen=KEPT)
        self._newest_ns = -1

    def first(self, log_ns: int, value: First) -> list[tuple[First, Second | None]]:
        """What is complete now."""
        self._waiting.append((log_ns, value))
        return self.complete(log_ns)

    def second(self, log_ns: int, value: Second) -> list[tuple[First, Second | None]]:
        """What is complete now."""
        self._seconds.append(value)
        self._newest_ns = value.time_ns
        return self.complete(log_ns)

    def complete(self, log_ns: int | None = None) -> list[tuple[First, Second | None]]:
        """Firsts whose second is there or will not come, by the time it is; without a time, all."""
        done: list[tuple[First, Second | None]] = []
        still: list[tuple[int, First]] = []
        for since, value in self._waiting:  # one with an absurd stamp does not keep the others waiting
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
