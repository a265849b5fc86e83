"""Statistical checks shared by the sensor tests, and a vehicle at rest."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]

# Seeds are fixed, so tests are deterministic. A correct model fails a test for one seed in a thousand.
CONFIDENCE = 0.999
BOUND = float(norm.ppf(0.5 + 0.5 * CONFIDENCE))  # of a normal variable, in standard deviations


@pytest.fixture(scope="session")
def has_deviation() -> Callable[[Array, float], bool]:
    """Whether independent normal samples of mean 0 can have this standard deviation: chi-square interval, 99.9 %."""

    def judge(values: Array, deviation: float) -> bool:
        low, high = chi2.interval(CONFIDENCE, values.size)
        return bool(low <= float((values**2).sum()) / deviation**2 <= high)

    return judge


@pytest.fixture(scope="session")
def has_correlation() -> Callable[[Array, Array, float], bool]:
    """Whether pairs of normal samples can have this correlation: Fisher's z, 99.9 %."""

    def judge(first: Array, second: Array, correlation: float) -> bool:
        found = float(np.corrcoef(first, second)[0, 1])
        margin = BOUND / math.sqrt(first.size - 3)
        return abs(math.atanh(found) - math.atanh(correlation)) <= margin

    return judge


@pytest.fixture(scope="session")
def has_share() -> Callable[[int, int, float], bool]:
    """Whether `count` of `total` events can have this probability: normal interval, 99.9 %."""

    def judge(count: int, total: int, share: float) -> bool:
        margin = BOUND * math.sqrt(share * (1.0 - share) * total)
        return abs(count - share * total) <= margin

    return judge


@pytest.fixture(scope="session")
def at_rest() -> BaseMotion:
    """A vehicle at rest on level ground, facing east."""
    still = (0.0, 0.0, 0.0)
    return BaseMotion(still, (0.0, 0.0, 0.0, 1.0), still, still, still, still)
