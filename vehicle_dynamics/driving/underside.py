"""The body's underside against obstacles that are lower than the bumpers: logs, rocks, stumps between the wheels.

Points all over the underside are pushed out of an obstacle through its nearest face, top or side.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part, part
from proving_ground.kernels.rotation import to_world
from proving_ground.kernels.vector3 import Vector3, add, dot, three
from terrain.obstacle_contact import ChassisInWorld, Obstacles
from terrain.obstacle_tops import inside_box
from vehicle_dynamics.driving.body_contact import DEEPEST, BodyPoints, BodySpring, push_point

Array = NDArray[np.float64]

SHARE = 0.4  # of the stiffness and damping of a contact point of the vehicle's file: several touch at once


@part
def add_underside_contact(
    body: BodyPoints, obstacles: Obstacles, chassis: ChassisInWorld, chassis_force: Array
) -> float:
    """Add moment and force of obstacles on the underside to chassis_force (6), chassis axes; returns their push [N]."""
    total, lowest = 0.0, math.inf
    boxes, posts = len(obstacles.boxes), len(obstacles.cylinders)
    points, reach, position = body.underside, body.box.reach, chassis.position
    spring = BodySpring(SHARE * body.stiffness, SHARE * body.damping, body.friction)
    for index in range(len(points)):
        lowest = min(lowest, position[2] + dot(chassis.rotation.z, three(points[index], 0)))
    for number in range(boxes + posts):
        is_box = number < boxes
        row = obstacles.boxes[number] if is_box else obstacles.cylinders[number - boxes]
        top, far = (row[2] + row[5], 0.5 * (row[3] + row[4])) if is_box else (row[2] + row[4], row[3])
        is_near = abs(row[0] - position[0]) < far + reach and abs(row[1] - position[1]) < far + reach
        if not is_near or top <= lowest:
            continue
        for index in range(len(points)):
            point = three(points[index], 0)
            arm = to_world(chassis.rotation, point)
            place = add(position, arm)
            over = top - place[2]
            # Further under the top it is inside an obstacle that the body's box meets.
            if not 0.0 < over < DEEPEST or place[2] < row[2]:
                continue
            inside = inside_box(row, place[0], place[1]) if is_box else _inside_circle(row, place[0], place[1])
            if inside <= 0.0:
                continue
            outward = (0.0, 0.0, 1.0)
            if inside < over:
                outward = _box_side(row, place[0], place[1]) if is_box else _circle_side(row, place[0], place[1])
            total += push_point(spring, point, arm, min(inside, over), outward, chassis, chassis_force)
    return total


@inlined_part
def _inside_circle(row: Array, x: float, y: float) -> float:
    """Distance [m] of a point within a cylinder from its side; negative outside."""
    return float(row[3] - math.hypot(x - row[0], y - row[1]))


@inlined_part
def _circle_side(row: Array, x: float, y: float) -> Vector3:
    """Direction out of a cylinder."""
    dx, dy = x - row[0], y - row[1]
    away = max(math.hypot(dx, dy), 1e-9)
    return (dx / away, dy / away, 0.0)


@inlined_part
def _box_side(row: Array, x: float, y: float) -> Vector3:
    """Direction out of a box through its nearest side."""
    dx, dy = x - row[0], y - row[1]
    u, v = row[6] * dx + row[7] * dy, row[6] * dy - row[7] * dx
    if 0.5 * row[3] - abs(u) < 0.5 * row[4] - abs(v):
        sign = math.copysign(1.0, u)
        return (sign * row[6], sign * row[7], 0.0)
    sign = math.copysign(1.0, v)
    return (-sign * row[7], sign * row[6], 0.0)
