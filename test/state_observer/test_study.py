"""Figures of merit of known noise; observability against closed forms; the missing force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from state_observer.filters.observer import Run
from state_observer.linkages.simulation import Trajectory
from state_observer.study.cases import Bench
from state_observer.study.forces import gravity_only
from state_observer.study.merit import merit, normalised_square, whiteness
from state_observer.study.observability import condition_numbers
from state_observer.study.parameters import Case


def test_normalised_square_of_matching_noise_is_one() -> None:
    generator = np.random.default_rng(2)
    covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
    errors = generator.multivariate_normal(np.zeros(2), covariance, 20_000)

    assert normalised_square(errors, np.broadcast_to(covariance, (20_000, 2, 2))) == pytest.approx(1.0, abs=0.03)
    errors[::2] = np.nan  # steps without a reading do not count
    assert normalised_square(errors, np.broadcast_to(covariance, (20_000, 2, 2))) == pytest.approx(1.0, abs=0.04)


def test_white_noise_is_called_white_and_a_random_walk_is_not() -> None:
    noise = np.random.default_rng(3).standard_normal((4000, 2))

    lags, slow = whiteness(noise)
    walk_lags, walk_slow = whiteness(np.cumsum(noise, axis=0))

    assert lags >= 0.85
    assert slow == pytest.approx(1.0, abs=0.1)
    assert walk_lags < 0.2
    assert walk_slow > 4.0


def test_a_run_without_a_single_step_has_no_figures() -> None:
    nothing = np.zeros((0, 1))
    empty = Run(nothing, nothing, nothing, np.zeros((0, 2, 2)), nothing, np.zeros((0, 1, 1)), np.zeros(0), "why", False)
    truth = Trajectory(np.zeros((5, 5)), np.zeros((5, 5)), np.zeros((5, 5)), 1)

    found = merit(empty, truth, 0.005)

    assert np.isnan(found.rms)
    assert found.ended_at_s == 0.0
    assert found.ending == "why"


def test_readings_come_at_their_rate_with_the_same_noise(bench: Bench) -> None:
    fast = bench.readings(Case("four_bar", "encoder", "high", 200, "DEKF"))
    slow = bench.readings(Case("four_bar", "encoder", "low", 20, "DEKF"))

    is_read = np.isfinite(slow[:, 0])
    assert np.flatnonzero(is_read).tolist() == list(range(9, 2000, 10))
    assert np.array_equal(slow[is_read], fast[is_read])
    with pytest.raises(SettingsError, match="rate 150 Hz: must divide the 200 steps per second"):
        bench.readings(Case("four_bar", "encoder", "low", 150, "DEKF"))


def test_an_encoder_makes_the_four_bar_as_observable_as_a_double_integrator(bench: Bench) -> None:
    case = Case("four_bar", "encoder", "high", 200, "DEKF")

    found = condition_numbers(bench.observer(case), bench.readings(case)[:20])

    # [1 0; 1 dt] has singular values s with s1^2 + s2^2 = 2 + dt^2 and s1 s2 = dt.
    values = np.linalg.svd([[1.0, 0.0], [1.0, 0.005]], compute_uv=False)
    assert_allclose(found, np.log10(values[0] / values[1]), atol=1e-9)


@pytest.mark.parametrize("linkage", ["four_bar", "five_bar"])
def test_only_the_ukf_observes_positions_with_crank_gyros(bench: Bench, linkage: str) -> None:
    found = {}
    for method in ("DEKF", "errorEKF", "UKF-FE", "UKF-TR"):
        case = Case(linkage, "crank_gyro", "high", 200, method)
        found[method] = condition_numbers(bench.observer(case), bench.readings(case)[:200])

    assert np.all(np.isinf(found["DEKF"]))
    assert np.all(np.isinf(found["errorEKF"]))
    for method in ("UKF-FE", "UKF-TR"):
        assert np.all(found[method] < 6.0)


@pytest.mark.parametrize("sensors", ["encoder", "coupler_gyro"])
def test_elsewhere_ekf_and_ukf_are_about_equally_observable(bench: Bench, sensors: str) -> None:
    medians = []
    for method in ("DEKF", "errorEKF", "UKF-TR"):
        case = Case("four_bar", sensors, "high", 200, method)
        medians.append(np.median(condition_numbers(bench.observer(case), bench.readings(case))))

    assert np.ptp(medians) < 0.3


def test_estimating_the_missing_force_pays(bench: Bench) -> None:
    found = gravity_only(bench)

    white, lasting, fading = found.merits.values()
    assert lasting.rms < white.rms
    assert fading.rms < 0.95 * white.rms
    assert fading.rate_rms < 0.85 * white.rate_rms
    assert found.force_rms["fading force"] < 0.8 * np.sqrt(np.mean(found.true_force**2))
    correlation = np.corrcoef(found.runs["fading force"].forces[:, 0], found.true_force[:, 0])[0, 1]
    assert correlation > 0.6


def test_a_better_encoder_gives_a_better_force(bench: Bench) -> None:
    found = gravity_only(Bench(bench.study, replace(bench.tuning, sensor_std=1e-4)))

    truth = np.sqrt(np.mean(found.true_force**2))
    assert found.force_rms["lasting force"] < 0.35 * truth
    assert np.corrcoef(found.runs["lasting force"].forces[:, 0], found.true_force[:, 0])[0, 1] > 0.94
    assert found.merits["lasting force"].rate_rms < 0.4 * found.merits["white (errorEKF)"].rate_rms


def test_a_study_that_cannot_be_reported_is_rejected(bench: Bench) -> None:
    with pytest.raises(ValueError, match="filters: must include errorEKF"):
        replace(bench.study, filters=("DEKF",))
    with pytest.raises(ValueError, match="errors: must include high"):
        replace(bench.study, errors=bench.study.errors[1:])


def test_a_case_without_tuning_is_named(bench: Bench) -> None:
    with pytest.raises(
        SettingsError, match="plant_noise of DEKF on six_bar with encoder, high error: must have one row"
    ):
        bench.tuning.plant_psd("six_bar", "high", "encoder", "DEKF")
