"""The algebra and the sensor models of the vehicle's errorEKF."""

from __future__ import annotations

import gc
import math
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

import state_observer.vehicle.layout as at
from proving_ground.kernels.jit import kernel
from state_observer.kinds import OBSERVER_KINDS
from state_observer.vehicle.error_ekf import ErrorEkf
from state_observer.vehicle.estimate_log import EstimateLog
from state_observer.vehicle.filter_base import gate
from state_observer.vehicle.fusion import apply_scalar, normalised_square, propagate_covariance
from state_observer.vehicle.measurements import correct, correct_with_gps, correct_with_imu, correct_with_wheels
from state_observer.vehicle.settings import VehicleObserverSettings
from state_observer.vehicle.start import InitialState
from vehicle_dynamics.driving.state import STUCK

SMALL = 1e-3
PULSE = 2.0 * math.pi / 40.0
EXACT = 1e-12  # variance of a reading that is almost perfect
NONE = np.inf
LIMITS = np.array([1.0, 1.0])  # of biases


@kernel
def _update(covariance: Any, row: Any, innovation: float, variance: float, error: Any) -> float:
    return apply_scalar(covariance, row, innovation, variance, error)


@kernel
def _square(covariance: Any, rows: Any, innovation: Any, variance: Any) -> float:
    return normalised_square(covariance, rows, innovation, variance, len(innovation))


@kernel
def _many(covariance: Any, transition: Any, noise: Any, rows: Any, variance: Any, error: Any, count: int) -> None:
    for index in range(count):
        propagate_covariance(transition, noise, covariance)
        which = index % rows.shape[0]
        apply_scalar(covariance, rows[which], 0.0, variance[which], error)


@kernel
def _correct(filter_state: Any, error: Any, limits: Any) -> None:
    correct(filter_state[0], error, limits)


@pytest.fixture(scope="module")
def ekf(settings: VehicleObserverSettings) -> ErrorEkf:
    """Filter of a vehicle at a steady 8 m/s to the north-east."""
    sensors = replace(settings.sensors, input_std_mps2=1e-9)  # readings as exact as the tests require
    return ErrorEkf(replace(settings, knows_ground=True, sensors=sensors))


@pytest.fixture(autouse=True)
def _rolls(ekf: ErrorEkf) -> None:
    ekf.clear()
    ekf.filter_state["time_ns"] = 1_000_000_000
    ekf._start(InitialState(np.array([10.0, 20.0, 2.0]), 0.7, 8.0, 1.0, 1.0, 0.01, 0.01))
    ekf.filter_state["running"] = 1
    ekf.filter_state["encoders_ns"] = ekf.filter_state["time_ns"]
    ekf.advance_to(1_100_000_000)
    ekf.filter_state["covariance"] = 0.0


def test_sequential_scalar_updates_equal_one_joint_update() -> None:
    random = np.random.default_rng(1)
    root = random.normal(size=(6, 6))
    covariance, rows = root @ root.T, random.normal(size=(3, 6))
    readings, variance = random.normal(size=3), np.array([0.1, 0.5, 2.0])
    expected = rows @ covariance @ rows.T + np.diag(variance)
    gains = covariance @ rows.T @ np.linalg.inv(expected)
    assert _square(covariance, rows, readings, variance) == pytest.approx(
        readings @ np.linalg.solve(expected, readings)
    )
    updated, error = covariance.copy(), np.zeros(6)
    for k in range(3):
        _update(updated, rows[k], readings[k], variance[k], error)
    np.testing.assert_allclose(error, gains @ readings, rtol=1e-10)
    np.testing.assert_allclose(updated, covariance - gains @ rows @ covariance, rtol=1e-9, atol=1e-12)


def test_covariance_stays_symmetric_and_positive_over_a_million_updates() -> None:
    random = np.random.default_rng(2)
    transition = np.eye(8) + np.diag(np.full(4, 0.004), 4)
    noise = np.concatenate([np.zeros(4), np.full(4, 1e-6)])
    rows = random.normal(size=(5, 8))
    covariance = np.diag(10.0 ** random.uniform(-6.0, 6.0, 8))  # badly scaled from the start
    _many(covariance, transition, noise, rows, np.array([1e-8, 1e-4, 1.0, 1e3, 1e-2]), np.zeros(8), 1_000_000)
    assert np.abs(covariance - covariance.T).max() <= 1e-12 * np.abs(covariance).max()
    assert np.linalg.eigvalsh(covariance).min() > 0.0


