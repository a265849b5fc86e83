"""Runs of one suspension on a held chassis by four formulations: embedded in closed form and numerically, TA and FA.

One kernel each, with the same loop, so that their times can be compared. record gets a row (quarter_car_steps.py)
before each `every` steps and one at the end; workspace holds the state, and is consumed. Strut and wheel load are
the same in all.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined, kernel, part
from proving_ground.kernels.rotation import normalise, quaternion_rate
from proving_ground.kernels.vector3 import ZERO, Vector3, dot, norm, sub, vector
from vehicle_dynamics.multibody.embedding_arrays import EmbeddedResult, LoopedTree, LoopWorkspace
from vehicle_dynamics.multibody.free_bodies import FreeAccelerations, FreeBodies, FreeState, FreeWorkspace
from vehicle_dynamics.multibody.free_hinges import hinge_coordinates, hinge_rates
from vehicle_dynamics.multibody.fully_augmented import fully_augmented_accelerations
from vehicle_dynamics.multibody.loop_closure import close_loops
from vehicle_dynamics.multibody.model_inputs import Constraints, RootMotion
from vehicle_dynamics.multibody.numeric_embedding import accelerations_after_closure
from vehicle_dynamics.multibody.tree_arrays import TreeAccelerations, TreeArrays, TreeWorkspace
from vehicle_dynamics.multibody.tree_augmented import accelerations_after_motion
from vehicle_dynamics.multibody.tree_kernel import linear_part, put, tree_motion
from vehicle_dynamics.quarter_car_steps import (
    GAP,
    HEIGHT,
    SPIN,
    THETA,
    StepPlan,
    StepWorkspace,
    WheelPoint,
    WheelTable,
    copy,
    end_euler_step,
    end_stage,
    is_recorded,
    largest_gap,
    load_wheel,
    stages,
    start_stage,
    wheel_point,
)
from vehicle_dynamics.suspension.corner import TieEnd, WheelLoad, corner_motion, corner_sums, wheel_motion
from vehicle_dynamics.suspension.corner_record import CornerRecord
from vehicle_dynamics.suspension.strut import strut_moment

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Corners = NDArray[np.void]  # one record of CORNER

NEVER = -1


@kernel
def corner_accelerations(
    corner: CornerRecord, theta: float, theta_rate: float, spin_rate: float, wrench: Array, gravity: Vector3
) -> tuple[float, float]:
    """theta'' and spin' [rad/s^2] of a corner on a held chassis, in closed form: theta'' = drive / D.

    wrench (6): moment [N m] and force [N] on the wheel at its centre; gravity [m/s^2]; both in chassis axes.
    """
    end = TieEnd(vector(corner.geometry.tie_inner), ZERO, ZERO)
    motion = corner_motion(corner.geometry, theta, theta_rate, end)
    load = WheelLoad(vector(wrench), linear_part(wrench), spin_rate, 0.0)
    sums, spin, _, _ = corner_sums(corner, motion, theta_rate, end, load, ZERO)
    drive = sums.drive + strut_moment(corner.strut, motion.pose.cos_theta, motion.pose.sin_theta, theta_rate)
    acceleration = (drive + dot(sums.coupling_force, gravity)) / sums.d
    return acceleration, spin.own - spin.carried * acceleration


class Case(NamedTuple):
    """Inputs of a run, whatever the formulation."""

    corners: Corners
    wheel: WheelPoint
    table: WheelTable
    gravity: Vector3
    plan: StepPlan


class NumericModel(NamedTuple):
    """Model of the numerically embedded formulation: mechanism, chassis and arrays."""

    mechanism: LoopedTree
    root: RootMotion
    no_angles: Flags  # rows of the cuts
    guess: Array  # tree coordinates, closed
    workspace: LoopWorkspace
    out: EmbeddedResult


class TreeModel(NamedTuple):
    """Model of the tree-augmented formulation: mechanism, chassis and arrays."""

    tree: TreeArrays
    root: RootMotion
    constraints: Constraints
    no_angles: Flags  # rows of the cuts
    motion: TreeWorkspace
    out: TreeAccelerations


class FreeModel(NamedTuple):
    """Model of the fully augmented formulation: bodies and arrays.

    Only the angle of the first hinge, the lower arm's, is needed.
    """

    bodies: FreeBodies
    constraints: Constraints
    state: FreeState  # views of the workspace's at_... arrays
    rate: FreeState  # views of the workspace's rates
    arm: Array  # 1
    arm_rate: Array  # 1
    coordinates: Array
    work: FreeWorkspace
    out: FreeAccelerations


@kernel
def run_analytic(case: Case, workspace: StepWorkspace, record: Array) -> int:
    """Run the formulation embedded in closed form. Returns the step in which the arm left its reach, else NEVER."""
    plan, corner, steps = case.plan, case.corners[0], (len(record) - 1) * case.plan.every
    for number in range(steps + 1):
        for stage in range(stages(plan, number < steps)):
            start_stage(plan, case.table, number, stage, workspace)
            theta = workspace.at_position[0]
            if not corner.lowest < theta < corner.highest:
                return number
            _analytic_rates(corner, case.gravity, workspace)
            if is_recorded(plan, number, stage):
                row = record[number // plan.every]
                row[THETA], row[SPIN] = theta, workspace.at_position[1]
                row[HEIGHT], row[GAP] = _height_and_gap(corner, theta)
            end_stage(plan, stage, workspace)
        end_euler_step(plan, workspace)
    return NEVER


@kernel
def run_numeric(case: Case, model: NumericModel, workspace: StepWorkspace, record: Array) -> int:
    """Run the numerically embedded formulation. Returns the step in which the loops did not close, else NEVER."""
    plan, steps = case.plan, (len(record) - 1) * case.plan.every
    # Unpacked from the tuples once: numba counts a reference for each array whenever it unpacks one.
    mechanism, root, no_angles, guess, loop_work, out = model
    tree, motion, forces = mechanism.tree, loop_work.motion, workspace.forces
    position, velocity = workspace.at_position, workspace.at_velocity
    for number in range(steps + 1):
        for stage in range(stages(plan, number < steps)):
            start_stage(plan, case.table, number, stage, workspace)
            if close_loops(mechanism, position, velocity, root, guess, loop_work) < 0:
                return number
            _load_tree(case, tree, motion, workspace)
            accelerations_after_closure(mechanism, True, forces, loop_work, out)
            copy(workspace.acceleration, out.independent)
            copy(workspace.position_rate, velocity)
            if is_recorded(plan, number, stage):
                row = record[number // plan.every]
                _record_motion(row, position[0], position[1], wheel_point(tree, case.wheel, motion))
                row[GAP] = largest_gap(tree.cut_rows, no_angles, motion.error)
            end_stage(plan, stage, workspace)
        end_euler_step(plan, workspace)
    return NEVER


@kernel
def run_tree(case: Case, model: TreeModel, workspace: StepWorkspace, record: Array) -> int:
    """Run the tree-augmented formulation. Always returns NEVER: open loops show in the record."""
    plan, steps = case.plan, (len(record) - 1) * case.plan.every
    tree, root, constraints, no_angles, motion, out = model
    position, velocity, forces = workspace.at_position, workspace.at_velocity, workspace.forces
    for number in range(steps + 1):
        for stage in range(stages(plan, number < steps)):
            start_stage(plan, case.table, number, stage, workspace)
            tree_motion(tree, position, velocity, root.velocity, root.gravity, motion)
            _load_tree(case, tree, motion, workspace)
            accelerations_after_motion(tree, True, forces, constraints, motion, out)
            copy(workspace.acceleration, out.coordinates)
            copy(workspace.position_rate, velocity)
            if is_recorded(plan, number, stage):
                row = record[number // plan.every]
                _record_motion(row, position[0], position[case.wheel.spin], wheel_point(tree, case.wheel, motion))
                row[GAP] = largest_gap(tree.cut_rows, no_angles, motion.error)
            end_stage(plan, stage, workspace)
        end_euler_step(plan, workspace)
    return NEVER


@kernel
def run_free(case: Case, model: FreeModel, workspace: StepWorkspace, record: Array) -> int:
    """Run the fully augmented formulation. Always returns NEVER: open joints show in the record."""
    plan, steps = case.plan, (len(record) - 1) * case.plan.every
    bodies, constraints, state, rate, arm, arm_rate, coordinates, work, out = model
    forces = workspace.forces
    for number in range(steps + 1):
        for stage in range(stages(plan, number < steps)):
            start_stage(plan, case.table, number, stage, workspace)
            hinge_coordinates(bodies, state, work, arm)
            hinge_rates(bodies, state, work, arm_rate)
            strut = strut_moment(case.corners[0].strut, math.cos(arm[0]), math.sin(arm[0]), arm_rate[0])
            load_wheel(case.wheel, vector(state.centre[case.wheel.body]), strut, workspace)
            fully_augmented_accelerations(bodies, state, True, case.gravity, forces, constraints, work, out)
            copy(workspace.acceleration, out.bodies.ravel())
            _pose_rates(state, rate)
            if is_recorded(plan, number, stage):
                hinge_coordinates(bodies, state, work, coordinates)
                row = record[number // plan.every]
                position = vector(state.centre[case.wheel.body])
                _record_motion(row, coordinates[0], coordinates[case.wheel.spin], position)
                row[GAP] = largest_gap(bodies.joint_rows, bodies.row_is_angle, work.error)
            end_stage(plan, stage, workspace)
        if not plan.is_rk4:
            copy(workspace.at_velocity, workspace.velocity)
            _pose_rates(state, rate)
            for k in range(len(workspace.position)):
                workspace.position[k] += plan.step * workspace.position_rate[k]
        for body in range(len(state.attitude)):
            normalise(workspace.position[4 * body : 4 * body + 4])
    return NEVER


@inlined
def _analytic_rates(corner: CornerRecord, gravity: Vector3, workspace: StepWorkspace) -> None:
    theta, theta_rate, spin_rate = workspace.at_position[0], workspace.at_velocity[0], workspace.at_velocity[1]
    accelerations = corner_accelerations(corner, theta, theta_rate, spin_rate, workspace.wrench, gravity)
    workspace.acceleration[0], workspace.acceleration[1] = accelerations
    workspace.position_rate[0], workspace.position_rate[1] = theta_rate, spin_rate


@inlined
def _load_tree(case: Case, tree: TreeArrays, motion: TreeWorkspace, workspace: StepWorkspace) -> None:
    """Load of the wheel and moment of the strut, after the motion of the tree; the lower arm comes first."""
    angle, rate = workspace.at_position[0], workspace.at_velocity[0]
    strut = strut_moment(case.corners[0].strut, math.cos(angle), math.sin(angle), rate)
    load_wheel(case.wheel, wheel_point(tree, case.wheel, motion), strut, workspace)


@inlined
def _record_motion(row: Array, theta: float, spin: float, wheel: Vector3) -> None:
    row[THETA], row[SPIN], row[HEIGHT] = theta, spin, wheel[2]


@part
def _pose_rates(state: FreeState, rate: FreeState) -> None:
    for body in range(len(state.attitude)):
        quaternion_rate(state.attitude[body], vector(state.velocity[body]), False, rate.attitude[body])
        put(rate.centre[body], 0, linear_part(state.velocity[body]))


@part
def _height_and_gap(corner: CornerRecord, theta: float) -> tuple[float, float]:
    """Wheel height, and the largest error [m] of the closed-form pose in any distance that rigid bodies keep.

    Measured between points of the pose: arms, upright, triangle of the spindle, tie rod, shock mount on its arm.
    """
    g = corner.geometry
    motion = corner_motion(g, theta, 0.0, TieEnd(vector(g.tie_inner), ZERO, ZERO))
    d, f, k, b = motion.pose.lower_ball, motion.pose.upper_ball, motion.pose.tie_outer, motion.pose.shock_lower
    d0, f0, k0, b0 = vector(g.lower_ball), vector(g.upper_ball), vector(g.tie_outer), vector(g.shock_lower)
    lower, upper, inner = vector(g.lower_pivot), vector(g.upper_pivot), vector(g.tie_inner)
    gap = max(_stretch(lower, d, lower, d0), _stretch(upper, f, upper, f0), _stretch(d, f, d0, f0))
    gap = max(gap, _stretch(d, k, d0, k0), _stretch(f, k, f0, k0), _stretch(inner, k, inner, k0))
    gap = max(gap, _stretch(d, b, d0, b0), _stretch(lower, b, lower, b0))
    return wheel_motion(corner, motion).centre[2], gap


@inlined
def _stretch(a: Vector3, b: Vector3, design_a: Vector3, design_b: Vector3) -> float:
    return abs(norm(sub(b, a)) - norm(sub(design_b, design_a)))
