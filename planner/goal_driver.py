"""Drives a vehicle to a goal in lock-step: what it sees in, pedals out, as scripted drivers do."""

from __future__ import annotations

from planner.drive_to_goal import DriveToGoal, Progress
from planner.footprint import Footprint
from planner.maps.source import ObstacleSource
from planner.pose import pose_of
from planner.settings import PlannerSettings
from vehicle_dynamics.control.helm import Helm
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.motion import forward_speed
from vehicle_dynamics.pedals import Pedals


class GoalDriver:
    """Drive-to-goal with its helm, on the truth of what is seen."""

    def __init__(self, vehicle: Hmmwv, source: ObstacleSource, settings: PlannerSettings) -> None:
        self._base = vehicle.base_in_chassis
        self._helm = Helm(vehicle)
        footprint = Footprint.of(vehicle.parameters, vehicle.base_in_chassis)
        self.core = DriveToGoal(settings, footprint, source)
        self.progress: Progress | None = None

    def act(self, time: float, seen: SnapshotRecord) -> Pedals:
        """Pedals for the next 10 ms; time [s] must not go back but by `core.reset`."""
        self.progress = self.core.update(time, pose_of(seen, self._base), forward_speed(seen))
        return self._helm.pedals(seen, self.progress.speed, self.progress.curvature)
