"""Curvature by the steering wheel: the steering's own table, plus an integral correction."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.saving.stateful import Stateful
from proving_ground.settings import setting
from vehicle_dynamics.vehicle import Vehicle


@dataclass(frozen=True, kw_only=True)
class CurvatureSettings:
    """Understeer needs more steering at speed than the geometry says."""

    integral_1ps: float = setting(0.5, "Share of a curvature error made up per second", minimum=0.0, maximum=20.0)
    most_correction: float = setting(
        0.15, "Largest correction of the curvature, as a share of the steering's reach", minimum=0.0, maximum=1.0
    )
    from_speed_mps: float = setting(
        3.0, "Speed below which the yaw rate says too little about curvature", unit="m/s", minimum=0.5, maximum=20.0
    )


class CurvatureController(Stateful):
    """Steers along a curvature; its state is one number."""

    STATE = ("correction",)

    def __init__(self, vehicle: Vehicle, settings: CurvatureSettings) -> None:
        self.settings = settings
        self.correction = 0.0  # [1/m]
        self._vehicle = vehicle
        self._most = vehicle.curvature_at(1.0)

    def reset(self) -> None:
        """Reset to the initial state."""
        self.correction = 0.0

    def steering(self, period: float, speed: float, yaw_rate: float, wanted: float) -> float:
        """Steering wheel, -1 to 1, for a commanded curvature [1/m]; speed [m/s] and yaw rate [rad/s] are measured."""
        s = self.settings
        if abs(speed) > s.from_speed_mps:
            bound = s.most_correction * self._most
            step = s.integral_1ps * period * (wanted - yaw_rate / speed)
            self.correction = min(max(self.correction + step, -bound), bound)
        else:
            self.correction *= max(1.0 - period, 0.0)
        # What is left of the understeer is up to the correction.
        known = wanted * (1.0 + self._vehicle.understeer * speed * speed)
        return self._vehicle.steering_for(known + self.correction)
