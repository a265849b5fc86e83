"""Samples of sensors and the truth as standard messages, value for value those that the nodes publish.

sensors.ros.sensor_messages and vehicle_dynamics.ros.vehicle_messages do the same with the classes of rclpy, which
is not needed here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces import message_types as types
from proving_ground.recording.types import header, new
from proving_ground.ros_support.transformations import quaternion_from_euler
from sensors.gps.geodesy import Geodetic
from sensors.lidar.planar import PlanarScan
from sensors.samples import LIDAR_POINT, DriveTruth, EncoderSample, GpsSample, ImuSample
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.vehicle_mechanism import CORNERS

Array = NDArray[np.float64]

WHEELS = tuple(f"{corner}_wheel" for corner in CORNERS)
ACTUATION = ("steering", "throttle", "brake", "engine", "tilt_x", "tilt_y")
LEAST_VARIANCE = 1e-12  # all zeros would mean: not known
NOT_THERE = -1.0  # in the first element of a covariance: this field holds nothing
UNKNOWN_VARIANCE = 1e6  # of rates that a GPS does not measure
TRUTH_VARIANCE = 1e-9  # truth is exact; filters that invert a covariance want it above zero
STATUS = {0: -1, 1: 0, 2: 1, 4: 2, 5: 2}  # of NavSatStatus, by the quality of GGA
SERVICE_GPS = 1
UNKNOWN, DIAGONAL_KNOWN = 0, 2  # covariance types of NavSatFix
_FIELD_TYPES = {"float32": 7, "uint16": 4}  # of PointField
_TRUTH_COVARIANCE = (TRUTH_VARIANCE * np.eye(6)).ravel()


def imu_message(sample: ImuSample, frame: str, *, has_attitude: bool = False) -> Any:
    """sensor_msgs/Imu in the sensor's axes; without attitude as REP-145's data_raw."""
    attitude, spread = (0.0, 0.0, 0.0, 1.0), [NOT_THERE, 0.0, 0.0]
    if has_attitude and sample.attitude is not None:
        x, y, z, w = sample.attitude.tolist()
        attitude = (x, y, z, w)
        spread = [sample.attitude_variance, sample.attitude_variance, sample.heading_variance]
    return new(
        types.IMU,
        header(sample.time_ns, frame),
        _quaternion(attitude),
        _diagonal(spread),
        _vector(sample.turn.tolist()),
        _diagonal([max(sample.turn_variance, LEAST_VARIANCE)] * 3),
        _vector(sample.force.tolist()),
        _diagonal([max(sample.force_variance, LEAST_VARIANCE)] * 3),
    )


def fix_message(sample: GpsSample, frame: str) -> Any:
    """sensor_msgs/NavSatFix of the antenna; without a fix the covariance is unknown."""
    has_fix = sample.quality != 0
    return new(
        types.FIX,
        header(sample.time_ns, frame),
        new("sensor_msgs/msg/NavSatStatus", STATUS[sample.quality], SERVICE_GPS),
        float(sample.latitude_deg),
        float(sample.longitude_deg),
        float(sample.altitude_m),
        _diagonal(sample.variance.tolist()) if has_fix else np.zeros(9),
        DIAGONAL_KNOWN if has_fix else UNKNOWN,
    )


def datum_message(time_ns: int, datum: Geodetic, frame: str) -> Any:
    """sensor_msgs/NavSatFix of the world's origin."""
    status = new("sensor_msgs/msg/NavSatStatus", 0, SERVICE_GPS)
    return new(types.FIX, header(time_ns, frame), status, *datum, np.zeros(9), UNKNOWN)


def velocity_message(sample: GpsSample, frame: str) -> Any:
    """Doppler velocity east, north, up; frame is the world's. Turning is not measured: its variance is large."""
    spread = np.diag([*sample.velocity_variance.tolist(), *[UNKNOWN_VARIANCE] * 3]).ravel()
    twist = _twist(sample.velocity.tolist(), (0.0, 0.0, 0.0))
    return new(types.VELOCITY, header(sample.time_ns, frame), _with_covariance("Twist", twist, spread))


def wheels_message(sample: EncoderSample, names: Sequence[str] = WHEELS) -> Any:
    """Measured wheel angles [rad], rates [rad/s] and torques [N m]."""
    return _joints(sample.time_ns, names, sample.wheel_angle, sample.wheel_rate, sample.wheel_torque)


