"""The driving vehicle: rigid bodies with tyres, brakes, powertrain and steering servo, stepped by kernels.

Within a step the tyres' deflection follows its analytic solution from the step's start (seed 001, section 5.3.2.3);
brakes, gears, engine and servo advance once per step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.drive.brake import BrakeConstants, brake_constants, brake_torque
from vehicle_dynamics.drive.driveline import DrivelineConstants, driveline_constants, shaft_speed, wheel_torques
from vehicle_dynamics.drive.powertrain import (
    PowertrainState,
    converter_record,
    map_record,
    shaft_drive,
)
from vehicle_dynamics.embedded_vehicle import (
    OUT_SIZE,
    VehicleBodies,
    Workspace,
    forward_dynamics,
    vehicle_bodies,
    workspace,
)
from vehicle_dynamics.full_state import ENGINE_SPEED, GEAR, PITMAN, PITMAN_RATE, SINCE_SHIFT
from vehicle_dynamics.ground import Ground
from vehicle_dynamics.kernels.jit import inlined_part, kernel, part
from vehicle_dynamics.kernels.rotation import rotation_from, to_chassis, to_world
from vehicle_dynamics.kernels.vector3 import add, cross, dot, scale, three
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.rigid_steps import RK4, euler_update, rigid_rate, rk4_update, stage_state
from vehicle_dynamics.suspension.corner import TieEnd, corner_motion, wheel_motion
from vehicle_dynamics.suspension.steering import SteeringBodies, steered_ends, steering_bodies
from vehicle_dynamics.tyre.contact import Deflection, WheelMotionInWorld, tyre_contact, tyre_record
from vehicle_dynamics.vehicle_state import STATE_SIZE

Array = NDArray[np.float64]

SERVO = 60.0  # [rad/s]: the steering servo's bandwidth; critically damped


class FullVehicle(NamedTuple):
    """All that the kernels know of the vehicle."""

    bodies: VehicleBodies
    steering: SteeringBodies
    tyre: NDArray[np.void]  # one record of TYRE
    brakes: BrakeConstants
    driveline: DrivelineConstants
    powertrain: NDArray[np.void]  # one record of POWERTRAIN
    lock: float  # Pitman angle at full steering [rad]
    steer_rate: float  # fastest Pitman rate [rad/s]
    gravity: float  # [m/s^2]


class Pedals(NamedTuple):
    """What the driver does."""

    steering: float = 0.0  # -1 full right, 1 full left
    throttle: float = 0.0  # 0 to 1
    brake: float = 0.0  # 0 to 1
    selected: int = 1  # gear lever: -1 reverse, 0 neutral, 1 drive


class FullWorkspace(NamedTuple):
    """Arrays that a step writes to, made once."""

    dynamics: Workspace
    accelerations: Array
    tie_end: Array  # 4 x 9
    wheel_force: Array  # 4 x 6
    tyre: Array  # 4 x 4: deflection along and across at the end, load, torque about the axle
    axis: Array  # 4 x 3: of the wheels, chassis axes
    shaft: Array  # 2: torque on the drive shaft, and inertia that turns with it
    brake_torque: Array  # 4
    theta_force: Array  # 4
    chassis_force: Array  # 6
    rates: Array  # 4 x rigid state
    middle: Array  # rigid state


def full_vehicle(parameters: VehicleParameters, with_converter: bool = True, gravity: float = 9.81) -> FullVehicle:
    """Assemble a vehicle with the powertrain with torque converter, else with that of the torque map."""
    powertrain = parameters.powertrain
    record = converter_record(powertrain.converter) if with_converter else map_record(powertrain.map)
    return FullVehicle(
        vehicle_bodies(parameters),
        steering_bodies(parameters),
        np.array([tyre_record(parameters)]),
        brake_constants(parameters.brakes),
        driveline_constants(parameters.driveline),
        np.array([record]),
        float(np.deg2rad(parameters.steering.max_pitman_angle_deg)),
        float(np.deg2rad(parameters.steering.max_pitman_rate_degps)),
        gravity,
    )


def full_workspace(vehicle: FullVehicle) -> FullWorkspace:
    """Fresh arrays for one thread."""
    tie_end = np.zeros((4, 9))
    tie_end[:, :3] = vehicle.bodies.corners["geometry"]["tie_inner"]
    return FullWorkspace(
        workspace(), np.zeros(OUT_SIZE), tie_end, np.zeros((4, 6)), np.zeros((4, 4)), np.zeros((4, 3)), np.zeros(2),
        np.zeros(4), np.zeros(4), np.zeros(6), np.zeros((4, STATE_SIZE)), np.zeros(STATE_SIZE),
    )  # fmt: skip


@part
def _rigid_rate(
    vehicle: FullVehicle, ground: Ground, state: Array, rigid: Array, elapsed: float, work: FullWorkspace, rate: Array
) -> None:
    """Rates of the rigid state (29) at a time after the step's start, whose full state (46) is given."""
    attitude, theta, theta_rate, spin_rate = rigid[3:7], rigid[7:11], rigid[21:25], rigid[25:29]
    rotation = rotation_from(attitude)
    turn = three(rigid, 18)
    world_turn = to_world(rotation, turn)
    velocity, position = three(rigid, 15), three(rigid, 0)
    for k in range(6):
        work.chassis_force[k] = 0.0
    for index in range(4):
        corner, row = vehicle.bodies.corners[index], work.tie_end[index]
        end = TieEnd(three(row, 0), three(row, 3), three(row, 6))
        wheel = wheel_motion(corner, corner_motion(corner.geometry, theta[index], theta_rate[index], end))
        arm, axis = to_world(rotation, wheel.centre), to_world(rotation, wheel.axis)
        moving = add(velocity, add(to_world(rotation, wheel.velocity), cross(world_turn, arm)))
        spindle_turn = add(world_turn, to_world(rotation, wheel.turn))
        contact = tyre_contact(
            vehicle.tyre[0],
            ground,
            WheelMotionInWorld(add(position, arm), axis, moving, spindle_turn, spin_rate[index]),
            Deflection(state[29 + 2 * index], state[30 + 2 * index]),
            elapsed,
        )
        force, moment = to_chassis(rotation, contact.force), to_chassis(rotation, contact.moment)
        for k in range(3):
            work.wheel_force[index, k], work.wheel_force[index, 3 + k] = moment[k], force[k]
            work.axis[index, k] = wheel.axis[k]
        work.tyre[index, 0], work.tyre[index, 1] = contact.deflection.along, contact.deflection.across
        work.tyre[index, 2], work.tyre[index, 3] = contact.load, dot(axis, contact.moment)
    _add_drive(vehicle, work)
    out = work.accelerations
    forward_dynamics(
        vehicle.bodies,
        turn,
        to_chassis(rotation, (0.0, 0.0, -vehicle.gravity)),
        theta,
        theta_rate,
        spin_rate,
        work.tie_end,
        work.theta_force,
        work.brake_torque,
        work.wheel_force,
        work.chassis_force,
        work.dynamics,
        out,
    )
    rigid_rate(rotation, rigid, out, rate)


