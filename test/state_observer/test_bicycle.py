"""Roll angle of a bicycle on simulated rides: strengths of the measurements, and of the filter that combines them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import solve_discrete_are

from proving_ground.settings import SettingsError
from state_observer.bicycle.parameters import BicycleParameters, load_bicycle
from state_observer.bicycle.ride import RIDES, Ride, body_rates, ride
from state_observer.bicycle.roll_filter import RollObserver, estimate, roll_from_balance, roll_from_rates


@pytest.fixture(scope="module")
def parameters() -> BicycleParameters:
    return load_bicycle()


def _ride(name: str, parameters: BicycleParameters) -> Ride:
    return ride(name, parameters, np.random.default_rng(1))


def _rms_degrees(estimates: np.ndarray, ridden: Ride) -> float:
    return float(np.degrees(np.sqrt(np.mean((estimates - ridden.roll) ** 2))))


def test_body_rates_are_those_of_the_rotation_matrix() -> None:
    """Omega = Psi' dPsi/dt (Eq. 3.23) with the matrices of Eqs. 3.20 to 3.22, by differences."""

    def matrix(time: float) -> np.ndarray:
        roll, pitch, yaw = 0.3 + 0.5 * time, -0.1 + 0.2 * time, 1.0 + 0.7 * time
        c, s = np.cos, np.sin
        about_z = np.array([[c(yaw), -s(yaw), 0.0], [s(yaw), c(yaw), 0.0], [0.0, 0.0, 1.0]])
        about_y = np.array([[c(pitch), 0.0, s(pitch)], [0.0, 1.0, 0.0], [-s(pitch), 0.0, c(pitch)]])
        about_x = np.array([[1.0, 0.0, 0.0], [0.0, c(roll), -s(roll)], [0.0, s(roll), c(roll)]])
        return about_z @ about_y @ about_x

    tensor = matrix(0.0).T @ (matrix(1e-6) - matrix(-1e-6)) / 2e-6
    found = body_rates(*(np.array([value]) for value in (0.3, -0.1, 0.5, 0.2, 0.7)))[0]

    assert_allclose(found, [tensor[2, 1], tensor[0, 2], tensor[1, 0]], atol=1e-9)


@pytest.mark.parametrize("roll", [-0.6, -0.2, 0.3, 0.7])
def test_rates_of_a_steady_turn_give_the_roll_angle_exactly(roll: float) -> None:
    speed, gravity = 6.0, 9.81
    yaw_rate = gravity * np.tan(roll) / speed
    zero = np.zeros(1)
    gyro = body_rates(np.array([roll]), zero, zero, zero, np.array([yaw_rate]))[0]

    assert roll_from_rates(gyro) == pytest.approx(roll, abs=1e-12)
    # Body z rotates slower than the heading: the balance gives too small a lean, by about cos(roll).
    assert roll_from_balance(gyro, speed, gravity) == pytest.approx(np.arctan(np.sin(roll)), abs=1e-12)


def test_rates_give_no_roll_on_a_straight() -> None:
    assert roll_from_rates(np.zeros(3)) == 0.0


@pytest.mark.parametrize(("name", "degrees"), [("straight", 1.5), ("constant_radius", 1.5), ("slalom", 1.7)])
def test_filter_is_as_good_as_on_sanjurjos_bicycle(parameters: BicycleParameters, name: str, degrees: float) -> None:
    ridden = _ride(name, parameters)

    rolls, biases = estimate(ridden, parameters)

    assert _rms_degrees(rolls, ridden) < degrees  # [Sanjurjo]'s RMSE in similar manoeuvres
    assert biases[-1] == pytest.approx(parameters.gyro_bias_radps[0], abs=3e-3)


@pytest.mark.parametrize("name", RIDES)
def test_filter_beats_each_of_its_inputs(parameters: BicycleParameters, name: str) -> None:
    ridden = _ride(name, parameters)
    pairs = list(zip(ridden.gyro, ridden.wheel_speed, strict=True))
    sources = [
        np.array([roll_from_balance(gyro, speed, parameters.gravity_mps2) for gyro, speed in pairs]),
        np.array([roll_from_rates(gyro) for gyro, _ in pairs]),
        np.cumsum(ridden.gyro[:, 0]) * parameters.step_s,  # the gyroscope alone drifts with its bias
    ]

    rolls, _ = estimate(ridden, parameters)

    assert _rms_degrees(rolls, ridden) < 0.8 * min(_rms_degrees(source, ridden) for source in sources)


def test_covariance_settles_at_the_riccati_solution(parameters: BicycleParameters) -> None:
    # A bias that walks fast is learnt in seconds; with the file's values this takes minutes.
    brisk = replace(parameters, filter=replace(parameters.filter, bias_noise=1e-3))
    observer = RollObserver(brisk)
    for _ in range(3_000):
        observer.predict(0.0)
        observer.correct(np.zeros(3), 5.0)

    step, tuning = brisk.step_s, brisk.filter
    transition = np.array([[1.0, -step], [0.0, 1.0]])
    walk = tuning.bias_noise
    noise = np.array(
        [[tuning.roll_noise * step + walk * step**3 / 3.0, -walk * step**2 / 2.0], [-walk * step**2 / 2.0, walk * step]]
    )
    before = solve_discrete_are(transition.T, np.array([[1.0], [0.0]]), noise, [[tuning.measurement_std_rad**2]])
    gain = before[:, 0] / (before[0, 0] + tuning.measurement_std_rad**2)
    assert_allclose(observer.covariance, before - np.outer(gain, before[0]), rtol=1e-6)


def test_an_unknown_ride_is_rejected(parameters: BicycleParameters) -> None:
    with pytest.raises(SettingsError, match="ride slalon: unknown; did you mean slalom"):
        _ride("slalon", parameters)
