"""All messages of a vehicle, of any message class: time, truth, joints, frames, description.

The vehicle's node publishes them, bags of lock-step write them. Each is allocated once and reused; the receiver
serialises it before the next instant. All numbers of an instant are finite.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Protocol

import numpy as np

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.fields import Array, Maker, numbers, set_stamp
from proving_ground.interfaces.frames import Frames
from proving_ground.interfaces.motion_codec import (
    fill_accel,
    fill_collision,
    fill_odometry,
    fill_truth_actuation,
    fill_truth_wheels,
    make_exact,
    new_transform,
    set_transform,
    share_stamp,
)
from proving_ground.interfaces.samples import RUT_CELL
from proving_ground.interfaces.sensor_codec import describe_points, fill_cloud, fill_joints, name_joints
from proving_ground.interfaces.topic import Topic
from terrain.ruts import RutChanges, Ruts
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.export.joint_frames import JointTransforms, joint_frames
from vehicle_dynamics.export.joint_positions import JointPositions
from vehicle_dynamics.export.vehicle_urdf import vehicle_urdf
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle import Vehicle
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

CHASSIS = "chassis"
NO_ROTATION = (0.0, 0.0, 0.0, 1.0)
NS = 1e-9
Message = tuple[Topic, Any]


class PackedTree(Protocol):
    """Makes the serialised message of the vehicle's tree of transforms."""

    def of(self, time_ns: int, poses: Array) -> bytes: ...


class VehicleMessages:
    """Messages of one vehicle, instant by instant."""

    def __init__(
        self,
        make: Maker,
        vehicle: Vehicle,
        parameters: VehicleParameters,
        frames: Frames,
        *,
        has_base: bool,
        has_body: bool,
        ruts: Ruts | None = None,
        pack: Callable[[Any], PackedTree] | None = None,
        fix: Callable[[Any], Any] = lambda message: message,
    ) -> None:
        """has_base: publish base_link in odom and map; has_body: and chassis, suspension and wheels in it.

        ruts: of the ground that the vehicle drives on. pack: makes bytes of the tree of frames, instead of a message.
        fix: makes what is filled instead of a message whose texts and lengths of arrays stay the same.

        Sensor frames are not the vehicle's: each sensor's node publishes its own.
        """
        x, y, z = (float(value) for value in vehicle.base_in_chassis)
        self._base = (x, y, z)
        self._clock, self._odometry = make(topics.CLOCK.type), make(topics.TRUTH_ODOM.type)
        make_exact(self._odometry)
        self._odometry.header.frame_id, self._odometry.child_frame_id = frames.map_frame, frames.base_frame
        self._odometry = fix(self._odometry)
        self._accel, self._push = make(topics.TRUTH_ACCEL.type), make(topics.COLLISION.type)
        self._accel.header.frame_id = self._push.header.frame_id = frames.base_frame
        self._accel = fix(self._accel)
        self._was_pushed = True  # the first instant is published in any case
        self._actuation, self._wheels = make(topics.TRUTH_ACTUATION.type), make(topics.TRUTH_WHEELS.type)
        name_joints(self._actuation, joints.TRUTH_ACTUATION)
        self._actuation = fix(self._actuation)
        self._wheels.name = list(joints.TRUTH_WHEELS)
        self._wheels.position = numbers(self._wheels, np.zeros(len(joints.TRUTH_WHEELS)))
        self._wheels = fix(self._wheels)
        self._ruts = RutChanges(ruts) if ruts is not None and len(ruts.keys) > 1 else None
        self._cells = make(topics.RUTS.type)
        self._cells.header.frame_id = frames.map_frame
        describe_points(self._cells, RUT_CELL, make)
        positions = JointPositions(parameters)
        self._joints = JointMessages(make(topics.JOINT_STATES.type), positions, fix)
        transforms = _transforms(parameters) if has_body else None
        self._tree = _Tree(make, frames, positions, transforms, has_base=has_base, pack=pack)
        self._description = make(topics.ROBOT_DESCRIPTION.type)
        self._description.data = vehicle_urdf(parameters, self._base, {})
        self._fixed = []
        if has_base:
            self._fixed.append(new_transform(make, frames.map_frame, frames.odom_frame))
        if has_body:
            self._fixed.append(new_transform(make, frames.base_frame, frames.named(CHASSIS)))
            set_transform(self._fixed[-1], (-x, -y, -z), NO_ROTATION)

    @property
    def description(self) -> Message:
        """The vehicle as URDF text."""
        return topics.ROBOT_DESCRIPTION, self._description

    def fixed_frames(self, time_ns: int) -> list[Any]:
        """TransformStamped of all frames that do not move."""
        for link in self._fixed:
            set_stamp(link.header.stamp, time_ns)
        return self._fixed

    def clock(self, time_ns: int) -> Message:
        """Message for /clock at a simulated time [ns]."""
        set_stamp(self._clock.clock, time_ns)
        return topics.CLOCK, self._clock

    def at(
        self, time_ns: int, due: Collection[str], seen: SnapshotRecord, *, with_wheels: bool = True
    ) -> Iterator[Message]:
        """Messages due at an instant except the clock; due: odom, joints, tf; with_wheels: and the truth of wheels.

        What sensors need comes first, and last of that the odometry, for which they wait.
        """
        motion = base_motion(seen, self._base) if "odom" in due or "tf" in due else None
        if "joints" in due:
            fill_truth_actuation(self._actuation, time_ns, seen)
            yield topics.TRUTH_ACTUATION, self._actuation
        if "odom" in due and motion is not None:
            yield from self._motion(time_ns, motion, float(seen["collision"]))
        if "joints" in due:
            yield topics.JOINT_STATES, self._joints.joints(time_ns, seen)
            if with_wheels:
                fill_truth_wheels(self._wheels, time_ns, seen)
                yield topics.TRUTH_WHEELS, self._wheels
        if "tf" in due and motion is not None and not self._tree.is_empty:
            yield topics.TRANSFORMS, self._tree.tree(time_ns, motion, seen)

    def forget(self) -> None:
        """Restart rates after a jump of the vehicle."""
        self._joints.forget()
        self.begin_again()

    def begin_again(self) -> None:
        """Send again what is only sent when it changes, such as ruts, for receivers that start now."""
        if self._ruts is not None:
            self._ruts.forget()

    def _motion(self, time_ns: int, motion: BaseMotion, push: float) -> Iterator[Message]:
        fill_accel(self._accel, time_ns, motion)
        yield topics.TRUTH_ACCEL, self._accel
        if self._ruts is not None:
            fill_cloud(self._cells, time_ns, self._ruts.take())
            yield topics.RUTS, self._cells
        fill_odometry(self._odometry, time_ns, motion)
        yield topics.TRUTH_ODOM, self._odometry
        if push > 0.0 or self._was_pushed:  # while obstacles push, and once when they stop
            self._was_pushed = push > 0.0
            fill_collision(self._push, time_ns, push)
            yield topics.COLLISION, self._push


