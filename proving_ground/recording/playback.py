"""Plays a bag again: which message is due when, and the present time in the bag. No ROS and no clock of its own.

playback = Playback(BagSource(bag, topics), publish, publish_time, PlaybackOptions(rate=2.0), now=0.0)
while not playback.has_ended:
    sleep(playback.advance(monotonic()))
"""

from __future__ import annotations

import math
import struct
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from proving_ground.interfaces import topics
from proving_ground.recording.reading import Bag, Message
from proving_ground.settings.units import NS_PER_S

CLOCK = topics.CLOCK.name
SAME_CLOCK_NS = NS_PER_S  # if further apart, log times and /clock are different clocks
PAUSED_PERIOD_S = 0.1  # of /clock while paused, for nodes that join
SHORTEST_TICK_S = 0.002  # of real time: more ticks of /clock cost subscribers more than they are worth
SHOWN_NS = NS_PER_S  # window before the target of a paused seek, whose last messages are shown
MOST_AT_ONCE = 200  # messages, before other threads get a turn
LONGEST_WAIT_S = 0.5


@dataclass(frozen=True, kw_only=True)
class PlaybackOptions:
    """Options of playing a bag: rate, offset, clock, loop."""

    rate: float = 1.0  # bag time over real time
    start_offset_s: float = 0.0  # start position, from the bag's start
    clock_hz: float = 100.0  # ticks of /clock per second of the bag; 0: none
    is_paused: bool = False
    loops: bool = False


class Source(Protocol):
    """Messages of a bag in the order of their log times."""

    start_ns: int
    end_ns: int

    def after(self, time_ns: int) -> Iterator[Message]:
        """All messages from a log time [ns] on."""

    def latched_before(self, time_ns: int) -> list[Message]:
        """Messages that a late subscriber would have received at a time: the last ones of each latched topic."""


class BagSource:
    """Messages of some topics of a bag."""

    def __init__(self, bag: Bag, topics: Collection[str], latched: Mapping[str, int]) -> None:
        """latched: number of messages of each latched topic that late joiners get."""
        self._bag, self._topics, self._latched = bag, topics, latched
        self.start_ns, self.end_ns = bag.start_ns, bag.end_ns

    def after(self, time_ns: int) -> Iterator[Message]:
        return self._bag.messages(self._topics, 0 if time_ns <= self.start_ns else time_ns)

    def latched_before(self, time_ns: int) -> list[Message]:
        if time_ns <= self.start_ns or not self._latched:
            return []
        kept: dict[str, deque[Message]] = {topic: deque(maxlen=size) for topic, size in self._latched.items()}
        for message in self._bag.messages(self._latched, 0, time_ns):
            kept[message[0]].append(message)
        return sorted((item for messages in kept.values() for item in messages), key=lambda item: item[1])


def has_own_clock(bag: Bag) -> bool:
    """Whether /clock in the bag differs from the clock of its log times; stamps are then those of /clock.

    This is the case where a simulation was recorded without use_sim_time.
    """
    if CLOCK not in bag.topics:
        return False
    for _, log_ns, data in bag.messages({CLOCK}):
        if len(data) >= 12:
            seconds, rest = struct.unpack_from("<iI", data, 4)
            return bool(abs(seconds * NS_PER_S + rest - log_ns) > SAME_CLOCK_NS)
    return False


