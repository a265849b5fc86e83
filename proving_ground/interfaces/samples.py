"""Data exchanged between rooms: samples of sensors and motions. Times are integer nanoseconds since 1970."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ImuSample(NamedTuple):
    """IMU reading in the sensor's own axes."""

    time_ns: int
    angular_velocity: Array  # angular rate [rad/s]
    force: Array  # specific force: acceleration less gravity, +g along z at rest [m/s^2]
    angular_velocity_variance: float  # of the worst axis: noise, bias, scale and misalignment [rad^2/s^2]
    force_variance: float  # likewise [m^2/s^4]
    attitude: Array | None  # world_from_sensor, x y z w, of units with a built-in filter
    attitude_variance: float  # of roll and pitch; for yaw see heading_variance [rad^2]
    heading_variance: float  # [rad^2]
    is_clipped: bool  # an axis is at its limit


COURSE_SPEED = 0.5  # below it the Doppler velocity gives no course [m/s]; [Sanjurjo] section 5.1.1


class GpsSample(NamedTuple):
    """GPS reading at the antenna."""

    time_ns: int
    quality: int  # as in GGA: 0 no fix, 1 autonomous, 2 differential, 4 RTK fixed, 5 RTK float
    latitude_deg: float  # without a fix, all coordinates are the last known ones
    longitude_deg: float
    altitude_m: float  # above the WGS-84 ellipsoid
    variance: Array  # of the position east, north, up [m^2]
    velocity: Array  # east, north, up [m/s]
    velocity_variance: Array  # [m^2/s^2]
    speed: float  # over ground [m/s]
    course: float | None  # over ground, clockwise from north [rad]; None below COURSE_SPEED and without fix
    satellites: int
    hdop: float


class DriveTruth(NamedTuple):
    """True values that encoders measure; wheels in the order front left, front right, rear left, rear right."""

    spin: Array  # wheel angles, 4 [rad]
    wheel_torque: Array  # of drive and brake, 4 [N m]
    steering: float  # Pitman angle, left positive [rad]
    throttle: float  # 0 to 1
    brake: float  # pedal, 0 to 1
    engine_speed: float  # [rad/s]


class EncoderSample(NamedTuple):
    """Readings of the encoders and inclinometers; wheels from front left to rear right."""

    time_ns: int
    wheel_angle: Array  # counted pulses since the start, 4 [rad]
    wheel_rate: Array  # of the pulses, 4 [rad/s]
    wheel_torque: Array  # 4 [N m]
    steering: float  # [rad]
    throttle: float  # 0 to 1
    brake_pressure: float  # [Pa]
    engine_speed: float  # [rad/s]
    tilt: Array  # inclinometers: about x (roll) and y (pitch) [rad]


LIDAR_POINT = np.dtype(
    [
        ("x", "<f4"),  # sensor frame at the time of the point, or of the stamp when deskewed [m]
        ("y", "<f4"),
        ("z", "<f4"),
        ("intensity", "<f4"),  # 0 to 255
        ("ring", "<u2"),  # 0 is the lowest beam
        ("time", "<f4"),  # after the scan's stamp [s]
    ],
    align=True,
)


RUT_CELL = np.dtype([("column", "<i4"), ("row", "<i4"), ("depth", "<f4")])  # cell of the soil, and its depth [m]


class LidarScan(NamedTuple):
    """One sweep of a spinning LIDAR, or one image of a flash LIDAR."""

    time_ns: int  # of the first ray
    ranges: NDArray[np.float32]  # rings x columns [m]; REP-117: -inf too close, +inf no return, NaN invalid
    points: NDArray[np.void]  # of LIDAR_POINT, one for each return


class Motion(NamedTuple):
    """Pose and twist of base_link; plain floats."""

    time_ns: int
    position: tuple[float, float, float]  # world [m]
    attitude: tuple[float, float, float, float]  # world_from_base, x y z w, of unit length
    velocity: tuple[float, float, float]  # base_link's axes [m/s]
    angular_velocity: tuple[float, float, float]  # angular velocity, base_link's axes [rad/s]


class Velocity(NamedTuple):
    """Velocity of a GPS antenna, from one message."""

    time_ns: int
    velocity: Array  # east, north, up [m/s]
    variance: Array  # [m^2/s^2]


class Wheels(NamedTuple):
    """Wheel readings, front left to rear right."""

    time_ns: int
    angle: Array  # [rad]
    rate: Array  # [rad/s]
    torque: Array  # [N m]


class Actuation(NamedTuple):
    """Measured steering, pedals, engine speed and tilt, from one message."""

    time_ns: int
    steering: float  # Pitman angle [rad]
    throttle: float
    brake_pressure: float  # [Pa]
    engine_speed: float  # [rad/s]
    tilt: Array  # about x and y [rad]
