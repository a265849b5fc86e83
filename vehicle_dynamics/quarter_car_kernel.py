"""One suspension on a held chassis, stepped by any of four formulations in one loop: kernels of quarter_car.py.

A state is two flat arrays, positions and velocities, of whatever the formulation has: lower arm and spin (CE), tree
coordinates (TA), poses of free bodies (FA). Strut and load on the wheel are the same in all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.kernels.jit import inlined, kernel, part
from vehicle_dynamics.kernels.rotation import normalise, quaternion_rate
from vehicle_dynamics.kernels.vector3 import ZERO, Vector3, add, cross, dot, norm, sub
from vehicle_dynamics.multibody.embedding_arrays import EmbeddedResult, EmbeddingArrays, EmbeddingWorkspace
from vehicle_dynamics.multibody.free_bodies import FreeAccelerations, FreeBodies, FreeState, FreeWorkspace
from vehicle_dynamics.multibody.free_hinges import hinge_coordinates, hinge_rates
from vehicle_dynamics.multibody.fully_augmented import fully_augmented_accelerations
from vehicle_dynamics.multibody.loop_closure import close_loops
from vehicle_dynamics.multibody.numeric_embedding import accelerations_after_closure
from vehicle_dynamics.multibody.run_loads import RK4_SHARES, RK4_WEIGHTS, advance
from vehicle_dynamics.multibody.tree_arrays import TreeAccelerations, TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_augmented import accelerations_after_motion
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, tree_motion, turn_by, vector
from vehicle_dynamics.suspension.corner import TieEnd, WheelLoad, corner_motion, corner_sums, wheel_motion
from vehicle_dynamics.suspension.corner_record import CornerRecord
from vehicle_dynamics.suspension.strut import strut_moment

Array = NDArray[np.float64]

ANALYTIC, NUMERIC, TREE, FREE_BODIES = range(4)
RECORD_SIZE = 4  # lower-arm angle, wheel height, spin, constraint error


class WheelTable(NamedTuple):
    """Moment and force on the wheel at its centre, in chassis axes, over time from zero; the last one stays."""

    interval: float  # [s], linear between
    wrench: Array  # times x 6: moment [N m], force [N]


class QuarterCarArrays(NamedTuple):
    """The same suspension as each formulation sees it; body, coordinate and frame of the wheel."""

    corners: NDArray[np.void]  # one record of CORNER
    embedding: EmbeddingArrays
    tree: TreeArrays
    bodies: FreeBodies
    anchor: Array
    wheel: int  # body
    spin: int  # coordinate


class QuarterCarMemory(NamedTuple):
    """Arrays of a run, made once for one formulation."""

    position: Array  # the state
    velocity: Array
    at_position: Array  # where the model is evaluated
    at_velocity: Array
    position_rate: Array
    acceleration: Array
    total_position: Array
    total_velocity: Array
    free_state: FreeState  # views of at_position and at_velocity
    free_rate: FreeState  # views of position_rate and acceleration
    guess: Array  # tree coordinates, closed last
    wrench: Array
    body_forces: Array
    coordinate_forces: Array
    lower_arm: Array  # one value: its angle, or rate, among free bodies
    lower_arm_rate: Array
    coordinates: Array
    still: Array  # six zeros
    motion: TreeWorkspace
    embedding: EmbeddingWorkspace
    embedded: EmbeddedResult
    accelerations: TreeAccelerations
    free: FreeWorkspace
    free_accelerations: FreeAccelerations


@kernel
def run_quarter_car(
    method: int,
    car: QuarterCarArrays,
    table: WheelTable,
    gravity: Vector3,
    alpha: float,
    beta: float,
    is_rk4: bool,
    step: float,
    every: int,
    memory: QuarterCarMemory,
    record: Array,
) -> int:
    """Advance the state in place; record takes angle, height, spin and constraint error before each `every` steps.

    Gives the number of the step in which the loops could not be closed, else -1.
    """
    steps = (len(record) - 1) * every
    for number in range(steps + 1):
        for stage in range(4 if is_rk4 else 1):
            share = RK4_SHARES[stage] * step
            advance(memory.at_position, memory.position, share, memory.position_rate)
            advance(memory.at_velocity, memory.velocity, share, memory.acceleration)
            is_closed = _evaluate(method, car, table, number * step + share, gravity, alpha, beta, memory)
            if not is_closed:
                return number
            if stage == 0:
                if number % every == 0:
                    _record(method, car, memory, record[number // every])
                if number == steps:
                    break
            if is_rk4:
                first = stage == 0
                weight = RK4_WEIGHTS[stage] * step
                advance(
                    memory.total_position, memory.position if first else memory.total_position, weight,
                    memory.position_rate,
                )  # fmt: skip
                advance(
                    memory.total_velocity, memory.velocity if first else memory.total_velocity, weight,
                    memory.acceleration,
                )  # fmt: skip
        if number < steps:
            _finish(method, is_rk4, step, memory)
    return -1


@kernel
def corner_accelerations(
    corner: CornerRecord, theta: float, theta_rate: float, spin_rate: float, wrench: Array, gravity: Vector3
) -> tuple[float, float]:
    """theta'' and spin' [rad/s^2] of a corner on a held chassis, in closed form: theta'' = drive / D."""
    end = TieEnd(vector(corner.geometry.tie_inner), ZERO, ZERO)
    motion = corner_motion(corner.geometry, theta, theta_rate, end)
    load = WheelLoad(vector(wrench), linear_part(wrench), spin_rate, 0.0)
    sums, spin, _, _ = corner_sums(corner, motion, theta_rate, end, load, ZERO)
    drive = sums.drive + strut_moment(corner.strut, motion.pose.cos_theta, motion.pose.sin_theta, theta_rate)
    acceleration = (drive + dot(sums.coupling_force, gravity)) / sums.d
    return acceleration, spin.own - spin.carried * acceleration


