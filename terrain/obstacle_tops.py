"""Obstacles as ground that wheels roll over: logs, rocks, kerbs, steps. Boxes and upright cylinders, world axes, z up.

A wheel meets an obstacle whose top is at most REACH radii over its own lowest point; taller ones are met by the body
alone, so that a wheel beside a wall does not take the wall's top for ground. Sides are as steep as those of a step in
a map of 5 cm cells, and outside of the obstacle: a tyre cannot resolve steeper ones, and the contact plane needs
heights without jumps, also where boxes stand side by side.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, part
from proving_ground.kernels.vector3 import Vector3
from terrain.obstacle_contact import Obstacles

Array = NDArray[np.float64]

REACH = 1.5  # radii over a wheel's lowest point
MARGIN = 0.1  # [m] under it: an edge may touch the wheel beside that point
FLANK = 0.05  # [m]: distance from an obstacle within which the height rises to that of its top
MOST_NEAR = 1024  # obstacles under one wheel: the columns of several meshes side by side


@part
def near_obstacles(obstacles: Obstacles, centre: Vector3, radius: float, reach: float, near: Array) -> int:
    """Number of obstacles that a wheel can meet within a reach [m] of its centre; writes them to near (MOST_NEAR).

    Boxes by their index, cylinders by -1 - index.
    """
    count = 0
    low, high = centre[2] - radius - MARGIN, centre[2] - radius + REACH * radius
    for index in range(len(obstacles.boxes)):
        box = obstacles.boxes[index]
        top, far = box[2] + box[5], reach + FLANK + 0.5 * (box[3] + box[4])
        is_near = abs(box[0] - centre[0]) < far and abs(box[1] - centre[1]) < far
        if is_near and low < top <= high and box[2] < centre[2] and count < MOST_NEAR:
            near[count] = index
            count += 1
    for index in range(len(obstacles.cylinders)):
        cylinder = obstacles.cylinders[index]
        top, far = cylinder[2] + cylinder[4], reach + FLANK + cylinder[3]
        is_near = abs(cylinder[0] - centre[0]) < far and abs(cylinder[1] - centre[1]) < far
        if is_near and low < top <= high and cylinder[2] < centre[2] and count < MOST_NEAR:
            near[count] = -1 - index
            count += 1
    return count


@part
def top_of(obstacles: Obstacles, near: Array, x: float, y: float) -> float:
    """Height [m] of the highest of the near obstacles at a point [m]; minus infinity beside them."""
    top = -math.inf
    for k in range(len(near)):
        number = int(near[k])
        if number >= 0:
            box = obstacles.boxes[number]
            inside = inside_box(box, x, y)
            base, height = box[2], box[5]
        else:
            cylinder = obstacles.cylinders[-1 - number]
            inside = cylinder[3] - math.hypot(x - cylinder[0], y - cylinder[1])
            base, height = cylinder[2], cylinder[4]
        if inside > -FLANK:
            top = max(top, base + height * min(1.0 + inside / FLANK, 1.0))
    return top


@inlined
def inside_box(box: Array, x: float, y: float) -> float:
    """Distance [m] of a point within a box, seen from above, from its nearest side; negative outside."""
    dx, dy = x - box[0], y - box[1]
    u, v = box[6] * dx + box[7] * dy, box[6] * dy - box[7] * dx
    return float(min(0.5 * box[3] - abs(u), 0.5 * box[4] - abs(v)))
