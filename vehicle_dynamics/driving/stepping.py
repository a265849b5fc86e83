"""Steps of the driving vehicle over time, in kernels.

Semi-implicit Euler advances the tyres' deflection by its analytic solution over the step ([Sanjurjo], Eqs. 5.36-5.39).
RK4 treats the deflection as part of the state: it decays with at most c / d, 20 1/s here, so it is not stiff. Brakes,
gears and engine advance once per step with either method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import inlined_part, part
from proving_ground.kernels.rotation import rotation_from, to_chassis, to_world
from proving_ground.kernels.vector3 import add, cross, dot, norm, scale, three
from terrain.ground import Ground
from terrain.obstacle_contact import ChassisInWorld, add_obstacle_contact, obstacles_around
from terrain.wheel import ContactState, ContactStep, Deflection, SoilState, WheelMotionInWorld
from vehicle_dynamics.drive.brake import antilock_share, brake_torque, sliding_torque
from vehicle_dynamics.drive.driveline import ShaftLoad, shaft_speed, through_case, wheel_torques
from vehicle_dynamics.drive.powertrain import PowertrainState, shaft_drive
from vehicle_dynamics.driving.body_contact import add_body_contact
from vehicle_dynamics.driving.model import DrivingVehicle, DrivingWorkspace
from vehicle_dynamics.driving.state import (
    DRIVING_SIZE,
    ENGINE_SPEED,
    GEAR,
    MOVING_SIZE,
    PITMAN,
    PITMAN_RATE,
    SINCE_SHIFT,
    SOIL,
    STUCK,
)
from vehicle_dynamics.driving.underside import add_underside_contact
from vehicle_dynamics.embedded_vehicle import forward_dynamics, out_of_reach
from vehicle_dynamics.pedals import REVERSE, Pedals
from vehicle_dynamics.rigid_loads import RigidLoads, RigidMotion
from vehicle_dynamics.rigid_steps import RK4, euler_update, rigid_rate, rk4_update, stage_state
from vehicle_dynamics.suspension.corner import TieEnd, corner_motion, wheel_motion
from vehicle_dynamics.suspension.corner_record import CornerRecord
from vehicle_dynamics.suspension.steering import steered_ends
from vehicle_dynamics.tyre.contact import tyre_contact
from vehicle_dynamics.vehicle_state import ATTITUDE, SPIN, SPIN_RATE, STATE_SIZE, THETA, THETA_RATE

Array = NDArray[np.float64]

# Columns of DrivingWorkspace.tyre: deflection [m] after the step along and across, load [N], moment about the axle
# [N m], forces along and across [N], slips along and across, sinkage [m].
ALONG, ACROSS, LOAD, AXLE_MOMENT, FORCE_ALONG, FORCE_ACROSS, SLIP_ALONG, SLIP_ACROSS, SINKAGE = range(9)

# Beyond all stops, where an arm's geometry ends, a last stop keeps it within reach.
LAST_STOP = 0.1  # before the end of reach [rad]
LAST_STOP_STIFFNESS = 2e7  # [N m/rad^2]
LAST_STOP_DAMPING = 3e4  # [N m s/rad], outwards only

FARTHEST = 1e7  # [m]: coordinates beyond have lost millimetre precision
MOST_TURNED = 1e12  # [rad]
FASTEST = 1e4  # [m/s, rad/s]: a velocity beyond is not physical


@part
def moving_rate(
    vehicle: DrivingVehicle,
    ground: Ground,
    moving: Array,
    soil: Array,
    steering: float,
    span: ContactStep,
    work: DrivingWorkspace,
    rate: Array,
) -> None:
    """Rates of the moving state (39) with the steering wheel (-1 to 1), and the brakes and drive in work.

    soil (12) is the state of wheels on soft soil, and is advanced into work.soil: soil is so stiff that its load is
    always that at the end of a step.
    """
    push = _servo(vehicle, moving, steering)
    rate[PITMAN], rate[PITMAN_RATE] = moving[PITMAN_RATE], push
    steered_ends(vehicle.steering, moving[PITMAN], moving[PITMAN_RATE], push, work.tie_end)
    theta, theta_rate, spin_rate = moving[THETA], moving[THETA_RATE], moving[SPIN_RATE]
    rotation = rotation_from(moving[ATTITUDE])
    angular_velocity = three(moving, 18)
    world_angular_velocity = to_world(rotation, angular_velocity)
    position, velocity = three(moving, 0), three(moving, 15)
    _start_chassis_force(vehicle, to_chassis(rotation, velocity), angular_velocity, work.chassis_force)
    chassis = ChassisInWorld(rotation, position, velocity, world_angular_velocity)
    add_body_contact(vehicle.body, ground, chassis, work.chassis_force)
    obstacles = obstacles_around(ground.obstacles, vehicle.body.box, position)
    work.collision[0] = add_obstacle_contact(vehicle.body.box, obstacles, chassis, work.chassis_force)
    if len(obstacles.boxes) + len(obstacles.cylinders) > 0:
        work.collision[0] += add_underside_contact(vehicle.body, obstacles, chassis, work.chassis_force)
    around = Ground(ground.plane, ground.grid, ground.soils, ground.ruts, obstacles, ground.top_soil)
    for index in range(4):
        corner, row, tyre = vehicle.bodies.corners[index], work.tie_end[index], work.tyre[index]
        end = TieEnd(three(row, 0), three(row, 3), three(row, 6))
        wheel = wheel_motion(corner, corner_motion(corner.geometry, theta[index], theta_rate[index], end))
        arm, axis = to_world(rotation, wheel.centre), to_world(rotation, wheel.axis)
        moves = add(velocity, add(to_world(rotation, wheel.velocity), cross(world_angular_velocity, arm)))
        spindle_angular_velocity = add(world_angular_velocity, to_world(rotation, wheel.angular_velocity))
        deflection = STATE_SIZE + 2 * index
        contact = tyre_contact(
            vehicle.tyre[index],
            around,
            WheelMotionInWorld(add(position, arm), axis, moves, spindle_angular_velocity, spin_rate[index]),
            ContactState(
                Deflection(moving[deflection], moving[deflection + 1]),
                SoilState(soil[4 * index], soil[4 * index + 1], soil[4 * index + 2], soil[4 * index + 3]),
            ),
            span,
            work.heights,
        )
        work.soil[4 * index : 4 * index + 4] = contact.soil_state
        force, moment = to_chassis(rotation, contact.force), to_chassis(rotation, contact.moment)
        for k in range(3):
            work.wheel_force[index, k], work.wheel_force[index, 3 + k] = moment[k], force[k]
            work.wheel[index, k], work.wheel[index, 3 + k] = wheel.centre[k], wheel.axis[k]
        rate[deflection], rate[deflection + 1] = contact.deflection_rate.along, contact.deflection_rate.across
        tyre[ALONG], tyre[ACROSS] = contact.deflection.along, contact.deflection.across
        tyre[LOAD], tyre[AXLE_MOMENT] = contact.load, dot(axis, contact.moment)
        tyre[FORCE_ALONG], tyre[FORCE_ACROSS] = contact.force_along, contact.force_across
        tyre[SLIP_ALONG], tyre[SLIP_ACROSS] = contact.slip_along, contact.slip_across
        tyre[SINKAGE] = contact.sinkage
    for axle in range(2):
        left, right = 2 * axle, 2 * axle + 1
        twist, bushing = vehicle.antiroll[axle] * (theta[left] - theta[right]), vehicle.bushing[axle]
        for index, moment in ((left, -twist), (right, twist)):
            stop = _last_stop(vehicle.bodies.corners[index], theta[index], theta_rate[index])
            work.theta_force[index] = moment - bushing * theta[index] + stop
    _add_drive(vehicle, spin_rate, span.step, work)
    out = work.accelerations
    gravity = to_chassis(rotation, (0.0, 0.0, -vehicle.gravity))
    loads = RigidLoads(gravity, work.theta_force, work.spin_torque, work.wheel_force, work.chassis_force)
    motion = RigidMotion(angular_velocity, theta, theta_rate, spin_rate)
    forward_dynamics(vehicle.bodies, motion, work.tie_end, loads, work.dynamics, out)
    rigid_rate(rotation, moving, out, rate)


@inlined_part
def _start_chassis_force(
    vehicle: DrivingVehicle,
    velocity: tuple[float, float, float],
    angular_velocity: tuple[float, float, float],
    chassis_force: Array,
) -> None:
    """Aerodynamic drag, against the velocity of its centre; chassis axes."""
    moves = add(velocity, cross(angular_velocity, vehicle.air.centre))
    drag = scale(-vehicle.air.factor * norm(moves), moves)
    moment = cross(vehicle.air.centre, drag)
    for k in range(3):
        chassis_force[k], chassis_force[3 + k] = moment[k], drag[k]


@inlined_part
def _add_drive(vehicle: DrivingVehicle, spin_rate: Array, step: float, work: DrivingWorkspace) -> None:
    """Add the torques of drive and brakes: on wheels, on uprights, and on the chassis where half shafts bring them."""
    work.chassis_force[0] += work.shaft[4]
    others = (
        work.tyre[0, AXLE_MOMENT] + work.brake_torque[0],
        work.tyre[1, AXLE_MOMENT] + work.brake_torque[1],
        work.tyre[2, AXLE_MOMENT] + work.brake_torque[2],
        work.tyre[3, AXLE_MOMENT] + work.brake_torque[3],
    )
    rates = (spin_rate[0], spin_rate[1], spin_rate[2], spin_rate[3])
    inertia = vehicle.bodies.corners[0].hub.spin_inertia
    shaft = ShaftLoad(work.shaft[0], work.shaft[1], int(work.shaft[2]), int(work.shaft[3]))
    torques = wheel_torques(vehicle.driveline, shaft, inertia, rates, others, step)
    for index in range(4):
        drive, brake = torques[index], work.brake_torque[index]
        work.drive_torque[index] = drive
        # The chassis takes a share of each, the upright the rest: what it does not take acts between upright and wheel.
        on_chassis = vehicle.driveline.on_chassis * drive + vehicle.brakes.on_chassis * brake
        work.spin_torque[index] = brake + (drive + on_chassis)
        moment = scale(on_chassis, three(work.wheel[index], 3))
        for k in range(3):
            work.wheel_force[index, k] -= moment[k]
            work.chassis_force[k] += moment[k]


@inlined_part
def _last_stop(corner: CornerRecord, theta: float, theta_rate: float) -> float:
    """Moment [N m] on a lower arm that is about to leave its reach."""
    below, above = corner.lowest + LAST_STOP - theta, theta - corner.highest + LAST_STOP
    if below > 0.0:
        return float(LAST_STOP_STIFFNESS * below * below - LAST_STOP_DAMPING * min(theta_rate, 0.0))
    if above > 0.0:
        return float(-LAST_STOP_STIFFNESS * above * above - LAST_STOP_DAMPING * max(theta_rate, 0.0))
    return 0.0


@inlined_part
def _servo(vehicle: DrivingVehicle, moving: Array, steering: float) -> float:
    """Acceleration of the Pitman arm [rad/s^2] towards a steering wheel position."""
    servo = vehicle.servo
    wanted = 0.5 * servo.bandwidth * (-servo.lock * steering - moving[PITMAN])
    wanted = min(max(wanted, -servo.fastest), servo.fastest)
    return float(2.0 * servo.bandwidth * (wanted - moving[PITMAN_RATE]))


@inlined_part
def controls(vehicle: DrivingVehicle, pedals: Pedals, step: float, state: Array, work: DrivingWorkspace) -> None:
    """Brakes and powertrain for the coming step; their states advance."""
    spin, spin_rate, stuck = state[SPIN], state[SPIN_RATE], state[STUCK]
    speed = 0.0
    if vehicle.brakes.antilock_to > 0.0:
        speed = to_chassis(rotation_from(state[ATTITUDE]), three(state, 15))[0]
    for index in range(4):
        pressure = pedals.brake * antilock_share(vehicle.brakes, speed, spin_rate[index])
        sliding = sliding_torque(vehicle.brakes, pressure, pedals.parking_brake, index < 2)
        brake = brake_torque(vehicle.brakes, sliding, spin[index], spin_rate[index], stuck[index])
        work.brake_torque[index], stuck[index] = brake.torque, brake.stuck_at
    rates = (spin_rate[0], spin_rate[1], spin_rate[2], spin_rate[3])
    before = PowertrainState(state[ENGINE_SPEED], int(state[GEAR]), state[SINCE_SHIFT])
    transfer = min(pedals.transfer_range, vehicle.driveline.range_count - 1)
    shaft = shaft_speed(vehicle.driveline, rates) * vehicle.driveline.ranges[transfer].reduction
    drive = shaft_drive(vehicle.powertrain[0], before, pedals.selected, pedals.throttle, shaft, step)
    # Differentials and gearbox are on the chassis, so shaft torques cancel there: what is left is the engine's change.
    work.shaft[4] = vehicle.powertrain[0].reaction * (drive.state.engine_speed - before.engine_speed) / step
    state[ENGINE_SPEED], state[SINCE_SHIFT] = drive.state.engine_speed, drive.state.since_shift
    state[GEAR] = float(drive.state.gear)
    forward = -1.0 if pedals.selected == REVERSE else 1.0
    work.shaft[0], work.shaft[1] = through_case(vehicle.driveline, transfer, drive.torque, drive.inertia, forward)
    work.shaft[2], work.shaft[3] = float(pedals.locks), float(transfer)


@part
def driving_step(
    vehicle: DrivingVehicle,
    ground: Ground,
    pedals: Pedals,
    method: int,
    step: float,
    state: Array,
    work: DrivingWorkspace,
) -> None:
    """Advance the state (62) by one step [s], in place."""
    controls(vehicle, pedals, step, state, work)
    moving, rates, middle, wheel, soil = state[:MOVING_SIZE], work.rates, work.middle, pedals.steering, state[SOIL]
    if method == RK4:
        moving_rate(vehicle, ground, moving, soil, wheel, ContactStep(0.0, step, False), work, rates[0])
        for stage in range(1, 4):
            stage_state(moving, rates[stage - 1], step if stage == 3 else 0.5 * step, middle)
            span = ContactStep(0.0, step, stage == 3)
            moving_rate(vehicle, ground, middle, soil, wheel, span, work, rates[stage])
        rk4_update(moving, rates, step)
        for index in range(4):
            if work.tyre[index, LOAD] <= 0.0:  # in the air the carcass relaxes
                moving[STATE_SIZE + 2 * index], moving[STATE_SIZE + 2 * index + 1] = 0.0, 0.0
    else:
        rate = rates[0]
        moving_rate(vehicle, ground, moving, soil, wheel, ContactStep(step, step, True), work, rate)
        euler_update(state[:STATE_SIZE], rate, step)
        for index in range(4):
            moving[STATE_SIZE + 2 * index] = work.tyre[index, ALONG]
            moving[STATE_SIZE + 2 * index + 1] = work.tyre[index, ACROSS]
        moving[PITMAN_RATE] += step * rate[PITMAN_RATE]
        moving[PITMAN] += step * moving[PITMAN_RATE]
    for k in range(len(soil)):
        soil[k] = work.soil[k]


@part
def is_sound(vehicle: DrivingVehicle, state: Array) -> bool:
    """Whether the state is physically admissible: finite, within bounds, suspensions within reach."""
    for k in range(DRIVING_SIZE):
        # Wheel angles are unbounded.
        if not abs(state[k]) < (FARTHEST if not 11 <= k < 15 and not 39 <= k < 43 else MOST_TURNED):
            return False
    for k in range(15, STATE_SIZE):
        if not abs(state[k]) < FASTEST:
            return False
    length = 0.0
    for k in range(3, 7):
        length += state[k] * state[k]
    if not 0.9 < length < 1.1:
        return False
    if not abs(state[PITMAN]) <= vehicle.servo.lock + 0.1 or not 1 <= state[GEAR] <= vehicle.powertrain[0].gears:
        return False
    return out_of_reach(vehicle.bodies, state[THETA]) < 0


@part
def make_steps(
    vehicle: DrivingVehicle,
    ground: Ground,
    pedals: Pedals,
    method: int,
    step: float,
    steps: int,
    state: Array,
    work: DrivingWorkspace,
) -> int:
    """Advance by several time steps with constant pedals; kernel of handle.advance."""
    if not is_sound(vehicle, state):
        return 0
    for count in range(steps):
        for k in range(DRIVING_SIZE):
            work.last[k] = state[k]
        driving_step(vehicle, ground, pedals, method, step, state, work)
        if not is_sound(vehicle, state):
            for k in range(DRIVING_SIZE):
                state[k] = work.last[k]
            return count
    return steps
