"""The observer of a run in lock-step: gets its samples, and its estimates are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.estimate_log import EstimateLog
from state_observer.vehicle.observer import BasicObserver
from vehicle_dynamics.start import Origin

START_VARIANCE = 0.1**2  # [m^2] of a start that is known
HEADING_VARIANCE = 0.02**2  # [rad^2]
SAMPLES = (EncoderSample, ImuSample, GpsSample)  # as state_observer.vehicle.layout.KINDS


class Observation:
    """An observer in a run: every estimate that it makes is kept."""

    def __init__(self, observer: BasicObserver, start: Origin | None) -> None:
        """start: where the run begins, if the observer knows it."""
        self.observer = observer
        self._start = start
        self._log = EstimateLog(observer.filter)

    def hear(self, arrival_ns: int, samples: Iterable[Any]) -> None:
        """What arrives at an instant; samples that the observer does not use are left alone.

        In the order that a filter has samples of one time in: else it would go back and forth.
        """
        usable = [sample for sample in samples if isinstance(sample, SAMPLES)]
        for sample in sorted(usable, key=lambda item: (item.time_ns, SAMPLES.index(type(item)))):
            self._take(arrival_ns, sample)

    def _take(self, arrival_ns: int, sample: Any) -> None:
        self.observer.take(sample, arrival_ns)
        if self._start is not None and self.observer.filter.time_ns and not self.observer.is_running:
            x, y, heading, speed = self._start
            variances = {"position_variance": START_VARIANCE, "heading_variance": HEADING_VARIANCE}
            self.observer.set_pose(x, y, heading, speed=speed, **variances)
            self._start = None

    @property
    def estimates(self) -> NDArray[np.void]:
        """Records of ESTIMATE so far."""
        return self._log.estimates
