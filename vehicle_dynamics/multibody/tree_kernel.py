"""Kinematics, mass matrix, bias forces and cut closures of any spanning tree, compiled, without allocation.

All quantities are about the root body's origin and in its axes, as seen by an inertial observer that coincides with
the root at this instant: the convention of tree.py and spatial.py. tree_motion comes first, then tree_closures and
tree_inertias in any order, and after the latter tree_mass_matrix and tree_forces; each leaves its results in the
workspace for those after it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.inertia import about_origin, rotated_inertia, times
from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, cross, dot, sub
from vehicle_dynamics.multibody.tree_arrays import ROOT_LEVELS, TreeArrays, TreeWorkspace

Array = NDArray[np.float64]


@kernel
def tree_motion(
    tree: TreeArrays, coordinates: Array, rates: Array, root_velocity: Array, gravity: Vector3, work: TreeWorkspace
) -> None:
    """Pose, velocity and bias acceleration of every frame, and the axes, at tree coordinates and their rates.

    root_velocity (6) is the root's angular velocity and the velocity of its origin; gravity [m/s^2] enters as an
    acceleration of the root against it. Both in root axes.
    """
    tree_poses(tree, coordinates, work)
    start_at_root(root_velocity, gravity, work)
    velocity, bias, axes = work.velocity, work.bias, work.axis
    for index in range(len(tree.parent)):
        parent, rate = tree.parent[index], rates[index]
        angular, linear = vector(axes[index]), linear_part(axes[index])
        # The axis moves with the frame before it: Coriolis acceleration.
        w, v = vector(velocity[parent]), linear_part(velocity[parent])
        own_bias, own_velocity = bias[index + 1], velocity[index + 1]
        put(own_bias, 0, add_scaled(vector(bias[parent]), rate, cross(w, angular)))
        carried = add(cross(v, angular), cross(w, linear))
        put(own_bias, 3, add_scaled(linear_part(bias[parent]), rate, carried))
        put(own_velocity, 0, add_scaled(w, rate, angular))
        put(own_velocity, 3, add_scaled(v, rate, linear))


@part
def start_at_root(root_velocity: Array, gravity: Vector3, work: TreeWorkspace) -> None:
    """Velocity and bias acceleration of the root's frame."""
    for k in range(3):
        work.bias[0, k], work.bias[0, 3 + k] = 0.0, -gravity[k]
        work.velocity[0, k], work.velocity[0, 3 + k] = root_velocity[k], root_velocity[3 + k]


@part
def tree_poses(tree: TreeArrays, coordinates: Array, work: TreeWorkspace) -> None:
    """Pose and axis of every frame."""
    rotated, shifted, axes = work.rotated, work.shifted, work.axis
    for k in range(9):
        rotated[0, k] = 1.0 if k % 4 == 0 else 0.0
    for k in range(3):
        shifted[0, k] = 0.0
    for index in range(len(tree.parent)):
        parent = tree.parent[index]
        before, after = rotated[parent], rotated[index + 1]
        design_direction, shift = vector(tree.direction[index]), vector(shifted[parent])
        direction = rotate_by(before, design_direction)
        if tree.is_revolute[index]:
            design_point = vector(tree.point[index])
            point = add(rotate_by(before, design_point), shift)
            rotate_further(before, design_direction, coordinates[index], after)
            shift = sub(point, rotate_by(after, design_point))
            angular, linear = direction, cross(point, direction)
        else:
            for k in range(9):
                after[k] = before[k]
            shift = add_scaled(shift, coordinates[index], direction)
            angular, linear = (0.0, 0.0, 0.0), direction
        put(shifted[index + 1], 0, shift)
        put(axes[index], 0, angular)
        put(axes[index], 3, linear)


