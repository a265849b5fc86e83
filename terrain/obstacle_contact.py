"""The body against obstacles: an oriented box that boxes and upright cylinders push away.

Seen from above. The push is a spring and damper along the shortest way out of the overlap, with friction, at mid-height
of the overlap; an obstacle that hardly reaches over the bumpers pushes less. What is lower meets the body's underside.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, inlined_part
from proving_ground.kernels.rotation import Rotation, to_chassis
from proving_ground.kernels.vector3 import Vector3, cross

Array = NDArray[np.float64]

STIFFNESS = 2e6  # [N/m]: a body that crumples; 10 m/s are stopped within some 0.3 m
DAMPING = 5e4  # [N s/m]
RETURNED = 0.05  # share of the spring force that pushes a body out again: crumpling is permanent
LEAVING = 0.2  # [m/s]: a body that leaves faster is no longer pressed
FRICTION = 0.3
DEEPEST = 1.0  # [m]: the force does not grow beyond
SLOW = 0.05  # [m/s]: below this speed friction fades
BLUNT = 0.05  # sine of the angle within which a side meets a side, not a corner


class Obstacles(NamedTuple):
    """Obstacles in the form that kernels use; rows as in terrain.obstacles."""

    boxes: Array  # n x 8: x, y, base, length, width, height, cosine, sine
    cylinders: Array  # m x 5: x, y, base, radius, height


class BodyBox(NamedTuple):
    """The body's box along chassis axes [m]."""

    middle: float  # x
    half_length: float
    half_width: float
    bottom: float  # z: of the bumpers, over which the body has its full length
    top: float
    reach: float  # from the chassis origin to the farthest point of body and wheels


class ChassisInWorld(NamedTuple):
    """Motion of the chassis in world axes."""

    rotation: Rotation  # world_from_chassis
    position: Vector3  # of its origin [m]
    velocity: Vector3  # of its origin [m/s]
    angular_velocity: Vector3  # [rad/s]


class _Overlap(NamedTuple):
    """Overlap of two shapes, from above."""

    depth: float  # [m]; 0 or less: no overlap
    out_x: float  # direction out of the overlap for the body, unit
    out_y: float
    x: float  # contact point
    y: float


class _Rectangle(NamedTuple):
    x: float
    y: float
    cosine: float  # of its long side
    sine: float
    half_length: float
    half_width: float


@inlined_part
def add_obstacle_contact(body: BodyBox, obstacles: Obstacles, chassis: ChassisInWorld, chassis_force: Array) -> float:
    """Add moment and force of obstacles to chassis_force (6), chassis axes; returns the sum of their pushes [N]."""
    rotation, position = chassis.rotation, chassis.position
    if len(obstacles.boxes) + len(obstacles.cylinders) == 0:
        return 0.0
    level = math.hypot(rotation.x[0], rotation.y[0])
    if level < 0.1:  # standing on end
        return 0.0
    cosine, sine = rotation.x[0] / level, rotation.y[0] / level
    x, y = position[0] + cosine * body.middle, position[1] + sine * body.middle
    own = _Rectangle(x, y, cosine, sine, body.half_length, body.half_width)
    reach = math.hypot(body.half_length, body.half_width)
    low, high = position[2] + body.bottom, position[2] + body.top
    total = 0.0
    for index in range(len(obstacles.cylinders)):
        o = obstacles.cylinders[index]
        far = reach + o[3]
        if (o[0] - x) ** 2 + (o[1] - y) ** 2 < far * far and o[2] < high and o[2] + o[4] > low:
            height = 0.5 * (max(low, o[2]) + min(high, o[2] + o[4]))
            overlap = _with_circle(own, o[0], o[1], o[3])
            total += _push(overlap, o[2] + o[4] - low, height, chassis, chassis_force)
    for index in range(len(obstacles.boxes)):
        o = obstacles.boxes[index]
        far = reach + 0.5 * math.hypot(o[3], o[4])
        if (o[0] - x) ** 2 + (o[1] - y) ** 2 < far * far and o[2] < high and o[2] + o[5] > low:
            height = 0.5 * (max(low, o[2]) + min(high, o[2] + o[5]))
            other = _Rectangle(o[0], o[1], o[6], o[7], 0.5 * o[3], 0.5 * o[4])
            overlap = _with_box(own, other)
            total += _push(overlap, o[2] + o[5] - low, height, chassis, chassis_force)
    return total


@inlined_part
def obstacles_around(obstacles: Obstacles, body: BodyBox, position: Vector3) -> Obstacles:
    """All obstacles if one of them is within the vehicle's reach, given the position of its origin [m]; else none."""
    is_near = False
    for index in range(len(obstacles.boxes)):
        o = obstacles.boxes[index]
        far = body.reach + 0.5 * (o[3] + o[4])
        is_near = is_near or (abs(o[0] - position[0]) < far and abs(o[1] - position[1]) < far)
    for index in range(len(obstacles.cylinders)):
        o = obstacles.cylinders[index]
        far = body.reach + o[3]
        is_near = is_near or (abs(o[0] - position[0]) < far and abs(o[1] - position[1]) < far)
    if is_near:
        return obstacles
    return Obstacles(obstacles.boxes[:0], obstacles.cylinders[:0])


