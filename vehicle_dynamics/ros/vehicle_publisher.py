"""Everything that tells of a vehicle: time, ground truth, joints, frames and its description, each at its own rate."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from std_msgs.msg import String

from proving_ground.interfaces import topics
from proving_ground.ros_support.node import SuiteNode
from proving_ground.ros_support.tf import FrameTransform, StaticTransformBroadcaster
from proving_ground.ros_support.time import ns_to_stamp
from vehicle_dynamics.base_motion import base_motion
from vehicle_dynamics.export.joint_frames import JointTransforms, joint_frames
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.export.vehicle_urdf import vehicle_urdf
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.ros.vehicle_messages import (
    ActuationMessages,
    FrameNames,
    JointMessages,
    TreeMessages,
    TruthMessages,
    WheelMessages,
)
from vehicle_dynamics.simulation import Instant
from vehicle_dynamics.vehicle import Vehicle
from vehicle_dynamics.vehicle_mechanism import CORNERS, vehicle_mechanism

CHASSIS = "chassis"
UNTURNED = (0.0, 0.0, 0.0, 1.0)


class VehiclePublisher:
    """Publishes instants; one thread at a time."""

    def __init__(
        self,
        node: SuiteNode[Any],
        vehicle: Vehicle,
        parameters: VehicleParameters,
        frames: FrameNames,
        *,
        has_base: bool,
        has_body: bool,
    ) -> None:
        """has_base: place base_link in odom and map; has_body: and chassis, suspension and wheels in it.

        Frames of sensors are not the vehicle's: each sensor's node has its own.
        """
        x, y, z = (float(value) for value in vehicle.base_in_chassis)
        self._base = (x, y, z)
        self._clock = node.advertise(topics.CLOCK)
        self._odometry = node.advertise(topics.TRUTH_ODOM)
        self._accel = node.advertise(topics.TRUTH_ACCEL)
        self._joint_states = node.advertise(topics.JOINT_STATES)
        self._actuation = node.advertise(topics.TRUTH_ACTUATION)
        self._wheels = node.advertise(topics.TRUTH_WHEELS)
        self._collision = node.advertise(topics.COLLISION)
        self._push = WrenchStamped()
        self._push.header.frame_id = frames.base
        self._was_pushed = True  # the first instant is told of in any case
        self._tf = node.advertise(topics.TRANSFORMS)
        self._static = StaticTransformBroadcaster(node)
        self._description = node.advertise(topics.ROBOT_DESCRIPTION)
        self._text = vehicle_urdf(parameters, self._base, {})

        joints = JointPositions(parameters)
        transforms = None
        if has_body:
            mechanism = vehicle_mechanism(parameters, steering_is_free=True)
            transforms = JointTransforms(joint_frames(mechanism, CHASSIS))
        self._truth = TruthMessages(frames)
        wheels = [f"{corner}_wheel" for corner in CORNERS]
        self._joints = JointMessages(joints, wheels)
        self._drive = ActuationMessages(wheels)
        self._wheel_truth = WheelMessages(CORNERS)
        self._tree = TreeMessages(frames, joints, transforms, has_base=has_base)
        self._fixed = [FrameTransform(frames.map, frames.odom, (0.0, 0.0, 0.0), UNTURNED)] if has_base else []
        if has_body:
            self._fixed.append(FrameTransform(frames.base, frames.prefix + CHASSIS, (-x, -y, -z), UNTURNED))

    def publish_once(self, time_ns: int) -> None:
        """What stays: the description and the fixed frames."""
        self._description.publish(String(data=self._text))
        if self._fixed:
            self._static.send(ns_to_stamp(time_ns), self._fixed)

    def publish(self, instant: Instant) -> None:
        """What is due; /clock first, so that whoever gets the rest knows its time."""
        time_ns, due, seen, has_jumped = instant
        if has_jumped:
            self._joints.forget()
        if "clock" in due:
            self._clock.publish(self._truth.clock(time_ns))
        if seen is None:
            return
        stamp = ns_to_stamp(time_ns)
        if "odom" in due or "tf" in due:
            motion = base_motion(seen, self._base)
        if "odom" in due:
            self._odometry.publish(self._truth.odometry(stamp, motion))
            self._accel.publish(self._truth.accel(stamp, motion))
            self._publish_collision(stamp, float(seen["collision"]))
        if "joints" in due:
            self._joint_states.publish(self._joints.joints(time_ns, stamp, seen))
            self._actuation.publish(self._drive.actuation(stamp, seen))
            if self._wheels.get_subscription_count():  # recorders want it, few others
                self._wheels.publish(self._wheel_truth.wheels(stamp, seen))
        if "tf" in due and not self._tree.is_empty:
            self._tf.publish(self._tree.tree(stamp, motion, seen))

    def _publish_collision(self, stamp: Time, push: float) -> None:
        """How hard obstacles push [N], along no axis in particular; while they do, and once when they let go."""
        if push > 0.0 or self._was_pushed:
            self._was_pushed = push > 0.0
            self._push.header.stamp = stamp
            self._push.wrench.force.x = push
            self._collision.publish(self._push)
