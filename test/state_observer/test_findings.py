"""Findings of [Sanjurjo] chapter 4, with fixed noise, and the accuracy of the authors' code."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from state_observer.study.cases import Bench
from state_observer.study.merit import Merit
from state_observer.study.parameters import Case

READING = np.pi / 180.0  # [rad] standard deviation of an encoder
DISCRETE = ("DEKF", "UKF-FE", "UKF-TR", "errorEKF")
LINKAGES = ("four_bar", "five_bar")


@pytest.fixture(scope="module")
def found(bench: Bench) -> functools._lru_cache_wrapper[Merit]:
    """Figures of one run: linkage, sensors, error, rate, filter."""
    return functools.cache(lambda *case: bench.run(Case(*case))[1])


@pytest.fixture(scope="module")
def released(bench: Bench) -> Bench:
    return Bench(bench.study, as_released=True)


@pytest.mark.parametrize(
    ("linkage", "sensors", "method", "rms"),
    [
        ("four_bar", "encoder", "errorEKF", 0.0052),
        ("four_bar", "encoder", "UKF-TR", 0.0052),
        ("four_bar", "encoder", "CEKF", 0.0128),
        ("four_bar", "coupler_gyro", "errorEKF", 0.0488),
        ("four_bar", "coupler_gyro", "UKF-TR", 0.0317),
        ("four_bar", "coupler_gyro", "CEKF", 0.0429),  # with the reference's initial covariance
        ("four_bar", "crank_gyro", "UKF-TR", 0.0301),
        ("five_bar", "encoder", "errorEKF", 0.0067),
    ],
)
@pytest.mark.parametrize("code", ["bench", "released"])
def test_accuracy_is_that_of_the_authors_code(
    request: pytest.FixtureRequest, code: str, linkage: str, sensors: str, method: str, rms: float
) -> None:
    chosen: Bench = request.getfixturevalue(code)

    _, merit = chosen.run(Case(linkage, sensors, "high", 200, method))

    assert merit.rms == pytest.approx(rms, rel=0.03)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("error", ["high", "low"])
def test_with_encoders_discrete_filters_are_equally_accurate(found: object, linkage: str, error: str) -> None:
    for rate in (200, 50, 10):
        errors = [found(linkage, "encoder", error, rate, method).rms for method in DISCRETE]  # type: ignore[operator]
        assert max(errors) < 1.1 * min(errors)
        if rate >= 50:
            assert max(errors) < READING


@pytest.mark.parametrize("linkage", LINKAGES)
def test_model_errors_matter_only_where_readings_are_rare(found: object, linkage: str) -> None:
    ratio = {
        rate: found(linkage, "encoder", "high", rate, "errorEKF").rms  # type: ignore[operator]
        / found(linkage, "encoder", "low", rate, "errorEKF").rms  # type: ignore[operator]
        for rate in (200, 10)
    }

    assert ratio[200] < 1.2
    assert ratio[10] > 1.35


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("sensors", ["encoder", "coupler_gyro"])
def test_cekf_is_the_only_independent_filter_that_fails_at_low_rates(found: object, linkage: str, sensors: str) -> None:
    for error in ("high", "low"):
        runs = {rate: found(linkage, sensors, error, rate, "CEKF") for rate in (200, 10)}  # type: ignore[operator]
        assert np.isfinite(runs[200].rms)
        assert np.isnan(runs[10].rms)
        assert runs[10].ending == "covariance no longer positive definite"
        for method in DISCRETE:
            assert np.isfinite(found(linkage, sensors, error, 10, method).rms)  # type: ignore[operator]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_with_encoders_cekf_is_the_least_accurate(found: object, linkage: str) -> None:
    for rate in (200, 50):
        others = [found(linkage, "encoder", "high", rate, method).rms for method in DISCRETE]  # type: ignore[operator]
        assert found(linkage, "encoder", "high", rate, "CEKF").rms > 1.5 * max(others)  # type: ignore[operator]


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("error", ["high", "low"])
def test_coupler_gyros_let_position_be_inferred_and_the_ukf_best(found: object, linkage: str, error: str) -> None:
    start = {"high": np.pi / 16.0, "low": np.pi / 32.0}[error]
    runs = {method: found(linkage, "coupler_gyro", error, 200, method).rms for method in DISCRETE}  # type: ignore[operator]

    assert max(runs.values()) < 0.35 * start  # mean over a run that begins with the full error
    assert min(runs, key=lambda method: runs[method]).startswith("UKF")


def test_coupler_gyro_order_on_the_four_bar_is_ukf_cekf_ekf(found: object) -> None:
    runs = {
        method: found("four_bar", "coupler_gyro", "high", 200, method).rms  # type: ignore[operator]
        for method in (*DISCRETE, "CEKF")
    }

    assert max(runs["UKF-FE"], runs["UKF-TR"]) < runs["CEKF"] < min(runs["DEKF"], runs["errorEKF"])
    # "It seems that their performance degrades with higher sampling rates" (Fig. 4.7).
    assert found("four_bar", "coupler_gyro", "high", 100, "DEKF").rms < runs["DEKF"]  # type: ignore[operator]


def test_error_ekf_is_nearer_to_the_ukf_than_the_dekf_on_five_bar_couplers(found: object) -> None:
    for error in ("high", "low"):
        ukf, error_ekf, dekf = (
            found("five_bar", "coupler_gyro", error, 200, method).rms  # type: ignore[operator]
            for method in ("UKF-TR", "errorEKF", "DEKF")
        )
        assert ukf < error_ekf < dekf
        assert error_ekf - ukf < 0.4 * (dekf - ukf)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("error", ["high", "low"])
def test_crank_gyros_serve_the_ukf_only_and_the_trapezoidal_rule_better(
    found: object, linkage: str, error: str
) -> None:
    start = {"high": np.pi / 16.0, "low": np.pi / 32.0}[error]
    runs = {method: found(linkage, "crank_gyro", error, 200, method).rms for method in DISCRETE}  # type: ignore[operator]

    for method in ("DEKF", "errorEKF"):
        assert runs[method] > 0.95 * start  # the wrong start persists
    assert runs["UKF-TR"] < runs["UKF-FE"] < 0.25 * start


@pytest.mark.parametrize("linkage", LINKAGES)
def test_integrators_differ_more_when_the_model_is_better(found: object, linkage: str) -> None:
    ratio = {
        error: found(linkage, "crank_gyro", error, 200, "UKF-FE").rms  # type: ignore[operator]
        / found(linkage, "crank_gyro", error, 200, "UKF-TR").rms  # type: ignore[operator]
        for error in ("high", "low")
    }

    assert ratio["low"] > 1.2 * ratio["high"]


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("method", ["SCKF", "DIEKFpm"])
def test_filters_in_dependent_coordinates_are_worse_or_diverge(found: object, linkage: str, method: str) -> None:
    independent = found(linkage, "encoder", "high", 200, "DEKF").rms  # type: ignore[operator]

    assert found(linkage, "encoder", "high", 200, method).rms > 1.15 * independent  # type: ignore[operator]
    couplers = [found(linkage, "coupler_gyro", "high", rate, method).rms for rate in (200, 50, 20)]  # type: ignore[operator]
    assert max(couplers) > 1.0  # a whole radian: it has diverged at some rate


@pytest.mark.parametrize("linkage", LINKAGES)
def test_tuned_filters_have_white_and_consistent_innovations_with_encoders(found: object, linkage: str) -> None:
    merit = found(linkage, "encoder", "high", 200, "errorEKF")  # type: ignore[operator]

    assert merit.nis == pytest.approx(1.0, abs=0.08)  # 2000 squares: standard deviation 0.03
    assert merit.white_lags >= 0.8
    assert merit.slow_power == pytest.approx(1.0, abs=0.2)
    assert merit.coverage == pytest.approx(0.95, abs=0.03)
