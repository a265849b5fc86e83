"""Measurement errors: one model for all sensors, over channels of one unit.

measured = limited(quantised((1 + scale)(I + misalignment) true + bias + noise))

The bias is the sum of a constant one (drawn when the sensor starts), a first-order Gauss-Markov process (bias
instability) and a random walk. u is the unit of the channel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel
from proving_ground.saving.stateful import Stateful
from sensors.streams import stream

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ErrorParameters:
    """Standard deviations unless a comment says otherwise; all zero is a perfect sensor."""

    noise: float = 0.0  # white, of one sample [u]
    constant_bias: float = 0.0  # [u]
    drifting_bias: float = 0.0  # stationary, of the Gauss-Markov process [u]
    drift_time_s: float = 100.0  # its correlation time
    random_walk: float = 0.0  # growth [u/sqrt(s)]
    scale: float = 0.0  # [-]
    misalignment: float = 0.0  # cross-axis share, for three-axis channels [rad]
    resolution: float = 0.0  # quantisation step, not a deviation; 0: no rounding [u]
    limit: float = math.inf  # largest reading, not a deviation [u]

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not value >= 0.0 or (item.name != "limit" and not math.isfinite(value)):
                raise ValueError(f"{item.name}: must not be negative, got {value}")
        if self.drift_time_s <= 0.0 or self.limit <= 0.0:
            raise ValueError("drift_time_s and limit must be above 0")
        if self.limit < self.resolution:
            raise ValueError(f"limit: must not be below resolution ({self.resolution:g}), got {self.limit:g}")

    @cached_property
    def highest(self) -> float:
        """The largest reading: the last whole step of the resolution within the limit [u]."""
        if self.resolution == 0.0 or not math.isfinite(self.limit):
            return self.limit
        return math.floor(self.limit / self.resolution * (1.0 + 1e-12)) * self.resolution

    @cached_property
    def sizes(self) -> tuple[float, ...]:
        """Parameters in the order that the kernel expects."""
        biases = self.constant_bias, self.drifting_bias, self.drift_time_s, self.random_walk
        return *biases, self.scale, self.misalignment, self.noise, self.resolution, self.highest


# Rows of an ErrorModel's normalised draws; indices rather than views, which a copy of a model would lose.
CONSTANT, SCALE, DRIFT, WALK, SKEW = 0, 1, 2, 3, slice(4, None)


class ErrorModel(Stateful):
    """Errors of `size` channels over time. `reset` restarts with the same random numbers."""

    STATE = ("_noise", "_drifting", "_units", "_walked_s", "_time_ns")

    def __init__(self, parameters: ErrorParameters, size: int, seed: int, *names: str) -> None:
        """size: number of channels; seed, names: of the random stream, as in sensors.streams.stream."""
        self.parameters = parameters
        self._size, self._seed, self._names = size, seed, names
        self.reset()

    def reset(self) -> None:
        """Return to the initial state."""
        self._noise = stream(self._seed, *self._names, "noise")
        self._drifting = stream(self._seed, *self._names, "drift")
        # Drawn with unit deviation: a change of settings while running rescales them without new draws.
        constant = stream(self._seed, *self._names, "constant")
        self._units = np.zeros((4 + self._size, self._size))  # one array, the cheapest to pass to a kernel
        self._units[CONSTANT] = constant.normal(size=self._size)
        self._units[SCALE] = constant.normal(size=self._size)
        if self._size == 3:  # six angles: axes orthogonal neither to each other nor to the case
            self._units[SKEW] = constant.normal(size=(3, 3)) * (1.0 - np.eye(3))
        self._units[DRIFT] = self._drifting.normal(size=self._size)  # the process is stationary from the start
        self._walked_s = 0.0
        self._no_kicks = np.zeros((2, self._size))
        self._time_ns: int | None = None

    def bias(self) -> Array:
        """Bias at the last sample [u]; for tests and pictures, unknown to a real sensor."""
        return self._bias(self._units[DRIFT], self._units[WALK])

    def variance(self) -> float:
        """Error variance of a reading of zero: noise, bias and quantisation [u^2]; see also `variances`."""
        p = self.parameters
        walk = p.random_walk**2 * self._walked_s
        return p.noise**2 + p.constant_bias**2 + p.drifting_bias**2 + walk + p.resolution**2 / 12.0

    def variances(self, read: Array) -> Array:
        """Error variance of each channel of a reading [u^2], including scale and misalignment.

        To first order: scale acts on the channel itself, misalignment of three axes on the other two.
        """
        p = self.parameters
        out: Array = np.empty(self._size)
        _grown(self.variance(), p.scale**2, p.misalignment**2 if self._size == 3 else 0.0, read, out)
        return out

    def apply(self, time_ns: int, true: Array) -> Array:
        """The reading at a time; times must not go back without a reset."""
        p = self.parameters
        passed = 0.0 if self._time_ns is None else (time_ns - self._time_ns) * 1e-9
        self._time_ns = time_ns
        read: Array = np.empty(self._size)
        kicks = self._drifting.normal(size=(2, self._size)) if passed > 0.0 else self._no_kicks
        if passed > 0.0:
            self._walked_s += passed
        _apply(passed, kicks, p.sizes, self._units, self._noise.normal(size=self._size), true, read)
        return read

    def apply_still(self, time_ns: int, step_ns: int, count: int, true: Array) -> Array:
        """Readings (count x size) of a constant truth at a time and every step after it, to the bit as `apply`."""
        p = self.parameters
        if count < 1 or step_ns < 1:
            raise ValueError(f"count and step_ns: must be above 0, got {count} and {step_ns}")
        self._age(time_ns)
        passed = step_ns * 1e-9
        kicks = self._drifting.normal(size=(count - 1, 2, self._size))
        keeps = math.exp(-passed / p.drift_time_s)
        drift = np.concatenate([self._units[DRIFT][None], math.sqrt(1.0 - keeps * keeps) * kicks[:, 0]])
        _filter_rows(keeps, drift)
        walk: Array = np.cumsum(np.concatenate([self._units[WALK][None], math.sqrt(passed) * kicks[:, 1]]), axis=0)
        self._units[DRIFT], self._units[WALK] = drift[-1], walk[-1]
        self._walked_s += passed * (count - 1)
        self._time_ns = time_ns + step_ns * (count - 1)
        return self._read(true, self._bias(drift, walk), self._noise.normal(size=(count, self._size)))

    def within_range(self, read: Array) -> Array:
        """Clip readings changed by faults to the sensor's range. NaN stays."""
        return _clipped(read, self.parameters.highest)

    def is_clipped(self, read: Array) -> bool:
        """Whether a reading is at the limit."""
        return bool(_reaches(read, self.parameters.highest))

    def _bias(self, drift: Array, walk: Array) -> Array:
        p = self.parameters
        return np.asarray(p.constant_bias * self._units[CONSTANT] + p.drifting_bias * drift + p.random_walk * walk)

    def _read(self, true: Array, bias: Array, noise: Array) -> Array:
        p = self.parameters
        read = true + p.misalignment * (self._units[SKEW] @ true) if p.misalignment else true
        read = read * (1.0 + p.scale * self._units[SCALE]) + bias + p.noise * noise
        return limited(read, p.highest, p.resolution)

    def _age(self, time_ns: int) -> None:
        p = self.parameters
        passed = 0.0 if self._time_ns is None else (time_ns - self._time_ns) * 1e-9
        self._time_ns = time_ns
        if passed > 0.0:
            _age(
                passed,
                p.drift_time_s,
                self._drifting.normal(size=(2, self._size)),
                self._units[DRIFT],
                self._units[WALK],
            )
            self._walked_s += passed


