"""Path curvature of a slowly rolling vehicle over steering wheel position, and its inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.driving.model import DrivingVehicle
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.suspension.steering import road_wheel_angles

Array = NDArray[np.float64]

POINTS = 81


@dataclass(frozen=True)
class SteeringTable:
    """Curvature of the middle of the rear axle's path over the steering wheel's position, both rising."""

    steering: Array  # -1 to 1, left positive
    curvature: Array  # [1/m]

    @staticmethod
    def of(vehicle: DrivingVehicle, wheelbase: float, at_rest: SnapshotRecord) -> SteeringTable:
        """Compute from the steering's geometry at the static ride height, with the mean angle of the front wheels."""
        steering = np.linspace(-1.0, 1.0, POINTS)
        arms = float(at_rest["arm_angle"][0]), float(at_rest["arm_angle"][1])
        angles = [
            np.mean(
                road_wheel_angles(vehicle.steering, vehicle.bodies.corners[:2], -vehicle.servo.lock * position, arms)
            )
            for position in steering
        ]
        curvature = np.tan(angles) / wheelbase
        if not np.all(np.diff(curvature) > 0.0):
            raise ValueError("steering: the angle of the front wheels must increase with the steering wheel")
        return SteeringTable(steering, curvature - np.interp(0.0, steering, curvature))

    def steering_for(self, curvature: float) -> float:
        """Steering wheel position, -1 to 1, for a curvature [1/m]; at its stop for one that is too large."""
        return float(np.interp(curvature, self.curvature, self.steering))

    def curvature_at(self, steering: float) -> float:
        """Curvature [1/m] at a steering wheel position, -1 to 1."""
        return float(np.interp(steering, self.steering, self.curvature))