class Playback:
    """Calls `publish(topic, data)` and `publish_time(ns)` from `advance`; `now` is seconds of a steady clock."""

    def __init__(
        self,
        source: Source,
        publish: Callable[[str, bytes], None],
        on_time: Callable[[int], None],
        options: PlaybackOptions,
        now: float,
    ) -> None:
        self._source, self._publish, self._publish_time = source, publish, on_time
        self._loops, self._rate, self.is_paused = options.loops, options.rate, options.is_paused
        self._period_ns = round(NS_PER_S / options.clock_hz) if options.clock_hz else 0
        self.has_ended = False
        self.published = 0
        self._start_ns = source.start_ns + round(options.start_offset_s * NS_PER_S)
        self._enter(self._start_ns, now)

    @property
    def rate(self) -> float:
        """Bag time over real time."""
        return self._rate

    def position_s(self, now: float) -> float:
        """Time since the bag's start, within the bag."""
        return (min(self._time_ns(now), self._source.end_ns) - self._source.start_ns) / NS_PER_S

    @property
    def length_s(self) -> float:
        """Length of the whole bag."""
        return (self._source.end_ns - self._source.start_ns) / NS_PER_S

    def set_rate(self, rate: float, now: float) -> None:
        """Change the playback speed from now on [seconds of a steady clock]."""
        self._anchor(self._time_ns(now), now)
        self._rate = rate

    def pause(self, is_paused: bool, now: float) -> None:
        """Pause, or resume from the present time."""
        self._anchor(self._time_ns(now), now)
        self.is_paused = is_paused

    def step(self, now: float) -> bool:
        """Publish the next message of a paused replay and move time there; False if not paused, or none is left."""
        if not self.is_paused or self._next is None:
            return False
        log_ns = max(self._next[1], self._time_ns(now))
        self._anchor(log_ns, now)
        self._tick(log_ns, now)
        self._send()
        self._end_or_loop(now)
        return True

    def seek(self, position_s: float, now: float) -> None:
        """Go to a time since the bag's start, clipped to its ends. While paused, show the state there."""
        time_ns = self._source.start_ns + round(min(max(position_s, 0.0), self.length_s) * NS_PER_S)
        self._enter(time_ns, now)
        self.has_ended = False
        if self.is_paused:
            self._show_state_at(time_ns)

    def advance(self, now: float) -> float:
        """Publish what is due; returns the seconds until the next message."""
        if self.has_ended:
            return LONGEST_WAIT_S
        if self.is_paused:
            return self._stand(now)
        for _ in range(MOST_AT_ONCE):
            reached = self._time_ns(now)
            message_ns = self._next[1] if self._next is not None else self._source.end_ns
            if self._period_ns and self._tick_ns <= min(message_ns, reached):
                behind = min(message_ns, reached) - self._tick_ns
                self._tick(self._tick_ns + behind // self._period_ns * self._period_ns, now)
            elif message_ns > reached:
                return self._wait_s(message_ns, reached)
            else:
                if self._next is not None:
                    self._send()
                if self._end_or_loop(now):
                    return 0.0
        return 0.0

    def _enter(self, time_ns: int, now: float) -> None:
        """Start at a time, with the messages latched there."""
        self._anchor(time_ns, now)
        self._messages = self._source.after(time_ns)
        self._next = next(self._messages, None)
        self._tick(time_ns, now)
        for topic, _, data in self._source.latched_before(time_ns):
            self._publish(topic, data)

    def _show_state_at(self, time_ns: int) -> None:
        """Publish each topic's last message of the second before, so that viewers show the state there."""
        last: dict[str, Message] = {}
        for message in self._source.after(time_ns - SHOWN_NS):
            if message[1] >= time_ns:
                break
            last[message[0]] = message
        for topic, _, data in sorted(last.values(), key=lambda item: item[1]):
            self._publish(topic, data)

    def _anchor(self, time_ns: int, now: float) -> None:
        self._anchor_ns, self._anchored_at = time_ns, now

    def _time_ns(self, now: float) -> int:
        if self.is_paused:
            return self._anchor_ns
        return self._anchor_ns + round((now - self._anchored_at) * self._rate * NS_PER_S)

    def _tick(self, time_ns: int, now: float) -> None:
        """Publish the time. The next tick is at a whole multiple of the period, and precedes messages of its time."""
        if self._period_ns:
            self._publish_time(time_ns)
            shortest = round(SHORTEST_TICK_S * self._rate * NS_PER_S)
            step = self._period_ns * math.ceil(max(shortest, 1) / self._period_ns)
            self._tick_ns = (time_ns // step + 1) * step
        self._sent_at = now

    def _send(self) -> None:
        assert self._next is not None
        topic, _, data = self._next
        self._publish(topic, data)
        self.published += 1
        self._next = next(self._messages, None)

    def _end_or_loop(self, now: float) -> bool:
        """Restart or end after the last message."""
        if self._next is not None:
            return False
        if self._loops:
            self._enter(self._start_ns, now)
        else:
            self._anchor(min(self._time_ns(now), self._source.end_ns), now)
            self.has_ended = True
        return True

    def _stand(self, now: float) -> float:
        """Keep publishing /clock while paused."""
        if self._period_ns and now - self._sent_at >= PAUSED_PERIOD_S:
            self._publish_time(self._anchor_ns)
            self._sent_at = now
        return PAUSED_PERIOD_S

    def _wait_s(self, message_ns: int, reached_ns: int) -> float:
        due_ns = min(message_ns, self._tick_ns) if self._period_ns else message_ns
        return min(max(due_ns - reached_ns, 0) / NS_PER_S / self._rate, LONGEST_WAIT_S)


def progress_line(position_s: float, length_s: float, rate: float, is_paused: bool) -> str:
    """
    >>> progress_line(12.34, 60.0, 1.0, True)
    '12.3 of 60.0 s, 21 %, rate 1, paused'
    """
    share = position_s / length_s if length_s > 0.0 else 1.0
    return f"{position_s:.1f} of {length_s:.1f} s, {share:.0%}, rate {rate:g}".replace("%", " %") + (
        ", paused" if is_paused else ""
    )
