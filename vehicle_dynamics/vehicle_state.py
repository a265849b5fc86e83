"""State of the 14-degree-of-freedom vehicle: by name in Python, as one flat array for kernels."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

POSITION = slice(0, 3)
ATTITUDE = slice(3, 7)
THETA = slice(7, 11)
SPIN = slice(11, 15)
VELOCITY = slice(15, 18)
ANGULAR_VELOCITY = slice(18, 21)
THETA_RATE = slice(21, 25)
SPIN_RATE = slice(25, 29)
STATE_SIZE = 29


@dataclass(frozen=True, kw_only=True)
class VehicleState:
    """State of the rigid bodies; wheels are in the order front left, front right, rear left, rear right."""

    position: Array = field(default_factory=lambda: np.zeros(3))  # of the chassis origin, world axes [m]
    attitude: Array = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))  # x, y, z, w: world_from_chassis
    theta: Array = field(default_factory=lambda: np.zeros(4))  # lower-arm angles, positive raises the wheel [rad]
    spin: Array = field(default_factory=lambda: np.zeros(4))  # wheel angles [rad]
    velocity: Array = field(default_factory=lambda: np.zeros(3))  # of the chassis origin, world axes [m/s]
    angular_velocity: Array = field(default_factory=lambda: np.zeros(3))  # chassis axes [rad/s]
    theta_rate: Array = field(default_factory=lambda: np.zeros(4))  # [rad/s]
    spin_rate: Array = field(default_factory=lambda: np.zeros(4))  # [rad/s]

    def __post_init__(self) -> None:
        for item in fields(self):
            value = np.asarray(getattr(self, item.name), dtype=float)
            wanted = _SLICES[item.name].stop - _SLICES[item.name].start
            if value.shape != (wanted,) or not np.isfinite(value).all():
                raise ValueError(f"{item.name}: must be {wanted} finite numbers, got {value.tolist()}")
            object.__setattr__(self, item.name, value)
        if abs(np.linalg.norm(self.attitude) - 1.0) > 1e-6:
            raise ValueError(f"attitude: must have length 1, got {np.linalg.norm(self.attitude):g}")

    def to_array(self) -> Array:
        """The state as a flat array of 29 numbers, as kernels use it."""
        return np.concatenate([getattr(self, name) for name in _SLICES])

    @staticmethod
    def from_array(array: Array) -> VehicleState:
        """Copy from a flat array."""
        return VehicleState(**{name: array[span].copy() for name, span in _SLICES.items()})


_SLICES = {
    "position": POSITION,
    "attitude": ATTITUDE,
    "theta": THETA,
    "spin": SPIN,
    "velocity": VELOCITY,
    "angular_velocity": ANGULAR_VELOCITY,
    "theta_rate": THETA_RATE,
    "spin_rate": SPIN_RATE,
}
