"""The vehicle's true motion and actuation as nodes hear it: checked, put together by stamp, and watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import AccelStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import UInt32

from ros_support import qos
from ros_support.convert import quaternion_from_msg, vector_from_msg
from ros_support.health import Level
from ros_support.node import SuiteNode
from ros_support.time import NS_PER_S, stamp_to_ns
from sensors.samples import DriveTruth
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.vehicle_mechanism import CORNERS

SILENT_AFTER_S = 0.5  # of the machine's time
NOTHING = (0.0, 0.0, 0.0)
ACTUATION = (*(f"{corner}_wheel" for corner in CORNERS), "steering", "throttle", "brake", "engine")


class TruthInput:
    """Calls `on_truth(time_ns, motion, drive)` once for each instant of which all parts are there.

    When time goes back (a bag in a loop, a new simulation) or the simulation tells of a reset, it calls `on_reset`
    first. What is not finite or not a
    message of its kind is refused, counted and told of.
    """

    def __init__(
        self,
        node: SuiteNode[Any],
        on_truth: Callable[[int, BaseMotion, DriveTruth | None], None],
        on_reset: Callable[[], None],
        *,
        odometry: str = "ground_truth/odom",
        needs_accel: bool = False,
        needs_drive: bool = False,
    ) -> None:
        """odometry: the topic, for those who can do with an estimate.

        needs_accel: without it accelerations are 0; needs_drive: without it there is no DriveTruth.
        """
        self._node, self._on_truth, self._on_reset = node, on_truth, on_reset
        self.time_ns: int | None = None  # of the latest truth
        self._heard_at = node.wall_time()
        self._refused = 0
        self._parts: dict[str, tuple[int, Any]] = {}
        self._needed = {"odom"}
        self._resets: int | None = None
        node.listen(UInt32, "simulation/resets", self._on_resets, qos.LATCHED)
        self._listen(Odometry, odometry, "odom", _odometry)
        if needs_accel:
            self._needed.add("accel")
            self._listen(AccelStamped, "ground_truth/accel", "accel", _accel)
        if needs_drive:
            self._needed.add("drive")
            self._listen(JointState, "ground_truth/actuation", "drive", _drive)

    @property
    def silent_s(self) -> float:
        """How long nothing was heard, of the machine's time."""
        return self._node.wall_time() - self._heard_at

    def report(self) -> None:
        """Tell the node's health whether truth arrives."""
        silent = self.silent_s
        if self.time_ns is None:
            self._node.report("truth", Level.WARN, "no ground truth yet; is the vehicle running?")
        elif silent > SILENT_AFTER_S:
            self._node.report("truth", Level.WARN, "ground truth is silent; is the simulation paused?")
        else:
            self._node.report("truth", Level.OK, "ground truth arrives")

    def _on_resets(self, message: UInt32) -> None:
        before, self._resets = self._resets, message.data
        if before is not None and message.data != before:
            self._begin_anew()

    def _begin_anew(self) -> None:
        self._parts.clear()
        self.time_ns = None
        self._on_reset()

    def _listen(self, message_type: type, topic: str, part: str, read: Callable[[Any], Any]) -> None:
        def take(message: Any) -> None:
            try:
                self._take(part, stamp_to_ns(message.header.stamp), read(message))
            except ValueError as error:
                self._refused += 1
                self._node.health.count(f"{topic} refused")
                self._node.report("truth values", Level.WARN, f"{topic} refused: {error}")

        self._node.listen(message_type, topic, take, qos.RELIABLE)

    def _take(self, part: str, time_ns: int, value: Any) -> None:
        self._heard_at = self._node.wall_time()
        if self.time_ns is not None and time_ns < self.time_ns - NS_PER_S:  # not merely late: time went back
            self._begin_anew()
        self._parts[part] = (time_ns, value)
        if len(self._parts) < len(self._needed) or len({time for time, _ in self._parts.values()}) > 1:
            return
        if self.time_ns is not None and time_ns <= self.time_ns:  # a repetition
            return
        self.time_ns = time_ns
        position, attitude, velocity, turn = self._parts["odom"][1]
        acceleration, turn_rate = self._parts["accel"][1] if "accel" in self._parts else (NOTHING, NOTHING)
        drive = self._parts["drive"][1] if "drive" in self._parts else None
        self._on_truth(time_ns, BaseMotion(position, attitude, velocity, turn, acceleration, turn_rate), drive)


def _odometry(message: Odometry) -> Any:
    pose, twist = message.pose.pose, message.twist.twist
    x, y, z, w = quaternion_from_msg(pose.orientation).tolist()
    return _triple(pose.position), (x, y, z, w), _triple(twist.linear), _triple(twist.angular)


def _accel(message: AccelStamped) -> Any:
    return _triple(message.accel.linear), _triple(message.accel.angular)


def _drive(message: JointState) -> DriveTruth:
    if tuple(message.name) != ACTUATION:
        raise ValueError(f"names must be {', '.join(ACTUATION)}")
    arrays = [np.array(values) for values in (message.position, message.velocity, message.effort)]
    if any(values.shape != (len(ACTUATION),) or not np.isfinite(values).all() for values in arrays):
        raise ValueError("position, velocity and effort must each have a finite number for each name")
    position, velocity, effort = arrays
    steering, throttle, brake = position[4:7].tolist()
    return DriveTruth(position[:4], effort[:4], steering, throttle, brake, float(velocity[7]))


def _triple(message: Any) -> tuple[float, float, float]:
    x, y, z = vector_from_msg(message).tolist()
    return x, y, z
