"""What makes a measurement differ from the truth: one model for all sensors, over channels of one unit.

measured = quantised(limited((I + misalignment)(1 + scale) true + bias + noise))

The bias is the sum of a constant one (drawn when the sensor starts), a first-order Gauss-Markov process (bias
instability) and a random walk. Units: u is the channel's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from sensors.streams import stream

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ErrorParameters:
    """Standard deviations unless a comment says otherwise; all zero is a perfect sensor."""

    noise: float = 0.0  # white, of one sample [u]
    constant_bias: float = 0.0  # [u]
    drifting_bias: float = 0.0  # of the Gauss-Markov process at all times [u]
    drift_time_s: float = 100.0  # its correlation time
    random_walk: float = 0.0  # growth of the random walk [u/sqrt(s)]
    scale: float = 0.0  # [-]
    misalignment: float = 0.0  # of each small angle between axes, for channels that are three axes [rad]
    resolution: float = 0.0  # step of the reading, not a deviation; 0 is none [u]
    limit: float = math.inf  # largest reading, not a deviation [u]

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not value >= 0.0 or (item.name != "limit" and not math.isfinite(value)):
                raise ValueError(f"{item.name}: must not be negative, got {value}")
        if self.drift_time_s <= 0.0 or self.limit <= 0.0:
            raise ValueError("drift_time_s and limit must be above 0")


class ErrorModel:
    """The errors of `size` channels, in time. `reset` begins anew with the same random numbers."""

    def __init__(self, parameters: ErrorParameters, size: int, seed: int, *names: str) -> None:
        """names: whose random numbers, as in sensors.streams.stream."""
        self.parameters = parameters
        self._size, self._seed, self._names = size, seed, names
        self.reset()

    def reset(self) -> None:
        """As at the start."""
        self._noise = stream(self._seed, *self._names, "noise")
        self._drifting = stream(self._seed, *self._names, "drift")
        # Drawn as unit numbers: settings that change while a sensor runs scale them and draw none anew.
        constant = stream(self._seed, *self._names, "constant")
        self._constant = constant.normal(size=self._size)
        self._scale = constant.normal(size=self._size)
        self._skew = np.zeros((self._size, self._size))
        if self._size == 3:
            x, y, z = constant.normal(size=3)
            self._skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        self._drift = self._drifting.normal(size=self._size)  # the process is as old as the world
        self._walk = np.zeros(self._size)
        self._time_ns: int | None = None

    def bias(self) -> Array:
        """The bias at the last sample [u]; of tests and pictures, no real sensor tells."""
        p = self.parameters
        return np.asarray(p.constant_bias * self._constant + p.drifting_bias * self._drift + p.random_walk * self._walk)

    def apply(self, time_ns: int, true: Array) -> Array:
        """The reading at a time; times must not go back without a reset."""
        p = self.parameters
        self._age(time_ns)
        read = true + p.misalignment * (self._skew @ true) if p.misalignment else true
        read = read * (1.0 + p.scale * self._scale) + self.bias() + p.noise * self._noise.normal(size=self._size)
        return limited(read, p.limit, p.resolution)

    def is_clipped(self, read: Array) -> bool:
        """Whether a reading is at the limit."""
        return bool((np.abs(read) >= self.parameters.limit - self.parameters.resolution).any())

    def _age(self, time_ns: int) -> None:
        p = self.parameters
        passed = 0.0 if self._time_ns is None else (time_ns - self._time_ns) * 1e-9
        self._time_ns = time_ns
        if passed > 0.0:
            kicks = self._drifting.normal(size=(2, self._size))
            keeps = math.exp(-passed / p.drift_time_s)  # exact over any step
            self._drift = keeps * self._drift + math.sqrt(1.0 - keeps * keeps) * kicks[0]
            self._walk = self._walk + math.sqrt(passed) * kicks[1]


def limited(values: Array, limit: float, resolution: float) -> Array:
    """Within plus and minus a limit, in whole steps of a resolution (0: none)."""
    if math.isfinite(limit):
        values = np.clip(values, -limit, limit)
    return np.round(values / resolution) * resolution if resolution > 0.0 else values
