"""The observer of a lock-step run: gets its samples, and its estimates are stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
from state_observer.in_run import InstantObserver
from state_observer.node_settings import ObserverNodeSettings, make_observer
from state_observer.vehicle.estimate_log import EstimateLog
from terrain.surroundings import Surroundings


class Observation(Stateful):
    """An observer in a run: every estimate is stored."""

    STATE = ("observer", "run", "_log", "latest")

    def __init__(self, settings: ObserverNodeSettings, there: Surroundings) -> None:
        """The observer is made as in its node; there: the surroundings of the run."""
        self.observer = make_observer(settings, there)
        start_ns = settings.start.time_ns()
        self.run = InstantObserver(self.observer, settings.origin(there), start_ns, settings.rate_hz)
        self._names = settings.sensor_names
        self._log = EstimateLog(self.observer.filter)
        self.latest: Any = None  # record of ESTIMATE, at the rate at which its node publishes

    def on_samples(self, arrival_ns: int, samples: Iterable[tuple[str, Any]]) -> None:
        """Process the arrivals of an instant, with the names of sensors; those of others are ignored."""
        estimate = self.run.process(arrival_ns, [sample for name, sample in samples if name in self._names])
        if estimate is not None:
            self.latest = estimate

    @property
    def estimates(self) -> NDArray[np.void]:
        """Records of ESTIMATE up to now."""
        return self._log.estimates
