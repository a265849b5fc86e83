"""The body on the ground: contact points for when the vehicle bottoms out or rolls over."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.rotation import to_chassis, to_world
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, combine, cross, dot, norm, three
from terrain.ground import Ground, ground_at, height_at
from terrain.obstacle_contact import BodyBox, ChassisInWorld
from vehicle_dynamics.driving.underside_points import underside
from vehicle_dynamics.parameters import BodyContact

Array = NDArray[np.float64]

DEEPEST = 0.3  # [m]: the force does not grow beyond, so that a body placed far underground is not ejected
SLOW = 0.05  # [m/s]: below this speed friction fades


class BodyPoints(NamedTuple):
    """Parameters of the contact between body and ground, for the kernel."""

    points: Array  # n x 3, chassis axes [m]
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    friction: float
    box: BodyBox  # for obstacles that are higher than the bumpers
    underside: Array  # m x 3, chassis axes [m]: for lower ones


class BodySpring(NamedTuple):
    """Spring, damper and friction of one point."""

    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    friction: float


@inlined_part
def add_body_contact(body: BodyPoints, ground: Ground, chassis: ChassisInWorld, chassis_force: Array) -> None:
    """Add moment and force of the ground on the body to chassis_force (6), chassis axes about the chassis origin."""
    rotation, position = chassis.rotation, chassis.position
    spring = BodySpring(body.stiffness, body.damping, body.friction)
    for index in range(len(body.points)):
        point = three(body.points[index], 0)
        arm = to_world(rotation, point)
        in_world = add(position, arm)
        if not height_at(ground, in_world[0], in_world[1]) > in_world[2]:
            continue
        surface = ground_at(ground, in_world[0], in_world[1])
        depth = (surface.height - in_world[2]) * surface.normal[2]
        push_point(spring, point, arm, depth, surface.normal, chassis, chassis_force)


@inlined_part
def push_point(
    spring: BodySpring,
    point: Vector3,
    arm: Vector3,
    depth: float,
    outward: Vector3,
    chassis: ChassisInWorld,
    chassis_force: Array,
) -> float:
    """Add moment and force on a point to chassis_force (6), chassis axes; returns the push [N].

    point: in chassis axes [m], arm: the same in world axes; depth [m] along outward (unit, world axes).
    """
    speed = add(chassis.velocity, cross(chassis.angular_velocity, arm))
    leaving = dot(speed, outward)
    push = spring.stiffness * min(depth, DEEPEST) - spring.damping * leaving
    if push <= 0.0:
        return 0.0
    sliding = add_scaled(speed, -leaving, outward)
    hold = -spring.friction * push / max(norm(sliding), SLOW)
    force = to_chassis(chassis.rotation, combine(push, outward, hold, sliding))
    moment = cross(point, force)
    for k in range(3):
        chassis_force[k] += moment[k]
        chassis_force[3 + k] += force[k]
    return push


def body_points(contact: BodyContact, half_width: float, reach: float = 0.0) -> BodyPoints:
    """Contact points for the kernel.

    half_width [m]: distance of the tyres' outer edges from the middle; reach [m]: that of the wheels from the chassis
    origin.
    """
    points = np.column_stack([contact.points_x_m, contact.points_y_m, contact.points_z_m])
    if not math.isfinite(float(points.sum())):
        raise ValueError("body_contact: points must be finite")
    low, high = points.min(axis=0), points.max(axis=0)
    bumpers = max(points[points[:, 0] == end, 2].min() for end in (low[0], high[0]))
    box = BodyBox(
        float(0.5 * (low[0] + high[0])),
        float(0.5 * (high[0] - low[0])),
        float(max(high[1], -low[1], half_width)),
        float(bumpers),
        float(high[2]),
        float(max(np.linalg.norm(points, axis=1).max(), half_width, reach)),
    )
    return BodyPoints(points, contact.stiffness_npm, contact.damping_nspm, contact.friction, box, underside(points))
