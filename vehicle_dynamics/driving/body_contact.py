"""The body on the ground: contact points for when the vehicle bottoms out or rolls over."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part
from proving_ground.kernels.rotation import to_chassis, to_world
from proving_ground.kernels.vector3 import add, add_scaled, combine, cross, dot, norm, three
from terrain.ground import Ground, ground_at, height_at
from terrain.obstacle_contact import BodyBox, ChassisInWorld
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
    box: BodyBox  # for obstacles


@inlined_part
def add_body_contact(body: BodyPoints, ground: Ground, chassis: ChassisInWorld, chassis_force: Array) -> None:
    """Add moment and force of the ground on the body to chassis_force (6), chassis axes about the chassis origin."""
    rotation, position = chassis.rotation, chassis.position
    for index in range(len(body.points)):
        point = three(body.points[index], 0)
        arm = to_world(rotation, point)
        in_world = add(position, arm)
        if not height_at(ground, in_world[0], in_world[1]) > in_world[2]:
            continue
        surface = ground_at(ground, in_world[0], in_world[1])
        depth = (surface.height - in_world[2]) * surface.normal[2]
        speed = add(chassis.velocity, cross(chassis.angular_velocity, arm))
        outward = dot(speed, surface.normal)
        push = body.stiffness * min(depth, DEEPEST) - body.damping * outward
        if push <= 0.0:
            continue
        sliding = add_scaled(speed, -outward, surface.normal)
        hold = -body.friction * push / max(norm(sliding), SLOW)
        force = to_chassis(rotation, combine(push, surface.normal, hold, sliding))
        moment = cross(point, force)
        for k in range(3):
            chassis_force[k] += moment[k]
            chassis_force[3 + k] += force[k]


def body_points(contact: BodyContact, half_width: float) -> BodyPoints:
    """Contact points for the kernel; half_width [m]: distance of the tyres' outer edges from the middle."""
    points = np.column_stack([contact.points_x_m, contact.points_y_m, contact.points_z_m])
    if not math.isfinite(float(points.sum())):
        raise ValueError("body_contact: points must be finite")
    low, high = points.min(axis=0), points.max(axis=0)
    box = BodyBox(
        float(0.5 * (low[0] + high[0])),
        float(0.5 * (high[0] - low[0])),
        float(max(high[1], -low[1], half_width)),
        float(low[2]),
        float(high[2]),
    )
    return BodyPoints(points, contact.stiffness_npm, contact.damping_nspm, contact.friction, box)
