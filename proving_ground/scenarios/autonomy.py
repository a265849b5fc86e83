"""The planner as a driver in lock-step: on the truth, or on LIDAR and estimates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from planner.drive_to_goal import DriveToGoal, Progress
from planner.navigator import Navigator
from planner.node_settings import PlannerNodeSettings
from proving_ground.kernels.vector3 import vector
from proving_ground.saving.stateful import Stateful
from proving_ground.scenarios.observing import Observation
from proving_ground.settings import SettingsError
from proving_ground.settings.units import NS_PER_S
from sensors.samples import LidarScan
from terrain.world import World
from vehicle_dynamics.base_motion import BaseMotion, base_motion
from vehicle_dynamics.control.drive_by_wire import Motion
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle import Vehicle

NOTHING = (0.0, 0.0, 0.0)


class Autonomy(Stateful):
    """The planner of a lock-step run, made as in its node. It receives every sample and acts every 10 ms."""

    STATE = ("navigator",)

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
        """observation: the observer that gives the pose. Raises SettingsError."""
        if world is None:
            raise SettingsError("driver.to_goal: needs a named world")
        self._base, self._start_ns, self._lidar = vector(vehicle.base_in_chassis), start_ns, settings.lidar.name
        self._observation = observation if settings.pose_source == "observer" else None
        self.navigator = Navigator(settings, vehicle, parameters, world)
        goal = settings.goal.position(world)
        reason = self.navigator.drive_to([goal]) if goal is not None else None
        if reason is not None and reason.value:
            raise SettingsError(f"driver.to_goal: {reason.value}")

    @property
    def progress(self) -> Progress:
        """Planner status with its reason."""
        return self.navigator.progress

    @property
    def height(self) -> float:
        """Height of base_link in its odometry [m]."""
        return self.navigator.height

    @property
    def core(self) -> DriveToGoal:
        """The planning core (DriveToGoal), for inspection."""
        return self.navigator.core

    def on_samples(self, samples: Iterable[tuple[str, Any]]) -> None:
        """Process arrivals of an instant, with the names of sensors; only its own LIDAR is used."""
        for name, sample in samples:
            if name == self._lidar and isinstance(sample, LidarScan):
                self.navigator.add_cloud(sample.time_ns, sample.points)

    def act(self, time: float, seen: SnapshotRecord) -> Motion | None:
        """The command of an instant, if one is due."""
        now_ns = self._start_ns + round(time * NS_PER_S)
        if self._observation is None:
            return self.navigator.act(now_ns, (now_ns, base_motion(seen, self._base)))
        estimate = self._observation.latest
        return self.navigator.act(
            now_ns, (int(estimate["time_ns"]), _motion(estimate)) if estimate is not None else None
        )


def _motion(estimate: Any) -> BaseMotion:
    """Motion of an estimate, which has no accelerations."""
    position, attitude, velocity, angular_velocity = (
        tuple(estimate[name].tolist()) for name in ("position", "attitude", "velocity", "angular_velocity")
    )
    return BaseMotion(position, attitude, velocity, angular_velocity, NOTHING, NOTHING)
