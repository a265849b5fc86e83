"""Bae's real-time integrator ([Bae]): implicit, with all constraint levels, and one Jacobian for the whole drive.

A step predicts the state, evaluates forces and velocity coupling there, and solves Eq. 23 by Newton's method: either
conventional, with the Jacobian built and factorised in each iteration, or as a chord method, with that of the start.
Both share everything else. Integration formula: second-order backward differentiation, first-order in the first step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part, kernel, part
from proving_ground.kernels.rotation import Rotation, rotate_quaternion, rotation_from, to_chassis, to_world
from proving_ground.kernels.vector3 import ZERO, Vector3, add, combine, cross, dot, three, vector
from vehicle_dynamics.linear_tyre import Bump, LinearTyre, linear_tyre_force
from vehicle_dynamics.manoeuvre import Manoeuvre, steer_at
from vehicle_dynamics.multibody.implicit_tree import (
    ROOT_SPEEDS,
    ImplicitLayout,
    ImplicitWorkspace,
    StepTerms,
    implicit_jacobian,
    implicit_residual,
    velocity_coupling,
)
from vehicle_dynamics.multibody.tree_arrays import TreeArrays
from vehicle_dynamics.multibody.tree_kernel import linear_part, rotate_by, tree_forces, tree_inertias, tree_motion
from vehicle_dynamics.suspension.steering import SteeringBodies, steered_ends
from vehicle_dynamics.suspension.strut import strut_moment

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

CONVENTIONAL, CHORD = 0, 1
MOST_ITERATIONS = 20


class TreeScene(NamedTuple):
    """The vehicle as a spanning tree with cuts, on the road of linear_tyre.py with the driver of manoeuvre.py."""

    tree: TreeArrays
    layout: ImplicitLayout
    struts: NDArray[np.void]  # four records of STRUT
    steering: SteeringBodies
    lower_arms: Indices  # axes of the four lower arms
    wheels: Indices  # axes of the four wheels
    wheel_bodies: Indices
    front_cuts: Indices  # cuts of the front tie rods' inner ends
    tyre: LinearTyre
    bump: Bump
    manoeuvre: Manoeuvre
    gravity: float  # [m/s^2], down


class ChordState(NamedTuple):
    """State of the integrator; all arrays are updated in place."""

    pose: Array  # 7: position of the root [m], attitude x, y, z, w
    unknowns: Array  # p of Eq. 23: coordinates, velocities, accelerations, multipliers
    before: Array  # p one step earlier
    steps: NDArray[np.int64]  # 1: taken yet
    inverse: Array  # of the Jacobian at the start


class ChordWorkspace(NamedTuple):
    """Work arrays of a step, allocated once."""

    implicit: ImplicitWorkspace
    terms: StepTerms
    pose: Array  # 7, predicted
    body_forces: Array  # bodies x 6
    coordinate_forces: Array  # n
    tie_end: Array  # 4 x 9
    residual: Array
    change: Array
    jacobian: Array


class StepResult(NamedTuple):
    """Outcome of one implicit step: iterations and convergence."""

    iterations: int  # -1: did not converge
    change: float  # last change of a coordinate, or that caused by velocities and accelerations [m or rad]


@part
def chord_step(
    scene: TreeScene,
    method: int,
    time: float,
    step: float,
    tolerance: float,
    state: ChordState,
    work: ChordWorkspace,
) -> StepResult:
    """Advance by one step [s]; method: CONVENTIONAL or CHORD, Newton with a new or an old Jacobian.

    tolerance [m, rad] is on coordinates, step * velocities and step^2 * accelerations.
    """
    layout, p, before = scene.layout, state.unknowns, state.before
    _predict(layout, step, state, work)
    step_terms(scene, time + step, p, work.pose, work)
    implicit, terms = work.implicit, work.terms
    iterations, size = -1, 0.0
    for iteration in range(1, MOST_ITERATIONS + 1):
        implicit_residual(scene.tree, layout, terms, p, implicit, work.residual)
        if method == CHORD:
            np.dot(state.inverse, work.residual, work.change)
        else:
            implicit_jacobian(scene.tree, layout, terms, p, implicit, work.jacobian)
            work.change[:] = np.linalg.solve(work.jacobian, work.residual)
        size = 0.0
        for k in range(layout.size):
            p[k] -= work.change[k]
            weight = 1.0 if k < layout.velocity else (step if k < layout.acceleration else step * step)
            moved = weight * abs(work.change[k])
            if k < layout.multiplier and not moved <= size:  # NaN counts as large
                size = moved
        if size < tolerance:
            iterations = iteration
            break
    _move_root(step, before[layout.velocity :], p[layout.velocity :], state.pose)
    state.steps[0] += 1
    return StepResult(iterations, size)


@inlined_part
def _predict(layout: ImplicitLayout, step: float, state: ChordState, work: ChordWorkspace) -> None:
    """Extrapolate p; p of the last step goes to `before`; set the integration formula (Eq. 23)."""
    at, p, before, terms = layout, state.unknowns, state.before, work.terms
    v, a = p[at.velocity : at.acceleration], p[at.acceleration : at.multiplier]
    v_before = before[at.velocity : at.acceleration]
    is_first = state.steps[0] == 0
    now, past, terms.beta[0] = (1.0, 0.0, step) if is_first else (4.0 / 3.0, -1.0 / 3.0, 2.0 / 3.0 * step)
    for k in range(at.axes):
        terms.position_past[k] = -(now * p[k] + past * before[k])
    for k in range(ROOT_SPEEDS + at.axes):
        terms.velocity_past[k] = -(now * v[k] + past * v_before[k])
    rotation = (step * (v[0] + 0.5 * step * a[0]), step * (v[1] + 0.5 * step * a[1]), step * (v[2] + 0.5 * step * a[2]))
    rotate_quaternion(state.pose[3:], rotation, work.pose[3:])
    middle = combine(1.0, (v[3], v[4], v[5]), 0.5 * step, (a[3], a[4], a[5]))
    shift = to_world(rotation_from(state.pose[3:]), middle)
    for k in range(3):
        work.pose[k] = state.pose[k] + step * shift[k]
    trend = 0.0 if is_first else 1.0
    for k in range(at.size):
        last = p[k]
        if k < at.velocity:
            speed, rate = p[at.velocity + ROOT_SPEEDS + k], p[at.acceleration + ROOT_SPEEDS + k]
            p[k] += step * (speed + 0.5 * step * rate)
        elif k < at.acceleration:
            p[k] += step * p[k + ROOT_SPEEDS + at.axes]
        else:
            p[k] += trend * (p[k] - before[k])
        before[k] = last


@inlined_part
def _move_root(step: float, old: Array, new: Array, pose: Array) -> None:
    """Trapezoidal rule for the root's pose from its velocities in its own axes."""
    half = 0.5 * step
    moved = to_world(rotation_from(pose[3:]), (old[3], old[4], old[5]))
    rotation = (half * (old[0] + new[0]), half * (old[1] + new[1]), half * (old[2] + new[2]))
    rotate_quaternion(pose[3:], rotation, pose[3:])
    moved = add(moved, to_world(rotation_from(pose[3:]), (new[3], new[4], new[5])))
    for k in range(3):
        pose[k] += half * moved[k]


