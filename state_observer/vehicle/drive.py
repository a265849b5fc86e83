"""Ground truth of a drive, the reference for an observer's errors."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from vehicle_dynamics.stepper import CONTROL_NS

Array = NDArray[np.float64]

MOVES_MPS = 0.5  # below this speed sideslip is undefined


@dataclass(frozen=True)
class Drive:
    """The motion of base_link every 10 ms."""

    time_ns: NDArray[np.int64]
    history: NDArray[np.void]  # records of SNAPSHOT
    base_in_chassis: Array
    position: Array  # n x 3 [m]
    yaw: Array  # unwrapped
    velocity: Array  # base_link axes, n x 3
    angular_velocity: Array  # n x 3
    sideslip: Array  # of the chassis origin [rad]; 0 below MOVES_MPS

    @staticmethod
    def of(first_ns: int, history: NDArray[np.void], base: Array) -> Drive:
        """Drive from records of SNAPSHOT, one per period from first_ns; base: base_link in the chassis frame [m]."""
        attitude = Rotation.from_quat(history["attitude"])
        x, y, z, w = history["attitude"].T
        angular_velocity = history["angular_velocity"].copy()
        at_origin = attitude.inv().apply(history["velocity"])
        moving = np.hypot(at_origin[:, 0], at_origin[:, 1]) > MOVES_MPS
        slip = np.arctan2(at_origin[:, 1], np.abs(at_origin[:, 0]))
        return Drive(
            first_ns + CONTROL_NS * np.arange(len(history), dtype=np.int64),
            history,
            base.copy(),
            history["position"] + attitude.apply(base),
            np.unwrap(np.arctan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z))),
            at_origin + np.cross(angular_velocity, base),
            angular_velocity,
            np.where(moving, slip, 0.0),
        )

    def first(self, seconds: float) -> Drive:
        """The first `seconds` of the drive."""
        count = round(seconds * 1e9 / CONTROL_NS) + 1
        names = (item.name for item in fields(self) if item.name != "base_in_chassis")
        return replace(self, **{name: getattr(self, name)[:count] for name in names})
