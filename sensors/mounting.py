"""Where a sensor is fixed to the vehicle, and how it moves with it."""

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

UNIT_TOLERANCE = 1e-3  # of an attitude's length: what rounding to float32 and integration leave


class SensorMotion(NamedTuple):
    """Of the sensor's own frame."""

    position: Array  # of its origin, world [m]
    world_from_sensor: Array  # 3 x 3
    velocity: Array  # of its origin, world axes [m/s]
    acceleration: Array  # of its origin, world axes, gravity not included [m/s^2]
    angular_velocity: Array  # angular velocity, sensor axes [rad/s]


@dataclass(frozen=True, kw_only=True)
class Mount:
    """Where a sensor is fixed, as settings have it."""

    xyz_m: tuple[float, ...] = setting(
        (), "Position in base_link: forward, left, up; empty: where the vehicle's file has this kind of sensor",
        unit="m", minimum=-10.0, maximum=10.0, read_only=True,
    )  # fmt: skip
    rpy_deg: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Roll, pitch, yaw in base_link", unit="deg", minimum=-180.0, maximum=180.0, read_only=True
    )

    def __post_init__(self) -> None:
        if len(self.xyz_m) not in (0, 3):
            raise ValueError(f"xyz_m: must be three numbers or none, got {list(self.xyz_m)}")

    @property
    def position(self) -> tuple[float, float, float]:
        """In base_link [m]; its origin where neither settings nor a vehicle say otherwise."""
        x, y, z = self.xyz_m or (0.0, 0.0, 0.0)
        return x, y, z

    def fitted(self, position: SensorMount | None) -> Mount:
        """Where a vehicle's file puts the sensor, if these settings leave that open."""
        if self.xyz_m or position is None:
            return self
        return Mount(xyz_m=position.xyz_m, rpy_deg=self.rpy_deg if any(self.rpy_deg) else position.rpy_deg)

    def mounting(self) -> Mounting:
        """For computing with."""
        return Mounting(self.position, self.rpy_deg)


class Mounting:
    """A sensor's place in base_link."""

    def __init__(self, xyz_m: Sequence[float], rpy_deg: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """xyz_m: the lever arm; rpy_deg: roll, pitch, yaw about base_link's fixed axes, as URDF has it."""
        x, y, z = (float(value) for value in xyz_m)
        self._arm = (x, y, z)
        self.arm: Array = np.array(self._arm)
        self.base_from_sensor = rotation_from_rpy(*(math.radians(angle) for angle in rpy_deg))

    def motion(self, base: BaseMotion) -> SensorMotion:
        """How the sensor moves when base_link moves so. Rigid body: v + w x r, a + w' x r + w x (w x r)."""
        out = np.empty((4, 3))
        world_from_sensor = np.empty((3, 3))
        _move(base, self._arm, self.base_from_sensor, out, world_from_sensor)
        position, velocity, acceleration, angular_velocity = out
        return SensorMotion(position, world_from_sensor, velocity, acceleration, angular_velocity)

    def pose(self, base: BaseMotion) -> tuple[Array, Array]:
        """Position [m] in the world and world_from_sensor, 3 x 3."""
        world_from_base = rotation_from_quaternion(base.attitude)
        return np.array(base.position) + world_from_base @ self.arm, world_from_base @ self.base_from_sensor


def require_motion(base: BaseMotion) -> None:
    """Raises ValueError with one line for a motion that is none: not finite, or without an attitude."""
    if not math.isfinite(sum(map(sum, base))):  # one of them, or the sum of very large ones
        for name, values in zip(base._fields, base, strict=True):
            if not all(map(math.isfinite, values)):
                raise ValueError(f"base motion: {name} must be finite, got {values}")
    if abs(math.hypot(*base.attitude) - 1.0) > UNIT_TOLERANCE:
        raise ValueError(f"base motion: attitude must be a unit quaternion, got {base.attitude}")


@kernel
def _move(base: BaseMotion, arm: Vector3, base_from_sensor: Array, out: Array, world_from_sensor: Array) -> None:
    """told: position, velocity and acceleration (world axes), turn (sensor axes); see SensorMotion."""
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
