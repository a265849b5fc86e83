"""Which samples come in: each kind has one function that takes it or says why not. Nobody else looks at bad numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.settings import SensorNoise

Array = NDArray[np.float64]
Sample = EncoderSample | ImuSample | GpsSample

LARGEST_VARIANCE = 1e6  # beyond, an element says nothing
FASTEST_TURN = 100.0  # [rad/s]
HARDEST = 1000.0  # [m/s^2]
FASTEST_WHEEL = 1000.0  # [rad/s]
FARTHEST = 1e6  # [m] from the datum
MOST_STEERING = 1.5  # [rad]
LEAST_STD = 1e-3  # of a position or velocity [m, m/s]: nobody knows better


class Reading(NamedTuple):
    """A sample as kernels take it."""

    time_ns: int
    kind: int  # of KINDS
    values: Array
    variance: Array  # an infinite one leaves an element out


class Refusal(NamedTuple):
    """Why a sample does not come in; a few words, always the same for the same reason."""

    reason: str


def encoder_reading(sample: EncoderSample) -> Reading | Refusal:
    """Values: 4 wheel angles, 4 wheel rates, steering, throttle, brake pressure, engine speed."""
    values = np.array(
        [*sample.wheel_angle, *sample.wheel_rate, sample.steering, sample.throttle, sample.brake_pressure,
         sample.engine_speed], dtype=float,
    )  # fmt: skip
    if values.shape != (12,) or not math.isfinite(values @ values):
        return Refusal("encoders: not finite")
    if values[4:8] @ values[4:8] > FASTEST_WHEEL**2 or abs(values[8]) > MOST_STEERING:
        return Refusal("encoders: out of range")
    return Reading(sample.time_ns, 0, values, np.zeros(0))


def imu_reading(sample: ImuSample, noise: SensorNoise) -> Reading | Refusal:
    """Values: angular rate and specific force. The sample's variances hold biases, which filters know: not used."""
    values = np.array([*sample.turn, *sample.force], dtype=float)
    turn, force = values[:3], values[3:]
    if values.shape != (6,) or not math.isfinite(values @ values):  # numbers whose squares are none are none either
        return Refusal("imu: not finite")
    if not (sample.turn_variance >= 0.0 and sample.force_variance >= 0.0):
        return Refusal("imu: variance negative or not a number")
    if turn @ turn > FASTEST_TURN**2 or force @ force > HARDEST**2:
        return Refusal("imu: out of range")
    if sample.is_clipped:
        return Refusal("imu: clipped")
    variance = np.empty(6)
    variance[:3], variance[3:] = noise.gyro_std_radps**2, noise.force_std_mps2**2
    if sample.turn_variance > LARGEST_VARIANCE:
        variance[:3] = np.inf
    if sample.force_variance > LARGEST_VARIANCE:
        variance[3:] = np.inf
    return Reading(sample.time_ns, 1, values, variance)


def gps_reading(sample: GpsSample, noise: SensorNoise, frame: Frame) -> Reading | Refusal:
    """Values: position and velocity, east, north, up."""
    if sample.quality == 0:
        return Refusal("gps: no fix")
    place = (sample.latitude_deg, sample.longitude_deg, sample.altitude_m)
    velocity, variance = np.array(sample.velocity, dtype=float), np.array(sample.variance, dtype=float)
    velocity_variance = np.array(sample.velocity_variance, dtype=float)
    if velocity.shape != (3,) or variance.shape != (3,) or velocity_variance.shape != (3,):
        return Refusal("gps: wrong size")
    if not all(map(math.isfinite, place)) or not np.isfinite(velocity).all():
        return Refusal("gps: not finite")
    if abs(place[0]) > 90.0 or abs(place[1]) > 360.0:
        return Refusal("gps: no place on Earth")
    if not (variance >= 0.0).all() or not (velocity_variance >= 0.0).all():
        return Refusal("gps: variance negative or not a number")
    usual = np.array([noise.gps_std_m, noise.gps_std_m, noise.gps_up_std_m])
    spread = np.concatenate(
        [_honest(variance, usual), _honest(velocity_variance, np.full(3, noise.gps_velocity_std_mps))]
    )
    if np.isinf(spread[:2]).any():
        return Refusal("gps: variance too large")
    position = frame.enu(*place)
    if max(map(abs, position)) > FARTHEST:
        return Refusal("gps: far from the datum")
    return Reading(sample.time_ns, 2, np.array([*position, *velocity]), spread)


def _honest(variance: Array, usual: Array) -> Array:
    """Zero means not told: the usual one; too large means to leave the element out."""
    told = np.where(variance == 0.0, usual**2, np.maximum(variance, LEAST_STD**2))
    return np.where(variance > LARGEST_VARIANCE, np.inf, told)
