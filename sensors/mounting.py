"""Mount of a sensor on the vehicle, and its motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel
from proving_ground.kernels.rotation import rotation_from, to_world
from proving_ground.kernels.vector3 import Vector3, add, cross, dot
from proving_ground.settings import setting
from vehicle_dynamics.attitude import rotation_from_quaternion, rotation_from_rpy
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.equipment import SensorMount

Array = NDArray[np.float64]

UNIT_TOLERANCE = 1e-3  # of a quaternion's norm: allows for rounding to float32 and integration


class SensorMotion(NamedTuple):
    """Motion of the sensor's frame."""

    position: Array  # of its origin, world [m]
    world_from_sensor: Array  # 3 x 3
    velocity: Array  # of its origin, world axes [m/s]
    acceleration: Array  # of its origin, world axes, gravity not included [m/s^2]
    angular_velocity: Array  # sensor axes [rad/s]


@dataclass(frozen=True, kw_only=True)
class Mount:
    """Pose of a sensor in base_link, as in settings."""

    xyz_m: tuple[float, ...] = setting(
        (), "Position of the sensor in base_link: forward, left, up; empty: from the vehicle's file",
        unit="m", minimum=-10.0, maximum=10.0, read_only=True,
    )  # fmt: skip
    rpy_deg: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Roll, pitch and yaw of the sensor's axes in base_link",
        unit="deg", minimum=-180.0, maximum=180.0, read_only=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        if len(self.xyz_m) not in (0, 3):
            raise ValueError(f"xyz_m: must be empty or three numbers, got {list(self.xyz_m)}")

    @property
    def position(self) -> tuple[float, float, float]:
        """Position in base_link [m]; the origin if neither settings nor vehicle give one."""
        x, y, z = self.xyz_m or (0.0, 0.0, 0.0)
        return x, y, z

    def fitted(self, position: SensorMount | None) -> Mount:
        """Mount with the position from the vehicle's file, if these settings leave it empty."""
        if self.xyz_m or position is None:
            return self
        return Mount(xyz_m=position.xyz_m, rpy_deg=self.rpy_deg if any(self.rpy_deg) else position.rpy_deg)

    def mounting(self) -> Mounting:
        """The mount in the form that computations use."""
        return Mounting(self.position, self.rpy_deg)


class Mounting:
    """A sensor's pose in base_link."""

    def __init__(self, xyz_m: Sequence[float], rpy_deg: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """xyz_m: the lever arm; rpy_deg: roll, pitch, yaw about base_link's fixed axes, as in URDF."""
        x, y, z = (float(value) for value in xyz_m)
        self._arm = (x, y, z)
        self.arm: Array = np.array(self._arm)
        self.base_from_sensor = rotation_from_rpy(*(math.radians(angle) for angle in rpy_deg))

    def motion(self, base: BaseMotion) -> SensorMotion:
        """Motion of the sensor for a motion of base_link. Rigid body: v + w x r, a + w' x r + w x (w x r)."""
        out = np.empty((4, 3))
        world_from_sensor = np.empty((3, 3))
        _move(base, self._arm, self.base_from_sensor, out, world_from_sensor)
        position, velocity, acceleration, angular_velocity = out
        return SensorMotion(position, world_from_sensor, velocity, acceleration, angular_velocity)

    def pose(self, base: BaseMotion) -> tuple[Array, Array]:
        """Position of the sensor in the world [m] and rotation matrix world_from_sensor (3 x 3)."""
        world_from_base = rotation_from_quaternion(base.attitude)
        return np.array(base.position) + world_from_base @ self.arm, world_from_base @ self.base_from_sensor


def require_motion(base: BaseMotion) -> None:
    """Raises ValueError with one line for a motion that is not finite or whose attitude is not a unit quaternion."""
    if not math.isfinite(sum(map(sum, base))):  # not finite, or an overflow of very large values
        for name, values in zip(base._fields, base, strict=True):
            if not all(map(math.isfinite, values)):
                raise ValueError(f"base motion: {name} must be finite, got {values}")
    if abs(math.hypot(*base.attitude) - 1.0) > UNIT_TOLERANCE:
        raise ValueError(f"base motion: attitude must be a unit quaternion, got {base.attitude}")


@kernel
def _move(base: BaseMotion, arm: Vector3, base_from_sensor: Array, out: Array, world_from_sensor: Array) -> None:
    """out: position, velocity and acceleration (world axes), angular velocity (sensor axes); see SensorMotion."""
    rotation = rotation_from(base.attitude)
    swing = cross(base.angular_velocity, arm)
    swinging = add(cross(base.angular_acceleration, arm), cross(base.angular_velocity, swing))
    out[0] = add(base.position, to_world(rotation, arm))
    out[1] = to_world(rotation, add(base.velocity, swing))
    out[2] = to_world(rotation, add(base.acceleration, swinging))
    for k in range(3):
        axis = (base_from_sensor[0, k], base_from_sensor[1, k], base_from_sensor[2, k])
        out[3, k] = dot(axis, base.angular_velocity)
        world_from_sensor[:, k] = to_world(rotation, axis)
