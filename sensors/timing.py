"""Sampling times of a sensor, and arrival times of its samples, in whole nanoseconds."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from sensors.faults import FaultLine
from sensors.streams import stream

Sample = TypeVar("Sample")


class Sampler(Stateful):
    """Sampling instants of a rate: the first at or after each whole number of periods since 1970."""

    STATE = ("_period",)

    def __init__(self, rate_hz: float) -> None:
        self.period_ns = round(NS_PER_S / rate_hz)
        self.reset()

    def reset(self) -> None:
        """Return to the initial state, after which any time may follow."""
        self._period: int | None = None

    def is_due(self, time_ns: int) -> bool:
        """Whether to sample at this instant; times must not go back without a reset, and repeat at most once."""
        period, late = divmod(time_ns, self.period_ns)
        before, self._period = self._period, period
        return late == 0 if before is None else period > before

    def next_ns(self, now_ns: int) -> int:
        """Earliest time of the next sample after an instant."""
        return (now_ns // self.period_ns + 1) * self.period_ns


class Delivery(Stateful, Generic[Sample]):
    """Samples in transit: delayed, lost or duplicated by settings and faults."""

    STATE = ("_random", "_waiting", "_count", "lost")

    def __init__(self, faults: FaultLine, seed: int, name: str) -> None:
        self.latency_s = 0.0  # of every sample
        self.jitter_s = 0.0  # largest additional latency, uniformly distributed
        self.dropout = 0.0  # share of lost samples
        self._faults, self._seed, self._name = faults, seed, name
        self.reset()

    def reset(self) -> None:
        """Return to the initial state; samples in transit are dropped."""
        self._random = stream(self._seed, self._name, "delivery")
        self._waiting: list[tuple[int, int, Sample]] = []
        self._count = 0
        self.lost = 0

    def send(self, time_ns: int, time_s: float, sample: Sample) -> None:
        """Send a sample taken at time_ns [since 1970], which is time_s since the start of the run."""
        is_lost = self._random.random() < self.dropout
        late = self.latency_s + self.jitter_s * float(self._random.random())
        delays = self._faults.delays(time_s)  # for lost ones too: keeps random numbers of other faults independent
        delays = [] if is_lost else delays
        self.lost += not delays
        for delay in delays:
            self._count += 1  # keeps order at equal times, and avoids comparing samples
            heapq.heappush(self._waiting, (time_ns + round((late + delay) * NS_PER_S), self._count, sample))

    def next_ns(self, sent_ns: int) -> int:
        """Earliest arrival from now on; sent_ns: earliest time at which another sample is sent."""
        sent_ns += round(self.latency_s * NS_PER_S)
        return min(self._waiting[0][0], sent_ns) if self._waiting else sent_ns

    def arrived(self, now_ns: int) -> list[Sample]:
        """Samples that have arrived by now, in order of arrival."""
        there = []
        while self._waiting and self._waiting[0][0] <= now_ns:
            there.append(heapq.heappop(self._waiting)[2])
        return there