@inlined_part
def _push(overlap: _Overlap, over: float, height: float, chassis: ChassisInWorld, chassis_force: Array) -> float:
    """Add one obstacle's force; returns its push [N]. over [m]: how far its top is over the body's bottom."""
    rotation, position, velocity = chassis.rotation, chassis.position, chassis.velocity
    if overlap.depth <= 0.0:
        return 0.0
    arm = (overlap.x - position[0], overlap.y - position[1], height - position[2])
    rotational = cross(chassis.angular_velocity, arm)
    vx, vy, vz = velocity[0] + rotational[0], velocity[1] + rotational[1], velocity[2] + rotational[2]
    outward = vx * overlap.out_x + vy * overlap.out_y
    kept = RETURNED + (1.0 - RETURNED) * min(max(1.0 - outward / LEAVING, 0.0), 1.0)
    push = STIFFNESS * min(overlap.depth, over, DEEPEST) * kept - DAMPING * outward
    if push <= 0.0:
        return 0.0
    tx, ty = vx - outward * overlap.out_x, vy - outward * overlap.out_y
    hold = FRICTION * push / max(math.sqrt(tx * tx + ty * ty + vz * vz), SLOW)
    force = to_chassis(rotation, (push * overlap.out_x - hold * tx, push * overlap.out_y - hold * ty, -hold * vz))
    moment = cross(to_chassis(rotation, arm), force)
    for k in range(3):
        chassis_force[k] += moment[k]
        chassis_force[3 + k] += force[k]
    return push


@inlined
def _with_circle(own: _Rectangle, x: float, y: float, radius: float) -> _Overlap:
    """Overlap of a rectangle with a circle."""
    dx, dy = x - own.x, y - own.y
    u, v = own.cosine * dx + own.sine * dy, own.cosine * dy - own.sine * dx
    a = min(max(u, -own.half_length), own.half_length)
    b = min(max(v, -own.half_width), own.half_width)
    away = math.hypot(u - a, v - b)
    if away > 0.0:
        depth, out_u, out_v = radius - away, (a - u) / away, (b - v) / away
    else:  # its centre is inside: out through the nearest side
        left_u, left_v = own.half_length - abs(u), own.half_width - abs(v)
        if left_u < left_v:
            depth, out_u, out_v = radius + left_u, -math.copysign(1.0, u), 0.0
        else:
            depth, out_u, out_v = radius + left_v, 0.0, -math.copysign(1.0, v)
    return _Overlap(
        depth,
        own.cosine * out_u - own.sine * out_v,
        own.sine * out_u + own.cosine * out_v,
        own.x + own.cosine * a - own.sine * b,
        own.y + own.sine * a + own.cosine * b,
    )


@inlined
def _with_box(own: _Rectangle, other: _Rectangle) -> _Overlap:
    """Overlap of two rectangles, along the axis of least overlap (separating axes)."""
    dx, dy = own.x - other.x, own.y - other.y
    depth, out_x, out_y, is_own = math.inf, 0.0, 0.0, True
    for k in range(4):
        shape = own if k < 2 else other
        ax, ay = (shape.cosine, shape.sine) if k % 2 == 0 else (-shape.sine, shape.cosine)
        apart = dx * ax + dy * ay
        here = _extent(own, ax, ay) + _extent(other, ax, ay) - abs(apart)
        if here < depth:
            sign = 1.0 if apart >= 0.0 else -1.0
            depth, out_x, out_y, is_own = here, sign * ax, sign * ay, k < 2
    # A corner of one in the side of the other.
    x, y = _farthest(other, out_x, out_y) if is_own else _farthest(own, -out_x, -out_y)
    return _Overlap(depth, out_x, out_y, x, y)


@inlined
def _extent(shape: _Rectangle, ax: float, ay: float) -> float:
    """Half of its size along a direction."""
    along, across = shape.cosine * ax + shape.sine * ay, shape.cosine * ay - shape.sine * ax
    return shape.half_length * abs(along) + shape.half_width * abs(across)


@inlined
def _farthest(shape: _Rectangle, ax: float, ay: float) -> tuple[float, float]:
    """The point of a shape furthest in a direction; the middle of a side that faces it."""
    along, across = shape.cosine * ax + shape.sine * ay, shape.cosine * ay - shape.sine * ax
    u = shape.half_length * min(max(along / BLUNT, -1.0), 1.0)
    v = shape.half_width * min(max(across / BLUNT, -1.0), 1.0)
    return shape.x + shape.cosine * u - shape.sine * v, shape.y + shape.sine * u + shape.cosine * v


def no_obstacles() -> Obstacles:
    """Obstacles of an empty world, for kernels."""
    return Obstacles(np.zeros((0, 8)), np.zeros((0, 5)))
