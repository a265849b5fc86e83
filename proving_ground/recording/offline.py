"""An observer over a bag, as fast as the processor allows: estimates, innovations, fixes, truth, status."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.samples import Motion
from proving_ground.recording.stream import Arrival
from proving_ground.scenarios.estimates import thinned_estimates
from proving_ground.settings.units import NS_PER_S
from sensors.samples import GpsSample
from state_observer.vehicle.health import STARTING, Health
from state_observer.vehicle.layout import ESTIMATE, SENSORS
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.observer import BasicObserver

Array = NDArray[np.float64]

ROWS = 500  # estimates passed on at once
STATUS_EVERY_NS = 100_000_000
PROGRESS_EVERY = 2000  # arrivals

# What is kept of each estimate, for figures and pictures: 184 bytes instead of 1.4 kB.
FIX = np.dtype([("time_ns", "i8"), ("position", "f8", 3), ("velocity", "f8", 3), ("has_velocity", "?")])
TRUTH = np.dtype(
    [
        ("time_ns", "i8"),
        ("position", "f8", 3),
        ("attitude", "f8", 4),
        ("velocity", "f8", 3),
        ("angular_velocity", "f8", 3),
    ]
)


@dataclass(frozen=True)
class Innovations:
    """Innovations of one sensor."""

    time_ns: NDArray[np.int64]
    values: Array  # samples x 4, each over its standard deviation; missing elements are 0


@dataclass
class Replay:
    """Estimates, innovations, truth and status from a replayed bag."""

    estimates: NDArray[np.void]  # records of THIN_ESTIMATE
    fixes: NDArray[np.void]  # of FIX: east, north, up from the observer's datum
    truth: NDArray[np.void]  # of TRUTH
    innovations: dict[str, Innovations]
    status: list[tuple[int, str]]  # since when [ns]
    health: Health
    observer_s: float  # CPU time of the observer alone
    samples: int = 0


_INNOVATION = np.dtype([("time_ns", "i8"), ("values", "f8", 4)])


class _Table:
    """Growing array of records of a dtype."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._rows = np.zeros(1024, dtype)
        self._count = 0

    def add(self, row: tuple[Any, ...]) -> None:
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[self._count] = row
        self._count += 1

    def rows(self) -> NDArray[np.void]:
        return self._rows[: self._count]


@dataclass
class _EstimateBlocks:
    """Estimates, collected in blocks."""

    hand_on: Callable[[NDArray[np.void]], None]
    rows: NDArray[np.void] = field(default_factory=lambda: np.zeros(ROWS, ESTIMATE))
    count: int = 0
    last_ns: int = 0
    kept: list[NDArray[np.void]] = field(default_factory=list)

    def flush(self) -> None:
        rows = self.rows[: self.count]
        self.hand_on(rows)
        self.kept.append(thinned_estimates(rows))
        self.count = 0


def replay(
    arrivals: Iterable[Arrival],
    observer: BasicObserver,
    *,
    knows_arrival: bool,
    on_estimates: Callable[[NDArray[np.void]], None] = lambda rows: None,
    on_status: Callable[[int, str], None] = lambda time_ns, status: None,
    progress: Callable[[int], None] = lambda log_ns: None,
) -> Replay:
    """Process all arrivals; estimates are causal, without later samples.

    knows_arrival: stamps and times of arrival are of one clock; on_estimates gets records of ESTIMATE in batches;
    on_status gets the status whenever it changes; progress gets a time of arrival now and then.
    """
    filter_, blocks = observer.filter, _EstimateBlocks(on_estimates)
    tally = filter_.filter_state[0]
    frame = Frame(observer.settings.datum)
    fixes, truth = _Table(FIX), _Table(TRUTH)
    kept = [_Table(_INNOVATION) for _ in SENSORS]
    status: list[tuple[int, str]] = []
    looked_ns, spent, samples = 0, 0.0, 0

    def record() -> None:
        now = filter_.time_ns
        if now < blocks.last_ns - NS_PER_S:  # time went back, and the observer restarted
            blocks.last_ns = 0
        if now <= blocks.last_ns or not filter_.is_running:
            return
        if blocks.count == ROWS:
            blocks.flush()
        filter_.write_estimate(blocks.rows, blocks.count)
        blocks.count, blocks.last_ns = blocks.count + 1, now

    filter_.on_tick = record
    try:
        for number, (log_ns, item) in enumerate(arrivals):
            if number % PROGRESS_EVERY == 0:
                progress(log_ns)
            if isinstance(item, Motion):
                truth.add(item)
                continue
            before = tally["used"].copy()
            begun = time.process_time()
            verdict = observer.process(item, log_ns if knows_arrival else None)
            spent += time.process_time() - begun
            samples += 1
            for k in np.flatnonzero(tally["used"] > before):
                kept[k].add((item.time_ns, tally["innovation"][k]))
            if isinstance(item, GpsSample) and item.quality != 0 and (verdict.is_accepted or _is_finite(item)):
                east_north_up = frame.enu(item.latitude_deg, item.longitude_deg, item.altitude_m)
                has_velocity = item.velocity_variance[0] < 1e6
                fixes.add((item.time_ns, east_north_up, item.velocity, has_velocity))
            if abs(item.time_ns - looked_ns) >= STATUS_EVERY_NS:
                looked_ns = item.time_ns
                now = observer.health().status
                if not status or status[-1][1] != now:
                    status.append((looked_ns, now))
                    on_status(looked_ns, now)
        if filter_.time_ns % filter_.step_ns == 0:
            record()
        blocks.flush()
    finally:
        filter_.on_tick = None
    return Replay(
        np.concatenate(blocks.kept),
        fixes.rows(),
        truth.rows(),
        {
            name: Innovations(table.rows()["time_ns"], table.rows()["values"])
            for name, table in zip(SENSORS, kept, strict=True)
        },
        status or [(0, STARTING)],
        observer.health(),
        spent,
        samples,
    )


def _is_finite(sample: GpsSample) -> bool:
    values = (sample.latitude_deg, sample.longitude_deg, sample.altitude_m, *sample.velocity.tolist())
    return all(abs(value) < 1e6 for value in values) and abs(sample.latitude_deg) <= 90.0
