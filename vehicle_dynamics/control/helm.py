"""Low-level controller for drivers that command speed and curvature."""

from __future__ import annotations

from dataclasses import dataclass, field

from proving_ground.saving.stateful import Stateful
from vehicle_dynamics.control.curvature import CurvatureController, CurvatureSettings
from vehicle_dynamics.control.speed import SpeedController, SpeedSettings
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import forward_speed, rise_of
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.vehicle import Vehicle

PERIOD_S = 0.01  # control period of drivers, live and in lock-step


@dataclass(frozen=True, kw_only=True)
class HelmSettings:
    """Settings of the speed and the steering controller."""

    speed: SpeedSettings = field(default_factory=SpeedSettings)
    curvature: CurvatureSettings = field(default_factory=CurvatureSettings)


class Helm(Stateful):
    """Pedals and steering that follow a speed and a curvature."""

    STATE = ("speed", "curvature")

    def __init__(self, vehicle: Vehicle, settings: HelmSettings | None = None) -> None:
        given = settings or HelmSettings()
        self.speed = SpeedController(given.speed, vehicle.pedal_authority)
        self.curvature = CurvatureController(vehicle, given.curvature)

    def reset(self) -> None:
        """Reset to the initial state."""
        self.speed.reset()
        self.curvature.reset()

    def pedals(
        self, seen: SnapshotRecord, speed: float, curvature: float, finally_wanted: float | None = None
    ) -> Pedals:
        """Pedals for the next PERIOD_S towards a speed [m/s] and a curvature [1/m], left positive.

        finally_wanted: as for SpeedController.pedals.
        """
        present, rise = forward_speed(seen), rise_of(seen)
        steering = self.curvature.steering(PERIOD_S, present, float(seen["angular_velocity"][2]), curvature)
        return self.speed.pedals(PERIOD_S, present, speed, finally_wanted, rise=rise)._replace(steering=steering)