@kernel
def step_terms(scene: TreeScene, time: float, p: Array, pose: Array, work: ChordWorkspace) -> None:
    """Write forces, velocity coupling and anchors at a time and predicted state to work.

    p: the unknowns of implicit_tree.py; pose (7): position and quaternion of the root.
    """
    at, tree, terms, tree_work = scene.layout, scene.tree, work.terms, work.implicit.tree
    rates = p[at.velocity + ROOT_SPEEDS : at.acceleration]
    root = p[at.velocity : at.velocity + ROOT_SPEEDS]
    steer = steer_at(scene.manoeuvre, time)
    steered_ends(scene.steering, steer.angle, steer.rate, steer.acceleration, work.tie_end)
    for index in range(2):
        for k in range(9):
            terms.anchor[scene.front_cuts[index], k] = work.tie_end[index, k]
    tree_motion(tree, p[: at.axes], rates, work.implicit.zeros, ZERO, tree_work)
    velocity_coupling(tree, terms.anchor, work.implicit, terms.acceleration_goal)
    rotation = rotation_from(pose[3:])
    tree_motion(tree, p[: at.axes], rates, root, to_chassis(rotation, (0.0, 0.0, -scene.gravity)), tree_work)
    tree_inertias(tree, tree_work)
    for index in range(4):
        arm, wheel = scene.lower_arms[index], scene.wheels[index]
        moment = strut_moment(scene.struts[index], np.cos(p[arm]), np.sin(p[arm]), rates[arm])
        work.coordinate_forces[arm] = moment
        work.coordinate_forces[wheel] = scene.manoeuvre.drive_torque
        _wheel_force(scene, index, pose, rotation, tree_work.velocity[wheel + 1], work)
    tree_forces(tree, work.body_forces, work.coordinate_forces, tree_work)
    for k in range(ROOT_SPEEDS):
        terms.push[k] = tree_work.root_push[k]
    for k in range(at.axes):
        terms.push[ROOT_SPEEDS + k] = tree_work.push[k]


@inlined_part
def _wheel_force(
    scene: TreeScene, index: int, pose: Array, rotation: Rotation, velocity: Array, work: ChordWorkspace
) -> None:
    """Tyre force of one wheel as a spatial force on its body."""
    tree_work, body, frame = work.implicit.tree, scene.wheel_bodies[index], scene.wheels[index] + 1
    rotated = tree_work.rotated[frame]
    centre: Vector3 = add(rotate_by(rotated, vector(scene.tree.centre[body])), vector(tree_work.shifted[frame]))
    axis = rotate_by(rotated, (0.0, 1.0, 0.0))
    moving = add(linear_part(velocity), cross(vector(velocity), centre))
    tyre = linear_tyre_force(
        scene.tyre,
        scene.bump,
        add(three(pose, 0), to_world(rotation, centre)),
        to_world(rotation, axis),
        to_world(rotation, moving),
        dot(axis, vector(velocity)),
    )
    force = to_chassis(rotation, tyre.force)
    moment = add(to_chassis(rotation, tyre.moment), cross(centre, force))
    for k in range(3):
        work.body_forces[body, k], work.body_forces[body, 3 + k] = moment[k], force[k]


@kernel
def chord_drive(
    scene: TreeScene,
    method: int,
    step: float,
    tolerance: float,
    state: ChordState,
    work: ChordWorkspace,
    history: Array,
    iterations: NDArray[np.int64],
) -> None:
    """Drive from time 0; method, step, tolerance: as for chord_step.

    Row k of history (steps + 1 x 7 + 2 * (6 + n)) gets pose, velocities and accelerations after k steps; iterations
    (steps) gets the numbers of iterations, and a negative one, with which the drive ends, where Newton failed.
    """
    at = scene.layout
    for row in range(len(history)):
        for k in range(7):
            history[row, k] = state.pose[k]
        for k in range(at.velocity, at.multiplier):
            history[row, 7 + k - at.velocity] = state.unknowns[k]
        if row + 1 < len(history):
            result = chord_step(scene, method, row * step, step, tolerance, state, work)
            iterations[row] = result.iterations
            if result.iterations < 0:
                break
