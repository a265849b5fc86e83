"""Standard messages as samples, of rclpy or of a bag: both have the same fields.

Shapes and stamps are checked here, numbers by the observer's doors.

Each function raises ValueError with a few words, always the same for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings.units import NS_PER_S
from sensors.gps.receiver import COURSE_SPEED
from sensors.samples import EncoderSample, GpsSample, ImuSample

Array = NDArray[np.float64]

UNKNOWN_VARIANCE = 1e9  # finite, and so large that observers leave the element out
QUALITY = {0: 1, 1: 2, 2: 4}  # of GGA, by NavSatStatus
COVARIANCE_UNKNOWN = 0
PEDALS = ("steering", "throttle", "brake", "engine")


class Velocity(NamedTuple):
    """Of an antenna."""

    time_ns: int
    velocity: Array  # east, north, up [m/s]
    variance: Array


class Wheels(NamedTuple):
    """Front left to rear right."""

    time_ns: int
    angle: Array  # [rad]
    rate: Array  # [rad/s]
    torque: Array  # [N m]


class Actuation(NamedTuple):
    """What the driver does, as measured."""

    time_ns: int
    steering: float  # Pitman angle [rad]
    throttle: float
    brake_pressure: float  # [Pa]
    engine_speed: float  # [rad/s]
    tilt: Array


class TruthPose(NamedTuple):
    """Where base_link is, and how it moves."""

    time_ns: int
    position: tuple[float, float, float]  # [m]
    attitude: tuple[float, float, float, float]  # x y z w
    velocity: tuple[float, float, float]  # its own axes [m/s]
    turn: tuple[float, float, float]


def stamp_ns(message: Any) -> int:
    """Time of a message's header [ns]; raises ValueError when its nanoseconds are a second or more."""
    time = message.header.stamp
    if not 0 <= time.nanosec < NS_PER_S:
        raise ValueError(f"stamp has nanosec {time.nanosec}")
    return int(time.sec) * NS_PER_S + int(time.nanosec)


def imu_sample(message: Any) -> ImuSample:
    """A covariance that begins with -1 says that the field holds nothing: then there is no sample."""
    turn_spread, force_spread = message.angular_velocity_covariance, message.linear_acceleration_covariance
    if turn_spread[0] == -1.0 or force_spread[0] == -1.0:
        raise ValueError("has no rates or no accelerations")
    spread, pose = message.orientation_covariance, message.orientation
    attitude = np.array([pose.x, pose.y, pose.z, pose.w])
    has_attitude = spread[0] != -1.0 and bool(attitude.any())
    turn, force = message.angular_velocity, message.linear_acceleration
    return ImuSample(
        stamp_ns(message),
        np.array([turn.x, turn.y, turn.z]),
        np.array([force.x, force.y, force.z]),
        _largest(turn_spread),
        _largest(force_spread),
        attitude if has_attitude else None,
        float(max(spread[0], spread[4])) if has_attitude else 0.0,
        float(spread[8]) if has_attitude else 0.0,
        False,
    )


def velocity_sample(message: Any) -> Velocity:
    """A variance of 0 is one that is not told."""
    linear, spread = message.twist.twist.linear, message.twist.covariance
    return Velocity(stamp_ns(message), np.array([linear.x, linear.y, linear.z]), spread[[0, 7, 14]].copy())


def gps_sample(message: Any, moves: Velocity | None) -> GpsSample:
    """A fix, with the velocity of the same time if there is one; else its variance leaves it out."""
    quality = QUALITY.get(int(message.status.status), 0)
    known = message.position_covariance_type != COVARIANCE_UNKNOWN
    variance = message.position_covariance[[0, 4, 8]].copy() if known else np.zeros(3)
    velocity = moves.velocity if moves is not None else np.zeros(3)
    speed = math.hypot(velocity[0], velocity[1])
    has_course = moves is not None and quality != 0 and speed >= COURSE_SPEED
    return GpsSample(
        stamp_ns(message),
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


def wheels_sample(message: Any, names: Sequence[str]) -> Wheels:
    """names: front left to rear right. Torques may be missing."""
    index = _places(message, names)
    angle, rate = _chosen(message.position, index), _chosen(message.velocity, index)
    if angle is None or rate is None:
        raise ValueError("has no positions or no velocities of the wheels")
    torque = _chosen(message.effort, index)
    return Wheels(stamp_ns(message), angle, rate, torque if torque is not None else np.zeros(4))


def actuation_sample(message: Any, names: Sequence[str]) -> Actuation:
    """names: of PEDALS. Inclinometers may be missing."""
    steering, throttle, brake, engine = _places(message, names)
    count = len(message.name)
    if not len(message.position) == len(message.velocity) == len(message.effort) == count:
        raise ValueError("must have position, velocity and effort for each name")
    tilts = [message.name.index(name) if name in message.name else -1 for name in ("tilt_x", "tilt_y")]
    return Actuation(
        stamp_ns(message),
        float(message.position[steering]),
        float(message.position[throttle]),
        float(message.effort[brake]),
        float(message.velocity[engine]),
        np.array([message.position[place] if place >= 0 else 0.0 for place in tilts]),
    )


def encoder_sample(wheels: Wheels, actuation: Actuation | None) -> EncoderSample:
    """Without actuation nothing is pressed and the wheels are straight: only for observers that do not look at it."""
    if actuation is None:
        return EncoderSample(*wheels, 0.0, 0.0, 0.0, 0.0, np.zeros(2))
    _, steering, throttle, brake_pressure, engine_speed, tilt = actuation
    return EncoderSample(*wheels, steering, throttle, brake_pressure, engine_speed, tilt)


def truth_pose(message: Any) -> TruthPose:
    """nav_msgs/Odometry; raises ValueError when a number is none."""
    pose, twist = message.pose.pose, message.twist.twist
    place, turn = pose.position, pose.orientation
    found = TruthPose(
        stamp_ns(message),
        (place.x, place.y, place.z),
        (turn.x, turn.y, turn.z, turn.w),
        (twist.linear.x, twist.linear.y, twist.linear.z),
        (twist.angular.x, twist.angular.y, twist.angular.z),
    )
    if not all(math.isfinite(value) for part in found[1:] for value in part):
        raise ValueError("not finite")
    if abs(math.hypot(*found.attitude) - 1.0) > 0.01:
        raise ValueError("attitude is no unit quaternion")
    return found


def _places(message: Any, names: Sequence[str]) -> list[int]:
    missing = [name for name in names if name not in message.name]
    if missing:
        raise ValueError(f"has no {missing[0]}")
    return [message.name.index(name) for name in names]


def _chosen(values: Any, index: Sequence[int]) -> Array | None:
    return np.asarray(values, dtype=float)[list(index)] if len(values) > max(index) else None


def _largest(covariance: Array) -> float:
    """Largest variance on the diagonal."""
    return float(max(covariance[0], covariance[4], covariance[8]))
