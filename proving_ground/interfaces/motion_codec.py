"""Motion of a vehicle, true and estimated: odometry, acceleration, actuation, transforms, estimates.

`fill_x` and `read_x` as in sensor_codec. The caller of `fill_x` ensures that all values are finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces import joints
from proving_ground.interfaces.fields import (
    FARTHEST_M,
    FASTEST_MPS,
    FASTEST_RADPS,
    HARDEST_MPS2,
    HARDEST_RADPS2,
    LARGEST,
    Array,
    Maker,
    numbers,
    read_quaternion,
    read_stamp,
    read_vector,
    set_quaternion,
    set_stamp,
    set_vector,
)
from proving_ground.interfaces.samples import RUT_CELL, DriveTruth, Motion
from proving_ground.interfaces.sensor_codec import fill_joints

# Truth is exact, but filters that invert a covariance need it above zero.
TRUTH_VARIANCE: Final = 1e-9  # [m^2, rad^2, and those per s^2]
TRANSFORM: Final = "geometry_msgs/msg/TransformStamped"
DIMENSION: Final = "std_msgs/msg/MultiArrayDimension"
FORCE_COLUMNS: Final = ("load_n", "along_n", "across_n", "friction_use", "load_std_n", "along_std_n", "across_std_n")
Frames = tuple[str, str]  # of an odometry: reference frame and moving frame


# Commands


def fill_pedals(message: Any, time_ns: int, positions: Sequence[float]) -> None:
    """sensor_msgs/JointState of a command: pedals, gear, and those levers that are not negative (to be kept)."""
    set_stamp(message.header.stamp, time_ns)
    count = len(joints.PEDALS_AND_GEAR)
    levers = {name: value for name, value in zip(joints.LEVERS, positions[count:], strict=False) if value >= 0.0}
    message.name = [*joints.PEDALS_AND_GEAR, *levers]
    message.position = numbers(message, [*positions[:count], *levers.values()])


def fill_command(message: Any, time_ns: int, speed: float, yaw_rate: float) -> None:
    """geometry_msgs/TwistStamped of a speed [m/s] and a yaw rate [rad/s]."""
    set_stamp(message.header.stamp, time_ns)
    message.twist.linear.x, message.twist.angular.z = speed, yaw_rate


# Truth


def make_exact(message: Any) -> None:
    """Set the covariances of a nav_msgs/Odometry to the tiny ones of the truth, TRUTH_VARIANCE."""
    covariance = (TRUTH_VARIANCE * np.eye(6)).ravel()
    message.pose.covariance, message.twist.covariance = covariance, covariance.copy()


def fill_odometry(message: Any, time_ns: int, motion: Any) -> None:
    """nav_msgs/Odometry: pose in the world, twist in the moving frame's axes; motion: with the names of Motion."""
    set_stamp(message.header.stamp, time_ns)
    set_vector(message.pose.pose.position, motion.position)
    set_quaternion(message.pose.pose.orientation, motion.attitude)
    set_vector(message.twist.twist.linear, motion.velocity)
    set_vector(message.twist.twist.angular, motion.angular_velocity)


def read_odometry(message: Any, frames: Frames | None = None) -> Motion:
    """Motion of nav_msgs/Odometry; raises ValueError for values that are not finite or plausible, or other frames."""
    found = (message.header.frame_id, message.child_frame_id)
    if frames is not None and found != frames:
        raise ValueError(f"is of {found[1]!r} in frame {found[0]!r}, must be of {frames[1]!r} in {frames[0]!r}")
    pose, twist = message.pose.pose, message.twist.twist
    return Motion(
        read_stamp(message.header.stamp),
        read_vector(pose.position, "position", FARTHEST_M),
        read_quaternion(pose.orientation),
        read_vector(twist.linear, "speed", FASTEST_MPS),
        read_vector(twist.angular, "angular velocity", FASTEST_RADPS),
    )


def fill_accel(message: Any, time_ns: int, motion: Any) -> None:
    """geometry_msgs/AccelStamped: acceleration in the moving frame's axes, gravity not included."""
    set_stamp(message.header.stamp, time_ns)
    set_vector(message.accel.linear, motion.acceleration)
    set_vector(message.accel.angular, motion.angular_acceleration)


