"""A planner in a run: odometry and clouds in, commands out. The planner's node and lock-step both drive with it."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

from planner.drive_to_goal import DriveToGoal, Progress, Reason, Status
from planner.footprint import Footprint
from planner.maps.lidar_source import LidarMapSettings, LidarSource
from planner.maps.source import ObstacleSource
from planner.maps.terrain_truth import TerrainTruth
from planner.motion_height import MotionHeight
from planner.node_settings import PlannerNodeSettings
from planner.pose import Pose, pose_from_attitude
from planner.pose_history import PoseHistory
from proving_ground.interfaces.digest import Digest
from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from terrain.obstacles import Obstacles
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.control.drive_by_wire import Motion
from vehicle_dynamics.motion import STANDS_MPS
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle import Vehicle

STOP_REPEAT_S = 1.0  # a stop command is repeated for this time; then the topic is free for others
CLOUD_WAIT_NS = NS_PER_S  # a cloud further ahead of the odometry is not waited for
MOST_CLOUDS = 20  # in the queue
STOP = Motion(0.0, 0.0)

MAP_SETTINGS = (
    *(item.name for item in fields(LidarMapSettings)),
    *("map_resolution_m", "max_step_m", "max_slope_deg", "max_height_m", "local_map_m"),
)


class Navigator(Stateful):
    """Drives to goals. Time is that of the odometry; a cloud waits for the odometry of its sweep's end."""

    STATE = (
        "core",
        "_lidar",
        "_poses",
        "_heights",
        "goals",
        "progress",
        "_start_ns",
        "seconds",
        "height",
        "_clouds",
        "_seen",
        "_driven_at",
        "_used_ns",
    )

    def __init__(
        self,
        settings: PlannerNodeSettings,
        vehicle: Vehicle,
        parameters: VehicleParameters,
        world: World,
        on_cloud: Callable[[str], None] = lambda problem: None,
    ) -> None:
        """on_cloud: called with the reason why a cloud was rejected, empty when it was used. Raises SettingsError."""
        self._equipment, self._world, self._on_cloud = parameters.equipment, world, on_cloud
        self._spawned = Obstacles()
        self.footprint = Footprint.of(parameters, vehicle.base_in_chassis)
        self._lidar: LidarSource | None = None
        self._settings = self._fitted(settings)
        self._source = self._make_source()
        self.core = DriveToGoal(self._settings, self.footprint, self._source)
        self.goals: list[tuple[float, float]] = []  # of the present drive; cleared on arrival
        self._poses, self._heights = PoseHistory(), MotionHeight()
        self.progress = Progress(Status.NO_GOAL)
        self.digest: Digest | None = None  # hashes inputs and outputs
        self._forget_time()

    def _forget_time(self) -> None:
        self._start_ns: int | None = None  # of the first odometry
        self.seconds = 0.0  # of the latest, since the first
        self.height = 0.0  # of base_link at the latest odometry [m]
        self._clouds: deque[tuple[int, Any]] = deque()  # waiting, oldest first
        self._seen: tuple[Pose, float] | None = None  # pose and speed of the latest
        self._driven_at = -math.inf
        self._used_ns = 0  # time of the odometry that `act` used last

    def _fitted(self, settings: PlannerNodeSettings) -> PlannerNodeSettings:
        """Fill in unset values from the vehicle's file."""
        s = settings.fitted(self._equipment)
        return replace(s, lidar=replace(s.lidar, mount=s.lidar.mount.fitted(self._equipment.position("lidar"))))

    def _make_source(self) -> ObstacleSource:
        world = replace(self._world, obstacles=self._world.obstacles + self._spawned)
        s, truth = self._settings, TerrainTruth(world, self._settings)
        if s.sensing != "lidar":
            return truth
        self._lidar = LidarSource(s, self.footprint, s.lidar.mount.mounting(), truth.extent(), s)
        return self._lidar

    def change(self, settings: PlannerNodeSettings) -> None:
        """Use other settings. The drive keeps its goals and speed; the map is rebuilt only if it would differ."""
        before, self._settings = self._settings, self._fitted(settings)
        if any(getattr(before, name) != getattr(self._settings, name) for name in MAP_SETTINGS):
            self._source = self._make_source()
        old, self.core = self.core, DriveToGoal(self._settings, self.footprint, self._source)
        self.core.take_over(old)

    def enter(self, world: World) -> None:
        """Forget all of the present world, goals too, and plan in another one."""
        self._world, self._spawned = world, Obstacles()
        self._source = self._make_source()
        self.core, self.goals = DriveToGoal(self._settings, self.footprint, self._source), []
        self.reset()

    def set_spawned(self, spawned: Obstacles) -> None:
        """Take obstacles into account that are not in the world's file; a planner with LIDAR sees them by itself."""
        self._spawned = spawned
        if self._lidar is None:
            self._source = self._make_source()
            old, self.core = self.core, DriveToGoal(self._settings, self.footprint, self._source)
            self.core.take_over(old)

    def drive_to(self, goals: Sequence[tuple[float, float]]) -> Reason:
        """Drive through positions x, y [m]; an empty list stops the vehicle, and so does a rejected goal."""
        reason = self.core.set_waypoints(goals)
        self.goals = [] if reason is not Reason.NONE else list(goals)
        self._driven_at = self.seconds
        return reason

    def reject(self, reason: Reason) -> Reason:
        """Reject an invalid goal and stop the vehicle."""
        self.goals, self._driven_at = [], self.seconds
        return self.core.reject(reason)

    def reset(self) -> None:
        """Restart a drive that was under way, to the same goals; one that had ended stays ended."""
        self.core.reset()
        self._poses.clear()
        self._heights.clear()
        if self._lidar is not None:
            self._lidar.reset()
        self._forget_time()
        self.core.set_waypoints(self.goals)
        self.progress = Progress(Status.DRIVING if self.goals else Status.NO_GOAL)

    def add_cloud(self, time_ns: int, points: Any) -> None:
        """Queue a cloud stamped with its first point; it enters the map once the poses of its sweep are known."""
        self._clouds.append((time_ns, points))
        if self.digest is not None:
            self.digest.received(time_ns, points)
        while time_ns - self._clouds[0][0] > CLOUD_WAIT_NS or len(self._clouds) > MOST_CLOUDS:
            self._clouds.popleft()
            self._on_cloud("no odometry for its time")

    def move(self, time_ns: int, motion: BaseMotion, lag_s: float = 0.0) -> Motion | None:
        """Process odometry, lag_s [s] old; returns the command, or None when the drive has long ended."""
        if self._start_ns is None:
            self._start_ns = time_ns
        self.seconds = (time_ns - self._start_ns) / NS_PER_S
        if not all(map(math.isfinite, (*motion.position, *motion.attitude, *motion.velocity))):
            return self._drive(Pose(math.nan, math.nan), 0.0, self.seconds - lag_s)
        self.height = motion.position[2]
        pose = pose_from_attitude(motion.position, motion.attitude)
        if self._settings.pose_source == "observer":
            pose = pose._replace(z=self._heights.after(time_ns, motion))
        self._poses.record(time_ns, pose)
        self._seen = pose, motion.velocity[0]
        self._see()
        return self._drive(pose, motion.velocity[0], self.seconds - lag_s)

    def act(self, now_ns: int, odometry: tuple[int, BaseMotion] | None) -> Motion | None:
        """The command of an instant, if one is due; odometry: the newest, with its time."""
        command = self._act(now_ns, odometry)
        if self.digest is not None:
            self.digest.received(now_ns, (odometry[0], odometry[1][:4]) if odometry is not None else None)
            self.digest.produced(now_ns, command)
        return command

    def _act(self, now_ns: int, odometry: tuple[int, BaseMotion] | None) -> Motion | None:
        if odometry is None or odometry[0] == self._used_ns:
            return self.wait((now_ns - self._used_ns) / NS_PER_S)
        self._used_ns, motion = odometry
        return self.move(self._used_ns, motion, (now_ns - self._used_ns) / NS_PER_S)

    def wait(self, silent_s: float) -> Motion | None:
        """Stop the vehicle when odometry has been silent for too long; silent_s [s]."""
        if self._seen is None or silent_s <= self._settings.stale_s:
            return None
        pose, speed = self._seen
        # At the time of the last odometry: the next one may be stamped earlier than now.
        self.progress = self.core.update(self.seconds, pose, speed, self.seconds - silent_s)
        return STOP

    def _drive(self, pose: Pose, speed: float, pose_time: float) -> Motion | None:
        progress = self.progress = self.core.update(self.seconds, pose, speed, pose_time)
        if progress.status in (Status.ARRIVED, Status.FAILED):
            self.goals = []
        if not progress.is_at_rest:
            self._driven_at = self.seconds
        if self.seconds - self._driven_at > STOP_REPEAT_S:
            return None
        wanted = progress.speed if abs(progress.speed) >= STANDS_MPS else 0.0  # else it would ask to turn on the spot
        return Motion(wanted, wanted * progress.curvature)

    def _see(self) -> None:
        """Transform the cloud by the pose at its stamp and, unless it was deskewed, at the sweep's end."""
        unit = self._settings.lidar
        sweep_ns = 0 if unit.is_deskewed else round(unit.sweep_s * NS_PER_S)
        while self._lidar is not None and self._clouds and self._start_ns is not None:
            end_ns = self._clouds[0][0] + sweep_ns
            if self._poses.is_before(end_ns) and not self._poses.is_before(end_ns - CLOUD_WAIT_NS):
                return
            self._place_cloud(self._lidar, self._start_ns, end_ns, *self._clouds.popleft())

    def _place_cloud(self, lidar: LidarSource, start_ns: int, end_ns: int, time_ns: int, points: Any) -> None:
        unit = self._settings.lidar
        try:
            pose = self._poses.at(time_ns)
            later = None if unit.is_deskewed else self._poses.at(end_ns)
        except ValueError as error:
            self._on_cloud(str(error))
            return
        is_used = lidar.see((time_ns - start_ns) / NS_PER_S, points, pose, later, unit.sweep_s)
        self._on_cloud("" if is_used else "late, not finite, or with too few usable points")
