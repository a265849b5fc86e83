"""What is seen of a vehicle as messages. Each is made once and filled anew: publishing has copied it when it returns.

Whoever calls has made sure that all numbers are finite.
"""

from __future__ import annotations

import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import AccelStamped, Quaternion, TransformStamped, Vector3
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from proving_ground.ros_support.time import ns_to_stamp
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.export.joint_frames import JointTransforms
from vehicle_dynamics.export.joint_positions import JointPositions

Array = NDArray[np.float64]

# Truth is exact; filters that invert a covariance want it above zero.
TRUTH_VARIANCE = 1e-9  # [m^2, rad^2, and those per s^2]
NS = 1e-9


@dataclass(frozen=True)
class FrameNames:
    """Frames with their prefix."""

    map: str
    odom: str
    base: str
    prefix: str


class TruthMessages:
    """Time, odometry and acceleration of base_link."""

    def __init__(self, frames: FrameNames) -> None:
        self._clock = Clock()
        self._odometry = Odometry(child_frame_id=frames.base)
        self._odometry.header.frame_id = frames.map
        covariance = (TRUTH_VARIANCE * np.eye(6)).ravel()
        self._odometry.pose.covariance = covariance
        self._odometry.twist.covariance = covariance.copy()
        self._accel = AccelStamped()
        self._accel.header.frame_id = frames.base

    def clock(self, time_ns: int) -> Clock:
        """Simulation time."""
        self._clock.clock = ns_to_stamp(time_ns)
        return self._clock

    def odometry(self, stamp: Time, motion: BaseMotion) -> Odometry:
        """Pose in map, twist in base_link's own axes."""
        message = self._odometry
        message.header.stamp = stamp
        _set_vector(message.pose.pose.position, motion.position)
        _set_quaternion(message.pose.pose.orientation, motion.attitude)
        _set_vector(message.twist.twist.linear, motion.velocity)
        _set_vector(message.twist.twist.angular, motion.turn)
        return message

    def accel(self, stamp: Time, motion: BaseMotion) -> AccelStamped:
        """Acceleration in base_link's own axes, gravity not included."""
        self._accel.header.stamp = stamp
        _set_vector(self._accel.accel.linear, motion.acceleration)
        _set_vector(self._accel.accel.angular, motion.turn_rate)
        return self._accel


class JointMessages:
    """Positions and velocities of all joints; effort is the torque of drive and brake on the wheels."""

    def __init__(self, joints: JointPositions, wheels: Sequence[str]) -> None:
        """wheels: names of the wheels' joints, front left to rear right."""
        self._joints = joints
        self._message = JointState(name=list(joints.names))
        self._wheels = [joints.names.index(name) for name in wheels]
        self._effort = np.zeros(len(joints.names))
        joints.of(np.zeros(4), np.zeros(4), 0.0)  # compiled now, not when the first message is due
        self._before: tuple[int, float] | None = None  # time [ns] and Pitman angle [rad]

    def forget(self) -> None:
        """No rate reaches back over a jump of the vehicle."""
        self._before = None

    def joints(self, time_ns: int, stamp: Time, seen: SnapshotRecord) -> JointState:
        """The joints. A snapshot does not tell how fast the steering turns: that is its mean since the last message."""
        pitman, rate = float(seen["pitman_angle"]), 0.0
        if self._before is not None and time_ns > self._before[0]:
            rate = (pitman - self._before[1]) / ((time_ns - self._before[0]) * NS)
        self._before = (time_ns, pitman)
        self._effort[self._wheels] = seen["drive_torque"] + seen["brake_torque"]
        message = self._message
        message.header.stamp = stamp
        message.position = _doubles(self._joints.at(seen))
        message.velocity = _doubles(self._joints.rates_at(seen, rate))
        message.effort = _doubles(self._effort)
        return message


