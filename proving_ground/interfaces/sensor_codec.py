"""Samples of sensors to standard messages and back, with rclpy's and rosbags' classes alike.

`fill_x(message, sample)` fills a message in place; its frame is set by its owner. `read_x(message)` checks shapes and
stamps and raises ValueError with a short text, always the same for the same reason; values are validated by their user.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces import joints
from proving_ground.interfaces.fields import Array, Maker, diagonal, is_of_bag, numbers, read_stamp, set_stamp
from proving_ground.interfaces.samples import (
    COURSE_SPEED,
    LIDAR_POINT,
    Actuation,
    EncoderSample,
    GpsSample,
    ImuSample,
    Velocity,
    Wheels,
)

LEAST_VARIANCE: Final = 1e-12  # all zeros would mean unknown
NOT_THERE: Final = -1.0  # in the first element of a covariance: the field is absent
UNMEASURED_VARIANCE: Final = 1e6  # of rates that a GPS does not measure; larger ones upset filters
UNKNOWN_VARIANCE: Final = 1e9  # of a velocity that was not received: finite, but so large that observers ignore it
NO_FIX: Final = 0  # quality, as in GGA
CLIPPED_VARIANCE: Final = 1e9  # marks an IMU sample with an axis at its limit
STATUS: Final = {NO_FIX: -1, 1: 0, 2: 1, 4: 2, 5: 2}  # of NavSatStatus, by the quality of GGA
QUALITY: Final = {0: 1, 1: 2, 2: 4}  # and back
SERVICE_GPS: Final = 1
COVARIANCE_UNKNOWN, COVARIANCE_DIAGONAL = 0, 2  # covariance types of NavSatFix
POINT_FIELD: Final = "sensor_msgs/msg/PointField"
FIELD_TYPES: Final = {  # datatypes of PointField
    "int8": 1, "uint8": 2, "int16": 3, "uint16": 4, "int32": 5, "uint32": 6, "float32": 7, "float64": 8,
}  # fmt: skip


# IMU


def fill_imu(message: Any, sample: ImuSample, *, has_attitude: bool) -> None:
    """sensor_msgs/Imu in the sensor's axes; without attitude as REP-145's data_raw."""
    set_stamp(message.header.stamp, sample.time_ns)
    angular_velocity, force, pose = message.angular_velocity, message.linear_acceleration, message.orientation
    angular_velocity.x, angular_velocity.y, angular_velocity.z = sample.angular_velocity.tolist()
    force.x, force.y, force.z = sample.force.tolist()
    variances = (sample.angular_velocity_variance, sample.force_variance)
    if sample.is_clipped:  # worth nothing: filters that go by the covariance ignore it
        variances = (CLIPPED_VARIANCE, CLIPPED_VARIANCE)
    message.angular_velocity_covariance = diagonal([max(variances[0], LEAST_VARIANCE)] * 3)
    message.linear_acceleration_covariance = diagonal([max(variances[1], LEAST_VARIANCE)] * 3)
    if has_attitude and sample.attitude is not None:
        pose.x, pose.y, pose.z, pose.w = sample.attitude.tolist()
        tilt = sample.attitude_variance
        message.orientation_covariance = diagonal([tilt, tilt, sample.heading_variance])
    else:
        pose.x, pose.y, pose.z, pose.w = 0.0, 0.0, 0.0, 1.0
        message.orientation_covariance = diagonal([NOT_THERE, 0.0, 0.0])


def read_imu(message: Any) -> ImuSample:
    """Sample of a sensor_msgs/Imu; raises ValueError when a covariance begins with -1, which marks an absent field."""
    angular_velocity_covariance, force_covariance = (
        message.angular_velocity_covariance,
        message.linear_acceleration_covariance,
    )
    if NOT_THERE in (angular_velocity_covariance[0], force_covariance[0]):
        raise ValueError("has no rates or no accelerations")
    covariance, pose = message.orientation_covariance, message.orientation
    attitude = np.array([pose.x, pose.y, pose.z, pose.w])
    has_attitude = covariance[0] != NOT_THERE and bool(attitude.any())
    angular_velocity, force = message.angular_velocity, message.linear_acceleration
    return ImuSample(
        read_stamp(message.header.stamp),
        np.array([angular_velocity.x, angular_velocity.y, angular_velocity.z]),
        np.array([force.x, force.y, force.z]),
        _largest(angular_velocity_covariance),
        _largest(force_covariance),
        attitude if has_attitude else None,
        float(max(covariance[0], covariance[4])) if has_attitude else 0.0,
        float(covariance[8]) if has_attitude else 0.0,
        CLIPPED_VARIANCE in (angular_velocity_covariance[0], force_covariance[0]),
    )


# GPS


def fill_fix(message: Any, sample: GpsSample) -> None:
    """sensor_msgs/NavSatFix of the antenna; without a fix the covariance is unknown."""
    has_fix = sample.quality != NO_FIX
    position = (sample.latitude_deg, sample.longitude_deg, sample.altitude_m)
    _fill_position(message, sample.time_ns, STATUS[sample.quality], position)
    message.position_covariance = diagonal(sample.variance.tolist()) if has_fix else np.zeros(9)
    message.position_covariance_type = COVARIANCE_DIAGONAL if has_fix else COVARIANCE_UNKNOWN


def fill_datum(message: Any, time_ns: int, datum: Sequence[float]) -> None:
    """sensor_msgs/NavSatFix of the world's origin: latitude [deg], longitude [deg], altitude [m]."""
    _fill_position(message, time_ns, STATUS[1], datum)