def read_accel(message: Any) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Linear [m/s^2] and angular [rad/s^2] acceleration of a geometry_msgs/AccelStamped; raises ValueError."""
    linear, angular = message.accel.linear, message.accel.angular
    return (
        read_vector(linear, "acceleration", HARDEST_MPS2),
        read_vector(angular, "angular acceleration", HARDEST_RADPS2),
    )


def fill_truth_actuation(message: Any, time_ns: int, seen: Any) -> None:
    """JointState of joints.TRUTH_ACTUATION from a record of the vehicle's snapshot, as error-free encoders read it.

    Wheels: angle [rad], rate [rad/s], torque of drive and brake [N m]; steering: Pitman angle, left positive [rad];
    throttle, brake: pedals, 0 to 1; engine: velocity [rad/s].
    """
    pedals = (-float(seen["pitman_angle"]), float(seen["throttle"]), float(seen["brake"]))
    torque = (seen["drive_torque"] + seen["brake_torque"]).tolist()
    fill_joints(
        message,
        time_ns,
        (*seen["spin"].tolist(), *pedals, 0.0),
        (*seen["spin_rate"].tolist(), 0.0, 0.0, 0.0, float(seen["engine_speed"])),
        (*torque, 0.0, 0.0, 0.0, 0.0),
    )


def read_truth_actuation(message: Any) -> DriveTruth:
    """Values that fill_truth_actuation wrote; raises ValueError unless names, sizes and values are plausible."""
    if tuple(message.name) != joints.TRUTH_ACTUATION:
        raise ValueError(f"names must be {', '.join(joints.TRUTH_ACTUATION)}")
    count = len(joints.TRUTH_ACTUATION)
    position, velocity, effort = (np.array(item) for item in (message.position, message.velocity, message.effort))
    if any(item.shape != (count,) or not (np.abs(item) <= LARGEST).all() for item in (position, velocity, effort)):
        raise ValueError(f"position, velocity and effort must each have a number within {LARGEST:g} for each name")
    steering, throttle, brake = position[4:7].tolist()
    return DriveTruth(position[:4], effort[:4], steering, throttle, brake, float(velocity[7]))


def read_ruts(message: Any) -> NDArray[np.void]:
    """Records of RUT_CELL of a sensor_msgs/PointCloud2; raises ValueError for another layout."""
    if message.point_step != RUT_CELL.itemsize or len(message.data) != message.width * RUT_CELL.itemsize:
        raise ValueError("must be a row of cells with column, row and depth")
    return np.frombuffer(bytes(message.data), RUT_CELL)


def fill_truth_wheels(message: Any, time_ns: int, seen: Any) -> None:
    """JointState of joints.TRUTH_WHEELS from a record of the vehicle's snapshot; SI units, in `position`."""
    set_stamp(message.header.stamp, time_ns)
    values = [value for field in joints.WHEEL_FIELDS for value in seen[field].tolist()]
    message.position = numbers(message, [*values, *(float(seen[name]) for name in joints.VEHICLE_FIELDS)])


def fill_collision(message: Any, time_ns: int, push: float) -> None:
    """geometry_msgs/WrenchStamped: magnitude of the force of obstacles [N], in `force.x` whatever its direction."""
    set_stamp(message.header.stamp, time_ns)
    message.wrench.force.x = push


# Frames


def new_transform(make: Maker, parent: str, child: str) -> Any:
    """geometry_msgs/TransformStamped from parent to child, without a pose yet; raises ValueError for unusable names."""
    if not parent or not child or parent == child:
        raise ValueError(f"transform from {parent!r} to {child!r} needs two different frame names")
    link = make(TRANSFORM)
    link.header.frame_id, link.child_frame_id = parent, child
    return link


def set_transform(link: Any, translation: Sequence[float], quaternion: Sequence[float]) -> None:
    """Set the child frame's origin [m] and axes in the parent frame."""
    set_vector(link.transform.translation, translation)
    set_quaternion(link.transform.rotation, quaternion)


def share_stamp(links: Sequence[Any]) -> None:
    """Give all links the stamp of the first, so that setting it once sets it for all."""
    for link in links[1:]:
        link.header.stamp = links[0].header.stamp


# Estimates


def fill_estimate(message: Any, estimate: Any) -> None:
    """nav_msgs/Odometry of a record of an observer's estimate; twist in base_link's own axes."""
    set_stamp(message.header.stamp, int(estimate["time_ns"]))
    set_vector(message.pose.pose.position, estimate["position"].tolist())
    set_quaternion(message.pose.pose.orientation, estimate["attitude"].tolist())
    set_vector(message.twist.twist.linear, estimate["velocity"].tolist())
    set_vector(message.twist.twist.angular, estimate["angular_velocity"].tolist())
    covariance = estimate["covariance"]
    message.pose.covariance = np.ascontiguousarray(covariance[:6, :6]).ravel()
    message.twist.covariance = np.ascontiguousarray(covariance[6:, 6:]).ravel()


def describe_forces(message: Any, wheels: int, make: Maker) -> None:
    """std_msgs/Float64MultiArray: a row for each wheel; the layout names FORCE_COLUMNS."""
    columns = len(FORCE_COLUMNS)
    rows, values = make(DIMENSION), make(DIMENSION)
    rows.label, rows.size, rows.stride = "wheel", wheels, wheels * columns
    values.label, values.size, values.stride = ",".join(FORCE_COLUMNS), columns, columns
    message.layout.dim = [rows, values]


def fill_forces(message: Any, forces: Any) -> None:
    """Fill a described std_msgs/Float64MultiArray; forces: arrays for each wheel, from an observer."""
    deviations = (np.sqrt(getattr(forces, f"{name}_variance")) for name in ("load", "along", "across"))
    table: Array = np.column_stack([forces.load, forces.along, forces.across, forces.friction_use, *deviations])
    message.data = numbers(message, table.ravel())
