"""Figures of merit of a run: accuracy, consistency of the covariance, whiteness of the innovations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from state_observer.filters.observer import Run
from state_observer.linkages.simulation import Trajectory

Array = NDArray[np.float64]

NORMAL_95 = 1.959964  # standard deviations that contain 95 % of a normal distribution
LAGS = 20
SLOW_SHARE = 0.125  # lowest eighth of all frequencies


class Merit(NamedTuple):
    """Figures of one run; NaN if not available."""

    rms: float  # [rad] crank angles, mean over cranks; NaN if the run ended early
    rms_per_crank: tuple[float, ...]
    rate_rms: float  # [rad/s]
    nees: float  # squared error over covariance, per state; 1 is consistent, more is overconfident
    nis: float  # squared innovation over its covariance, per sensor; 1 is consistent
    coverage: float  # share of crank angles inside their 95 % interval
    white_lags: float  # share of autocorrelations inside their 95 % band; 0.95 is white
    slow_power: float  # PSD of innovations in the lowest eighth of frequencies over its mean; 1 is white
    largest_gap: float  # largest constraint violation after corrections
    ended_at_s: float
    ending: str


def merit(run: Run, truth: Trajectory, step: float) -> Merit:
    """Figures of a run against the true motion."""
    steps = len(run.angles)
    nothing = float("nan")
    if steps == 0:
        return Merit(nothing, (nothing,) * truth.cranks, *(nothing,) * 7, 0.0, run.ending)
    angle_errors = run.angles - truth.angles[:steps]
    rate_errors = run.rates - truth.rates[:steps]
    per_crank = np.sqrt(np.mean(angle_errors**2, axis=0))
    errors = np.hstack([angle_errors, rate_errors])
    deviations = np.sqrt(np.diagonal(run.covariances, axis1=1, axis2=2)[:, : truth.cranks])
    white_lags, slow_power = whiteness(normalised_innovations(run))
    gaps = run.gaps[np.isfinite(run.gaps)]
    return Merit(
        rms=float(per_crank.mean()) if run.is_sound else nothing,
        rms_per_crank=tuple(per_crank.tolist()),
        rate_rms=float(np.sqrt(np.mean(rate_errors**2))),
        nees=normalised_square(errors, run.covariances),
        nis=normalised_square(run.innovations, run.innovation_covariances),
        coverage=float(np.mean(np.abs(angle_errors) < NORMAL_95 * deviations)),
        white_lags=white_lags,
        slow_power=slow_power,
        largest_gap=float(gaps.max()) if gaps.size else nothing,
        ended_at_s=steps * step,
        ending=run.ending,
    )


def normalised_square(errors: Array, covariances: Array) -> float:
    """Mean of e' P^-1 e over its dimension, where both are known: NEES of states, NIS of innovations."""
    known = np.all(np.isfinite(errors), axis=1)
    if not known.any():
        return float("nan")
    solved = np.linalg.solve(covariances[known], errors[known][..., None])[..., 0]
    return float(np.mean(np.sum(errors[known] * solved, axis=1)) / errors.shape[1])


def normalised_innovations(run: Run) -> Array:
    """Innovations over their expected standard deviation, one row per reading."""
    known = np.all(np.isfinite(run.innovations), axis=1)
    deviations = np.sqrt(np.diagonal(run.innovation_covariances[known], axis1=1, axis2=2))
    result: Array = run.innovations[known] / deviations
    return result


def whiteness(innovations: Array) -> tuple[float, float]:
    """Share of autocorrelations in the band of white noise, and the power at low frequencies over the mean power."""
    count = len(innovations)
    if count <= 4 * LAGS:
        return float("nan"), float("nan")
    centred = innovations - innovations.mean(axis=0)
    power = np.sum(centred**2, axis=0)
    correlations = [np.sum(centred[lag:] * centred[:-lag], axis=0) / power for lag in range(1, LAGS + 1)]
    inside = np.abs(np.array(correlations)) < NORMAL_95 / np.sqrt(count)
    frequencies, density = innovation_psd(innovations, 1.0)
    is_slow = frequencies <= SLOW_SHARE * frequencies[-1]
    return float(inside.mean()), float(density[is_slow].mean() / density.mean())


def innovation_psd(innovations: Array, rate_hz: float) -> tuple[Array, Array]:
    """Welch's power spectral density, mean over sensors; the mean (a bias) is kept and shows at 0 Hz."""
    length = min(256, len(innovations))
    frequencies, density = scipy.signal.welch(innovations, rate_hz, nperseg=length, axis=0, detrend=False)
    return frequencies, density.mean(axis=1)