@part
def tree_closures(tree: TreeArrays, anchor: Array, work: TreeWorkspace) -> None:
    """Position error of all cuts, its rate G q' - U and bias G' q' - U' ([Cameron], Eqs. 2 and 4), and G^T.

    Directions are fixed to the first body, and what counts is the second body's point relative to the first body: then
    the rate is the exact derivative of the error even while a loop is open, the two constraint forces act at one
    point, and what moves both bodies alike (the root) has no column. anchor: see tree_arrays.anchors_at_rest.
    """
    column = work.column
    for index in range(len(tree.parent)):
        for row in range(tree.first_row[index], tree.end_row[index]):
            column[index, row] = 0.0
    for cut in range(len(tree.cut_first)):
        first, second = tree.cut_first[cut], tree.cut_second[cut]
        design = vector(tree.cut_point[cut])
        position = add(rotate_by(work.rotated[second], design), vector(work.shifted[second]))
        w1, w2 = vector(work.velocity[first]), vector(work.velocity[second])
        v1 = add(linear_part(work.velocity[first]), cross(w1, position))
        v2 = add(linear_part(work.velocity[second]), cross(w2, position))
        angular = sub(vector(work.bias[second]), vector(work.bias[first]))
        linear = sub(linear_part(work.bias[second]), linear_part(work.bias[first]))
        relative = sub(v2, v1)
        change = add(add(linear, cross(angular, position)), sub(cross(w2, v2), cross(w1, v1)))
        change = add_scaled(change, -2.0, cross(w1, relative))
        if tree.cut_is_at_root[cut]:
            moving = anchor[cut]
            apart = sub(position, vector(moving))
            relative = sub(relative, linear_part(moving))
            change = sub(change, (moving[6], moving[7], moving[8]))
        else:
            apart = sub(position, add(rotate_by(work.rotated[first], design), vector(work.shifted[first])))
        for row in range(tree.cut_rows[cut], tree.cut_rows[cut + 1]):
            direction = rotate_by(work.rotated[first], vector(tree.cut_direction[row]))
            moment = cross(position, direction)
            work.error[row] = dot(direction, apart)
            work.error_rate[row] = dot(direction, relative)
            work.error_bias[row] = dot(direction, change)
            for entry in range(tree.support_start[cut], tree.support_start[cut + 1]):
                axis = work.axis[tree.support[entry]]
                power = dot(moment, vector(axis)) + dot(direction, linear_part(axis))
                column[tree.support[entry], row] = tree.support_sign[entry] * power


@part
def tree_inertias(tree: TreeArrays, work: TreeWorkspace) -> None:
    """Spatial inertia of the bodies on each frame."""
    for frame in tree.loaded_frames:
        for k in range(10):
            work.own[frame, k] = 0.0
    for body in range(len(tree.mass)):
        frame, mass, design = tree.body_frame[body], tree.mass[body], tree.inertia[body]
        r, own = work.rotated[frame], work.own[frame]
        centre = add(rotate_by(r, vector(tree.centre[body])), vector(work.shifted[frame]))
        inertia = rotated_inertia(
            (design[0], design[1], design[2], design[3], design[4], design[5]),
            (r[0], r[3], r[6]),
            (r[1], r[4], r[7]),
            (r[2], r[5], r[8]),
        )
        inertia = about_origin(inertia, mass, centre)
        own[0] += mass
        for k in range(3):
            own[1 + k] += mass * centre[k]
        for k in range(6):
            own[4 + k] += inertia[k]


@part
def tree_mass_matrix(tree: TreeArrays, work: TreeWorkspace) -> None:
    """Mass matrix of [Cameron], Eq. 1, by composite inertias, tip to base."""
    composite, axes = work.composite, work.axis
    for frame in range(len(composite)):
        for k in range(10):
            composite[frame, k] = work.own[frame, k]
    for index in range(len(tree.parent) - 1, -1, -1):
        parent, own, row, axis = composite[tree.parent[index]], composite[index + 1], work.row[index], axes[index]
        angular, linear = momentum(own, vector(axis), linear_part(axis))
        put(row, 0, angular)
        put(row, 3, linear)
        for level in range(ROOT_LEVELS, tree.level[index] + 1):
            ancestor = axes[tree.path[index, level]]
            row[level] = dot(vector(ancestor), angular) + dot(linear_part(ancestor), linear)
        for k in range(10):
            parent[k] += own[k]
    root_matrix(composite[0], work.root_matrix)


