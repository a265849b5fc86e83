"""The observer of a lock-step run: gets its samples, and its estimates are stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.in_run import EstimateTimes, begin_at
from state_observer.node_settings import ObserverNodeSettings, make_observer
from state_observer.vehicle.estimate_log import EstimateLog
from terrain.surroundings import Surroundings

SAMPLES = (EncoderSample, ImuSample, GpsSample)  # as state_observer.vehicle.layout.KINDS


class Observation:
    """An observer in a run: every estimate is stored."""

    def __init__(self, settings: ObserverNodeSettings, there: Surroundings) -> None:
        """Made as in its node."""
        self.observer = make_observer(settings, there)
        self._start, self._start_ns = settings.origin(there), settings.start.time_ns()
        self._times = EstimateTimes(settings.rate_hz)
        self._log = EstimateLog(self.observer.filter)
        self.latest: Any = None  # record of ESTIMATE, at the rate at which its node publishes

    def on_samples(self, arrival_ns: int, samples: Iterable[Any]) -> None:
        """Process the arrivals of an instant; samples that the observer does not use are ignored.

        Samples of one time are passed in the filter's order: else it would have to rewind.
        """
        usable = [sample for sample in samples if isinstance(sample, SAMPLES)]
        for sample in sorted(usable, key=lambda item: (item.time_ns, SAMPLES.index(type(item)))):
            self.observer.process(sample, arrival_ns)
            if self._start is not None and self.observer.filter.time_ns and not self.observer.is_running:
                begin_at(self.observer, self._start, self._start_ns)
                self._start = None
        if self.observer.is_running and self._times.is_due(self.observer.filter.time_ns):
            self.latest = self.observer.estimate()

    @property
    def estimates(self) -> NDArray[np.void]:
        """Records of ESTIMATE up to now."""
        return self._log.estimates
