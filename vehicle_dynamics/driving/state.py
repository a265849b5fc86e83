"""State of the driving vehicle: rigid bodies, tyres, brakes, powertrain and steering, as one flat array with names."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.vehicle_state import STATE_SIZE, VehicleState

Array = NDArray[np.float64]

DEFLECTION = slice(29, 37)  # along and across, wheel by wheel
PITMAN, PITMAN_RATE = 37, 38
MOVING_SIZE = 39  # advanced by the integrators: rigid bodies, the tyres' deflection and the steering servo
STUCK = slice(39, 43)
ENGINE_SPEED, GEAR, SINCE_SHIFT = 43, 44, 45
SOIL = slice(46, 62)  # SoilState, wheel by wheel
DRIVING_SIZE = 62


@dataclass(frozen=True, kw_only=True)
class DrivingState:
    """The whole state of the vehicle: two vehicles with equal states behave alike to the bit."""

    body: VehicleState = field(default_factory=VehicleState)
    deflection: Array = field(default_factory=lambda: np.zeros(8))  # of the tyres, along and across [m]
    pitman: float = 0.0  # Pitman angle, as the chassis sees it [rad]
    pitman_rate: float = 0.0  # [rad/s]
    stuck: Array = field(default_factory=lambda: np.zeros(4))  # wheel angles at which the brakes hold [rad]
    engine_speed: float = 0.0  # [rad/s]
    gear: int = 1
    since_shift: float = 10.0  # [s]
    soil: Array = field(default_factory=lambda: np.zeros(16))  # of wheels on soft soil, see SoilState

    def __post_init__(self) -> None:
        for name, size in (("deflection", 8), ("stuck", 4), ("soil", 16)):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape != (size,) or not np.isfinite(value).all():
                raise ValueError(f"{name}: must be {size} finite numbers, got {value.tolist()}")
            object.__setattr__(self, name, value)
        arrays = ("body", "deflection", "stuck", "soil")
        numbers = [getattr(self, item.name) for item in fields(self) if item.name not in arrays]
        if not np.isfinite(numbers).all() or self.gear < 1:
            raise ValueError(f"engine, gear and steering: must be finite, gear at least 1, got {numbers}")

    def to_array(self) -> Array:
        """The state as a flat array of 62 numbers, as kernels use it."""
        steering, engine = [self.pitman, self.pitman_rate], [self.engine_speed, float(self.gear), self.since_shift]
        return np.concatenate([self.body.to_array(), self.deflection, steering, self.stuck, engine, self.soil])

    @staticmethod
    def from_array(array: Array) -> DrivingState:
        """Copy from a flat array."""
        return DrivingState(
            body=VehicleState.from_array(array[:STATE_SIZE]),
            deflection=array[DEFLECTION].copy(),
            pitman=float(array[PITMAN]),
            pitman_rate=float(array[PITMAN_RATE]),
            stuck=array[STUCK].copy(),
            engine_speed=float(array[ENGINE_SPEED]),
            gear=round(float(array[GEAR])),
            since_shift=float(array[SINCE_SHIFT]),
            soil=array[SOIL].copy(),
        )
