"""Timing of a planner in a synchronous run: it acts every control period, once all its inputs have finished it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from std_msgs.msg import UInt32

from planner.node_settings import POSES, PlannerNodeSettings
from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.motion_codec import read_odometry
from proving_ground.interfaces.synchrony import Report
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode
from proving_ground.ros_support.respawn import was_respawned
from proving_ground.ros_support.synchronous import SynchronousInput
from proving_ground.settings.dates import date_ns
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.stepper import CONTROL_NS

Odometry = tuple[int, BaseMotion]  # with its time [ns]
Act = Callable[[int, Odometry | None, Sequence[Any]], None]
NOTHING = (0.0, 0.0, 0.0)
VEHICLE = "vehicle"  # does not report what it has finished: its truth of an instant is all that is needed of it


class InstantTurns:
    """Calls `act` with the instant, the newest odometry and the clouds that have arrived since the last call."""

    def __init__(
        self,
        node: SuiteNode[Any],
        settings: PlannerNodeSettings,
        act: Act,
        on_reset: Callable[[], None],
        on_resets: Callable[[int], None],
    ) -> None:
        """on_reset: called when the simulation was reset; on_resets: with the number of resets when it is known."""
        self._node, self._act, self._on_reset, self._after_resets = node, act, on_reset, on_resets
        pose, cloud = POSES[settings.pose_source], topics.POINTS.named(settings.lidar.name)
        self._pose, self._clouds = pose.name, cloud.name
        self._frames = (settings.frames.map_frame, settings.frames.base_frame)
        self._start_ns = date_ns("start_date", settings.start_date) if settings.start_date else 0
        self._next_ns = 0 if was_respawned() else self._start_ns  # instant to act at; 0: the first that is finished
        self._odometry: Odometry | None = None
        self._received = 0
        self._resets: int | None = None
        sources = {name: [cloud.name if name == settings.lidar.name else pose.name] for name in settings.sync_with}
        self._input = SynchronousInput(node, sources, self._on_progress)
        node.listen(topics.RESETS, self._on_resets)
        if VEHICLE in sources:
            node.listen(pose, self._on_truth, is_fixed=True)
        else:
            node.listen(pose, self._input.on_message(pose.name), is_lazy=True, is_fixed=True)
        if settings.sensing == "lidar":
            node.listen(cloud, self._input.on_message(cloud.name), is_lazy=True)

    def _on_truth(self, message: Any) -> None:
        time_ns = read_stamp(message.header.stamp)
        if self._received and time_ns <= self._input.horizon_ns - 1:
            return  # repeated for nodes that begin
        self._received += 1
        self._input.add(self._pose, message)
        report = Report(time_ns, time_ns + 1, {self._pose: self._received}, resets=self._input.resets)
        self._input.on_report(VEHICLE, report)

    def _on_resets(self, message: UInt32) -> None:
        before, self._resets = self._resets, message.data
        if before is not None and message.data != before:
            self._on_reset()
        self._after_resets(message.data)
        if message.data != self._input.resets:
            self._next_ns, self._odometry = 0, None
            self._input.restart(message.data)  # which may go on at once

    def _on_progress(self) -> None:
        horizon_ns = self._input.horizon_ns
        if not self._next_ns and horizon_ns:
            self._next_ns = (horizon_ns - 1 - self._start_ns) // CONTROL_NS * CONTROL_NS + self._start_ns
        while self._next_ns and self._next_ns < horizon_ns:
            now_ns, self._next_ns = self._next_ns, self._next_ns + CONTROL_NS
            arrivals = self._input.take(now_ns + 1)
            for item in arrivals:
                if item.topic == self._pose:
                    self._read(item.message)
            self._act(now_ns, self._odometry, [item.message for item in arrivals if item.topic == self._clouds])

    def _read(self, message: Any) -> None:
        try:
            time_ns, position, attitude, velocity, angular_velocity = read_odometry(message, self._frames)
        except ValueError as error:
            self._node.health.count(f"{self._pose} rejected")
            self._node.report("input", Level.WARN, f"{self._pose} rejected: {error}")
            return
        self._odometry = time_ns, BaseMotion(position, attitude, velocity, angular_velocity, NOTHING, NOTHING)
