"""Allan deviation: against a slow one written from the definition, closed forms, and an hour of a simulated IMU."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from proving_ground.settings.nested import load_preset
from sensors.allan import (
    FLAT,
    FLAT_AT,
    allan_deviation,
    drift_of_instability,
    expected_deviation,
    gauss_markov_deviation,
)
from sensors.errors import ErrorModel, ErrorParameters
from sensors.imu import Imu, ImuSettings
from sensors.imu.settings import DPH, DPS, UG
from sensors.streams import stream
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]

CONFIDENCE = 0.999
HOUR = 360_000  # samples at 100 Hz


def test_it_matches_the_definition() -> None:
    values = stream(1, "allan").normal(size=200).cumsum()
    curve = allan_deviation(values, rate_hz=4.0)

    for tau, found in zip(curve.tau, curve.deviation[:, 0], strict=True):
        m = round(tau * 4.0)
        means = np.array([values[k : k + m].mean() for k in range(len(values) - m + 1)])
        assert found == pytest.approx(math.sqrt(0.5 * np.mean((means[m:] - means[:-m]) ** 2)), rel=1e-9)


def test_taus_go_from_one_sample_to_a_third_of_the_record_evenly_on_a_log_axis() -> None:
    curve = allan_deviation(np.arange(9000.0) % 7.0, rate_hz=10.0, per_decade=8)

    assert curve.tau[0] == 0.1
    assert curve.tau[-1] == 300.0
    assert np.diff(np.log10(curve.tau[15:])).max() < 0.14


def test_a_ramp_has_the_deviation_of_a_ramp() -> None:
    curve = allan_deviation(0.03 * np.arange(1000.0), rate_hz=10.0)
    assert_allclose(curve.deviation[:, 0], 0.3 * curve.tau / math.sqrt(2.0), rtol=1e-6)  # IEEE Std 952, rate ramp


@pytest.mark.parametrize("tau", [0.05, 0.7, FLAT_AT, 12.0])
def test_gauss_markov_curve_is_the_integral_of_its_correlation(tau: float) -> None:
    def overlap(shift: float) -> float:
        """Covariance of means over tau that begin a shift apart."""
        value, _ = quad(lambda lag: (tau - abs(lag)) * math.exp(-abs(lag + shift)) / tau**2, -tau, tau, points=[0.0])
        return float(value)

    # Half the mean square of the difference of successive means.
    assert gauss_markov_deviation(tau) ** 2 == pytest.approx(overlap(0.0) - overlap(tau), rel=1e-7)


def test_gauss_markov_curve_is_smooth_where_its_series_begins() -> None:
    assert gauss_markov_deviation(0.999999e-3) == pytest.approx(float(gauss_markov_deviation(1.000001e-3)), rel=1e-5)
    assert gauss_markov_deviation(1e-9) == pytest.approx(math.sqrt(2e-9 / 3.0), rel=1e-6)


def test_the_flat_part_is_where_the_curve_is_largest() -> None:
    found = minimize_scalar(lambda tau: -float(gauss_markov_deviation(tau)), bounds=(0.5, 5.0), method="bounded")

    assert found.x == pytest.approx(FLAT_AT, rel=1e-4)
    assert -found.fun == pytest.approx(FLAT, rel=1e-12)
    assert math.isclose(FLAT, 0.437 * math.sqrt(2.0), rel_tol=2e-3)  # as in IEEE Std 952


def judged(
    readings: Array, parameters: ErrorParameters, rate: float, per_decade: int = 5
) -> tuple[Array, Array, Array, Array]:
    """Taus, deviation over all channels, and its interval with CONFIDENCE."""
    curve = allan_deviation(readings, rate, per_decade)
    found = np.sqrt((curve.deviation**2).mean(axis=1))
    low, high = curve.interval(expected_deviation(parameters, rate, curve.tau), CONFIDENCE, readings.shape[1])
    return curve.tau, found, low, high


@pytest.mark.parametrize(
    "parameters",
    [
        ErrorParameters(noise=0.3),
        ErrorParameters(drifting_bias=0.2, drift_time_s=30.0),
        ErrorParameters(random_walk=0.05),
        ErrorParameters(noise=0.3, resolution=0.4),
        ErrorParameters(noise=0.3, drifting_bias=0.05, drift_time_s=100.0, random_walk=0.002, constant_bias=9.0),
    ],
    ids=["white", "drift", "walk", "steps", "all"],
)
def test_each_kind_of_error_has_its_expected_curve(parameters: ErrorParameters) -> None:
    readings = ErrorModel(parameters, 40, 3, "sensor").apply_still(0, 100_000_000, 20_000, np.zeros(40))
    _, found, low, high = judged(readings, parameters, rate=10.0)

    assert ((low <= found) & (found <= high)).all(), np.c_[low, found, high]


@pytest.mark.parametrize("grade", ["consumer_mems", "industrial_mems", "tactical"])
def test_a_static_hour_shows_the_configured_curve(grade: str, at_rest: BaseMotion) -> None:
    settings = load_preset(ImuSettings, grade)
    angular_velocity, force = Imu(settings, seed=1).still(0, HOUR, at_rest)

    for readings, parameters in ((angular_velocity, settings.gyro_errors()), (force, settings.accel_errors())):
        tau, found, low, high = judged(readings, parameters, rate=100.0)
        assert ((low <= found) & (found <= high)).all(), np.c_[tau, low, found, high]


def test_a_static_hour_recovers_density_and_bias_instability(at_rest: BaseMotion) -> None:
    # An hour has few intervals of 200 s; with 25 s it has enough to find the flat part within a few per cent.
    settings = dataclasses.replace(
        load_preset(ImuSettings, "industrial_mems"),
        gyro_bias_correlation_s=25.0, accel_bias_correlation_s=25.0, gyro_bias_instability_dph=20.0,
        gyro_random_walk_dph_per_rth=0.0, accel_random_walk_ug_per_rth=0.0,
    )  # fmt: skip
    angular_velocity, force = Imu(settings, seed=2).still(0, HOUR, at_rest)
    in_units = ((angular_velocity / DPS, 0.005, 20.0 * DPH / DPS), (force / UG, 60.0, 40.0))

    for readings, density, instability in in_units:
        curve = allan_deviation(readings, 100.0, per_decade=20)
        found = np.sqrt((curve.deviation**2).mean(axis=1))

        second = int(np.abs(curve.tau - 1.0).argmin())
        drift = instability * gauss_markov_deviation(curve.tau[second] / 25.0) / FLAT
        white = math.sqrt((found[second] ** 2 - drift**2) * curve.tau[second])
        low, high = curve.interval(np.array(density), CONFIDENCE, channels=3)
        assert low[second] <= white <= high[second]
        assert white == pytest.approx(density, rel=0.03)  # the size of the interval

        flat = int(np.abs(curve.tau - FLAT_AT * 25.0).argmin())
        level = math.sqrt(found[flat] ** 2 - density**2 / curve.tau[flat])
        low, high = curve.interval(np.array(instability), CONFIDENCE, channels=3)
        assert low[flat] <= level <= high[flat]
        assert low[flat] > 0.75 * instability  # the test can fail


def test_many_hours_give_the_flat_part_precisely() -> None:
    parameters = ErrorParameters(drifting_bias=drift_of_instability(1.0), drift_time_s=100.0)
    readings = ErrorModel(parameters, 300, 4, "sensor").apply_still(0, 10_000_000_000, 360, np.zeros(300))
    curve = allan_deviation(readings, 0.1, per_decade=20)
    found = np.sqrt((curve.deviation**2).mean(axis=1))

    # Sampled every 10 s: means over 190 s have 19 readings, which is 0.2 % above continuous means.
    low, high = curve.interval(np.array(1.0), CONFIDENCE, channels=300)
    flat = int(np.abs(curve.tau - FLAT_AT * 100.0).argmin())
    assert low[flat] <= found[flat] <= high[flat]
    assert low[flat] > 0.96
    assert found.max() == pytest.approx(1.0, rel=0.04)


@pytest.mark.parametrize("readings", [np.zeros(8), np.append(np.zeros(20), np.nan)])
def test_too_few_or_broken_readings_are_rejected(readings: Array) -> None:
    with pytest.raises(ValueError, match="readings: must be at least 9 finite ones"):
        allan_deviation(readings, 100.0)
