"""Sequential scalar updates ([Sanjurjo] Eqs. 5.76-5.80) and chi-square gates for any error-state filter, in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from proving_ground.kernels.jit import part
from state_observer.vehicle.layout import WINDOW

LEAST_VARIANCE = 1e-14  # lower bound for an error state
INFLATION_RATE = 0.05  # growth of the noise inflation per sample
LARGEST_NIS = 30.0  # a larger NIS counts as this one
LEAST_INFLATION, LARGEST_INFLATION = -3.0, 9.0  # limits of the log of the inflation factor


@part
def normalised_square(covariance: Any, rows: Any, innovation: Any, variance: Any, count: int) -> float:
    """Joint NIS y' (H P H' + R)^-1 y of `count` readings, by Cholesky; infinite if not positive definite.

    rows: H, row by row; innovation: y; variance: diagonal of R.
    """
    size = covariance.shape[0]
    innovation_covariance = np.empty((count, count))
    across = np.empty(size)
    for i in range(count):
        for k in range(size):
            total = 0.0
            for j in range(size):
                if rows[i, j] != 0.0:
                    total += rows[i, j] * covariance[j, k]
            across[k] = total
        for m in range(i + 1):
            total = 0.0
            for k in range(size):
                total += across[k] * rows[m, k]
            innovation_covariance[i, m] = total + (variance[i] if i == m else 0.0)
    square = 0.0
    solved = np.empty(count)
    for i in range(count):
        for m in range(i + 1):
            total = innovation_covariance[i, m]
            for k in range(m):
                total -= innovation_covariance[i, k] * innovation_covariance[m, k]
            if i == m:
                if not total > 0.0:
                    return np.inf
                innovation_covariance[i, i] = np.sqrt(total)
            else:
                innovation_covariance[i, m] = total / innovation_covariance[m, m]
        total = innovation[i]
        for k in range(i):
            total -= innovation_covariance[i, k] * solved[k]
        solved[i] = total / innovation_covariance[i, i]
        square += solved[i] * solved[i]
    return square


@part
def apply_scalar(covariance: Any, row: Any, innovation: float, variance: float, error: Any) -> float:
    """Update error estimate and covariance with one reading; returns the innovation over its standard deviation.

    row: h, derivative of the reading by the error state; variance: of its noise.

    Joseph's form of [Sanjurjo] Eq. 5.80, P - K g' - g K' + S K K' with g = P h': symmetric, and rounding of K has no
    first-order effect.
    """
    size = covariance.shape[0]
    product = np.zeros(size)  # g
    for j in range(size):
        if row[j] != 0.0:
            for k in range(size):
                product[k] += row[j] * covariance[j, k]
    innovation_variance, expected = variance, 0.0
    for j in range(size):
        if row[j] != 0.0:
            innovation_variance += row[j] * product[j]
            expected += row[j] * error[j]
    rest = innovation - expected  # Eq. 5.76: relative to the error estimated so far
    gains = product / innovation_variance
    for i in range(size):
        error[i] += gains[i] * rest
        for j in range(i + 1):
            value = (
                covariance[i, j]
                - gains[i] * product[j]
                - product[i] * gains[j]
                + innovation_variance * gains[i] * gains[j]
            )
            covariance[i, j] = value
            covariance[j, i] = value
        if covariance[i, i] < LEAST_VARIANCE and product[i] != 0.0:  # disabled states stay disabled
            covariance[i, i] = LEAST_VARIANCE
    return float(rest / np.sqrt(innovation_variance))


@part
def fuse(now: Any, sensor: int, rows: Any, innovation: Any, variance: Any, count: int, gate: float, error: Any) -> bool:
    """Test readings jointly against a gate on their NIS (infinite: no gate), then apply them one by one.

    Returns whether they passed. now: the filter's record, with the covariance and the sensor's counts; error is
    updated. rows, innovation, variance: as for normalised_square.
    """
    tally, covariance = now, now.covariance
    square = normalised_square(covariance, rows, innovation, variance, count)
    tally.last_nis[sensor] = square
    if square < np.inf:
        tally.nis[sensor] += square
        tally.degrees_of_freedom[sensor] += count
        tally.recent[sensor] += (min(square, 1e3) / count - tally.recent[sensor]) / WINDOW
    if not square < gate:
        tally.gated[sensor] += 1.0
        tally.streak[sensor] += 1.0
        return False
    tally.used[sensor] += 1.0
    tally.streak[sensor] = 0.0
    for i in range(count):
        whitened = apply_scalar(covariance, rows[i], innovation[i], variance[i], error)
        if i < 4:
            tally.innovation[sensor, i] = whitened
    return True


@part
def doubt(tally: Any, sensor: int, patience: float, covariance: Any, first: int, count: int, variance: float) -> None:
    """A sensor rejected too often in a row may be right: widen the variance of the states it measures.

    After `patience` rejections, `variance` is added to that of `count` states from the index `first` on. Disabled
    states (variance 0) stay disabled.
    """
    if tally.streak[sensor] >= patience:
        tally.streak[sensor] = 0.0
        for k in range(first, first + count):
            if covariance[k, k] > 0.0:
                covariance[k, k] += variance


@part
def inflated(level: float, nis: float) -> float:
    """Log of the noise inflation: rises while the NIS (mean 1 if consistent) is too large, and falls otherwise.

    Noise is multiplied by its exponential: the model is trusted less while it errs more than expected.
    """
    return min(max(level + INFLATION_RATE * (min(nis, LARGEST_NIS) - 1.0), LEAST_INFLATION), LARGEST_INFLATION)


@part
def marginal_nis(covariance: Any, row: Any, innovation: float, variance: float) -> float:
    """NIS of one reading alone; arguments as for apply_scalar."""
    size, innovation_variance = covariance.shape[0], variance
    for j in range(size):
        if row[j] != 0.0:
            for k in range(size):
                innovation_variance += row[j] * covariance[j, k] * row[k]
    return innovation * innovation / innovation_variance


@part
def propagate_covariance(transition: Any, noise: Any, covariance: Any) -> None:
    """P = F P F' + Q with a diagonal Q, in place; F is mostly zeros."""
    size = covariance.shape[0]
    half = np.empty((size, size))
    for i in range(size):
        for k in range(size):
            half[i, k] = 0.0
        for j in range(size):
            factor = transition[i, j]
            if factor != 0.0:
                for k in range(size):
                    half[i, k] += factor * covariance[j, k]
    covariance[:, :] = 0.0
    for k in range(size):
        for j in range(size):
            factor = transition[k, j]
            if factor != 0.0:
                for i in range(k, size):
                    covariance[i, k] += half[i, j] * factor
    for i in range(size):
        covariance[i, i] += noise[i]
        for k in range(i):
            covariance[k, i] = covariance[i, k]