@part
def tree_forces(tree: TreeArrays, body_forces: Array, coordinate_forces: Array, work: TreeWorkspace) -> None:
    """Write the generalised forces T - C of [Cameron], Eq. 1, to work.push and work.root_push.

    Forces on coordinates and bodies, less those that bodies need at zero accelerations, summed from tips to base.
    """
    load, axes, push = work.load, work.axis, work.push
    for frame in range(len(load)):
        for k in range(6):
            load[frame, k] = 0.0
    for frame in tree.loaded_frames:
        needed, own, velocity, bias = load[frame], work.own[frame], work.velocity[frame], work.bias[frame]
        w, v = vector(velocity), linear_part(velocity)
        angular_momentum, linear_momentum = momentum(own, w, v)
        angular, linear = momentum(own, vector(bias), linear_part(bias))
        put(needed, 0, add(angular, add(cross(w, angular_momentum), cross(v, linear_momentum))))
        put(needed, 3, add(linear, cross(w, linear_momentum)))
    for body in range(len(tree.mass)):
        needed = load[tree.body_frame[body]]
        for k in range(6):
            needed[k] -= body_forces[body, k]
    for index in range(len(tree.parent) - 1, -1, -1):
        needed, axis, parent = load[index + 1], axes[index], load[tree.parent[index]]
        power = dot(vector(axis), vector(needed)) + dot(linear_part(axis), linear_part(needed))
        push[index] = coordinate_forces[index] - power
        for k in range(6):
            parent[k] += needed[k]
    for k in range(6):
        work.root_push[k] = -load[0, k]


@part
def vector(row: Array) -> Vector3:
    """First three entries: the angular part of a spatial vector."""
    return (row[0], row[1], row[2])


@part
def linear_part(row: Array) -> Vector3:
    """Entries 3 to 5: the linear part of a spatial vector."""
    return (row[3], row[4], row[5])


@part
def put(row: Array, start: int, a: Vector3) -> None:
    """Write a vector into three entries of an array, from index `start` on."""
    row[start], row[start + 1], row[start + 2] = a


@part
def rotate_by(r: Array, a: Vector3) -> Vector3:
    """Rotation matrix (9 entries, row by row) times a vector."""
    return (
        r[0] * a[0] + r[1] * a[1] + r[2] * a[2],
        r[3] * a[0] + r[4] * a[1] + r[5] * a[2],
        r[6] * a[0] + r[7] * a[1] + r[8] * a[2],
    )


@part
def rotate_further(before: Array, axis: Vector3, angle: float, after: Array) -> None:
    """after = before times the rotation about a unit axis (Rodrigues)."""
    x, y, z = axis
    c, s = math.cos(angle), math.sin(angle)
    t = 1.0 - c
    tx, ty, tz = t * x, t * y, t * z
    sx, sy, sz = s * x, s * y, s * z
    first = (c + tx * x, tx * y + sz, tx * z - sy)  # columns
    second = (tx * y - sz, c + ty * y, ty * z + sx)
    third = (tx * z + sy, ty * z - sx, c + tz * z)
    for k in range(3):
        line = (before[3 * k], before[3 * k + 1], before[3 * k + 2])
        after[3 * k], after[3 * k + 1], after[3 * k + 2] = dot(line, first), dot(line, second), dot(line, third)


@part
def momentum(own: Array, w: Vector3, v: Vector3) -> tuple[Vector3, Vector3]:
    """Spatial inertia about the origin (as in TreeWorkspace.own) times a motion vector."""
    moment = (own[1], own[2], own[3])
    inertia = (own[4], own[5], own[6], own[7], own[8], own[9])
    return add(times(inertia, w), cross(moment, v)), add_scaled(cross(w, moment), own[0], v)


@part
def root_matrix(own: Array, matrix: Array) -> None:
    """Write the lower triangle of a spatial inertia (as in TreeWorkspace.own) to a matrix (6 x 6)."""
    mass, x, y, z = own[0], own[1], own[2], own[3]
    matrix[0, 0] = own[4]
    matrix[1, 0], matrix[1, 1] = own[7], own[5]
    matrix[2, 0], matrix[2, 1], matrix[2, 2] = own[8], own[9], own[6]
    # Force rows, moment columns: -m c~
    matrix[3, 0], matrix[3, 1], matrix[3, 2] = 0.0, z, -y
    matrix[4, 0], matrix[4, 1], matrix[4, 2] = -z, 0.0, x
    matrix[5, 0], matrix[5, 1], matrix[5, 2] = y, -x, 0.0
    matrix[3, 3], matrix[4, 3], matrix[4, 4] = mass, 0.0, mass
    matrix[5, 3], matrix[5, 4], matrix[5, 5] = 0.0, 0.0, mass
