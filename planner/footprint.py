"""The vehicle as planners see it: the ground it covers, as a row of discs, and its rollover limit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.parameters import VehicleParameters

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Outline in base_link: x forward from under the rear axle [m]."""

    front: float  # x of the bumper
    rear: float  # x of the tail, negative
    half_width: float
    wheelbase: float
    half_track: float  # from the centre line to the middle of a wheel
    centre_height: float  # centre of mass over the ground

    def __post_init__(self) -> None:
        if not (
            self.front > self.rear and min(self.half_width, self.wheelbase, self.half_track, self.centre_height) > 0
        ):
            raise ValueError(f"footprint: lengths must be above 0 and front ahead of rear, got {self}")

    def discs(self, count: int) -> tuple[Array, float]:
        """x of the centres [m] and the radius [m] of equal discs that cover the rectangle."""
        length = (self.front - self.rear) / count
        middles = self.rear + (np.arange(count) + 0.5) * length
        return np.asarray(middles, np.float64), math.hypot(0.5 * length, self.half_width)

    @property
    def tipping(self) -> float:
        """Lateral acceleration, as a multiple of gravity, that lifts the inner wheels off level ground."""
        return self.half_track / self.centre_height

    @staticmethod
    def of(parameters: VehicleParameters, base_in_chassis: Array) -> Footprint:
        """Footprint from a vehicle file; base_in_chassis [m] is Vehicle.base_in_chassis."""
        wheels = [
            item.hardpoints_left_m.wheel_centre for item in (parameters.front_suspension, parameters.rear_suspension)
        ]
        body = parameters.body_contact
        track = max(wheel[1] for wheel in wheels)
        return Footprint(
            front=max(*body.points_x_m, wheels[0][0] + parameters.wheel.radius_m) - float(base_in_chassis[0]),
            rear=min(*body.points_x_m, wheels[1][0] - parameters.wheel.radius_m) - float(base_in_chassis[0]),
            half_width=max(*(abs(y) for y in body.points_y_m), track + 0.5 * parameters.tyre.width_m),
            wheelbase=wheels[0][0] - wheels[1][0],
            half_track=track,
            centre_height=parameters.chassis.centre_of_mass_m[2] - float(base_in_chassis[2]),
        )
