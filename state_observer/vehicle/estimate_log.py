"""Log of every estimate of an observer, one per grid step."""

from __future__ import annotations

from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray

from state_observer.vehicle.filter_base import FilterBase
from state_observer.vehicle.layout import ESTIMATE


class EstimateLog:
    """Records a filter's estimates until `close`; later changes by late samples are not recorded."""

    def __init__(self, filter_: FilterBase) -> None:
        self._filter = filter_
        self._rows = np.zeros(4096, ESTIMATE)
        self._count, self._last_ns = 0, 0
        record = WeakMethod(self.record)  # avoids a reference cycle that would keep a hundred megabytes alive

        def on_tick() -> None:
            log = record()
            if log is not None:
                log()

        filter_.on_tick = on_tick

    @property
    def estimates(self) -> NDArray[np.void]:
        """Records of ESTIMATE so far."""
        return self._rows[: self._count]

    def record(self) -> None:
        """Record the current estimate if it is new."""
        now_ns = self._filter.time_ns
        if now_ns <= self._last_ns or not self._filter.is_running:
            return
        if self._count == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros(len(self._rows), ESTIMATE)])
        self._filter.write_estimate(self._rows, self._count)
        self._count, self._last_ns = self._count + 1, now_ns

    def close(self) -> None:
        """Stop recording."""
        self._filter.on_tick = None
