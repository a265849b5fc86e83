"""One suspension on a held chassis: four formulations agree on its motion, only the embedded ones keep it closed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmark.quarter_car import draw
from proving_ground.interfaces.joints import CORNERS
from vehicle_dynamics.multibody.embedding import ClosureError
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.quarter_car import Method, QuarterCar, QuarterCarRun, StepSettings, WheelTable, rough_road

EMBEDDED, AUGMENTED = (Method.ANALYTIC_CE, Method.NUMERIC_CE), (Method.TA, Method.FA)
RK4 = StepSettings(step=1e-3, seconds=5.0, is_rk4=True)


@pytest.fixture(scope="module")
def car(parameters: VehicleParameters) -> QuarterCar:
    return QuarterCar(parameters)


@pytest.fixture(scope="module")
def runs(car: QuarterCar) -> dict[Method, QuarterCarRun]:
    return {method: car.run(method, rough_road(), RK4) for method in Method}


def test_embedded_formulations_move_the_suspension_alike(runs: dict[Method, QuarterCarRun]) -> None:
    analytic, numeric = (runs[method] for method in EMBEDDED)
    assert np.ptp(analytic.theta) > 0.2  # the load does move it
    assert np.ptp(analytic.spin) > 10.0
    # One differential equation in the same coordinates, by the same steps: loops closed within 1e-13 m, and rounding.
    assert_allclose(numeric.theta, analytic.theta, atol=1e-11)
    assert_allclose(numeric.wheel_height, analytic.wheel_height, atol=1e-11)
    assert_allclose(numeric.spin, analytic.spin, atol=1e-10)


@pytest.mark.parametrize("method", AUGMENTED)
def test_augmented_formulations_move_it_as_the_embedded_do(runs: dict[Method, QuarterCarRun], method: Method) -> None:
    result, analytic = runs[method], runs[Method.ANALYTIC_CE]
    # They drift off the constraints by 0.5 um in these five seconds, and an arm is half a metre long.
    assert_allclose(result.theta, analytic.theta, atol=1e-6)
    assert_allclose(result.wheel_height, analytic.wheel_height, atol=1e-6)
    assert_allclose(result.spin, analytic.spin, atol=1e-6)


@pytest.mark.parametrize("method", AUGMENTED)
def test_stabilised_formulations_agree_even_closer(
    car: QuarterCar, runs: dict[Method, QuarterCarRun], method: Method
) -> None:
    stabilised = car.run(method, rough_road(), replace(RK4, alpha=100.0, beta=100.0))
    assert_allclose(stabilised.theta, runs[Method.ANALYTIC_CE].theta, atol=1e-8)  # gaps stay below 1 nm


@pytest.mark.parametrize("method", Method)
def test_semi_implicit_euler_converges_to_the_same_motion(car: QuarterCar, method: Method) -> None:
    short = replace(RK4, seconds=0.15)  # before the damper changes its rate, where every method is of first order
    fine = car.run(Method.ANALYTIC_CE, rough_road(), replace(short, step=1e-4, every=10))
    errors = []
    for step in (1e-3, 5e-4):
        euler = replace(short, step=step, every=round(1e-3 / step), is_rk4=False)
        errors.append(np.abs(car.run(method, rough_road(), euler).theta - fine.theta).max())
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("is_rk4", [True, False], ids=["rk4", "euler"])
@pytest.mark.parametrize("method", EMBEDDED)
def test_embedded_formulations_stay_closed(car: QuarterCar, method: Method, is_rk4: bool) -> None:
    result = car.run(method, rough_road(), replace(RK4, is_rk4=is_rk4))
    assert result.constraint_error.max() < 1e-12


@pytest.mark.parametrize("method", AUGMENTED)
def test_augmented_formulations_drift_unless_stabilised(car: QuarterCar, method: Method) -> None:
    euler = replace(RK4, is_rk4=False)

    free = car.run(method, rough_road(), euler).constraint_error
    stabilised = car.run(method, rough_road(), replace(euler, alpha=100.0, beta=100.0)).constraint_error

    early, late = slice(0, 2500), slice(2500, 5001)
    assert free[late].max() > 1.5 * free[early].max() > 1e-4
    assert stabilised.max() < 1e-4
    assert stabilised[late].max() < stabilised[early].max()  # the blow is in the first half, and has decayed


@pytest.mark.parametrize("corner", CORNERS)
def test_every_corner_rests_under_a_steady_load(parameters: VehicleParameters, corner: str) -> None:
    steady = WheelTable(1.0, np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 6000.0], (2, 1)))
    car = QuarterCar(parameters, corner)
    for method in (Method.ANALYTIC_CE, Method.NUMERIC_CE):
        result = car.run(method, steady, replace(RK4, seconds=0.1))
        assert_allclose(result.theta, car.rest_angle(steady), atol=1e-10)


def test_wheel_that_is_torn_off_is_reported(car: QuarterCar) -> None:
    pull = np.zeros((2, 6))
    pull[0, 5], pull[1, 5] = 6000.0, -3e6
    for method in EMBEDDED:
        with pytest.raises(ClosureError, match=rf"{method.value}: the suspension left its reach after"):
            car.run(method, WheelTable(0.5, pull), replace(RK4, seconds=0.5))


def test_bad_settings_are_rejected(parameters: VehicleParameters) -> None:
    with pytest.raises(ValueError, match=r"must be > 0, got 0\.0"):
        StepSettings(step=0.0)
    with pytest.raises(ValueError, match="alpha and beta must not be negative"):
        StepSettings(beta=-1.0)
    with pytest.raises(ValueError, match=r"corner: must be one of front_left.*got middle"):
        QuarterCar(parameters, "middle")


def test_picture_is_written_whole(tmp_path: Path) -> None:
    draw(tmp_path / "quarter_car.png")
    assert [file.name for file in tmp_path.iterdir()] == ["quarter_car.png"]
    assert (tmp_path / "quarter_car.png").read_bytes().startswith(b"\x89PNG")
