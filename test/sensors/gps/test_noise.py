"""Errors match settings and covariance. Intervals hold with a probability of 99.9 %; seeds are fixed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from proving_ground.settings import build
from proving_ground.settings.nested import load_preset
from sensors.gps import Gps, GpsSettings
from sensors.samples import GpsSample
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]
Moving = Callable[..., BaseMotion]
Drive = Callable[..., list[GpsSample]]

OUTSIDE = 1e-3  # share of seeds whose statistics would be outside the intervals
COUNT = 5000
SLOW = {"correlated_share": 0.6, "correlation_time_s": 10.0, "mount.xyz_m": [0.0, 0.0, 0.0]}


class West:
    """A sky whose east is hidden."""

    def is_blocked(self, origin: Array, directions: Array) -> NDArray[np.bool_]:
        return np.asarray(directions[:, 0] > 0.1)


def errors_of(gps: Gps, samples: list[GpsSample]) -> tuple[Array, Array]:
    """Errors of position [m] and velocity [m/s], n x 3, of a vehicle at rest at the origin."""
    positions = gps.frame.enu_from_geodetic([sample[2:5] for sample in samples])
    return positions - gps.mounting.arm, np.array([sample.velocity for sample in samples])


def assert_deviation(errors: Array, deviation: float) -> None:
    """Independent errors have zero mean and this standard deviation."""
    count = len(errors)
    assert abs(errors.mean()) < stats.norm.isf(OUTSIDE / 2.0) * deviation / math.sqrt(count)
    low, high = stats.chi2.ppf([OUTSIDE / 2.0, 1.0 - OUTSIDE / 2.0], count)
    assert low < (errors**2).sum() / deviation**2 < high


def assert_correlation(first: Array, second: Array, expected: float) -> None:
    """Correlation of independent pairs: Fisher's z."""
    found = np.corrcoef(first, second)[0, 1]
    margin = stats.norm.isf(OUTSIDE / 2.0) / math.sqrt(len(first) - 3)
    assert abs(math.atanh(found) - math.atanh(expected)) < margin


@pytest.mark.parametrize(("preset", "horizontal", "vertical"), [("rtk", 0.01, 0.02), ("low_cost", 1.263, 2.551)])
def test_errors_have_the_deviations_of_the_preset(
    moving: Moving, drive: Drive, preset: str, horizontal: float, vertical: float
) -> None:
    settings = load_preset(GpsSettings, preset)
    gps = Gps(settings, seed=11)

    period_ns = round(1e9 / settings.rate_hz)
    samples = drive(gps, moving(), until_s=COUNT * period_ns * 1e-9, tick_ns=period_ns)

    position, velocity = errors_of(gps, samples)
    assert len(position) == COUNT
    for axis, deviation in enumerate((horizontal, horizontal, vertical)):
        assert_deviation(position[:, axis], deviation)
        assert_deviation(velocity[:, axis], 0.05)
        assert samples[0].variance[axis] == pytest.approx(deviation**2)
        assert samples[0].velocity_variance[axis] == pytest.approx(0.05**2)


def test_low_cost_horizontal_error_is_that_of_sanjurjo(moving: Moving, drive: Drive) -> None:
    gps = Gps(load_preset(GpsSettings, "low_cost"), seed=12)

    position, _ = errors_of(gps, drive(gps, moving(), until_s=COUNT / 5, tick_ns=200_000_000))

    squares = (position[:, :2] ** 2).sum()  # over the variance of an axis: chi-square of 2 n degrees of freedom
    low, high = stats.chi2.ppf([OUTSIDE / 2.0, 1.0 - OUTSIDE / 2.0], 2 * COUNT) * 1.786**2 / 2.0
    assert low < squares < high


def test_white_errors_are_uncorrelated(moving: Moving, drive: Drive) -> None:
    gps = Gps(GpsSettings(), seed=13)

    position, velocity = errors_of(gps, drive(gps, moving(), until_s=COUNT / 5, tick_ns=200_000_000))

    everything = np.hstack((position, velocity))
    for first in range(6):
        assert_correlation(everything[:-1, first], everything[1:, first], 0.0)  # successive samples
        for second in range(first):
            assert_correlation(everything[:, first], everything[:, second], 0.0)


def test_slow_errors_decorrelate_with_their_correlation_time_and_keep_their_variance(moving: Moving) -> None:
    settings = build(GpsSettings, SLOW)
    lags_s = (0.0, 0.2, 5.0, 20.0)
    position = []  # receivers, independent of each other, x lags x axes
    for seed in range(800):
        gps = Gps(settings, seed=seed)
        samples = [sample for lag in lags_s for sample in gps.update(round(lag * 1e9), moving())]
        position.append(errors_of(gps, samples)[0])
    errors = np.array(position) / [1.263, 1.263, 2.551]

    for index, lag in enumerate(lags_s):
        assert_deviation(errors[:, index].ravel(), 1.0)  # the total always matches the covariance
        if index:
            assert_correlation(errors[:, 0].ravel(), errors[:, index].ravel(), 0.6 * math.exp(-lag / 10.0))


def test_slow_errors_do_not_affect_the_doppler_velocity(moving: Moving, drive: Drive) -> None:
    gps = Gps(build(GpsSettings, SLOW), seed=15)

    _, velocity = errors_of(gps, drive(gps, moving(), until_s=COUNT / 5, tick_ns=200_000_000))

    assert_deviation(velocity.ravel(), 0.05)
    assert_correlation(velocity[:-1].ravel(), velocity[1:].ravel(), 0.0)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_covariance_is_consistent_under_half_a_sky(moving: Moving, share: float) -> None:
    settings = build(GpsSettings, {"needs_sky": True, "correlated_share": share})
    normalised = []
    for seed in range(800):
        gps = Gps(settings, seed=seed, sky=West())
        samples = gps.update(0, moving())
        position, velocity = errors_of(gps, samples)
        assert samples[0].variance[0] > 2.0 * 1.263**2  # not an open sky
        variances = np.concatenate((samples[0].variance, samples[0].velocity_variance))
        normalised.append(np.concatenate((position[0], velocity[0])) / np.sqrt(variances))

    for axis in range(6):
        assert_deviation(np.array(normalised)[:, axis], 1.0)


def test_changing_deviations_while_running_scales_the_same_errors(moving: Moving, drive: Drive) -> None:
    usual, changed = Gps(GpsSettings(), seed=16), Gps(GpsSettings(), seed=16)
    drive(usual, moving(), until_s=10.0)
    drive(changed, moving(), until_s=10.0)

    changed.change(GpsSettings(horizontal_std_m=2.0 * 1.263))

    expected, _ = errors_of(usual, drive(usual, moving(), since_s=10.0, until_s=20.0))
    found, _ = errors_of(changed, drive(changed, moving(), since_s=10.0, until_s=20.0))
    np.testing.assert_allclose(found, expected * [2.0, 2.0, 1.0], atol=1e-6)
