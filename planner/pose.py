"""Position and attitude of the vehicle: base_link in world axes, metres and radians."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.driving.snapshot import SnapshotRecord

Array = NDArray[np.float64]


class Pose(NamedTuple):
    """base_link: on the ground under the middle of the rear axle; its x-y plane is the vehicle's ground plane."""

    x: float  # [m]
    y: float
    z: float = 0.0
    heading: float = 0.0  # [rad], counter-clockwise from x
    slope_x: float = 0.0  # rise over run of the ground plane along world x
    slope_y: float = 0.0

    @property
    def is_finite(self) -> bool:
        """Whether all values are finite."""
        return all(math.isfinite(value) for value in self)

    def moved(self, speed: float, curvature: float, time: float) -> Pose:
        """The pose after a time [s] at a speed [m/s] along a curvature [1/m]."""
        along = speed * time
        heading_change = curvature * along
        # The chord of an arc points along its mean heading.
        chord = along * (math.sin(0.5 * heading_change) / (0.5 * heading_change) if abs(heading_change) > 1e-6 else 1.0)
        towards = self.heading + 0.5 * heading_change
        ahead, lateral = chord * math.cos(towards), chord * math.sin(towards)
        return self._replace(
            x=self.x + ahead,
            y=self.y + lateral,
            z=self.z + self.slope_x * ahead + self.slope_y * lateral,
            heading=math.remainder(self.heading + heading_change, 2.0 * math.pi),
        )

    def distance_to(self, x: float, y: float) -> float:
        """Horizontal distance [m] to a position."""
        return math.hypot(x - self.x, y - self.y)

    def bearing_of(self, x: float, y: float) -> float:
        """Bearing of a position from straight ahead [rad], left positive."""
        return math.remainder(math.atan2(y - self.y, x - self.x) - self.heading, 2.0 * math.pi)


def pose_from_attitude(position: tuple[float, float, float], attitude: tuple[float, float, float, float]) -> Pose:
    """Pose of a frame at a position [m] with a quaternion x y z w, world axes.

    Slopes saturate at 10 for near-vertical frames.
    """
    x, y, z, w = attitude
    forward_x, forward_y = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w)
    normal_x, normal_y, normal_z = 2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)
    steep = max(normal_z, 0.1)
    return Pose(*position, math.atan2(forward_y, forward_x), -normal_x / steep, -normal_y / steep)


def pose_of(seen: SnapshotRecord, base_in_chassis: Array) -> Pose:
    """Pose of base_link from a snapshot; base_in_chassis [m] is Vehicle.base_in_chassis."""
    x, y, z, w = seen["attitude"].tolist()
    a, b, c = base_in_chassis.tolist()
    # v + 2 q x (q x v + w v) rotates v by the quaternion.
    u, v, t = y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c
    rotated = (a + 2.0 * (y * t - z * v), b + 2.0 * (z * u - x * t), c + 2.0 * (x * v - y * u))
    px, py, pz = seen["position"].tolist()
    return pose_from_attitude((px + rotated[0], py + rotated[1], pz + rotated[2]), (x, y, z, w))
