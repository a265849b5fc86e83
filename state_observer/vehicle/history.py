"""Apply samples in the order of their stamps, whatever their order of arrival.

The result depends only on the set of readings. A late one rewinds the filter to a checkpoint before it and replays all
later readings.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import NamedTuple

from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.filter_base import Checkpoint, FilterBase
from state_observer.vehicle.validation import Reading

CHECKPOINT_NS = 20_000_000  # least interval of checkpoints
AFTER_ALL = 9  # kind in a key, after all readings of the same time

Key = tuple[int, int]  # time and kind


class _Event(NamedTuple):
    key: Key
    reading: Reading


def _key(event: _Event) -> Key:
    return event.key


class History(Stateful):
    """The readings and checkpoints of the last `buffer_s`."""

    STATE = ("_events", "_done", "_checkpoints", "_room", "replays")

    def __init__(self, filter_: FilterBase, buffer_s: float) -> None:
        self._filter, self._buffer_ns = filter_, round(buffer_s * NS_PER_S)
        self.clear()

    def clear(self) -> None:
        """Forget everything; the caller clears the filter."""
        self._events: list[_Event] = []
        self._done: Key = (0, -1)
        # State before any sample: the first to arrive may not be the oldest.
        self._checkpoints: list[tuple[Key, Checkpoint]] = [(self._done, self._filter.checkpoint())]
        self._room = 64  # events kept before old ones are dropped
        self.replays = 0

    def forget_past(self) -> None:
        """Drop the past: late samples from before now are rejected."""
        self._events.clear()
        self._checkpoints = [(self._done, self._filter.checkpoint())]

    @property
    def newest_ns(self) -> int:
        """Time the filter has reached."""
        return self._done[0]

    def verdict(self, reading: Reading) -> str:
        """Why a reading cannot be inserted; empty if it can."""
        key = (reading.time_ns, reading.kind)
        if key[0] < self._done[0] - self._buffer_ns:
            return "too late"
        if key > self._done:
            return ""
        index = bisect_left(self._events, key, key=_key)
        if index < len(self._events) and self._events[index].key == key:
            return "duplicate"
        if self._checkpoints[0][0] >= key:
            return "too late"
        return ""

    def process(self, reading: Reading) -> None:
        """Insert a reading that `verdict` accepts, and bring the filter up to date."""
        event = _Event((reading.time_ns, reading.kind), reading)
        if event.key > self._done:
            self._events.append(event)
            self._go_through(event)
        else:
            insort(self._events, event, key=_key)
            self._replay(event.key)
        self._forget()

    def advance_to(self, time_ns: int) -> None:
        """Predict to the last multiple of the time step at or before a time; earlier readings may still arrive."""
        whole = time_ns - time_ns % self._filter.step_ns
        if whole > self._done[0] > 0:
            self._filter.advance_to(whole)
            self._done = (whole, AFTER_ALL)
            self._keep()
            self._forget()

    def _go_through(self, event: _Event) -> None:
        if self._filter.time_ns == 0:
            self._filter.filter_state["time_ns"] = event.key[0]
        self._filter.advance_to(event.key[0])
        self._filter.apply(event.reading)
        self._done = event.key
        self._keep()

    def _keep(self) -> None:
        if self._done[0] - self._checkpoints[-1][0][0] >= CHECKPOINT_NS:
            self._checkpoints.append((self._done, self._filter.checkpoint()))

    def _replay(self, key: Key) -> None:
        """Replay from the last checkpoint before the key; the grid of steps stays the same."""
        self.replays += 1
        until = self._done
        while self._checkpoints[-1][0] >= key:
            self._checkpoints.pop()
        self._done, checkpoint = self._checkpoints[-1]
        self._filter.rewind(checkpoint)
        first = bisect_left(self._events, (self._done[0], self._done[1] + 1), key=_key)
        for event in self._events[first:]:
            self._go_through(event)
        if until[0] > self._done[0]:
            self.advance_to(until[0])

    def _forget(self) -> None:
        oldest = self._done[0] - self._buffer_ns
        while len(self._checkpoints) > 1 and self._checkpoints[1][0][0] < oldest:
            self._checkpoints.pop(0)
        if len(self._events) > self._room:
            del self._events[: bisect_left(self._events, self._checkpoints[0][0], key=_key)]
            self._room = 2 * len(self._events) + 64