def _fill_position(message: Any, time_ns: int, status: int, position: Sequence[float]) -> None:
    set_stamp(message.header.stamp, time_ns)
    message.status.status, message.status.service = status, SERVICE_GPS
    message.latitude, message.longitude, message.altitude = map(float, position)


def fill_gps_velocity(message: Any, sample: GpsSample) -> None:
    """TwistWithCovarianceStamped east, north, up. Angular velocity is not measured: its variance is large."""
    set_stamp(message.header.stamp, sample.time_ns)
    linear = message.twist.twist.linear
    linear.x, linear.y, linear.z = sample.velocity.tolist()
    message.twist.covariance = diagonal([*sample.velocity_variance.tolist(), *[UNMEASURED_VARIANCE] * 3])


def read_gps_velocity(message: Any) -> Velocity:
    """Velocity of a TwistWithCovarianceStamped; a variance of 0 means unknown."""
    linear, covariance = message.twist.twist.linear, message.twist.covariance
    variance = np.array([covariance[0], covariance[7], covariance[14]], dtype=float)
    return Velocity(read_stamp(message.header.stamp), np.array([linear.x, linear.y, linear.z]), variance)


def read_gps(message: Any, moves: Velocity | None) -> GpsSample:
    """Sample of a sensor_msgs/NavSatFix; moves: velocity of the same time, else its variance is UNKNOWN_VARIANCE."""
    quality = QUALITY.get(int(message.status.status), NO_FIX)
    is_known = message.position_covariance_type != COVARIANCE_UNKNOWN
    variance = np.array(message.position_covariance, dtype=float)[[0, 4, 8]] if is_known else np.zeros(3)
    velocity = moves.velocity if moves is not None else np.zeros(3)
    speed = math.hypot(velocity[0], velocity[1])
    has_course = moves is not None and quality != NO_FIX and speed >= COURSE_SPEED
    return GpsSample(
        read_stamp(message.header.stamp),
        quality,
        message.latitude,
        message.longitude,
        message.altitude,
        variance,
        velocity,
        moves.variance if moves is not None else np.full(3, UNKNOWN_VARIANCE),
        speed,
        math.atan2(velocity[0], velocity[1]) % math.tau if has_course else None,
        0,
        0.0,
    )


# Encoders


def name_joints(message: Any, names: Sequence[str]) -> None:
    """Set the names of a sensor_msgs/JointState, and as many zeros of each kind."""
    message.name = list(names)
    fill_joints(message, 0, *[np.zeros(len(names))] * 3)


def fill_joints(message: Any, time_ns: int, position: Any, velocity: Any, effort: Any) -> None:
    """Fill a sensor_msgs/JointState whose names are set; as many values of each kind as names."""
    set_stamp(message.header.stamp, time_ns)
    message.position = numbers(message, position)
    message.velocity = numbers(message, velocity)
    message.effort = numbers(message, effort)


def fill_wheels(message: Any, sample: EncoderSample) -> None:
    """JointState of joints.WHEELS: measured angles [rad], rates [rad/s] and torques [N m]."""
    fill_joints(message, sample.time_ns, sample.wheel_angle, sample.wheel_rate, sample.wheel_torque)


def fill_actuation(message: Any, sample: EncoderSample) -> None:
    """JointState of joints.ACTUATION: steering [rad], throttle, brake pressure (effort, Pa), engine speed, tilts."""
    position = (sample.steering, sample.throttle, 0.0, 0.0, *sample.tilt.tolist())
    velocity = (0.0, 0.0, 0.0, sample.engine_speed, 0.0, 0.0)
    fill_joints(message, sample.time_ns, position, velocity, (0.0, 0.0, sample.brake_pressure, 0.0, 0.0, 0.0))


