"""Motion of base_link, which is fixed to the chassis with parallel axes, from a snapshot of the chassis."""

from __future__ import annotations

from typing import NamedTuple

from proving_ground.kernels.vector3 import Vector3
from vehicle_dynamics.attitude import rotation_from_quaternion
from vehicle_dynamics.driving.snapshot import SnapshotRecord


class BaseMotion(NamedTuple):
    """Motion of base_link's origin; plain floats."""

    position: Vector3  # world [m]
    attitude: tuple[float, float, float, float]  # world_from_base, x y z w
    velocity: Vector3  # base_link's axes [m/s]
    angular_velocity: Vector3  # base_link's axes [rad/s]
    acceleration: Vector3  # relative to the ground, gravity not included, base_link's axes [m/s^2]
    angular_acceleration: Vector3  # base_link's axes [rad/s^2]


def base_motion(seen: SnapshotRecord, base: Vector3) -> BaseMotion:
    """Motion of base_link at a snapshot; base: base_link's origin in the chassis frame [m]."""
    qx, qy, qz, qw = attitude = tuple(seen["attitude"].tolist())
    # Columns of world_from_base: its axes in the world.
    ahead = (1.0 - 2.0 * (qy * qy + qz * qz), 2.0 * (qx * qy + qz * qw), 2.0 * (qx * qz - qy * qw))
    left = (2.0 * (qx * qy - qz * qw), 1.0 - 2.0 * (qx * qx + qz * qz), 2.0 * (qy * qz + qx * qw))
    up = (2.0 * (qx * qz + qy * qw), 2.0 * (qy * qz - qx * qw), 1.0 - 2.0 * (qx * qx + qy * qy))
    origin = seen["position"].tolist()
    position = tuple(origin[k] + base[0] * ahead[k] + base[1] * left[k] + base[2] * up[k] for k in range(3))
    angular_velocity, angular_acceleration = (
        tuple(seen["angular_velocity"].tolist()),
        tuple(seen["angular_acceleration"].tolist()),
    )
    swing = _cross(angular_velocity, base)
    velocity, acceleration = seen["velocity"].tolist(), seen["acceleration"].tolist()
    return BaseMotion(
        position,
        attitude,
        _sum((_dot(ahead, velocity), _dot(left, velocity), _dot(up, velocity)), swing),
        angular_velocity,
        _sum(
            (_dot(ahead, acceleration), _dot(left, acceleration), _dot(up, acceleration)),
            _sum(_cross(angular_acceleration, base), _cross(angular_velocity, swing)),
        ),
        angular_acceleration,
    )


def snapshot_of(motion: BaseMotion, base: Vector3, seen: SnapshotRecord) -> SnapshotRecord:
    """Fill position, attitude, velocity and angular velocity of a chassis from base_link's motion.

    base: as for base_motion.
    """
    rotation, arm = rotation_from_quaternion(motion.attitude), (-base[0], -base[1], -base[2])  # to the chassis' origin
    seen["attitude"] = motion.attitude
    seen["position"] = motion.position + rotation @ arm
    seen["velocity"] = rotation @ _sum(motion.velocity, _cross(motion.angular_velocity, arm))
    seen["angular_velocity"] = motion.angular_velocity
    return seen


# Not those of kernels.vector3: called from Python, compiled functions this small cost more than plain Python.
def _dot(a: Vector3, b: Vector3) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Vector3, b: Vector3) -> Vector3:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _sum(a: Vector3, b: Vector3) -> Vector3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]
