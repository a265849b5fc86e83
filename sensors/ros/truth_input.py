"""Input of the vehicle's true motion and actuation: validated, synchronised by stamp, and monitored."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from std_msgs.msg import UInt32

from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.motion_codec import read_accel, read_odometry, read_ruts, read_truth_actuation
from proving_ground.interfaces.synchronisers import InstantSynchroniser
from proving_ground.interfaces.topic import Topic
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode
from sensors.samples import DriveTruth
from vehicle_dynamics.base_motion import BaseMotion

SILENT_AFTER_S = 0.5  # wall time
LOGGED_AFTER_S = 10.0  # wall time: at the start of a run, and in a short pause, silence is no news
CALM_AFTER_S = 1.0  # wall time: how long a rejection is reported
NOTHING = (0.0, 0.0, 0.0)


class TruthInput:
    """Calls `on_truth(time_ns, motion, drive)` once for each complete instant, in order of time.

    When time goes back (a looping bag, a new simulation) or the simulation publishes a reset, it calls `on_reset`
    first. A single inconsistent stamp is a stray; two that follow each other are a jump. Messages that are malformed,
    not finite or not plausible are rejected, counted and reported; they change nothing else.
    """

    def __init__(
        self,
        node: SuiteNode[Any],
        on_truth: Callable[[int, BaseMotion, DriveTruth | None], None],
        on_reset: Callable[[], None],
        *,
        odometry: Topic = topics.TRUTH_ODOM,
        needs_accel: bool = False,
        needs_drive: bool = False,
        on_ruts: Callable[[Any], None] | None = None,
        on_resets: Callable[[int], None] = lambda resets: None,
        frames: tuple[str, str] | None = None,
    ) -> None:
        """odometry: the topic, which may be an estimate.

        frames: required frame and child frame, as ("map", "base_link"); empty: any.
        needs_accel: else accelerations are 0; needs_drive: else there is no DriveTruth.
        on_ruts: called with the records of RUT_CELL of an instant before `on_truth`; None: ruts are not needed.
        on_resets: called with the number of resets of the simulation when it is known, after `on_reset`.
        """
        self._node, self._on_truth, self._on_reset, self._after_resets = node, on_truth, on_reset, on_resets
        self._received_at = node.wall_time()
        self._rejected_at = -math.inf
        self._on_ruts = on_ruts
        inputs: dict[str, tuple[Topic, Callable[[Any], Any]]] = {
            "odom": (odometry, partial(read_odometry, frames=frames)),
            **({"accel": (topics.TRUTH_ACCEL, read_accel)} if needs_accel else {}),
            **({"drive": (topics.TRUTH_ACTUATION, read_truth_actuation)} if needs_drive else {}),
            **({"ruts": (topics.RUTS, read_ruts)} if on_ruts is not None else {}),
        }
        self._instants = InstantSynchroniser(inputs, leader="odom")
        self._resets: int | None = None
        node.listen(topics.RESETS, self._on_resets)
        for part, (topic, read) in inputs.items():
            self._listen(topic, part, read, is_lazy=part != "odom")  # which the vehicle publishes last

    @property
    def time_ns(self) -> int | None:
        """Time of the latest truth [ns since 1970]; None before the first."""
        return self._instants.time_ns

    @property
    def silent_s(self) -> float:
        """Wall time since the last message [s]."""
        return self._node.wall_time() - self._received_at

    def report(self) -> None:
        """Report to the node's health whether truth arrives."""
        silent = self.silent_s
        report = self._node.report if silent > LOGGED_AFTER_S else self._node.health.report
        if self.time_ns is None:
            report("truth", Level.WARN, "no ground truth yet; is the vehicle running?")
        elif silent > SILENT_AFTER_S:
            report("truth", Level.WARN, "ground truth is silent; is the simulation paused?")
        else:
            self._node.report("truth", Level.OK, "ground truth arrives")
        if self._node.wall_time() - self._rejected_at > CALM_AFTER_S:
            self._node.health.report("truth values", Level.OK, "ground truth is valid")

    def _on_resets(self, message: UInt32) -> None:
        before, self._resets = self._resets, message.data
        if before is not None and message.data != before:
            self._instants.clear()
            self._on_reset()
        self._after_resets(message.data)

    def _listen(self, topic: Topic, part: str, read: Callable[[Any], Any], *, is_lazy: bool) -> None:
        def add(message: Any) -> None:
            try:
                time_ns = read_stamp(message.header.stamp)
                if time_ns <= 0:
                    raise ValueError("has no stamp")
                self._add(part, time_ns, read(message))
            except ValueError as error:
                self._rejected_at = self._node.wall_time()
                self._node.health.count(f"{topic.name} rejected")
                self._node.report("truth values", Level.WARN, f"{topic.name} rejected: {error}")

        self._node.listen(topic, add, is_lazy=is_lazy, is_fixed=part != "ruts")

    def _add(self, part: str, time_ns: int, value: Any) -> None:
        self._received_at = self._node.wall_time()
        parts, has_gone_back = self._instants.add(part, time_ns, value)
        if has_gone_back:
            self._on_reset()
        if parts is None:
            return
        _, position, attitude, velocity, angular_velocity = parts["odom"]
        acceleration, angular_acceleration = parts.get("accel", (NOTHING, NOTHING))
        motion = BaseMotion(position, attitude, velocity, angular_velocity, acceleration, angular_acceleration)
        if self._on_ruts is not None:
            self._on_ruts(parts["ruts"])
        self._on_truth(time_ns, motion, parts.get("drive"))
