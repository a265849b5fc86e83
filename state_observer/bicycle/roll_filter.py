"""Roll angle of a bicycle from a gyroscope and the wheel speed ([Sanjurjo] Section 3.2, Eqs. 3.27 to 3.33).

>>> import numpy as np
>>> from state_observer.bicycle.parameters import load_bicycle
>>> observer = RollObserver(load_bicycle())
>>> observer.predict(roll_rate=0.0)
>>> observer.correct(np.array([0.0, 0.0, 0.0]), speed=5.0)
>>> round(float(observer.state.roll), 6)
0.0
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from state_observer.bicycle.parameters import BicycleParameters
from state_observer.bicycle.ride import Ride
from state_observer.filters.noise import van_loan

Array = NDArray[np.float64]

STILL_RADPS = 1e-9  # slower rotation gives no roll angle


class RollState(NamedTuple):
    """Estimated roll angle and gyroscope bias."""

    roll: float  # [rad]
    bias: float  # of the gyroscope's x axis [rad/s]


class RollObserver:
    """Kalman filter with two states; same interface as the filters on linkages."""

    def __init__(self, parameters: BicycleParameters) -> None:
        tuning = parameters.filter
        self._step, self._gravity, self._sharpness = parameters.step_s, parameters.gravity_mps2, tuning.sharpness
        # Eq. 3.28: forward Euler is exact here, because A^2 = 0.
        dynamics = np.array([[0.0, -1.0], [0.0, 0.0]])
        psd = np.diag([tuning.roll_noise, tuning.bias_noise])
        self._transition, self._noise = van_loan(dynamics, psd, self._step)
        self._variance = tuning.measurement_std_rad**2
        self._state = np.zeros(2)
        self.covariance = np.diag([0.1**2, 0.05**2])
        self.innovation = math.nan
        self.innovation_covariance = math.nan

    @property
    def state(self) -> RollState:
        """The current estimate."""
        return RollState(*self._state.tolist())

    def predict(self, roll_rate: float) -> None:
        """Advance one step with the rate of the gyroscope's x axis ([Sanjurjo] Eqs. 3.27, 3.28)."""
        self._state = self._transition @ self._state + np.array([self._step * roll_rate, 0.0])
        self.covariance = self._transition @ self.covariance @ self._transition.T + self._noise

    def correct(self, gyro: Array, speed: float) -> None:
        """Correct with a roll angle from wheel speed and gyroscope ([Sanjurjo] Eqs. 3.7 to 3.11, 3.33)."""
        self.innovation = self.measured_roll(gyro, speed) - float(self._state[0])
        self.innovation_covariance = float(self.covariance[0, 0]) + self._variance
        gain = self.covariance[:, 0] / self.innovation_covariance
        self._state = self._state + gain * self.innovation
        kept = np.eye(2) - np.outer(gain, [1.0, 0.0])
        self.covariance = kept @ self.covariance @ kept.T + self._variance * np.outer(gain, gain)

    def measured_roll(self, gyro: Array, speed: float) -> float:
        """Roll angle [rad]: mean of both measurements, weighted by the last estimate ([Sanjurjo] Eqs. 3.32, 3.33)."""
        weight = math.exp(-self._sharpness * float(self._state[0]) ** 2)
        return weight * roll_from_balance(gyro, speed, self._gravity) + (1.0 - weight) * roll_from_rates(gyro)


def roll_from_balance(gyro: Array, speed: float, gravity: float) -> float:
    """Roll [rad] in a steady turn ([Sanjurjo] Eq. 3.29): good near upright, too small at large lean.

    gyro: body rates [rad/s], whose z stands for the yaw rate; speed [m/s]; gravity [m/s^2].
    """
    return math.atan(float(gyro[2]) * speed / gravity)


def roll_from_rates(gyro: Array) -> float:
    """Roll in a turn without pitching ([Sanjurjo] Eq. 3.31): good at large lean, undefined on a straight (then 0)."""
    about_y, about_z = float(gyro[1]), float(gyro[2])
    rate = math.hypot(about_y, about_z)
    if rate < STILL_RADPS:
        return 0.0
    return math.copysign(1.0, about_z) * math.asin(about_y / rate)


def estimate(ridden: Ride, parameters: BicycleParameters) -> tuple[Array, Array]:
    """Roll angle [rad] and bias [rad/s] at each sample of a ride."""
    observer = RollObserver(parameters)
    states = []
    for k in range(len(ridden.time)):
        if k > 0:
            observer.predict(float(ridden.gyro[k - 1, 0]))
        observer.correct(ridden.gyro[k], float(ridden.wheel_speed[k]))
        states.append(observer.state)
    rolls, biases = np.array(states).T
    return rolls, biases