@part
def _evaluate(
    method: int,
    car: QuarterCarArrays,
    table: WheelTable,
    time: float,
    gravity: Vector3,
    alpha: float,
    beta: float,
    memory: QuarterCarMemory,
) -> bool:
    """Rates of the state at memory.at_...; False when loops cannot be closed."""
    position, velocity = memory.at_position, memory.at_velocity
    _wrench_at(table, time, memory.wrench)
    if method == ANALYTIC:
        corner = car.corners[0]
        if not corner.lowest < position[0] < corner.highest:
            return False
        memory.acceleration[0], memory.acceleration[1] = corner_accelerations(
            corner, position[0], velocity[0], velocity[1], memory.wrench, gravity
        )
    elif method == NUMERIC:
        steps = close_loops(
            car.embedding, car.tree, position, velocity, memory.still, gravity, car.anchor, memory.guess, memory.motion,
            memory.embedding,
        )  # fmt: skip
        if steps < 0:
            return False
        _tree_loads(car, position[0], velocity[0], memory)
        accelerations_after_closure(
            car.embedding, car.tree, True, memory.body_forces, memory.coordinate_forces, memory.motion,
            memory.embedding, memory.embedded,
        )  # fmt: skip
        advance(memory.acceleration, memory.embedded.independent, 0.0, memory.embedded.independent)
    elif method == TREE:
        tree_motion(car.tree, position, velocity, memory.still, gravity, memory.motion)
        _tree_loads(car, position[0], velocity[0], memory)
        accelerations_after_motion(
            car.tree, True, memory.body_forces, memory.coordinate_forces, car.anchor, alpha, beta, memory.motion,
            memory.accelerations,
        )  # fmt: skip
        advance(memory.acceleration, memory.accelerations.coordinates, 0.0, memory.accelerations.coordinates)
    else:
        _free_loads(car, memory)
        fully_augmented_accelerations(
            car.bodies, memory.free_state, True, gravity, memory.body_forces, memory.coordinate_forces, car.anchor,
            alpha, beta, memory.free, memory.free_accelerations,
        )  # fmt: skip
        accelerations = memory.free_accelerations.bodies
        advance(memory.acceleration, accelerations, 0.0, accelerations)
    _kinematics(method, velocity, memory)
    return True


@part
def _kinematics(method: int, velocity: Array, memory: QuarterCarMemory) -> None:
    """Rates of the positions; free bodies have quaternions among them."""
    if method == FREE_BODIES:
        state, rate = memory.free_state, memory.free_rate
        for body in range(len(state.attitude)):
            quaternion_rate(state.attitude[body], vector(state.velocity[body]), False, rate.attitude[body])
            put(rate.centre[body], 0, linear_part(state.velocity[body]))
    else:
        advance(memory.position_rate, velocity, 0.0, velocity)


@part
def _finish(method: int, is_rk4: bool, step: float, memory: QuarterCarMemory) -> None:
    """The state after a step: sum of the RK4 stages, or velocities first and positions with the new ones."""
    if is_rk4:
        advance(memory.position, memory.total_position, 0.0, memory.position_rate)
        advance(memory.velocity, memory.total_velocity, 0.0, memory.acceleration)
    else:
        advance(memory.velocity, memory.velocity, step, memory.acceleration)
        advance(memory.at_velocity, memory.velocity, 0.0, memory.acceleration)
        _kinematics(method, memory.velocity, memory)
        advance(memory.position, memory.position, step, memory.position_rate)
    if method == FREE_BODIES:
        for start in range(0, 4 * len(memory.free_state.attitude), 4):
            normalise(memory.position[start : start + 4])


@part
def _wrench_at(table: WheelTable, time: float, out: Array) -> None:
    last = len(table.wrench) - 1
    place = min(time / table.interval, float(last))
    before = min(int(place), last - 1)
    share = place - before
    for k in range(6):
        out[k] = (1.0 - share) * table.wrench[before, k] + share * table.wrench[before + 1, k]


