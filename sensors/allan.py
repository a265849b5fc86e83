"""Allan deviation: difference of the means over successive averaging times.

The convention is IEEE Std 952: white noise of density N [u/sqrt(Hz)] has N / sqrt(tau), so N is read at 1 s; N^2 is the
two-sided spectral density. Data sheets that give one-sided densities from a spectrum state sqrt(2) N.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensors.errors import ErrorParameters

Array = NDArray[np.float64]

# A Gauss-Markov process of unit deviation has its largest Allan deviation, FLAT, at FLAT_AT correlation times, where
# the derivative of gauss_markov_deviation is zero. IEEE Std 952 gives it as 0.437 q sqrt(T) at 1.89 T; driving noise q
# gives the deviation q sqrt(T / 2).
FLAT = 0.6173642831444415
FLAT_AT = 1.8926178354517893


class AllanCurve(NamedTuple):
    """Allan deviation of one or several channels of equal length."""

    tau: Array  # averaging times [s]
    deviation: Array  # tau x channels [u]
    degrees_of_freedom: Array  # degrees of freedom of each channel's variance, a lower bound

    def interval(self, expected: Array, confidence: float, channels: int = 1) -> tuple[Array, Array]:
        """Lower and upper bound of a measured deviation, with a confidence from 0 to 1, if `expected` is the true one.

        channels: number of channels whose mean square was measured.
        """
        degrees_of_freedom = self.degrees_of_freedom * channels
        tail = 0.5 * (1.0 - confidence)
        from scipy.stats import chi2  # slow to import, and nodes do not need it

        low, high = (np.sqrt(chi2.ppf(share, degrees_of_freedom) / degrees_of_freedom) for share in (tail, 1.0 - tail))
        return expected * low, expected * high


def allan_deviation(readings: Array, rate_hz: float, per_decade: int = 10) -> AllanCurve:
    """Overlapping Allan deviation of readings (count, or count x channels), per_decade values of tau in each decade.

    Raises ValueError for fewer than 9 readings or any that is not finite.
    """
    values = readings[:, None] if readings.ndim == 1 else readings
    count = len(values)
    if count < 9 or not np.isfinite(values).all():
        raise ValueError(f"readings: must be at least 9 finite ones, got {count}")
    largest = count // 3
    factors = np.unique(np.geomspace(1, largest, math.ceil(per_decade * math.log10(largest)) + 1).astype(int))
    sums = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values - values.mean(axis=0), axis=0)])
    deviation = np.empty((len(factors), values.shape[1]))
    for row, m in enumerate(factors.tolist()):
        step = sums[2 * m :] - 2.0 * sums[m:-m] + sums[: -2 * m]  # m times the difference of neighbouring means
        deviation[row] = np.sqrt(np.einsum("ij,ij->j", step, step) / (2.0 * m * m * len(step)))
    return AllanCurve(factors / rate_hz, deviation, _freedom(count, factors))


def expected_deviation(parameters: ErrorParameters, rate_hz: float, tau: ArrayLike) -> Array:
    """Expected Allan deviation of a sensor at rest [u]: white noise, drift and random walk.

    Quantisation counts as white noise, valid if the noise is not much smaller than a step. Rates are assumed well above
    1 / drift_time_s.
    """
    p, at = parameters, np.asarray(tau, dtype=float)
    white = p.noise**2 + p.resolution**2 / 12.0
    # A mean of m samples differs from a continuous mean: the sum of differences of a walk with variance q per sample
    # gives q (2 m^2 + 1) / (6 m): q m / 3 as in the standard, plus q / (6 m). Between samples a drift is a walk too.
    step = (p.random_walk**2 + 2.0 * p.drifting_bias**2 / p.drift_time_s) / rate_hz
    drift = (p.drifting_bias * gauss_markov_deviation(at / p.drift_time_s)) ** 2
    return np.asarray(np.sqrt((white + step / 6.0) / (rate_hz * at) + drift + p.random_walk**2 * at / 3.0))


def gauss_markov_deviation(tau: ArrayLike) -> Array:
    """Allan deviation of exponentially correlated noise of unit deviation and correlation time (IEEE Std 952, Annex C).

    sigma^2 = (2 / tau) (1 - (3 - 4 exp(-tau) + exp(-2 tau)) / (2 tau)); 2 tau / 3 for small tau.
    """
    at = np.asarray(tau, dtype=float)
    safe = np.maximum(at, 1e-3)
    bracket = 1.0 - (3.0 - 4.0 * np.exp(-safe) + np.exp(-2.0 * safe)) / (2.0 * safe)
    # For small tau the bracket is a difference of nearly equal numbers; its series is tau^2 / 3 - tau^3 / 4.
    return np.asarray(np.sqrt(np.where(at < 1e-3, 2.0 * at / 3.0 - at * at / 2.0, 2.0 / safe * bracket)))


def drift_of_instability(bias_instability: float) -> float:
    """Standard deviation of the Gauss-Markov bias whose Allan deviation is flat at the bias instability [u].

    Data sheets read the flat part off their curves; in IEEE Std 952 it is 0.664 B for flicker noise B.
    """
    return bias_instability / FLAT


def _freedom(count: int, factors: NDArray[np.int64]) -> Array:
    """Degrees of freedom: the smaller of white noise and random walk (Riley, NIST SP 1065, Section 5.4.1), at least 1.

    Both use `count + 1` sums; drifts lie between the two.
    """
    n, m = float(count + 1), factors.astype(float)
    white = (1.5 * (n - 1.0) / m - 2.0 * (n - 2.0) / n) * 4.0 * m**2 / (4.0 * m**2 + 5.0)
    walk = (n - 2.0) / m * ((n - 1.0) ** 2 - 3.0 * m * (n - 1.0) + 4.0 * m**2) / (n - 3.0) ** 2
    return np.asarray(np.maximum(np.minimum(white, walk), 1.0))
