"""Input validation: one function per kind accepts a sample or says why not. Later stages see valid values only."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from sensors.samples import EncoderSample, GpsSample, ImuSample
from state_observer.vehicle.local_frame import Frame
from state_observer.vehicle.settings import SensorNoise

Array = NDArray[np.float64]
Sample = EncoderSample | ImuSample | GpsSample

LARGEST_VARIANCE = 1e6  # larger: the element is ignored
FASTEST_RADPS = 100.0  # [rad/s]
HARDEST = 1000.0  # [m/s^2]
FASTEST_WHEEL = 300.0  # [rad/s], 140 m/s at the rim
MOST_TURNED = 1e8  # [rad] wheel angle: once round the Earth
FASTEST = 200.0  # [m/s]
FARTHEST = 1e6  # [m] from the datum
MOST_STEERING = 1.5  # [rad]
PEDAL = (-0.5, 1.5)  # [-]: noise and zero offset may exceed 0 to 1
PRESSURE = (-1e7, 2e9)  # [Pa]
ENGINE = (-50.0, 1500.0)  # [rad/s]
LEAST_STD = 1e-3  # lower bound for position, velocity, heading [m, m/s, rad]
USUAL_POSE = (0.25, 0.07)  # default variances of a given position and heading [m^2, rad^2]
NOT_POSITIVE = 1e-9  # relative tolerance for rounding of a covariance


class Reading(NamedTuple):
    """A validated sample in the form kernels need."""

    time_ns: int
    kind: int  # index in KINDS
    values: Array
    variance: Array  # infinite: the element is ignored


class Rejection(NamedTuple):
    """Why a sample is rejected; a fixed text for each reason."""

    reason: str


def encoder_reading(sample: EncoderSample) -> Reading | Rejection:
    """Validate a sample; values: 4 wheel angles, 4 wheel rates, steering, throttle, brake pressure, engine speed."""
    values = np.array(
        [*sample.wheel_angle, *sample.wheel_rate, sample.steering, sample.throttle, sample.brake_pressure,
         sample.engine_speed], dtype=float,
    )  # fmt: skip
    numbers = values.tolist()
    if len(numbers) != len(_RANGES) or not all(map(math.isfinite, numbers)):
        return Rejection("encoders: not finite")
    if not all(low <= value <= high for value, (low, high) in zip(numbers, _RANGES, strict=True)):
        return Rejection("encoders: out of range")
    return Reading(sample.time_ns, 0, values, _NO_VARIANCE)


_NO_VARIANCE = np.zeros(0)
_RANGES = (
    *[(-MOST_TURNED, MOST_TURNED)] * 4, *[(-FASTEST_WHEEL, FASTEST_WHEEL)] * 4, (-MOST_STEERING, MOST_STEERING),
    PEDAL, PRESSURE, ENGINE,
)  # fmt: skip


class WheelGate(Stateful):
    """Rejects wheel angles that moved farther than possible: one sample is a stray, two are a reset counter."""

    STATE = ("_last", "_stray")

    def __init__(self) -> None:
        self._last: Reading | None = None
        self._stray: Reading | None = None

    def rejection(self, reading: Reading) -> str:
        """Why a reading is rejected; empty if it is consistent with the last one or with a rejected one before."""
        if self._last is None or not leaps(self._last.values, reading.values, reading.time_ns - self._last.time_ns):
            self._stray = None
        else:
            before, self._stray = self._stray, reading
            if before is None or not 0 < reading.time_ns - before.time_ns <= NS_PER_S:
                return "wheels turned too far"
            if leaps(before.values, reading.values, reading.time_ns - before.time_ns):
                return "wheels turned too far"
            self._stray = None
        if self._last is None or reading.time_ns > self._last.time_ns:
            self._last = reading
        return ""


def leaps(before: Array, after: Array, passed_ns: int) -> bool:
    """Whether a wheel's angle [rad] moved farther than possible in a time [ns]; one pulse is always possible."""
    most = FASTEST_WHEEL * abs(passed_ns) / NS_PER_S + math.tau
    return any(abs(new - old) > most for new, old in zip(after[:4].tolist(), before[:4].tolist(), strict=True))