@pytest.mark.parametrize("degrees_of_freedom", [1, 2, 3])
@pytest.mark.parametrize("sigma", [1.0, 3.0, 5.0, 8.0])
def test_gates_are_as_rare_as_deviations_of_a_normal_distribution(sigma: float, degrees_of_freedom: int) -> None:
    assert gate(sigma, degrees_of_freedom) == pytest.approx(
        chi2.isf(2.0 * norm.sf(sigma), degrees_of_freedom), rel=1e-9
    )
    assert gate(40.0, degrees_of_freedom) == math.inf


def _wrong_by(ekf: ErrorEkf, index: int, size: float = SMALL) -> None:
    """An error in one state, with a matching covariance."""
    error = np.zeros(at.ERROR_SIZE)
    error[index] = -size
    _correct(ekf.filter_state, error, LIMITS)
    ekf.filter_state["covariance"][0][index, index] = 1.0


def _fix(ekf: ErrorEkf) -> np.ndarray[Any, Any]:
    """Fix of a perfect receiver."""
    state, arm = ekf.filter_state["state"][0], ekf.constants["gps_arm"][0]
    estimate = ekf.estimate()
    x, y, z, w = estimate["attitude"]
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return np.concatenate([state[:3] + rotation @ arm, state[15:18] + rotation @ np.cross(state[18:21], arm)])


@pytest.mark.parametrize("index", [at.POSITION, at.POSITION + 1, at.POSITION + 2, at.YAW])
def test_gps_position_finds_errors_of_position_and_by_its_lever_arm_of_yaw(ekf: ErrorEkf, index: int) -> None:
    right, state = _fix(ekf), ekf.filter_state["state"][0].copy()
    _wrong_by(ekf, index)
    correct_with_gps(ekf.constants, ekf.filter_state, right, np.array([EXACT] * 3 + [NONE] * 3))
    np.testing.assert_allclose(ekf.filter_state["state"][0][:7], state[:7], atol=0.01 * SMALL)


@pytest.mark.parametrize("index", [at.VELOCITY, at.VELOCITY + 1, at.VELOCITY + 2, at.YAW, at.ANGULAR_VELOCITY + 2])
def test_gps_velocity_finds_errors_of_velocity_yaw_and_yaw_rate(ekf: ErrorEkf, index: int) -> None:
    right, state = _fix(ekf), ekf.filter_state["state"][0].copy()
    _wrong_by(ekf, index)
    correct_with_gps(ekf.constants, ekf.filter_state, right, np.array([NONE] * 3 + [EXACT] * 3))
    now = ekf.filter_state["state"][0]
    np.testing.assert_allclose(now[3:7], state[3:7], atol=0.02 * SMALL)
    np.testing.assert_allclose(now[15:21], state[15:21], atol=0.02 * SMALL)


def _imu(ekf: ErrorEkf) -> np.ndarray[Any, Any]:
    now, known = ekf.filter_state[0], ekf.constants[0]
    x, y, z, w = ekf.estimate()["attitude"]
    up = np.array([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
    ahead = np.array([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)])
    left = np.array([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)])
    force = ahead * now["acceleration"][0] + left * now["acceleration"][1] + up * (now["acceleration"][2] + 9.81)
    angular_velocity, arm = now["state"][18:21], known["imu_arm"]
    force = (
        force + np.cross(now["angular_acceleration"], arm) + np.cross(angular_velocity, np.cross(angular_velocity, arm))
    )
    return np.concatenate([angular_velocity, force])


@pytest.mark.parametrize(
    "index", [at.ANGULAR_VELOCITY, at.ANGULAR_VELOCITY + 1, at.ANGULAR_VELOCITY + 2, at.GYRO_BIAS, at.GYRO_BIAS + 2]
)
def test_gyroscopes_find_errors_of_rates_and_their_own_bias(ekf: ErrorEkf, index: int) -> None:
    right, before = _imu(ekf), ekf.filter_state.copy()
    _wrong_by(ekf, index)
    correct_with_imu(ekf.constants, ekf.filter_state, right, np.array([EXACT] * 3 + [NONE] * 3))
    np.testing.assert_allclose(ekf.filter_state["state"][0][18:21], before["state"][0][18:21], atol=0.01 * SMALL)
    np.testing.assert_allclose(ekf.filter_state["gyro_bias"], before["gyro_bias"], atol=0.01 * SMALL)