class JointMessages:
    """Positions and velocities of all joints; effort is the torque of drive and brake on the wheels."""

    def __init__(self, message: Any, positions: JointPositions, fix: Callable[[Any], Any]) -> None:
        name_joints(message, positions.names)
        self._message, self._positions = fix(message), positions
        self._wheels = [positions.names.index(name) for name in joints.WHEELS]
        self._effort = np.zeros(len(positions.names))
        positions.of(np.zeros(4), np.zeros(4), 0.0)  # compile now, not when the first message is due
        self.forget()

    def forget(self) -> None:
        """Restart rates after a jump of the vehicle."""
        self._before: tuple[int, float] | None = None  # time [ns] and Pitman angle [rad]

    def joints(self, time_ns: int, seen: SnapshotRecord) -> Any:
        """JointState. A snapshot has no rate of the steering: that is its mean since the last message."""
        pitman, rate = float(seen["pitman_angle"]), 0.0
        if self._before is not None and time_ns > self._before[0]:
            rate = (pitman - self._before[1]) / ((time_ns - self._before[0]) * NS)
        self._before = (time_ns, pitman)
        self._effort[self._wheels] = seen["drive_torque"] + seen["brake_torque"]
        fill_joints(
            self._message, time_ns, self._positions.at(seen), self._positions.rates_at(seen, rate), self._effort
        )
        return self._message


class _Tree:
    """Transforms of moving frames: base_link in odom, and all joints."""

    def __init__(
        self,
        make: Maker,
        frames: Frames,
        positions: JointPositions,
        transforms: JointTransforms | None,
        *,
        has_base: bool,
        pack: Callable[[Any], PackedTree] | None,
    ) -> None:
        """transforms: of the joints, or None to omit them; has_base: publish base_link in odom."""
        self._base = new_transform(make, frames.odom_frame, frames.base_frame) if has_base else None
        self._positions, self._transforms = positions, transforms
        pairs = zip(transforms.parents, transforms.children, strict=True) if transforms is not None else ()
        links = [new_transform(make, frames.named(parent), frames.named(child)) for parent, child in pairs]
        self._message = make(topics.TRANSFORMS.type)
        self._message.transforms = [*([self._base] if self._base is not None else []), *links]
        share_stamp(self._message.transforms)
        self._packed = pack(self._message) if pack is not None and not self.is_empty else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be published."""
        return not self._message.transforms

    def tree(self, time_ns: int, motion: BaseMotion, seen: SnapshotRecord) -> Any:
        """Message with the transforms of base_link and of all bodies at one instant, as far as they are published."""
        poses = self._poses(motion, seen)
        if self._packed is not None:
            return self._packed.of(time_ns, poses)
        set_stamp(self._message.transforms[0].header.stamp, time_ns)
        for link, (x, y, z, *quaternion) in zip(self._message.transforms, poses.tolist(), strict=True):
            set_transform(link, (x, y, z), quaternion)
        return self._message

    def _poses(self, motion: BaseMotion, seen: SnapshotRecord) -> Array:
        """Translation and quaternion of each transform."""
        rows = []
        if self._base is not None:
            rows.append(np.array([[*motion.position, *motion.attitude]]))
        if self._transforms is not None:
            rows.append(np.hstack(self._transforms.at(self._positions.at(seen))))
        return np.vstack(rows)


def _transforms(parameters: VehicleParameters) -> JointTransforms:
    return JointTransforms(joint_frames(vehicle_mechanism(parameters, steering_is_free=True), CHASSIS))
