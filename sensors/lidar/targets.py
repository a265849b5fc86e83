"""Moving targets: boxes and cylinders, intersected in closed form at each ray's own time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, kernel
from sensors.lidar.casting import Found
from sensors.lidar.shapes import TARGET
from terrain.obstacles import Box, Cylinder

Array = NDArray[np.float64]

FASTEST = 1000.0  # [m/s], [rad/s]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A shape at its current pose, and its velocity."""

    shape: Box | Cylinder
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)  # world [m/s]
    yaw_rate: float = 0.0  # about z [rad/s]

    def __post_init__(self) -> None:
        if not all(abs(value) <= FASTEST for value in (*self.velocity, self.yaw_rate)):
            raise ValueError(
                f"target: velocity and yaw rate must be within {FASTEST:g}, got {self.velocity}, {self.yaw_rate}"
            )


# Columns of a table of targets. A cylinder's width is 0.
X, Y, BASE, LENGTH, WIDTH, HEIGHT, YAW, VELOCITY_X, VELOCITY_Y, VELOCITY_Z, ANGULAR_VELOCITY, RADIUS = range(12)


def target_table(targets: Iterable[Target]) -> Array:
    """One row per target, for kernels; a cylinder's length is its radius, RADIUS that of the bounding sphere."""
    rows = []
    for item in targets:
        s = item.shape
        motion = (*item.velocity, item.yaw_rate)
        if isinstance(s, Box):
            ball = 0.5 * math.sqrt(s.length**2 + s.width**2 + s.height**2)
            rows.append((s.x, s.y, s.base, s.length, s.width, s.height, s.yaw, *motion, ball))
        else:
            ball = math.hypot(s.radius, 0.5 * s.height)
            rows.append((s.x, s.y, s.base, s.radius, 0.0, s.height, 0.0, *motion, ball))
    return np.array(rows, float).reshape(-1, 12)


@kernel
def meet_targets(targets: Array, ages: Array, origins: Array, directions: Array, far: float, out: Found) -> None:
    """Record hits on targets where out has no nearer hit; groups of rays share an origin, as in sensors.lidar.casting.

    ages [s]: time of the groups relative to that of the targets' poses.
    """
    shared = len(directions) // len(origins)
    for number in range(len(targets)):
        target = targets[number]
        for ray in range(len(directions)):
            index = ray // shared
            age = ages[index]
            dx, dy, dz = directions[ray, 0], directions[ray, 1], directions[ray, 2]
            x = origins[index, 0] - target[X] - age * target[VELOCITY_X]
            y = origins[index, 1] - target[Y] - age * target[VELOCITY_Y]
            z = origins[index, 2] - target[BASE] - age * target[VELOCITY_Z]
            up = z - 0.5 * target[HEIGHT]
            ahead = -(x * dx + y * dy + up * dz)
            off_axis_squared = x * x + y * y + up * up - ahead * ahead
            if off_axis_squared > target[RADIUS] ** 2 or ahead < -target[RADIUS]:
                continue
            if target[WIDTH] > 0.0:
                distance, cosine = _box(target, age, x, y, z, dx, dy, dz)
            else:
                distance, cosine = _cylinder(target, x, y, z, dx, dy, dz)
            if 0.0 <= distance <= far and distance < out.ranges[ray]:
                out.ranges[ray], out.cosines[ray], out.materials[ray] = distance, cosine, TARGET


@inlined
def _box(
    target: Array, age: float, x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> tuple[float, float]:
    """Distance at which a ray enters a box, infinite if it misses, and the cosine. Slabs (Kay and Kajiya 1986)."""
    yaw = target[YAW] + age * target[ANGULAR_VELOCITY]
    cosine, sine = math.cos(yaw), math.sin(yaw)
    x, y = cosine * x + sine * y, cosine * y - sine * x
    dx, dy = cosine * dx + sine * dy, cosine * dy - sine * dx
    enter, leaves, facing = -math.inf, math.inf, 0.0
    for at, direction, half in (
        (x, dx, 0.5 * target[LENGTH]),
        (y, dy, 0.5 * target[WIDTH]),
        (z - 0.5 * target[HEIGHT], dz, 0.5 * target[HEIGHT]),
    ):
        if direction == 0.0:
            if abs(at) > half:
                return math.inf, 0.0
            continue
        near, far = (-half - at) / direction, (half - at) / direction
        if near > far:
            near, far = far, near
        if near > enter:
            enter, facing = near, abs(direction)
        leaves = min(leaves, far)
    return (enter, facing) if enter <= leaves else (math.inf, 0.0)


@inlined
def _cylinder(target: Array, x: float, y: float, z: float, dx: float, dy: float, dz: float) -> tuple[float, float]:
    """Distance at which a ray enters an upright cylinder, infinite if it misses, and the cosine."""
    radius, height = target[LENGTH], target[HEIGHT]
    enter, leaves, facing = -math.inf, math.inf, 0.0
    square = dx * dx + dy * dy
    outside = x * x + y * y - radius * radius
    if square > 0.0:
        half = (x * dx + y * dy) / square
        root = half * half - outside / square
        if root < 0.0:
            return math.inf, 0.0
        root = math.sqrt(root)
        enter, leaves = -half - root, root - half
        facing = abs((x + enter * dx) * dx + (y + enter * dy) * dy) / radius
    elif outside > 0.0:
        return math.inf, 0.0
    if dz != 0.0:
        near, far = -z / dz, (height - z) / dz
        if near > far:
            near, far = far, near
        if near > enter:
            enter, facing = near, abs(dz)
        leaves = min(leaves, far)
    elif not 0.0 <= z <= height:
        return math.inf, 0.0
    return (enter, facing) if enter <= leaves else (math.inf, 0.0)
