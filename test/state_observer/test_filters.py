"""All filters under one interface: against plain numpy, multirate, consistent, and stable for long runs."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from state_observer.filters.observer import LinkageObserver, ObserverError
from state_observer.filters.registry import FILTERS
from state_observer.linkages.mechanism import Mechanism
from state_observer.study.cases import Bench
from state_observer.study.parameters import Case

METHODS = tuple(FILTERS)
SEVEN = METHODS[:7]


@pytest.fixture(scope="module")
def references() -> ModuleType:
    specification = importlib.util.spec_from_file_location(
        "reference", Path(__file__).with_name("reference_filters.py")
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("sensors", ["encoder", "coupler_gyro"])
@pytest.mark.parametrize("linkage", ["four_bar", "five_bar"])
@pytest.mark.parametrize("method", SEVEN)
def test_filter_agrees_with_plain_numpy(
    bench: Bench, references: ModuleType, method: str, linkage: str, sensors: str
) -> None:
    case = Case(linkage, sensors, "high", 200, method)
    observer, readings = bench.observer(case), bench.readings(case)[:12]
    start = np.concatenate([observer.state.angles, observer.state.rates])
    reference = references.REFERENCES[method](observer.setup, observer.model, start, observer.covariance)

    run = observer.run(readings)

    assert run.is_sound
    expected = np.array([reference.step(row) for row in readings])
    # Jacobians by differences are good to 1e-9, sums with weights of 1e6 to 1e-10; a dozen steps accumulate some.
    assert_allclose(np.hstack([run.angles, run.rates]), expected, atol=2e-7)
    assert_allclose(observer.covariance, reference.p, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_predict_and_correct_agree_with_a_run(bench: Bench, method: str) -> None:
    case = Case("five_bar", "encoder", "low", 100, method)
    readings = bench.readings(case)[:40]
    whole, single = bench.observer(case), bench.observer(case)

    run = whole.run(readings)

    for row, angles, innovation in zip(readings, run.angles, run.innovations, strict=True):
        single.predict()
        if np.all(np.isfinite(row)):
            single.correct(row)
            assert_allclose(single.innovation, innovation, atol=1e-14)
        assert_allclose(single.state.angles, angles, atol=1e-14)
    assert_allclose(single.covariance, whole.covariance, atol=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_a_silent_sensor_is_equivalent_to_no_sensor(bench: Bench, method: str) -> None:
    case = Case("five_bar", "encoder", "low", 200, method)
    readings = bench.readings(case)[:30]
    alone, worse = readings.copy(), readings.copy()
    alone[:, 1] = np.nan
    observer, noisy = bench.observer(case), bench.observer(case)
    noisy.setup.sensor_covariance[1, 1] = 1e18  # no information

    expected, found = noisy.run(worse), observer.run(alone)

    assert_allclose(found.angles, expected.angles, atol=1e-10)
    assert_allclose(found.covariances, expected.covariances, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_without_readings_the_model_runs_alone_and_its_covariance_grows(bench: Bench, method: str) -> None:
    case = Case("four_bar", "encoder", "low", 200, method)
    # A small initial covariance: with a large one the mean of a UKF rightly differs from the model.
    run = bench.observer(case, variances=(1e-9, 1e-9), plant_psd=1e-9).run(np.full((100, 1), np.nan))
    alone = bench.wrong_model_alone("four_bar", "low")

    # Forward Euler lags by half a step: 0.5 s at up to 1 rad/s^2 and 2.5 ms.
    assert_allclose(run.angles, alone.angles[:100], atol=5e-3)
    variance = run.covariances[:, 0, 0]
    if method not in ("SCKF", "DIEKFpm"):  # theirs shrinks while the constraints are learnt
        assert np.all(np.diff(variance) > 0.0)
    assert np.all(np.isnan(run.innovations))


@pytest.mark.parametrize("method", ["DEKF", "UKF-FE", "UKF-TR", "errorEKF"])
def test_covariance_is_consistent_when_the_only_model_error_is_white_noise(four_bar: Mechanism, method: str) -> None:
    """The true crank is driven by exactly the noise that the filter assumes."""
    from state_observer.multibody.matrix_r import trapezoidal_step

    generator = np.random.default_rng(4)
    psd, std, step = 0.5, np.pi / 180.0, 0.005
    squares = []
    for _ in range(12):
        observer = LinkageObserver(method, four_bar, "encoder", plant_psd=psd)
        start = four_bar.start_angles + np.radians(5.0) * generator.standard_normal(1)
        motion = four_bar.motion(start, np.radians(5.0) * generator.standard_normal(1))
        for _ in range(100):
            assert trapezoidal_step(four_bar.kernel, four_bar.kernel.force, step, *motion)
            push = generator.multivariate_normal(np.zeros(2), observer.setup.plant_noise)
            motion = four_bar.motion(motion.q[-1:] + push[0], motion.qd[-1:] + push[1], motion.q)
            observer.predict()
            observer.correct(motion.q[-1:] + std * generator.standard_normal(1))
        error = np.array([observer.state.angles[0] - motion.q[-1], observer.state.rates[0] - motion.qd[-1]])
        squares.append(error @ np.linalg.solve(observer.covariance, error))

    # Sum of 12 squares of two normal variables: chi squared with 24 degrees of freedom, 99.9 % between 7.5 and 54.
    assert 7.5 < np.sum(squares) < 54.0


@pytest.fixture(scope="module")
def long_bench(bench: Bench) -> Bench:
    """500 s, a hundred thousand steps."""
    return Bench(replace(bench.study, duration_s=500.0))


@pytest.mark.parametrize("method", METHODS[1:])
def test_covariance_stays_positive_for_a_hundred_thousand_steps(long_bench: Bench, method: str) -> None:
    case = Case("four_bar", "encoder", "low", 200, method)

    observer = long_bench.observer(case)
    run = observer.run(long_bench.readings(case))

    assert run.is_sound, run.ending  # every step was checked by a Cholesky factorisation
    assert len(run.angles) == 100_000
    assert np.array_equal(observer.covariance, observer.covariance.T)
    assert np.linalg.eigvalsh(observer.covariance).min() > 0.0


def test_cekf_says_when_its_covariance_turns_indefinite_and_ends(bench: Bench) -> None:
    case = Case("four_bar", "encoder", "high", 10, "CEKF")

    run, merit = bench.run(case)

    assert run.ending == "covariance no longer positive definite"
    assert merit.ended_at_s < 2.0
    assert np.isnan(merit.rms)


def test_a_single_step_that_turns_the_covariance_indefinite_is_an_error(four_bar: Mechanism) -> None:
    # Explicit Euler on P tolerates readings only while h P h' stays below their variance.
    observer = LinkageObserver("CEKF", four_bar, "encoder", plant_psd=0.1, variances=(0.01, 0.01))
    observer.predict()

    with pytest.raises(ObserverError, match="CEKF: covariance no longer positive definite"):
        observer.correct([1.05])


def test_error_ekf_keeps_constraints_to_second_order_in_the_correction(bench: Bench) -> None:
    case = Case("four_bar", "encoder", "low", 200, "errorEKF")
    gaps, corrections = [], []
    for offset in (0.1, 0.05, 0.025):
        observer = bench.observer(case)
        for row in bench.readings(case)[:50]:
            observer.predict()
            before = observer.state.angles[0]
            observer.correct(row)
        observer.predict()
        before = observer.state.angles[0]
        observer.correct([before + offset])
        gaps.append(observer.position_gap)
        corrections.append(observer.state.angles[0] - before)

    orders = np.diff(np.log(gaps)) / np.diff(np.log(corrections))
    assert_allclose(orders, 2.0, atol=0.01)
    # Lengths are squared in the constraints: a tip that moves along its tangent by L dz is off by (L dz)^2; the
    # rocker and the coupler move no faster here.
    assert_allclose(gaps, (2.0 * np.array(corrections)) ** 2, rtol=0.02)


def test_error_ekf_can_solve_the_position_problem_instead(bench: Bench) -> None:
    case = Case("four_bar", "encoder", "high", 10, "errorEKF")
    tangent, exact = bench.observer(case), bench.observer(case, solves_position=True)

    first, second = tangent.run(bench.readings(case)), exact.run(bench.readings(case))

    assert np.nanmax(first.gaps) > 1e-3
    assert np.nanmax(second.gaps) < 1e-12


@pytest.mark.parametrize("method", ["SCKF", "DIEKFpm"])
def test_dependent_filters_satisfy_their_constraints(bench: Bench, method: str) -> None:
    _, merit = bench.run(Case("four_bar", "encoder", "high", 200, method))

    assert merit.largest_gap < 1e-3  # where their iterations end


def test_bad_input_gets_one_clear_line(four_bar: Mechanism) -> None:
    with pytest.raises(SettingsError, match="filter EKF: unknown; did you mean"):
        LinkageObserver("EKF", four_bar, "encoder", plant_psd=0.1)
    with pytest.raises(SettingsError, match="sensors encoders: unknown; did you mean encoder"):
        LinkageObserver("DEKF", four_bar, "encoders", plant_psd=0.1)
    with pytest.raises(SettingsError, match="plant_psd must be finite and >= 0, got nan"):
        LinkageObserver("DEKF", four_bar, "encoder", plant_psd=float("nan"))
    with pytest.raises(SettingsError, match=r"start_angles must be 1 finite numbers, got \[1.0, 2.0\]"):
        LinkageObserver("DEKF", four_bar, "encoder", plant_psd=0.1, start_angles=[1.0, 2.0])
    with pytest.raises(SettingsError, match="variances must be > 0"):
        LinkageObserver("DEKF", four_bar, "encoder", plant_psd=0.1, variances=(0.0, 1.0))
    observer = LinkageObserver("CEKF", four_bar, "encoder", plant_psd=0.1, variances=(1e-4, 1e-3))
    with pytest.raises(SettingsError, match=r"readings must be 1 numbers \(NaN: no reading\), got \[1.0, 2.0\]"):
        observer.correct([1.0, 2.0])
    with pytest.raises(SettingsError, match="readings must be 1 numbers"):
        observer.correct([float("inf")])
    with pytest.raises(ObserverError, match="CEKF: call correct once after each predict"):
        observer.correct([1.0])
