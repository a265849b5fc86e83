"""A driver that finds its own way, in lock-step: on the truth, or on what LIDAR and observer tell."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from planner.drive_to_goal import DriveToGoal, Progress, Reason, Status
from planner.footprint import Footprint
from planner.maps.lidar_source import LidarSource
from planner.maps.source import ObstacleSource
from planner.maps.terrain_truth import TerrainTruth
from planner.node_settings import PlannerNodeSettings
from planner.pose import Pose, pose_from_attitude, pose_of
from planner.pose_history import PoseHistory
from proving_ground.scenarios.observing import Observation
from proving_ground.settings import SettingsError
from sensors.samples import LidarScan
from terrain.world import World
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle import Vehicle


class Autonomy:
    """The planner with its helm. It hears every sample and acts every 10 ms."""

    def __init__(
        self,
        settings: PlannerNodeSettings,
        vehicle: Vehicle,
        parameters: VehicleParameters,
        world: World | None,
        *,
        start_ns: int,
        observation: Observation | None = None,
    ) -> None:
        """observation: of the observer to believe. Raises SettingsError."""
        if world is None:
            raise SettingsError("driver.to_goal: needs a named world")
        self._base, self._helm, self._start_ns = vehicle.base_in_chassis, Helm(vehicle), start_ns
        self._observation = observation if settings.pose_source == "observer" else None
        self._seen_by = settings.lidar
        footprint = Footprint.of(parameters, vehicle.base_in_chassis)
        truth = TerrainTruth(world, settings)
        source: ObstacleSource = truth
        self._lidar: LidarSource | None = None
        if settings.sensing == "lidar":
            mounting = settings.lidar.mount.mounting()
            source = self._lidar = LidarSource(settings, footprint, mounting, truth.extent(), settings)
        self.core = DriveToGoal(settings, footprint, source)
        self._poses = PoseHistory()
        self.progress = Progress(Status.NO_GOAL)
        goal = settings.goal.position(world)
        reason = self.core.set_goal(*goal) if goal is not None else Reason.NONE
        if reason.value:
            raise SettingsError(f"driver.to_goal: {reason.value}")

    @property
    def memory(self) -> tuple[float, ...]:
        """A planner's map is no row of numbers: there are no checkpoints."""
        raise SettingsError("checkpoint: a run with a planner cannot be kept and restored")

    @memory.setter
    def memory(self, values: tuple[float, ...]) -> None:
        raise SettingsError("checkpoint: a run with a planner cannot be kept and restored")

    def hear(self, samples: Iterable[tuple[str, Any]]) -> None:
        """What arrives at an instant, with the names of sensors; it sees with its LIDAR alone."""
        for name, sample in samples:
            if name == self._seen_by.name and isinstance(sample, LidarScan):
                self._see(sample)

    def _see(self, sample: LidarScan) -> None:
        if self._lidar is None:
            return
        sweep = self._seen_by.sweep_s
        try:
            pose = self._poses.at(sample.time_ns)
            later = None if self._seen_by.is_deskewed else self._poses.at(sample.time_ns + round(sweep * 1e9))
        except ValueError:  # from before the first pose
            return
        self._lidar.see((sample.time_ns - self._start_ns) * 1e-9, sample.points, pose, later, sweep)

    def act(self, time: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next 10 ms."""
        pose, speed, pose_time = self._believed(time, seen)
        self._poses.note(self._start_ns + round(time * 1e9), pose)
        self.progress = self.core.update(time, pose, speed, pose_time)
        return self._helm.pedals(seen, self.progress.speed, self.progress.curvature)

    def _believed(self, time: float, seen: SnapshotRecord) -> tuple[Pose, float, float]:
        """Pose, speed ahead [m/s], and of what time [s] they are."""
        if self._observation is None:
            return pose_of(seen, self._base), forward_speed(seen), time
        observer = self._observation.observer
        if not observer.is_running:
            return Pose(math.nan, math.nan), 0.0, time
        told = observer.estimate()
        pose_time = (int(told["time_ns"]) - self._start_ns) * 1e-9
        x, y, _ = told["position"].tolist()
        z = float(told["odom"][2])  # GPS knows heights badly, and maps are made of differences of heights
        qx, qy, qz, qw = told["attitude"].tolist()
        return pose_from_attitude((x, y, z), (qx, qy, qz, qw)), float(told["velocity"][0]), pose_time
