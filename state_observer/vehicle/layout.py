"""The error states of both filters by name, and the records that hold a filter's complete state.

The state is one record: its copy is a checkpoint, and two filters with equal bytes behave identically to the bit.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.driving.state import DRIVING_SIZE

Array = NDArray[np.float64]
FilterState: TypeAlias = Any  # one record of a dtype below, as an array of length 1
Record: TypeAlias = Any

# errorEKF: 20 error states, [Sanjurjo] Eq. 5.74. Position of the chassis origin in world axes; small rotations about
# the axes of the levelled heading frame (roll, pitch, yaw); wheel angles; and the rates of all these. Rates are in
# chassis axes where Eq. 5.74 has world axes: tyres and wheels depend on those alone, and a yaw correction rotates the
# velocity too.
POSITION, ROLL, PITCH, YAW, WHEEL = 0, 3, 4, 5, 6
VELOCITY, ANGULAR_VELOCITY, WHEEL_RATE = 10, 13, 16
# Beyond [Sanjurjo]: biases, height of the ground above the model's, and the disturbance: the acceleration (along,
# across, yaw) missing from the model ([Sanjurjo] Section 6.2). A steering offset appears as one in yaw.
GYRO_BIAS, FORCE_BIAS, GROUND, DISTURBANCE = 20, 23, 26, 27
ERROR_SIZE = 30

# INS: position, velocity, rotation (world axes), biases.
INS_POSITION, INS_VELOCITY, INS_ROTATION, INS_GYRO_BIAS, INS_FORCE_BIAS = 0, 3, 6, 9, 12
INS_SIZE = 15

SENSORS = ("gps_position", "gps_velocity", "course", "gyro", "accelerometer", "wheels")
GPS_POSITION, GPS_VELOCITY, COURSE, GYRO, ACCELEROMETER, WHEELS = range(len(SENSORS))
KINDS = ("encoders", "imu", "gps")  # also the order of samples with equal stamps
WINDOW = 100.0  # samples in the moving average of the NIS

_TALLY = [
    ("used", "f8", len(SENSORS)),  # samples
    ("gated", "f8", len(SENSORS)),
    ("nis", "f8", len(SENSORS)),  # sum over all tested samples, gated ones too
    ("degrees_of_freedom", "f8", len(SENSORS)),  # sum of their degrees of freedom
    ("recent", "f8", len(SENSORS)),  # NIS per degree of freedom, exponential moving average
    ("last_nis", "f8", len(SENSORS)),
    ("streak", "f8", len(SENSORS)),  # consecutive gated samples
    ("innovation", "f8", (len(SENSORS), 4)),  # of the latest sample, each over its standard deviation
]
_START = [
    ("fixes", "f8"),  # count while waiting for a heading
    ("anchor", "f8", 3),  # antenna, mean of the fixes while standing [m]
    ("anchor_variance", "f8"),  # [m^2]
    ("walked", "f8", 3),  # dead reckoning since the anchor: x, y [m], yaw [rad] in the axes of the start
    ("still", "f8"),  # IMU samples at standstill
    ("still_angular_velocity", "f8", 3),  # their mean [rad/s], sensor axes
    ("rate", "f8", 3),  # latest angular velocity [rad/s], base axes
    ("speed", "f8"),  # of the wheels [m/s]
]
_COMMON = [
    ("time_ns", "i8"),
    ("running", "i8"),  # 0 while waiting for a start
    ("started_ns", "i8"),
    ("fixed_ns", "i8"),  # latest used GPS position
    ("disagreed_ns", "i8"),  # since when all GPS positions are rejected; 0: accepted
    ("resets", "i8"),  # of the position, by lasting disagreement
    ("restarts", "i8"),  # after divergence
    ("jump", "f8", 3),  # displacement by the latest reset [m]
    ("encoders_ns", "i8"),  # time of the latest sample of each kind; 0: no sample yet
    ("imu_ns", "i8"),
    ("odom", "f8", 4),  # x, y, z [m], yaw [rad]: integrated, never corrected
    ("acceleration", "f8", 3),  # of the latest step; world axes without gravity [m/s^2]
    ("held", "i8", 3),  # checksum of the latest reading of each kind, to detect frozen sensors
    ("same", "i8", 3),  # repeats of that reading
    *_TALLY,
    *_START,
]
VEHICLE_STATE = np.dtype(
    [
        ("state", "f8", DRIVING_SIZE),
        ("angular_acceleration", "f8", 3),  # of the latest step, chassis axes [rad/s^2]
        ("gyro_bias", "f8", 3),
        ("force_bias", "f8", 3),
        ("ground", "f8"),
        ("disturbance", "f8", 3),
        ("noise_inflation", "f8", 4),  # log of noise factors: forces along, across, up, and angular velocity
        ("covariance", "f8", (ERROR_SIZE, ERROR_SIZE)),
        ("pedals", "f8", 4),  # steering, throttle, brake, selected
        ("counted", "f8", 4),  # latest wheel angles of the encoders [rad]
        ("rotated", "f8", 4),  # the same, signed by the direction of rotation [rad]
        ("counted_rate", "f8", 4),
        ("slipping_ns", "i8", 4),  # until when a wheel counts as slipping
        *_COMMON,
    ]
)
INS_STATE = np.dtype(
    [
        ("position", "f8", 3),  # of the IMU, world [m]
        ("velocity", "f8", 3),  # world axes
        ("attitude", "f8", 4),  # world_from_base, x y z w
        ("angular_velocity", "f8", 3),  # bias removed, base axes
        ("gyro_bias", "f8", 3),  # sensor axes
        ("force_bias", "f8", 3),
        ("covariance", "f8", (INS_SIZE, INS_SIZE)),
        ("force", "f8", 3),  # latest specific force, bias removed, base axes
        *_COMMON,
    ]
)

# Estimate at an instant, by either observer. Frames: map (world) and base_link.
ESTIMATE = np.dtype(
    [
        ("time_ns", "i8"),
        ("position", "f8", 3),  # of base_link in map [m]
        ("attitude", "f8", 4),  # map_from_base, x y z w
        ("velocity", "f8", 3),  # of base_link, in its axes [m/s]
        ("angular_velocity", "f8", 3),  # base_link axes [rad/s]
        ("covariance", "f8", (12, 12)),  # position and rotation (map axes), velocity and angular velocity (base_link)
        ("odom", "f8", 4),  # x, y, z [m], yaw [rad] of base_link in odom: no jumps
        ("sideslip", "f8"),  # of the vehicle's middle [rad], left positive; 0 below CRAWL
        ("sideslip_variance", "f8"),
        ("gyro_bias", "f8", 3),
        ("force_bias", "f8", 3),
        ("since_fix_s", "f8"),
        ("resets", "i8"),
        ("running", "i8"),
    ]
)
CRAWL = 0.5  # [m/s]: below this speed sideslip is undefined
