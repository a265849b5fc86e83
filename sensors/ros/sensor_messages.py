"""Samples of sensors as standard messages. Each message is made once and filled anew where that saves time."""

from __future__ import annotations

import array
from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import TwistWithCovarianceStamped
from numpy.typing import NDArray
from sensor_msgs.msg import Imu, JointState, LaserScan, NavSatFix, NavSatStatus, PointCloud2
from std_msgs.msg import Header

from proving_ground.ros_support.point_cloud import points_to_cloud
from proving_ground.ros_support.time import ns_to_stamp
from sensors.gps.geodesy import Geodetic
from sensors.lidar.planar import PlanarScan
from sensors.samples import LIDAR_POINT, EncoderSample, GpsSample, ImuSample

LEAST_VARIANCE = 1e-12  # all zeros would mean: not known
NOT_THERE = -1.0  # in the first element of a covariance: this field holds nothing
UNKNOWN_VARIANCE = 1e6  # of rates that a GPS does not measure; larger ones upset filters
NO_FIX, RTK = 0, (4, 5)  # qualities, as GGA has them
DIFFERENTIAL = 2


def imu_to_msg(sample: ImuSample, frame: str, *, has_attitude: bool) -> Imu:
    """sensor_msgs/Imu in the sensor's axes; without attitude as REP-145's data_raw."""
    message = Imu(header=_header(sample.time_ns, frame))
    turn, force, pose = message.angular_velocity, message.linear_acceleration, message.orientation
    turn.x, turn.y, turn.z = sample.turn.tolist()
    force.x, force.y, force.z = sample.force.tolist()
    message.angular_velocity_covariance = _diagonal([max(sample.turn_variance, LEAST_VARIANCE)] * 3)
    message.linear_acceleration_covariance = _diagonal([max(sample.force_variance, LEAST_VARIANCE)] * 3)
    if has_attitude and sample.attitude is not None:
        pose.x, pose.y, pose.z, pose.w = sample.attitude.tolist()
        tilt = sample.attitude_variance
        message.orientation_covariance = _diagonal([tilt, tilt, sample.heading_variance])
    else:
        message.orientation_covariance = _diagonal([NOT_THERE, 0.0, 0.0])
    return message


def fix_to_msg(sample: GpsSample, frame: str) -> NavSatFix:
    """sensor_msgs/NavSatFix of the antenna; without a fix the covariance is unknown."""
    message = NavSatFix(header=_header(sample.time_ns, frame))
    message.status.status = _status(sample.quality)
    message.status.service = NavSatStatus.SERVICE_GPS
    message.latitude, message.longitude = float(sample.latitude_deg), float(sample.longitude_deg)
    message.altitude = float(sample.altitude_m)
    if sample.quality == NO_FIX:
        message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_UNKNOWN
    else:
        message.position_covariance = _diagonal(sample.variance.tolist())
        message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN
    return message


def datum_to_msg(datum: Geodetic, frame: str) -> NavSatFix:
    """sensor_msgs/NavSatFix of the world's origin; it is of no time."""
    message = NavSatFix(header=_header(0, frame), latitude=datum[0], longitude=datum[1], altitude=datum[2])
    message.status.status = NavSatStatus.STATUS_FIX
    message.status.service = NavSatStatus.SERVICE_GPS
    message.position_covariance_type = NavSatFix.COVARIANCE_TYPE_UNKNOWN
    return message


def gps_velocity_to_msg(sample: GpsSample, frame: str) -> TwistWithCovarianceStamped:
    """Doppler velocity east, north, up; frame is the world's. Turning is not measured: its variance is large."""
    message = TwistWithCovarianceStamped(header=_header(sample.time_ns, frame))
    linear = message.twist.twist.linear
    linear.x, linear.y, linear.z = sample.velocity.tolist()
    message.twist.covariance = np.diag([*sample.velocity_variance.tolist(), *[UNKNOWN_VARIANCE] * 3]).ravel()
    return message


def wheels_to_msg(sample: EncoderSample, wheels: Sequence[str]) -> JointState:
    """Measured wheel angles [rad], rates [rad/s] and torques [N m]."""
    message = JointState(header=_header(sample.time_ns, ""), name=list(wheels))
    message.position = _doubles(sample.wheel_angle)
    message.velocity = _doubles(sample.wheel_rate)
    message.effort = _doubles(sample.wheel_torque)
    return message


def actuation_to_msg(sample: EncoderSample) -> JointState:
    """Measured Pitman angle [rad], throttle, brake pressure (effort, Pa), engine speed [rad/s], tilts [rad]."""
    names = ["steering", "throttle", "brake", "engine", "tilt_x", "tilt_y"]
    message = JointState(header=_header(sample.time_ns, ""), name=names)
    roll, pitch = sample.tilt.tolist()
    message.position = array.array("d", (sample.steering, sample.throttle, 0.0, 0.0, roll, pitch))
    message.velocity = array.array("d", (0.0, 0.0, 0.0, sample.engine_speed, 0.0, 0.0))
    message.effort = array.array("d", (0.0, 0.0, sample.brake_pressure, 0.0, 0.0, 0.0))
    return message


class CloudMessages:
    """Point clouds of a laser scanner; the layout is described once."""

    def __init__(self, frame: str) -> None:
        empty: NDArray[np.void] = np.zeros(0, LIDAR_POINT)
        self._message = points_to_cloud(empty, Header(frame_id=frame))

    def cloud(self, time_ns: int, points: NDArray[np.void]) -> PointCloud2:
        """sensor_msgs/PointCloud2 of returns, all of them finite; good until the next one is made."""
        message = self._message
        data = message.data  # filled where it is: setting it would copy it once more
        del data[:]
        data.frombytes(points.view(np.uint8).data)
        message.header.stamp = ns_to_stamp(time_ns)
        message.width = len(points)
        message.row_step = message.width * LIDAR_POINT.itemsize
        return message


def planar_to_msg(scan: PlanarScan, frame: str) -> LaserScan:
    """sensor_msgs/LaserScan."""
    message = LaserScan(
        header=_header(scan.time_ns, frame),
        angle_min=scan.angle_min,
        angle_max=scan.angle_max,
        angle_increment=scan.angle_increment,
        time_increment=scan.time_increment,
        scan_time=scan.scan_time,
        range_min=scan.range_min,
        range_max=scan.range_max,
    )
    message.ranges = array.array("f", scan.ranges.tobytes())
    return message


def _header(time_ns: int, frame: str) -> Header:
    return Header(stamp=ns_to_stamp(time_ns), frame_id=frame)


def _status(quality: int) -> int:
    if quality == NO_FIX:
        return int(NavSatStatus.STATUS_NO_FIX)
    if quality in RTK:
        return int(NavSatStatus.STATUS_GBAS_FIX)
    return int(NavSatStatus.STATUS_SBAS_FIX if quality == DIFFERENTIAL else NavSatStatus.STATUS_FIX)


def _diagonal(values: Sequence[float]) -> NDArray[np.float64]:
    return np.diag(values).ravel()


def _doubles(values: NDArray[np.float64]) -> array.array[float]:
    return array.array("d", values.tobytes())