def read_wheels(message: Any, names: Sequence[str] = joints.WHEELS) -> Wheels:
    """Readings of a sensor_msgs/JointState; names: of the wheels, front left to rear right. Torques may be missing."""
    index = _positions(message, names)
    angle, rate = _chosen(message.position, index), _chosen(message.velocity, index)
    if angle is None or rate is None:
        raise ValueError("has no positions or no velocities of the wheels")
    torque = _chosen(message.effort, index)
    return Wheels(read_stamp(message.header.stamp), angle, rate, torque if torque is not None else np.zeros(4))


def read_actuation(message: Any, names: Sequence[str] = joints.DRIVE) -> Actuation:
    """Readings of a sensor_msgs/JointState; names: in the order of joints.DRIVE. Inclinometers may be missing."""
    steering, throttle, brake, engine = _positions(message, names)
    count = len(message.name)
    if not len(message.position) == len(message.velocity) == len(message.effort) == count:
        raise ValueError("must have position, velocity and effort for each name")
    tilts = [message.name.index(name) if name in message.name else -1 for name in joints.TILTS]
    return Actuation(
        read_stamp(message.header.stamp),
        float(message.position[steering]),
        float(message.position[throttle]),
        float(message.effort[brake]),
        float(message.velocity[engine]),
        np.array([message.position[index] if index >= 0 else 0.0 for index in tilts]),
    )


def encoder_sample(wheels: Wheels, actuation: Actuation | None) -> EncoderSample:
    """Wheels and actuation as one sample; without actuation it is 0, for observers that do not use it."""
    if actuation is None:
        return EncoderSample(*wheels, 0.0, 0.0, 0.0, 0.0, np.zeros(2))
    _, steering, throttle, brake_pressure, engine_speed, tilt = actuation
    return EncoderSample(*wheels, steering, throttle, brake_pressure, engine_speed, tilt)


# LIDAR


def describe_points(message: Any, layout: np.dtype[np.void], make: Maker) -> None:
    """sensor_msgs/PointCloud2: fields and sizes of a structured type; raises ValueError for an unsupported type."""
    message.fields = [_point_field(name, layout, make) for name in layout.names or ()]
    message.height, message.point_step, message.is_bigendian, message.is_dense = 1, layout.itemsize, False, True


def fill_cloud(message: Any, time_ns: int, points: NDArray[np.void]) -> None:
    """Fill a described sensor_msgs/PointCloud2; points are finite and contiguous, and not copied for a bag."""
    set_stamp(message.header.stamp, time_ns)
    message.width = len(points)
    message.row_step = message.width * message.point_step
    if is_of_bag(message):
        message.data = np.ascontiguousarray(points).view(np.uint8)
        return
    data = message.data  # filled in place: setting it would copy it once more
    del data[:]
    data.frombytes(points.view(np.uint8).data)


def lidar_cloud(message: Any, make: Maker) -> Any:
    """A described PointCloud2 of our LIDAR's points."""
    describe_points(message, LIDAR_POINT, make)
    return message


def fill_scan(message: Any, scan: Any) -> None:
    """sensor_msgs/LaserScan of a planar scan, which has the same field names."""
    set_stamp(message.header.stamp, scan.time_ns)
    message.angle_min, message.angle_max, message.angle_increment = scan.angle_min, scan.angle_max, scan.angle_increment
    message.time_increment, message.scan_time = scan.time_increment, scan.scan_time
    message.range_min, message.range_max = scan.range_min, scan.range_max
    message.ranges = numbers(message, scan.ranges, "f")


def _point_field(name: str, layout: np.dtype[np.void], make: Maker) -> Any:
    assert layout.fields is not None
    kind, offset = layout.fields[name][:2]
    if kind.name not in FIELD_TYPES or kind.byteorder == ">":
        raise ValueError(f"field {name} has type {kind}, allowed little-endian {', '.join(FIELD_TYPES)}")
    field = make(POINT_FIELD)
    field.name, field.offset, field.datatype, field.count = name, offset, FIELD_TYPES[kind.name], 1
    return field


def _positions(message: Any, names: Sequence[str]) -> list[int]:
    missing = [name for name in names if name not in message.name]
    if missing:
        raise ValueError(f"has no {missing[0]}")
    return [message.name.index(name) for name in names]


def _chosen(values: Any, index: Sequence[int]) -> Array | None:
    return np.asarray(values, dtype=float)[list(index)] if len(values) > max(index) else None


def _largest(covariance: Any) -> float:
    """Largest variance on the diagonal."""
    return float(max(covariance[0], covariance[4], covariance[8]))