def limited(values: Array, limit: float, resolution: float) -> Array:
    """Values rounded to a resolution (0: no rounding), within plus and minus a limit."""
    if resolution > 0.0:
        values = np.round(values / resolution) * resolution + 0.0  # no -0.0
    return _clipped(values, limit)


@kernel
def _clipped(values: Array, limit: float) -> Array:
    """Clip values of any shape; NaN stays."""
    return np.minimum(np.maximum(values, -limit), limit)


@kernel
def _reaches(values: Array, limit: float) -> bool:
    """Whether any value is at a limit or beyond."""
    reached = False
    for value in values:
        reached = reached or abs(value) >= limit
    return reached


@kernel
def _grown(variance: float, own: float, others: float, read: Array, out: Array) -> None:
    """A variance plus shares of the squares of a channel's own reading and of the others'."""
    total = 0.0
    for value in read:
        total += value * value
    for k in range(read.shape[0]):
        square = read[k] * read[k]
        out[k] = variance + own * square + others * (total - square)


@kernel
def _filter_rows(keeps: float, values: Array) -> None:
    """Add to each row a share of the row above, top down: first-order recursion."""
    for row in range(1, values.shape[0]):
        for column in range(values.shape[1]):
            values[row, column] = keeps * values[row - 1, column] + values[row, column]


@kernel
def _age(passed: float, drift_time: float, kicks: Array, drift: Array, walk: Array) -> None:
    """Drift and walk after some seconds, exact over any step."""
    if passed > 0.0:
        keeps = math.exp(-passed / drift_time)
        new, far = math.sqrt(1.0 - keeps * keeps), math.sqrt(passed)
        for k in range(drift.shape[0]):
            drift[k] = keeps * drift[k] + new * kicks[0, k]
            walk[k] = walk[k] + far * kicks[1, k]


@kernel
def _apply(
    passed: float, kicks: Array, sizes: tuple[float, ...], units: Array, noise: Array, true: Array, read: Array
) -> None:
    """Apply all errors to one reading, some seconds after the last; sizes and units as in apply_still."""
    constant_bias, drifting_bias, drift_time, random_walk, scale, misalignment, white, resolution, limit = sizes
    constant, scales, drift, walk = units[0], units[1], units[2], units[3]
    _age(passed, drift_time, kicks, drift, walk)
    size = true.shape[0]
    for k in range(size):
        value = true[k]
        if misalignment != 0.0:
            mixed = 0.0
            for j in range(size):
                mixed += units[4 + k, j] * true[j]
            value = value + misalignment * mixed
        bias = constant_bias * constant[k] + drifting_bias * drift[k] + random_walk * walk[k]
        value = value * (1.0 + scale * scales[k]) + bias + white * noise[k]
        if resolution > 0.0:
            value = np.rint(value / resolution) * resolution + 0.0  # no -0.0
        if value > limit:
            value = limit
        elif value < -limit:
            value = -limit
        read[k] = value
