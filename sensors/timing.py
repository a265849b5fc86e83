"""When a sensor samples, and when what it sampled arrives. Whole nanoseconds."""

from __future__ import annotations

import heapq
from typing import Generic, TypeVar

from proving_ground.settings.units import NS_PER_S
from sensors.faults import FaultLine
from sensors.streams import stream

Sample = TypeVar("Sample")


class Sampler:
    """Says which instants a rate falls on: the first at or after each whole number of periods since 1970."""

    def __init__(self, rate_hz: float) -> None:
        self.period_ns = round(NS_PER_S / rate_hz)
        self.reset()

    def reset(self) -> None:
        """Time may go back now."""
        self._period: int | None = None

    def is_due(self, time_ns: int) -> bool:
        """Whether to sample at this instant; times must not go back without a reset, and repeat at most once."""
        period, late = divmod(time_ns, self.period_ns)
        before, self._period = self._period, period
        return late == 0 if before is None else period > before


class Delivery(Generic[Sample]):
    """Samples on their way: late, lost or doubled, as settings and faults say."""

    def __init__(self, faults: FaultLine, seed: int, name: str) -> None:
        self.latency_s = 0.0  # of every sample
        self.jitter_s = 0.0  # at most as much more, evenly spread
        self.dropout = 0.0  # share that is lost
        self._faults, self._seed, self._name = faults, seed, name
        self.reset()

    def reset(self) -> None:
        """As at the start; what was on its way is gone."""
        self._random = stream(self._seed, self._name, "delivery")
        self._waiting: list[tuple[int, int, Sample]] = []
        self._count = 0
        self.lost = 0

    def send(self, time_ns: int, time_s: float, sample: Sample) -> None:
        """A sample of a time (time_s: since the start of the run) sets out."""
        is_lost = self._random.random() < self.dropout
        late = self.latency_s + self.jitter_s * float(self._random.random())
        delays = self._faults.delays(time_s)  # also of lost ones: other faults' random numbers do not depend on it
        delays = [] if is_lost else delays
        self.lost += not delays
        for delay in delays:
            self._count += 1  # of equal times the first comes first, and samples are never compared
            heapq.heappush(self._waiting, (time_ns + round((late + delay) * NS_PER_S), self._count, sample))

    def arrived(self, now_ns: int) -> list[Sample]:
        """What is there by now, in order of arrival."""
        there = []
        while self._waiting and self._waiting[0][0] <= now_ns:
            there.append(heapq.heappop(self._waiting)[2])
        return there