@part
def _tree_loads(car: QuarterCarArrays, theta: float, theta_rate: float, memory: QuarterCarMemory) -> None:
    """Strut and load on the wheel, after the motion of the tree."""
    place = _wheel_place(car, memory.motion)
    _load_wheel(car, place, math.cos(theta), math.sin(theta), theta_rate, memory)


@part
def _free_loads(car: QuarterCarArrays, memory: QuarterCarMemory) -> None:
    """The same among free bodies; the lower arm is the first coordinate, and only as many are computed as asked for."""
    hinge_coordinates(car.bodies, memory.free_state, memory.free, memory.lower_arm)
    hinge_rates(car.bodies, memory.free_state, memory.free, memory.lower_arm_rate)
    theta, place = memory.lower_arm[0], vector(memory.free_state.centre[car.wheel])
    _load_wheel(car, place, math.cos(theta), math.sin(theta), memory.lower_arm_rate[0], memory)


@inlined
def _load_wheel(
    car: QuarterCarArrays, place: Vector3, cosine: float, sine: float, theta_rate: float, memory: QuarterCarMemory
) -> None:
    force, on_wheel = linear_part(memory.wrench), memory.body_forces[car.wheel]
    put(on_wheel, 0, add(vector(memory.wrench), cross(place, force)))
    put(on_wheel, 3, force)
    memory.coordinate_forces[0] = strut_moment(car.corners[0].strut, cosine, sine, theta_rate)


@inlined
def _wheel_place(car: QuarterCarArrays, motion: TreeWorkspace) -> Vector3:
    frame = car.tree.body_frame[car.wheel]
    return add(turn_by(motion.turned[frame], vector(car.tree.centre[car.wheel])), vector(motion.shifted[frame]))


@part
def _record(method: int, car: QuarterCarArrays, memory: QuarterCarMemory, row: Array) -> None:
    """Angle, wheel height, spin and constraint error of the state that has just been evaluated."""
    if method == FREE_BODIES:
        hinge_coordinates(car.bodies, memory.free_state, memory.free, memory.coordinates)
        row[0], row[2] = memory.coordinates[0], memory.coordinates[car.spin]
        row[1], row[3] = memory.free_state.centre[car.wheel, 2], _largest_joint_gap(car.bodies, memory.free.error)
    elif method == ANALYTIC:
        row[0], row[2] = memory.at_position[0], memory.at_position[1]
        row[1], row[3] = _height_and_gap(car.corners[0], row[0])
    else:
        row[0], row[2] = memory.at_position[0], memory.at_position[car.spin if method == TREE else 1]
        row[1], row[3] = _wheel_place(car, memory.motion)[2], _largest_cut_gap(car.tree, memory.motion.error)


@part
def _largest_cut_gap(tree: TreeArrays, error: Array) -> float:
    """Distance between the two points of a cut, the largest of all [m]."""
    worst = 0.0
    for cut in range(len(tree.cut_first)):
        square = 0.0
        for row in range(tree.cut_rows[cut], tree.cut_rows[cut + 1]):
            square += error[row] * error[row]
        worst = max(worst, square)
    return math.sqrt(worst)


@part
def _largest_joint_gap(bodies: FreeBodies, error: Array) -> float:
    """The same of all joints; errors of angles have no length and are left out."""
    worst = 0.0
    for joint in range(len(bodies.joint_first)):
        square = 0.0
        for row in range(bodies.joint_rows[joint], bodies.joint_rows[joint + 1]):
            square += 0.0 if bodies.row_is_angle[row] else error[row] * error[row]
        worst = max(worst, square)
    return math.sqrt(worst)


@part
def _height_and_gap(corner: CornerRecord, theta: float) -> tuple[float, float]:
    """Wheel height, and by how much the pose in closed form gets any distance wrong that rigid bodies keep [m].

    Measured between points of the pose: arms, upright, triangle of the spindle, tie rod, shock mount on its arm.
    """
    g = corner.geometry
    end = TieEnd(vector(g.tie_inner), ZERO, ZERO)
    motion = corner_motion(g, theta, 0.0, end)
    d, f, k, b = motion.pose.lower_ball, motion.pose.upper_ball, motion.pose.tie_outer, motion.pose.shock_lower
    d0, f0, k0, b0 = vector(g.lower_ball), vector(g.upper_ball), vector(g.tie_outer), vector(g.shock_lower)
    lower, upper, inner = vector(g.lower_pivot), vector(g.upper_pivot), vector(g.tie_inner)
    gap = max(_stretch(lower, d, lower, d0), _stretch(upper, f, upper, f0), _stretch(d, f, d0, f0))
    gap = max(gap, _stretch(d, k, d0, k0), _stretch(f, k, f0, k0), _stretch(inner, k, inner, k0))
    gap = max(gap, _stretch(d, b, d0, b0), _stretch(lower, b, lower, b0))
    return wheel_motion(corner, motion).centre[2], gap


@part
def _stretch(a: Vector3, b: Vector3, design_a: Vector3, design_b: Vector3) -> float:
    return abs(norm(sub(b, a)) - norm(sub(design_b, design_a)))