@pytest.mark.parametrize("index", [at.ROLL, at.PITCH, at.FORCE_BIAS, at.FORCE_BIAS + 1])
def test_accelerometers_find_errors_of_tilt_and_their_own_bias(ekf: ErrorEkf, index: int) -> None:
    right, before = _imu(ekf), ekf.filter_state.copy()
    _wrong_by(ekf, index)
    # Not quite exact: the Jacobian neglects the rotation of accelerations, 1 % of gravity here.
    correct_with_imu(ekf.constants, ekf.filter_state, right, np.array([NONE] * 3 + [1e-6] * 3))
    np.testing.assert_allclose(ekf.filter_state["state"][0][3:7], before["state"][0][3:7], atol=0.05 * SMALL)
    np.testing.assert_allclose(ekf.filter_state["force_bias"], before["force_bias"], atol=0.05 * SMALL)


def test_accelerometers_find_the_disturbance(ekf: ErrorEkf) -> None:
    reading = _imu(ekf) + np.array([0.0, 0.0, 0.0, 0.2, -0.1, 0.0])
    for index in (at.DISTURBANCE, at.DISTURBANCE + 1):
        ekf.filter_state["covariance"][0][index, index] = 1.0
    correct_with_imu(ekf.constants, ekf.filter_state, reading, np.array([NONE] * 3 + [EXACT] * 3))
    np.testing.assert_allclose(ekf.filter_state["disturbance"][0], [0.2, -0.1, 0.0], atol=1e-3)


def test_an_implausible_bias_is_limited(ekf: ErrorEkf) -> None:
    error = np.zeros(at.ERROR_SIZE)
    error[at.FORCE_BIAS] = 20.0
    _correct(ekf.filter_state, error, LIMITS)
    assert ekf.filter_state["force_bias"][0][0] == 1.0


def test_noise_inflation_follows_innovations_and_falls_again(ekf: ErrorEkf) -> None:
    """A model with a missing acceleration is trusted less, until measured forces are as expected."""
    ekf.filter_state["noise_inflation"] = 0.0
    reading, variance = _imu(ekf) + np.array([0.0, 0.0, 0.0, 3.0, 0.0, 0.0]), np.array([NONE] * 3 + [1e-4] * 3)
    ekf.filter_state["covariance"][0] = np.eye(at.ERROR_SIZE) * 1e-8
    for _ in range(5):
        correct_with_imu(ekf.constants, ekf.filter_state, reading, variance)
    raised = ekf.filter_state["noise_inflation"][0].copy()
    assert raised[0] > 2.0
    assert abs(raised[1]) < 1.0
    for _ in range(100):
        correct_with_imu(ekf.constants, ekf.filter_state, _imu(ekf), variance)
    assert ekf.filter_state["noise_inflation"][0][0] < raised[0] - 2.0


def test_without_encoders_the_model_follows_the_imu(ekf: ErrorEkf) -> None:
    """Throttle and brake are released, and the steering follows the measured yaw rate."""
    ekf.filter_state["pedals"] = 0.0, 1.0, 0.0, 1.0
    ekf.filter_state["encoders_ns"] = ekf.time_ns
    ekf.advance_to(ekf.time_ns + 150_000_000)
    assert ekf.pedals().throttle == 1.0
    ekf.filter_state["state"][0][20] = 0.3
    ekf.advance_to(ekf.time_ns + 100_000_000)
    assert ekf.pedals().throttle == 0.0
    assert ekf.pedals().steering > 0.0


def test_wheel_angles_are_corrected_even_if_brakes_hold_them(ekf: ErrorEkf) -> None:
    state = ekf.filter_state["state"][0]
    wanted, rates = state[11:15].copy(), state[25:29].copy()
    held = state[STUCK] - state[11:15]
    _wrong_by(ekf, at.WHEEL + 1, 0.05)
    ekf.filter_state["counted_rate"] = rates
    ekf.filter_state["rotated"] = wanted - 0.5 * np.minimum(rates * 0.01, PULSE)  # edges just passed
    correct_with_wheels(ekf.constants, ekf.filter_state, np.full(4, PULSE), rates, 0.01, ekf.time_ns)
    np.testing.assert_allclose(state[11:15], wanted, atol=2e-3)
    np.testing.assert_allclose(state[STUCK] - state[11:15], held, atol=1e-12)