@inlined_part
def _add_drive(vehicle: FullVehicle, work: FullWorkspace) -> None:
    """Half shafts bring the drive torque from the chassis, on which it reacts."""
    others = (
        work.tyre[0, 3] + work.brake_torque[0],
        work.tyre[1, 3] + work.brake_torque[1],
        work.tyre[2, 3] + work.brake_torque[2],
        work.tyre[3, 3] + work.brake_torque[3],
    )
    inertia = vehicle.bodies.corners[0].hub.spin_inertia
    torques = wheel_torques(vehicle.driveline, work.shaft[0], work.shaft[1], inertia, others)
    for index in range(4):
        driven = scale(torques[index], three(work.axis[index], 0))
        for k in range(3):
            work.wheel_force[index, k] += driven[k]
            work.chassis_force[k] -= driven[k]


@inlined_part
def _controls(vehicle: FullVehicle, pedals: Pedals, step: float, state: Array, work: FullWorkspace) -> None:
    """Servo, brakes and powertrain for the coming step; their states advance."""
    spin_rate = state[25:29]
    target = -vehicle.lock * pedals.steering
    rate = state[PITMAN_RATE]
    wanted = min(max(0.5 * SERVO * (target - state[PITMAN]), -vehicle.steer_rate), vehicle.steer_rate)
    acceleration = 2.0 * SERVO * (wanted - rate)
    steered_ends(vehicle.steering, state[PITMAN], rate, acceleration, work.tie_end)
    state[PITMAN_RATE] = rate + step * acceleration
    state[PITMAN] += step * state[PITMAN_RATE]
    for index in range(4):
        full = vehicle.brakes.front_torque if index < 2 else vehicle.brakes.rear_torque
        brake = brake_torque(
            vehicle.brakes, full * pedals.brake, state[11 + index], spin_rate[index], state[37 + index]
        )
        work.brake_torque[index], state[37 + index] = brake.torque, brake.stuck_at
    rates = (spin_rate[0], spin_rate[1], spin_rate[2], spin_rate[3])
    before = PowertrainState(state[ENGINE_SPEED], int(state[GEAR]), state[SINCE_SHIFT])
    speed = shaft_speed(vehicle.driveline, rates)
    drive = shaft_drive(vehicle.powertrain[0], before, pedals.selected, pedals.throttle, speed, step)
    state[ENGINE_SPEED], state[SINCE_SHIFT] = drive.state.engine_speed, drive.state.since_shift
    state[GEAR] = float(drive.state.gear)
    work.shaft[0], work.shaft[1] = drive.torque, drive.inertia


@part
def full_step(
    vehicle: FullVehicle, ground: Ground, pedals: Pedals, method: int, step: float, state: Array, work: FullWorkspace
) -> None:
    """Advance the full state (46) by one step [s], in place."""
    _controls(vehicle, pedals, step, state, work)
    rigid, rates = state[:STATE_SIZE], work.rates
    if method == RK4:
        middle = work.middle
        _rigid_rate(vehicle, ground, state, rigid, 0.0, work, rates[0])
        for stage in range(1, 4):
            elapsed = step if stage == 3 else 0.5 * step
            stage_state(rigid, rates[stage - 1], elapsed, middle)
            _rigid_rate(vehicle, ground, state, middle, elapsed, work, rates[stage])
        rk4_update(rigid, rates, step)
    else:
        rate = rates[0]
        _rigid_rate(vehicle, ground, state, rigid, step, work, rate)
        euler_update(rigid, rate, step)
    for index in range(4):
        state[29 + 2 * index], state[30 + 2 * index] = work.tyre[index, 0], work.tyre[index, 1]


@kernel
def advance(
    vehicle: FullVehicle,
    ground: Ground,
    pedals: Pedals,
    method: int,
    step: float,
    steps: int,
    state: Array,
    work: FullWorkspace,
) -> None:
    """Advance by many steps with the pedals held."""
    for _ in range(steps):
        full_step(vehicle, ground, pedals, method, step, state, work)