class ActuationMessages:
    """What drives the vehicle, as encoders would see it without error.

    Wheels: angle [rad], rate [rad/s], torque of drive and brake [N m]; steering: Pitman angle, left positive [rad];
    throttle, brake: pedals, 0 to 1; engine: velocity [rad/s].
    """

    def __init__(self, wheels: Sequence[str]) -> None:
        """wheels: names of the wheels' joints, front left to rear right."""
        self._message = JointState(name=[*wheels, "steering", "throttle", "brake", "engine"])

    def actuation(self, stamp: Time, seen: SnapshotRecord) -> JointState:
        """All of it at one instant."""
        message = self._message
        message.header.stamp = stamp
        pedals = (-float(seen["pitman_angle"]), float(seen["throttle"]), float(seen["brake"]))
        message.position = array.array("d", (*seen["spin"].tolist(), *pedals, 0.0))
        message.velocity = array.array("d", (*seen["spin_rate"].tolist(), 0.0, 0.0, 0.0, float(seen["engine_speed"])))
        torque = (seen["drive_torque"] + seen["brake_torque"]).tolist()
        message.effort = array.array("d", (*torque, 0.0, 0.0, 0.0, 0.0))
        return message


class WheelMessages:
    """What no sensor tells: loads, slips, sinkage and forces of the wheels, and the gear. SI units, in `position`.

    Names are those of fields of SNAPSHOT, with the corner where there are four: load.front_left, ..., gear.
    """

    FIELDS: ClassVar = (
        "load", "steer_angle", "slip_along", "slip_across", "sinkage", "force_along", "force_across", "brake_torque",
        "drive_torque",
    )  # fmt: skip
    SINGLE: ClassVar = ("gear", "selected", "steering")

    def __init__(self, corners: Sequence[str]) -> None:
        names = [f"{field}.{corner}" for field in self.FIELDS for corner in corners]
        self._message = JointState(name=[*names, *self.SINGLE])

    def wheels(self, stamp: Time, seen: SnapshotRecord) -> JointState:
        """All of it at one instant."""
        self._message.header.stamp = stamp
        values = [value for field in self.FIELDS for value in seen[field].tolist()]
        self._message.position = array.array("d", [*values, *(float(seen[name]) for name in self.SINGLE)])
        return self._message


class TreeMessages:
    """Transforms of what moves: base_link in odom, and all joints."""

    def __init__(
        self, frames: FrameNames, joints: JointPositions, transforms: JointTransforms | None, *, has_base: bool
    ) -> None:
        """transforms: of the joints, or None to leave them out; has_base: place base_link in odom."""
        self._base = _link(frames.odom, frames.base) if has_base else None
        self._joints, self._transforms = joints, transforms
        pairs = zip(transforms.parents, transforms.children, strict=True) if transforms is not None else ()
        self._links = [_link(frames.prefix + parent, frames.prefix + child) for parent, child in pairs]
        self._message = TFMessage(transforms=[*([self._base] if self._base is not None else []), *self._links])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not self._message.transforms

    def tree(self, stamp: Time, motion: BaseMotion, seen: SnapshotRecord) -> TFMessage:
        """All of them at one instant."""
        if self._base is not None:
            self._base.header.stamp = stamp
            _set_vector(self._base.transform.translation, motion.position)
            _set_quaternion(self._base.transform.rotation, motion.attitude)
        if self._transforms is not None:
            translations, quaternions = self._transforms.at(self._joints.at(seen))
            rows = zip(self._links, translations.tolist(), quaternions.tolist(), strict=True)
            for link, translation, quaternion in rows:
                link.header.stamp = stamp
                _set_vector(link.transform.translation, translation)
                _set_quaternion(link.transform.rotation, quaternion)
        return self._message


def _link(parent: str, child: str) -> TransformStamped:
    link = TransformStamped(child_frame_id=child)
    link.header.frame_id = parent
    return link


def _set_vector(message: Vector3, values: Sequence[float]) -> None:
    message.x, message.y, message.z = values


def _set_quaternion(message: Quaternion, values: Sequence[float]) -> None:
    message.x, message.y, message.z, message.w = values


def _doubles(values: Array) -> array.array[float]:
    return array.array("d", values.tobytes())
