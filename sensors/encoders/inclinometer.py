"""Inclinometers: damped pendulums that cannot distinguish tilt from acceleration."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful

Array = NDArray[np.float64]


class Inclinometer(Stateful):
    """Tilt about x and y from the specific force, smoothed by a first-order low-pass."""

    STATE = ("_time_ns", "_force")

    def __init__(self, smoothing_s: float) -> None:
        """smoothing_s: time constant; 0: no filter."""
        self.smoothing_s = smoothing_s
        self.reset()

    def reset(self) -> None:
        """Settle the filter at the next specific force."""
        self._time_ns: int | None = None
        self._force: Array = np.zeros(3)

    def feel(self, time_ns: int, force: Array) -> None:
        """Filter a specific force [m/s^2] in the sensor's axes, held since the last call."""
        if self._time_ns is None or self.smoothing_s == 0.0:
            self._force = force
        else:
            passed = (time_ns - self._time_ns) * 1e-9
            self._force = force + math.exp(-passed / self.smoothing_s) * (self._force - force)
        self._time_ns = time_ns

    @property
    def tilt(self) -> Array:
        """Roll and pitch [rad]: exact at rest, where the specific force is g along the world's z; 0 in free fall."""
        x, y, z = self._force.tolist()
        return np.array([math.atan2(y, z), math.atan2(-x, math.hypot(y, z))])