def imu_reading(sample: ImuSample, noise: SensorNoise) -> Reading | Rejection:
    """Validate a sample; values: angular velocity and specific force, sensor axes.

    The sample's variances include biases and are unused."""
    values = np.array([*sample.angular_velocity, *sample.force], dtype=float)
    angular_velocity, force = values[:3], values[3:]
    if values.shape != (6,) or not math.isfinite(values @ values):  # also rejects values whose squared norm overflows
        return Rejection("imu: not finite")
    if not (sample.angular_velocity_variance >= 0.0 and sample.force_variance >= 0.0):
        return Rejection("imu: variance negative or not a number")
    if angular_velocity @ angular_velocity > FASTEST_RADPS**2 or force @ force > HARDEST**2:
        return Rejection("imu: out of range")
    if sample.is_clipped:
        return Rejection("imu: clipped")
    variance = np.empty(6)
    variance[:3], variance[3:] = noise.gyro_std_radps**2, noise.force_std_mps2**2
    if sample.angular_velocity_variance > LARGEST_VARIANCE:
        variance[:3] = np.inf
    if sample.force_variance > LARGEST_VARIANCE:
        variance[3:] = np.inf
    return Reading(sample.time_ns, 1, values, variance)


def gps_reading(sample: GpsSample, noise: SensorNoise, frame: Frame) -> Reading | Rejection:
    """Validate a sample; values: position [m] and velocity [m/s], east, north, up."""
    if sample.quality == 0:
        return Rejection("gps: no fix")
    point = (sample.latitude_deg, sample.longitude_deg, sample.altitude_m)
    velocity, variance = np.array(sample.velocity, dtype=float), np.array(sample.variance, dtype=float)
    velocity_variance = np.array(sample.velocity_variance, dtype=float)
    if velocity.shape != (3,) or variance.shape != (3,) or velocity_variance.shape != (3,):
        return Rejection("gps: wrong size")
    if not all(map(math.isfinite, point)) or not np.isfinite(velocity).all():
        return Rejection("gps: not finite")
    if abs(point[0]) > 90.0 or abs(point[1]) > 360.0:
        return Rejection("gps: not a position on Earth")
    if np.abs(velocity).max() > FASTEST:
        return Rejection("gps: out of range")
    if not (variance >= 0.0).all() or not (velocity_variance >= 0.0).all():
        return Rejection("gps: variance negative or not a number")
    usual = np.array([noise.gps_std_m, noise.gps_std_m, noise.gps_up_std_m])
    variances = np.concatenate(
        [_honest(variance, usual), _honest(velocity_variance, np.full(3, noise.gps_velocity_std_mps))]
    )
    if np.isinf(variances[:2]).any():
        return Rejection("gps: variance too large")
    position = frame.enu(*point)
    if max(map(abs, position)) > FARTHEST:
        return Rejection("gps: far from the datum")
    return Reading(sample.time_ns, 2, np.array([*position, *velocity]), variances)


class Pose(NamedTuple):
    """A given pose of base_link."""

    x: float  # [m]
    y: float
    heading: float  # [rad]
    position_variance: float  # each horizontal axis [m^2]
    heading_variance: float


def given_pose(
    x: float, y: float, heading: float, position_variance: float, heading_variance: float
) -> Pose | Rejection:
    """Validate a given pose [m, rad]; its variances become at least LEAST_STD squared."""
    values = (x, y, heading, position_variance, heading_variance)
    if not all(map(math.isfinite, values)):
        return Rejection("pose: not finite")
    if max(abs(x), abs(y)) > FARTHEST:
        return Rejection("pose: far from the datum")
    if min(position_variance, heading_variance) < 0.0:
        return Rejection("pose: variance negative or not a number")
    if max(position_variance, heading_variance) > LARGEST_VARIANCE:
        return Rejection("pose: variance too large")
    yaw = math.remainder(heading, math.tau)
    return Pose(x, y, yaw, max(position_variance, LEAST_STD**2), max(heading_variance, LEAST_STD**2))


def pose_variances(covariance: Array) -> tuple[float, float] | Rejection:
    """Variances of position and heading from a message's 36 elements (x y z, roll pitch yaw); 0 means unknown."""
    covariance = np.asarray(covariance, dtype=float)
    if covariance.shape != (36,) or not np.isfinite(covariance).all():
        return Rejection("pose: covariance not finite")
    planar = covariance.reshape(6, 6)[np.ix_([0, 1, 5], [0, 1, 5])]
    size = np.abs(planar).max()
    if np.abs(planar - planar.T).max() > NOT_POSITIVE * size:
        return Rejection("pose: covariance not symmetric")
    if (np.diagonal(planar) < 0.0).any() or np.linalg.eigvalsh(planar).min() < -NOT_POSITIVE * size:
        return Rejection("pose: covariance negative")
    position, heading = float(max(planar[0, 0], planar[1, 1])), float(planar[2, 2])
    return position or USUAL_POSE[0], heading or USUAL_POSE[1]


def _honest(variance: Array, usual: Array) -> Array:
    """Replace variances of zero (unknown) by the usual ones, and too large ones by infinity (element ignored)."""
    variances = np.where(variance == 0.0, usual**2, np.maximum(variance, LEAST_STD**2))
    return np.where(variance > LARGEST_VARIANCE, np.inf, variances)
