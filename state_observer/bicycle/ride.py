"""Simulated rides of a single-track vehicle: straight, constant radius, slalom. True lean and sensor readings.

The lean is prescribed; the yaw rate that balances it follows from an inverted pendulum of height h over the line of the
wheels: h phi'' = g sin(phi) - v psi' cos(phi). Axes as [Sanjurjo] Fig. 3.1, z down: right turns and leans are positive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from state_observer.bicycle.parameters import BicycleParameters

Array = NDArray[np.float64]

CORNER_HZ = 2.0  # corner frequency of the road's pitch


class Ride(NamedTuple):
    """A ride, one row per sample."""

    time: Array
    roll: Array  # truth [rad]
    pitch: Array
    yaw_rate: Array  # truth [rad/s]
    speed: Array  # truth [m/s]
    body_rates: Array  # truth, about body x, y, z [rad/s]
    gyro: Array  # gyroscope readings [rad/s]
    wheel_speed: Array  # wheel speed readings [m/s]


def _straight(time: Array) -> tuple[Array, Array]:
    return np.radians(1.0) * np.sin(2.0 * np.pi * 0.4 * time), np.full_like(time, 5.0)


def _circle(time: Array) -> tuple[Array, Array]:
    share = np.clip((time - 5.0) / 2.0, 0.0, 1.0) - np.clip((time - 23.0) / 2.0, 0.0, 1.0)
    return -np.radians(20.0) * _eased(share), np.full_like(time, 5.0)  # counter-clockwise, as Fig. 3.11


def _slalom(time: Array) -> tuple[Array, Array]:
    fade = _eased(np.clip(time / 4.0, 0.0, 1.0) * np.clip((30.0 - time) / 4.0, 0.0, 1.0))
    return np.radians(18.0) * fade * np.sin(2.0 * np.pi * 0.3 * time), np.full_like(time, 6.0)


# Name -> lean [rad] and speed [m/s] over time.
RIDES: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "straight": _straight,
    "constant_radius": _circle,
    "slalom": _slalom,
}
DURATION_S = 30.0


def ride(name: str, parameters: BicycleParameters, generator: np.random.Generator) -> Ride:
    """A simulated ride, by its name in RIDES, with noise from the generator."""
    if name not in RIDES:
        raise SettingsError(f"ride {name}: {close_name(name, RIDES)}")
    step = parameters.step_s
    time = np.arange(0.0, DURATION_S, step)
    roll, speed = RIDES[name](time)
    rate = np.gradient(roll, step)
    acceleration = np.gradient(rate, step)
    gravity, height = parameters.gravity_mps2, parameters.mass_height_m
    yaw_rate = (gravity * np.sin(roll) - height * acceleration) / (speed * np.cos(roll))
    pitch = _road(parameters, generator, len(time))
    rates = body_rates(roll, pitch, rate, np.gradient(pitch, step), yaw_rate)
    noise = parameters.gyro_noise_radps * generator.standard_normal(rates.shape)
    gyro = rates + np.array(parameters.gyro_bias_radps) + noise
    wheel_speed = speed + parameters.speed_noise_mps * generator.standard_normal(len(time))
    return Ride(time, roll, pitch, yaw_rate, speed, rates, gyro, wheel_speed)


def body_rates(roll: Array, pitch: Array, roll_rate: Array, pitch_rate: Array, yaw_rate: Array) -> Array:
    """Angular rates about the body's axes (n x 3 [rad/s]) for angles [rad] and their rates.

    The inverse of [Sanjurjo] Eqs. 3.24 to 3.26."""
    about_x = roll_rate - yaw_rate * np.sin(pitch)
    about_y = pitch_rate * np.cos(roll) + yaw_rate * np.sin(roll) * np.cos(pitch)
    about_z = -pitch_rate * np.sin(roll) + yaw_rate * np.cos(roll) * np.cos(pitch)
    return np.column_stack([about_x, about_y, about_z])


def _road(parameters: BicycleParameters, generator: np.random.Generator, count: int) -> Array:
    """Pitch of the frame on a rough road: low-pass noise of the given deviation."""
    low_pass = scipy.signal.butter(2, CORNER_HZ, fs=1.0 / parameters.step_s, output="sos")
    noise = scipy.signal.sosfiltfilt(low_pass, generator.standard_normal(count))
    result: Array = parameters.pitch_noise_rad * noise / noise.std()
    return result


def _eased(share: Array) -> Array:
    """Smooth step from 0 to 1 with continuous slope and curvature."""
    result: Array = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
    return result
