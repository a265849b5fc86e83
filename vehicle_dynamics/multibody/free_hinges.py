"""Tree coordinates, their rates, accelerations and forces, computed from free bodies (free_bodies.py).

For hinge springs of the fully augmented model, and to compare it with models in tree coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import rotation_matrix
from proving_ground.kernels.vector3 import Vector3, add, add_scaled, cross, dot, scale, sub
from vehicle_dynamics.multibody.free_bodies import FreeAccelerations, FreeBodies, FreeState, FreeWorkspace
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, rotate_by, vector

Array = NDArray[np.float64]


@part
def rotate_bodies(state: FreeState, work: FreeWorkspace) -> None:
    """Write the rotation matrices of all bodies, from their attitudes, to work."""
    for body in range(len(state.attitude)):
        rotation_matrix(state.attitude[body], work.rotated[body])


@kernel
def hinge_coordinates(bodies: FreeBodies, state: FreeState, work: FreeWorkspace, coordinates: Array) -> None:
    """Tree coordinates [rad, m]; angles are known only within half a turn either way."""
    axes, rotated, centre = bodies.axes, work.rotated, state.centre
    rotate_bodies(state, work)
    for axis in range(len(coordinates)):
        first, second = axes.first[axis], axes.second[axis]
        direction = rotate_by(rotated[axes.carrier[axis]], vector(axes.direction[axis]))
        if axes.is_revolute[axis]:
            reference = vector(axes.reference[axis])
            before, after = rotate_by(rotated[first], reference), rotate_by(rotated[second], reference)
            coordinates[axis] = math.atan2(dot(direction, cross(before, after)), dot(before, after))
        else:
            start = _position(centre[first], rotated[first], axes.first_arm[axis])
            end = _position(centre[second], rotated[second], axes.second_arm[axis])
            coordinates[axis] = dot(direction, sub(end, start))


@kernel
def hinge_rates(bodies: FreeBodies, state: FreeState, work: FreeWorkspace, rates: Array) -> None:
    """Rates of the tree coordinates [rad/s, m/s]."""
    axes, rotated, centre, velocity = bodies.axes, work.rotated, state.centre, state.velocity
    rotate_bodies(state, work)
    for axis in range(len(rates)):
        first, second = axes.first[axis], axes.second[axis]
        if axes.is_revolute[axis]:
            motion = sub(vector(velocity[second]), vector(velocity[first]))
        else:
            end = _position(centre[second], rotated[second], axes.second_arm[axis])
            motion = _seen_from_first(end, centre, velocity, first, second)
        rates[axis] = dot(rotate_by(rotated[axes.carrier[axis]], vector(axes.direction[axis])), motion)


@kernel
def hinge_accelerations(
    bodies: FreeBodies, state: FreeState, accelerations: FreeAccelerations, work: FreeWorkspace, out: Array
) -> None:
    """Accelerations of the tree coordinates [rad/s^2, m/s^2]."""
    axes, rotated, centre, velocity = bodies.axes, work.rotated, state.centre, state.velocity
    hinge_rates(bodies, state, work, work.hinge_rate)
    for axis in range(len(out)):
        first, second = axes.first[axis], axes.second[axis]
        a, b = accelerations.bodies[first], accelerations.bodies[second]
        w1, w2 = vector(velocity[first]), vector(velocity[second])
        if axes.is_revolute[axis]:
            partner = axes.partner[axis]
            motion = sub(vector(b), vector(a))
            if partner != axis:
                # The other axis of the universal joint moves with the first body, normal to this one and itself.
                other = rotate_by(rotated[axes.carrier[partner]], vector(axes.direction[partner]))
                motion = add_scaled(motion, -work.hinge_rate[partner], cross(w1, other))
        else:
            end = _position(centre[second], rotated[second], axes.second_arm[axis])
            reach, arm = sub(end, vector(centre[first])), sub(end, vector(centre[second]))
            motion = sub(
                add(linear_part(b), add(cross(vector(b), arm), cross(w2, cross(w2, arm)))),
                add(linear_part(a), add(cross(vector(a), reach), cross(w1, cross(w1, reach)))),
            )
            motion = add_scaled(motion, -2.0, cross(w1, _seen_from_first(end, centre, velocity, first, second)))
        out[axis] = dot(rotate_by(rotated[axes.carrier[axis]], vector(axes.direction[axis])), motion)


@kernel
def root_acceleration(state: FreeState, accelerations: FreeAccelerations, out: Array) -> None:
    """Spatial acceleration of the root about the inertial origin, as in tree models while the root is there."""
    own, velocity, centre = accelerations.bodies[0], state.velocity[0], vector(state.centre[0])
    linear = sub(linear_part(own), cross(vector(velocity), linear_part(velocity)))
    put(out, 0, vector(own))
    put(out, 3, sub(linear, cross(vector(own), centre)))


@part
def add_hinge_forces(bodies: FreeBodies, state: FreeState, coordinate_forces: Array, work: FreeWorkspace) -> None:
    """Add forces on tree coordinates as pairs along the hinge axes to work.force; poses must be in the workspace."""
    axes, rotated, centre = bodies.axes, work.rotated, state.centre
    for axis in range(len(coordinate_forces)):
        value = coordinate_forces[axis]
        if value == 0.0:
            continue
        first, second = axes.first[axis], axes.second[axis]
        one, other = work.force[first], work.force[second]
        direction = scale(value, rotate_by(rotated[axes.carrier[axis]], vector(axes.direction[axis])))
        if axes.is_revolute[axis]:
            for k in range(3):
                one[k] -= direction[k]
                other[k] += direction[k]
        else:
            # Both act at the second body's point, so that their moments cancel.
            end = _position(centre[second], rotated[second], axes.second_arm[axis])
            on_first = cross(sub(end, vector(centre[first])), direction)
            on_second = cross(sub(end, vector(centre[second])), direction)
            for k in range(3):
                one[k] -= on_first[k]
                one[3 + k] -= direction[k]
                other[k] += on_second[k]
                other[3 + k] += direction[k]


@part
def _position(centre: Array, rotated: Array, arm: Array) -> Vector3:
    """Position of a body's point."""
    return add(vector(centre), rotate_by(rotated, vector(arm)))


@part
def _seen_from_first(end: Vector3, centres: Array, velocities: Array, first: int, second: int) -> Vector3:
    """Velocity of the second body's point at `end` as the first body sees it."""
    one, other = velocities[first], velocities[second]
    reach, arm = sub(end, vector(centres[first])), sub(end, vector(centres[second]))
    return sub(add(linear_part(other), cross(vector(other), arm)), add(linear_part(one), cross(vector(one), reach)))
