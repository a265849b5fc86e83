"""Motion of the 14-degree-of-freedom vehicle over time: right-hand side and fixed-step integrators.

The constraint-embedded model is an ordinary differential equation in minimal coordinates, so any integrator works and
loops stay closed by construction. The road is that of linear_tyre.py, the driver that of manoeuvre.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from proving_ground.kernels.jit import inlined_part, kernel, part
from proving_ground.kernels.rotation import rotation_from, to_chassis, to_world
from proving_ground.kernels.vector3 import add, cross, dot, three
from vehicle_dynamics.embedded_vehicle import (
    OUT_SIZE,
    VehicleBodies,
    Workspace,
    forward_dynamics,
    out_of_reach,
    workspace,
)
from vehicle_dynamics.linear_tyre import Bump, LinearTyre, linear_tyre_force
from vehicle_dynamics.manoeuvre import J_TURN, LANE_CHANGE, STRAIGHT, Manoeuvre, steer_at
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.rigid_steps import (
    RK4,
    SEMI_IMPLICIT_EULER,
    euler_update,
    rigid_rate,
    rk4_update,
    stage_state,
)
from vehicle_dynamics.suspension.corner import TieEnd, WheelMotion, corner_motion, wheel_motion
from vehicle_dynamics.suspension.reach import Range, ReachError, check_reach
from vehicle_dynamics.suspension.steering import SteeringBodies, road_wheel_angles, steered_ends
from vehicle_dynamics.vehicle_state import STATE_SIZE, VehicleState

Array = NDArray[np.float64]


class Scene(NamedTuple):
    """A vehicle, its road and its driver."""

    vehicle: VehicleBodies
    steering: SteeringBodies
    tyre: LinearTyre = LinearTyre()
    bump: Bump = Bump()
    manoeuvre: Manoeuvre = Manoeuvre()
    gravity: float = 9.81  # [m/s^2], down


class MotionWorkspace(NamedTuple):
    """Work arrays of a step, allocated once."""

    dynamics: Workspace
    accelerations: Array
    tie_end: Array  # 4 x 9
    wheel_force: Array  # 4 x 6
    spin_torque: Array  # 4
    theta_force: Array  # 4, zeros
    chassis_force: Array  # 6, zeros
    rates: Array  # 4 x state
    middle: Array  # state
    last: Array  # state before the latest step


def motion_workspace(scene: Scene) -> MotionWorkspace:
    """New arrays for one thread."""
    tie_end = np.zeros((4, 9))
    tie_end[:, :3] = scene.vehicle.corners["geometry"]["tie_inner"]
    return MotionWorkspace(
        workspace(),
        np.zeros(OUT_SIZE),
        tie_end,
        np.zeros((4, 6)),
        np.zeros(4),
        np.zeros(4),
        np.zeros(6),
        np.zeros((4, STATE_SIZE)),
        np.zeros(STATE_SIZE),
        np.zeros(STATE_SIZE),
    )


@kernel
def state_rate(scene: Scene, time: float, state: Array, work: MotionWorkspace, rate: Array) -> None:
    """Time derivative of the state (29) into rate; layout as in vehicle_state.py."""
    attitude, theta, theta_rate, spin_rate = state[3:7], state[7:11], state[21:25], state[25:29]
    rotation = rotation_from(attitude)
    angular_velocity = three(state, 18)
    velocity = to_chassis(rotation, three(state, 15))
    steer = steer_at(scene.manoeuvre, time)
    steered_ends(scene.steering, steer.angle, steer.rate, steer.acceleration, work.tie_end)
    for index in range(4):
        wheel = _wheel(scene, index, theta[index], theta_rate[index], work.tie_end)
        # World axes from here on.
        arm = to_world(rotation, wheel.centre)
        moving = add(velocity, add(wheel.velocity, cross(angular_velocity, wheel.centre)))
        spin = dot(wheel.axis, add(angular_velocity, wheel.angular_velocity)) + spin_rate[index]
        tyre = linear_tyre_force(
            scene.tyre,
            scene.bump,
            add(three(state, 0), arm),
            to_world(rotation, wheel.axis),
            to_world(rotation, moving),
            spin,
        )
        moment, force = to_chassis(rotation, tyre.moment), to_chassis(rotation, tyre.force)
        for k in range(3):
            work.wheel_force[index, k], work.wheel_force[index, 3 + k] = moment[k], force[k]
        work.spin_torque[index] = scene.manoeuvre.drive_torque
    out = work.accelerations
    gravity = to_chassis(rotation, (0.0, 0.0, -scene.gravity))
    loads = RigidLoads(gravity, work.theta_force, work.spin_torque, work.wheel_force, work.chassis_force)
    motion = RigidMotion(angular_velocity, theta, theta_rate, spin_rate)
    forward_dynamics(scene.vehicle, motion, work.tie_end, loads, work.dynamics, out)
    rigid_rate(rotation, state, out, rate)


@inlined_part
def _wheel(scene: Scene, index: int, theta: float, theta_rate: float, tie_end: Array) -> WheelMotion:
    corner, row = scene.vehicle.corners[index], tie_end[index]
    end = TieEnd(three(row, 0), three(row, 3), three(row, 6))
    return wheel_motion(corner, corner_motion(corner.geometry, theta, theta_rate, end))


@part
def euler_step(scene: Scene, time: float, step: float, state: Array, work: MotionWorkspace) -> None:
    """Advance the state (29) in place by a step [s] of semi-implicit Euler: velocities first, then positions."""
    rate = work.rates[0]
    state_rate(scene, time, state, work, rate)
    euler_update(state, rate, step)


@part
def rk4_step(scene: Scene, time: float, step: float, state: Array, work: MotionWorkspace) -> None:
    """Advance the state (29) in place by a step [s] of the classical Runge-Kutta method of fourth order."""
    rates, middle = work.rates, work.middle
    state_rate(scene, time, state, work, rates[0])
    for stage in range(1, 4):
        part = step if stage == 3 else 0.5 * step
        stage_state(state, rates[stage - 1], part, middle)
        state_rate(scene, time + part, middle, work, rates[stage])
    rk4_update(state, rates, step)


@kernel
def _drive(
    scene: Scene, method: int, time: float, step: float, every: int, state: Array, work: MotionWorkspace, history: Array
) -> int:
    """Fill history; returns the step in which a suspension left its reach (work.last is the state before), else -1."""
    for row in range(len(history)):
        for k in range(STATE_SIZE):
            history[row, k] = state[k]
        for inner in range(every if row + 1 < len(history) else 0):
            count = row * every + inner
            for k in range(STATE_SIZE):
                work.last[k] = state[k]
            if method == RK4:
                rk4_step(scene, time + count * step, step, state, work)
            else:
                euler_step(scene, time + count * step, step, state, work)
            if out_of_reach(scene.vehicle, state[7:11]) >= 0:
                return count
    return -1


def drive(
    scene: Scene, state: VehicleState, *, seconds: float, step: float = 1e-3, every: int = 10, method: int = RK4
) -> Array:
    """States over time (rows x 29), from time 0; one row after each `every` steps.

    method: RK4 or SEMI_IMPLICIT_EULER.

    Raises ReachError, with position and limits, when a suspension is driven beyond where it can be assembled.
    """
    check_scene(scene)
    if not (step > 0.0 and every >= 1 and 0.0 <= seconds < float("inf")):
        raise ValueError(f"step and every must be above 0, seconds finite, got {step}, {every}, {seconds}")
    if method not in (SEMI_IMPLICIT_EULER, RK4):
        raise ValueError(f"method: must be SEMI_IMPLICIT_EULER or RK4, got {method}")
    history = np.zeros((round(seconds / (step * every)) + 1, STATE_SIZE))
    work = motion_workspace(scene)
    check_reach(state.theta, _limits(scene), CORNERS)
    failed = _drive(scene, method, 0.0, step, every, state.to_array(), work, history)
    if failed >= 0:
        raise ReachError(_thrown(scene, VehicleState.from_array(work.last), failed * step))
    return history


def check_scene(scene: Scene) -> None:
    """Raise ValueError for a scene with values that are not finite, or a manoeuvre that the steering cannot follow."""
    numbers = [*scene.tyre, *scene.bump, *scene.manoeuvre, scene.gravity]
    if not np.isfinite(numbers).all():
        raise ValueError(f"scene: all numbers must be finite, got {numbers}")
    manoeuvre = scene.manoeuvre
    if manoeuvre.kind not in (STRAIGHT, J_TURN, LANE_CHANGE):
        raise ValueError(f"manoeuvre: kind must be STRAIGHT, J_TURN or LANE_CHANGE, got {manoeuvre.kind}")
    if not (manoeuvre.duration > 0.0 and scene.bump.length > 0.0):
        raise ValueError("scene: the manoeuvre's duration and the bump's length must be above 0")
    for angle in (manoeuvre.amplitude, -manoeuvre.amplitude):
        road_wheel_angles(scene.steering, scene.vehicle.corners[:2], angle)  # raises ReachError


def _limits(scene: Scene) -> list[Range]:
    corners = scene.vehicle.corners
    return [Range(low, high) for low, high in zip(corners["lowest"], corners["highest"], strict=True)]


def _thrown(scene: Scene, last: VehicleState, time: float) -> str:
    """Message on the suspension that leaves its reach: the one that gets to its limit first."""
    limits = np.array(_limits(scene))
    room = np.where(last.theta_rate > 0.0, limits[:, 1] - last.theta, last.theta - limits[:, 0])
    worst = int(np.argmin(room / np.maximum(np.abs(last.theta_rate), 1e-9)))
    return (
        f"{CORNERS[worst]}: the lower arm is thrown out of its reach ({limits[worst, 0]:.4f} to {limits[worst, 1]:.4f}"
        f" rad) at {time:g} s, from {last.theta[worst]:.4f} rad at {last.theta_rate[worst]:.4g} rad/s"
    )
