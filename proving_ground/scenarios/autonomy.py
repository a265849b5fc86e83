"""A driver that finds its own way, in lock-step: on the truth, or on what LIDAR and observer tell."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from planner.drive_to_goal import DriveToGoal, Progress, Status
from planner.footprint import Footprint
from planner.maps.lidar_source import LidarSource
from planner.maps.source import ObstacleSource
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose, pose_from_attitude, pose_of
from planner.pose_history import PoseHistory
from planner.settings import PlannerSettings
from proving_ground.scenarios.observing import Observation
from proving_ground.settings import SettingsError, setting
from sensors.lidar.settings import LidarSettings
from sensors.samples import LidarScan
from terrain.world import World
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle import Vehicle


@dataclass(frozen=True, kw_only=True)
class GoalPlace:
    """Where to."""

    x_m: float = setting(..., "In the world", unit="m", minimum=-1e6, maximum=1e6)
    y_m: float = setting(..., "In the world", unit="m", minimum=-1e6, maximum=1e6)


@dataclass(frozen=True, kw_only=True)
class ToGoal:
    """Drives to a goal by itself."""

    goal: GoalPlace | None = None  # none: the world's own
    sensing: str = setting("terrain", "Obstacles by the world's truth, or by LIDAR", choices=("terrain", "lidar"))
    pose: str = setting("truth", "Where it believes to be", choices=("truth", "observer"))
    planner: PlannerSettings = field(default_factory=PlannerSettings)


class Autonomy:
    """The planner with its helm. It hears every sample and acts every 10 ms."""

    def __init__(
        self,
        choice: ToGoal,
        vehicle: Vehicle,
        parameters: VehicleParameters,
        world: World | None,
        *,
        start_ns: int,
        lidar: LidarSettings | None = None,
        observation: Observation | None = None,
    ) -> None:
        """lidar: of the sensor to see with; observation: of the observer to believe. Raises SettingsError."""
        if world is None:
            raise SettingsError("driver.to_goal: needs a named world")
        if choice.sensing == "lidar" and lidar is None:
            raise SettingsError("driver.to_goal: sensing by LIDAR needs a sensor of kind lidar")
        if choice.pose == "observer" and observation is None:
            raise SettingsError("driver.to_goal: a pose of the observer needs an observer")
        self._base, self._helm, self._start_ns = vehicle.base_in_chassis, Helm(vehicle), start_ns
        self._observation = observation if choice.pose == "observer" else None
        self._lidar_settings = lidar
        footprint = Footprint.of(parameters, vehicle.base_in_chassis)
        truth = TerrainTruth(world, choice.planner)
        source: ObstacleSource = truth
        self._lidar: LidarSource | None = None
        if choice.sensing == "lidar" and lidar is not None:
            source = self._lidar = LidarSource(choice.planner, footprint, lidar.mounting(), truth.extent())
        self.core = DriveToGoal(choice.planner, footprint, source)
        self._poses = PoseHistory()
        self.progress = Progress(Status.NO_GOAL)
        goal = choice.goal
        if goal is None and world.goal is None:
            raise SettingsError(f"driver.to_goal: world {world.name} has no goal; give one")
        x, y = (goal.x_m, goal.y_m) if goal is not None else (world.goal.x, world.goal.y)  # type: ignore[union-attr]
        reason = self.core.set_goal(x, y)
        if reason.value:
            raise SettingsError(f"driver.to_goal: {reason.value}")

    @property
    def memory(self) -> tuple[float, ...]:
        """A planner's map is no row of numbers: there are no checkpoints."""
        raise SettingsError("checkpoint: a run with a planner cannot be kept and restored")

    @memory.setter
    def memory(self, values: tuple[float, ...]) -> None:
        raise SettingsError("checkpoint: a run with a planner cannot be kept and restored")

    def hear(self, samples: Iterable[Any]) -> None:
        """What arrives at an instant; it sees with LIDAR alone."""
        for sample in samples:
            if isinstance(sample, LidarScan):
                self._see(sample)

    def _see(self, sample: LidarScan) -> None:
        if self._lidar is None or self._lidar_settings is None:
            return
        sweep = 1.0 / self._lidar_settings.rate_hz
        try:
            pose = self._poses.at(sample.time_ns)
            later = None if self._lidar_settings.deskew else self._poses.at(sample.time_ns + round(sweep * 1e9))
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
