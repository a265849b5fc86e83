"""Log of every estimate of an observer, one per grid step."""

from __future__ import annotations

from typing import Any
from weakref import WeakMethod

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
from state_observer.vehicle.filter_base import FilterBase
from state_observer.vehicle.layout import ESTIMATE

FIRST_ROOM = 4096  # estimates


class EstimateLog(Stateful):
    """Records a filter's estimates until `close`; later changes by late samples are not recorded."""

    STATE = ("_rows", "_count", "_last_ns")

    def __init__(self, filter_: FilterBase) -> None:
        self._filter = filter_
        self._rows = np.zeros(FIRST_ROOM, ESTIMATE)
        self._count, self._last_ns = 0, 0
        record = WeakMethod(self.record)  # avoids a reference cycle that would keep a hundred megabytes alive

        def on_tick() -> None:
            log = record()
            if log is not None:
                log()

        filter_.on_tick = on_tick

    def saved_state(self) -> dict[str, Any]:
        """State of the log without the room for further estimates."""
        return super().saved_state() | {"_rows": self.estimates}

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """See Stateful."""
        super().restore_state(state, keep_random=keep_random)
        self._rows = np.concatenate([self._rows, np.zeros(FIRST_ROOM, ESTIMATE)])

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
        """Stop recording estimates."""
        self._filter.on_tick = None
