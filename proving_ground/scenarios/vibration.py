"""Vibration of people in a vehicle: absorbed power, ISO 2631-1 weighting, filtered peaks. Pure functions of series.

Filters act on the spectrum of the whole series, zero before it and fading after it: their response is exact at
every frequency below half the rate, without the warping of a bilinear transform.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FOOT = 0.3048  # [m]
SETTLED_S = 20.0  # after which the slowest filter, 0.4 Hz, has forgotten its input
FADE_S = 1.0  # of what follows a series
HORIZONTAL_SHARE = 1.4  # of the axes in the total, ISO 2631-1, 6.5


class Filter(NamedTuple):
    """A filter as factors of its transfer function, each a polynomial in s with the highest power first."""

    numerator: tuple[tuple[float, ...], ...]
    denominator: tuple[tuple[float, ...], ...]

    def response(self, hertz: Array) -> NDArray[np.complex128]:
        """Output over input at frequencies [Hz]."""
        s = 2j * math.pi * np.asarray(hertz, np.float64)
        above, below = (
            functools.reduce(np.multiply, (np.polyval(factor, s) for factor in factors), np.ones_like(s))
            for factors in (self.numerator, self.denominator)
        )
        return np.asarray(above / below)

    def filtered(self, values: Array, step_s: float) -> Array:
        """The filtered series; values are step_s [s] apart."""
        from scipy.fft import irfft, next_fast_len, rfft, rfftfreq  # slow to import

        fade = 0.5 * (1.0 + np.cos(np.pi * np.arange(0.0, FADE_S, step_s) / FADE_S))  # an abrupt end would ring back
        count = next_fast_len(len(values) + math.ceil(SETTLED_S / step_s), real=True)
        spectrum = rfft(np.concatenate([values, values[-1] * fade]), count) * self.response(rfftfreq(count, step_s))
        return np.asarray(irfft(spectrum, count)[: len(values)])

    def __mul__(self, other: Filter) -> Filter:  # type: ignore[override]
        """One filter after the other."""
        return Filter(self.numerator + other.numerator, self.denominator + other.denominator)


def low_pass(hertz: float, order: int) -> Filter:
    """Butterworth low pass of an even order."""
    w = 2.0 * math.pi * hertz
    quality = [2.0 * math.sin((2 * k + 1) * math.pi / (2 * order)) for k in range(order // 2)]
    return Filter(((w * w,),) * (order // 2), tuple((1.0, damping * w, w * w) for damping in quality))


def _high_pass(hertz: float) -> Filter:
    w = 2.0 * math.pi * hertz
    return Filter(((1.0, 0.0, 0.0),), ((1.0, math.sqrt(2.0) * w, w * w),))


def _transition(hertz: float, quality: float) -> Filter:
    """From acceleration to velocity above a frequency, ISO 2631-1 Annex A."""
    w = 2.0 * math.pi * hertz
    return Filter(((1.0 / w, 1.0),), ((1.0 / w**2, 1.0 / (quality * w), 1.0),))


def _step_up(low_hertz: float, high_hertz: float, quality: float) -> Filter:
    """A step to 1 from (low/high)^2, ISO 2631-1 Annex A."""
    low, high = 2.0 * math.pi * low_hertz, 2.0 * math.pi * high_hertz
    return Filter(((1.0, low / quality, low**2),), ((1.0, high / quality, high**2),))


# ISO 2631-1:1997, Annex A.
_BAND = _high_pass(0.4) * low_pass(100.0, 2)
VERTICAL = _BAND * _transition(12.5, 0.63) * _step_up(2.37, 3.35, 0.91)  # W_k
HORIZONTAL = _BAND * _transition(2.0, 0.63)  # W_d
# Pradko and Lee 1966, vertical: root of the power [W^0.5] from the acceleration of the seat [ft/s^2].
ABSORBED = Filter(((14.5, 0.0), (1.0, 44.0)), ((1.0, 63.0), (1.0, 24.0, 750.0)))
SHOCK = low_pass(30.0, 4)  # of NRMM's limit of 2.5 g over an obstacle


def absorbed_power(up: Array, step_s: float) -> Array:
    """Power that a seated person absorbs at each instant [W]; up: vertical acceleration of the seat [m/s^2].

    Its mean over a course is the figure that is limited to 6 W.
    """
    return np.asarray(ABSORBED.filtered(up / FOOT, step_s) ** 2)


def weighted(acceleration: Array, step_s: float) -> Array:
    """Acceleration of the seat [m/s^2], n x 3 (forward, left, up), weighted axis by axis by ISO 2631-1."""
    filters = (HORIZONTAL, HORIZONTAL, VERTICAL)
    return np.column_stack([one.filtered(acceleration[:, axis], step_s) for axis, one in enumerate(filters)])


def total_of(weighted_acceleration: Array) -> Array:
    """Total of three weighted axes at each instant [m/s^2]; its root mean square is a_wv of ISO 2631-1."""
    shares = np.array([HORIZONTAL_SHARE, HORIZONTAL_SHARE, 1.0])
    return np.asarray(np.linalg.norm(shares * weighted_acceleration, axis=1))


def root_mean_square(values: Array) -> float:
    """Root mean square of a series."""
    return float(np.sqrt(np.mean(values**2)))


def crest_factor(weighted_axis: Array) -> float:
    """Peak over root mean square of one weighted axis (ISO 2631-1, 6.2.1); 0 for a series of zeros."""
    level = root_mean_square(weighted_axis)
    return float(np.abs(weighted_axis).max()) / level if level > 0.0 else 0.0


def vibration_dose(weighted_axis: Array, step_s: float) -> float:
    """Vibration dose value of one weighted axis [m/s^1.75]: fourth root of the integral (ISO 2631-1, 6.3.2)."""
    return float((np.sum(weighted_axis**4) * step_s) ** 0.25)


def peak_acceleration(up: Array, step_s: float) -> float:
    """Largest magnitude of the vertical acceleration below 30 Hz [m/s^2], as NRMM limits it over obstacles."""
    return float(np.abs(SHOCK.filtered(up, step_s)).max())