def actuation_message(sample: EncoderSample) -> Any:
    """Measured Pitman angle [rad], throttle, brake pressure (effort, Pa), engine speed [rad/s], tilts [rad]."""
    return _joints(
        sample.time_ns,
        ACTUATION,
        (sample.steering, sample.throttle, 0.0, 0.0, *sample.tilt.tolist()),
        (0.0, 0.0, 0.0, sample.engine_speed, 0.0, 0.0),
        (0.0, 0.0, sample.brake_pressure, 0.0, 0.0, 0.0),
    )


def truth_odometry(time_ns: int, motion: BaseMotion, world: str, base: str) -> Any:
    """Pose in the world's frame, twist in base_link's own axes."""
    pose = new("geometry_msgs/msg/Pose", new("geometry_msgs/msg/Point", *motion.position), _quaternion(motion.attitude))
    return new(
        types.ODOMETRY,
        header(time_ns, world),
        base,
        _with_covariance("Pose", pose, _TRUTH_COVARIANCE),
        _with_covariance("Twist", _twist(motion.velocity, motion.turn), _TRUTH_COVARIANCE),
    )


def truth_accel(time_ns: int, motion: BaseMotion, base: str) -> Any:
    """Acceleration in base_link's own axes, gravity not included."""
    accel = new("geometry_msgs/msg/Accel", _vector(motion.acceleration), _vector(motion.turn_rate))
    return new(types.ACCEL, header(time_ns, base), accel)


def truth_actuation(time_ns: int, drive: DriveTruth, spin_rate: Array) -> Any:
    """What encoders look at, without error; spin_rate: of the wheels [rad/s]."""
    pedals = (drive.steering, drive.throttle, drive.brake)
    return _joints(
        time_ns,
        (*WHEELS, "steering", "throttle", "brake", "engine"),
        (*drive.spin.tolist(), *pedals, 0.0),
        (*spin_rate.tolist(), 0.0, 0.0, 0.0, drive.engine_speed),
        (*drive.wheel_torque.tolist(), 0.0, 0.0, 0.0, 0.0),
    )


def cloud_message(time_ns: int, points: NDArray[np.void], frame: str) -> Any:
    """sensor_msgs/PointCloud2 of returns (LIDAR_POINT), all of them finite."""
    places: Any = LIDAR_POINT.fields
    fields = [
        new("sensor_msgs/msg/PointField", name, place[1], _FIELD_TYPES[place[0].name], 1)
        for name, place in places.items()
    ]
    width, step = len(points), LIDAR_POINT.itemsize
    data = np.frombuffer(np.ascontiguousarray(points).tobytes(), np.uint8)
    return new(types.CLOUD, header(time_ns, frame), 1, width, fields, False, step, width * step, data, True)


def scan_message(scan: PlanarScan, frame: str) -> Any:
    """sensor_msgs/LaserScan."""
    return new(types.SCAN, header(scan.time_ns, frame), *scan[1:8], scan.ranges, np.zeros(0, np.float32))


def mounts_message(base: str, mounts: Sequence[tuple[str, Sequence[float], Sequence[float]]]) -> Any:
    """tf2_msgs/TFMessage of fixed links: child frame, place [m] and roll, pitch, yaw [deg] in base."""
    links = []
    for child, place, angles in mounts:
        turn = quaternion_from_euler(*(math.radians(angle) for angle in angles))
        transform = new("geometry_msgs/msg/Transform", _vector(place), _quaternion(turn))
        links.append(new("geometry_msgs/msg/TransformStamped", header(0, base), child, transform))
    return new(types.TRANSFORMS, links)


def text_message(text: str) -> Any:
    """std_msgs/String."""
    return new(types.TEXT, text)


def _joints(time_ns: int, names: Sequence[str], position: Sequence[float] | Array, velocity: Any, effort: Any) -> Any:
    arrays = (np.array(values, dtype=float) for values in (position, velocity, effort))
    return new(types.JOINTS, header(time_ns, ""), list(names), *arrays)


def _twist(linear: Sequence[float], angular: Sequence[float]) -> Any:
    return new("geometry_msgs/msg/Twist", _vector(linear), _vector(angular))


def _with_covariance(kind: str, value: Any, covariance: Array) -> Any:
    return new(f"geometry_msgs/msg/{kind}WithCovariance", value, covariance)


def _vector(values: Sequence[float]) -> Any:
    return new("geometry_msgs/msg/Vector3", *map(float, values))


def _quaternion(values: Any) -> Any:
    return new("geometry_msgs/msg/Quaternion", *map(float, values))


def _diagonal(values: Sequence[float]) -> Array:
    return np.diag(values).ravel()