def test_a_wheel_that_changes_its_speed_too_fast_is_rejected(ekf: ErrorEkf) -> None:
    state = ekf.filter_state["state"][0]
    rates = state[25:29].copy()
    ekf.filter_state["counted_rate"] = rates
    ekf.filter_state["covariance"][0] = np.eye(at.ERROR_SIZE) * 1e-4
    velocity = state[15:18].copy()
    locked = rates.copy()
    locked[2] = -5000.0
    ekf.filter_state["rotated"] = state[11:15] - 0.5 * PULSE
    rejected = correct_with_wheels(ekf.constants, ekf.filter_state, np.zeros(4), locked, 0.01, ekf.time_ns)
    assert rejected == 1
    np.testing.assert_allclose(state[15:18], velocity, atol=1e-3)


@pytest.mark.parametrize(("beyond", "is_informative"), [(0.4, False), (-0.4, False), (0.7, True), (-0.7, True)])
def test_an_unchanged_count_is_informative_only_for_a_wheel_outside_its_pulse(
    ekf: ErrorEkf, beyond: float, is_informative: bool
) -> None:
    state = ekf.filter_state["state"][0]
    rates, before = state[25:29].copy(), state[11:15].copy()
    ekf.filter_state["counted_rate"] = rates
    ekf.filter_state["covariance"][0] = np.eye(at.ERROR_SIZE) * 0.01
    ekf.filter_state["rotated"] = before - (0.5 + beyond) * PULSE
    correct_with_wheels(ekf.constants, ekf.filter_state, np.zeros(4), rates, 0.01, ekf.time_ns)
    moved = (state[11:15] - before) * -np.sign(beyond)
    assert (moved > 0.01 * PULSE).all() if is_informative else (moved == 0.0).all()


def test_a_yaw_error_makes_the_position_error_grow_with_distance(ekf: ErrorEkf) -> None:
    begin, found = ekf.filter_state.copy(), []
    for variance in (0.0, 0.01**2):
        ekf.filter_state[:] = begin
        ekf.filter_state["covariance"][0][at.YAW, at.YAW] = variance
        ekf.advance_to(int(begin["time_ns"][0]) + 1_000_000_000)
        covariance = ekf.filter_state["covariance"][0]
        found.append(covariance[0, 0] + covariance[1, 1])
    assert math.sqrt(found[1] - found[0]) == pytest.approx(0.01 * 8.0, rel=0.1)


def test_wheels_correct_the_velocity(ekf: ErrorEkf) -> None:
    """Tyres couple errors of wheel rates and velocity: the covariance must contain it."""
    ekf.filter_state["covariance"][0][at.VELOCITY, at.VELOCITY] = 0.5**2
    ekf.advance_to(ekf.time_ns + 50_000_000)
    covariance = ekf.filter_state["covariance"][0]
    rate = at.WHEEL + 10
    correlation = covariance[at.VELOCITY, rate] / math.sqrt(
        covariance[at.VELOCITY, at.VELOCITY] * covariance[rate, rate]
    )
    assert correlation > 0.95


def test_the_model_stays_valid_under_large_corrections(ekf: ErrorEkf) -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        error = random.normal(size=at.ERROR_SIZE) * 0.02
        error[[at.GYRO_BIAS, at.FORCE_BIAS, at.DISTURBANCE]] = 0.0
        _correct(ekf.filter_state, error, LIMITS)
        ekf.advance_to(ekf.time_ns + 8_000_000)
    assert ekf.is_running
    assert ekf.filter_state["restarts"][0] == 0
    assert np.isfinite(ekf.snapshot()["load"]).all()


def test_a_filter_with_a_log_is_freed_with_its_last_reference() -> None:
    """Waiting for garbage collection is too late: campaigns make hundreds of them, of a hundred megabytes each."""
    filter_ = ErrorEkf(OBSERVER_KINDS["vehicle"].load())
    log = EstimateLog(filter_)
    gone = weakref.ref(filter_)
    gc.disable()
    try:
        del filter_, log
        assert gone() is None
    finally:
        gc.enable()
