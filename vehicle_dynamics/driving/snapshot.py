"""Snapshot of a vehicle at one instant, as a record with names; computed from state, pedals and ground alone.

World axes unless a comment says otherwise; corners in the order front left, front right, rear left, rear right.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from proving_ground.kernels.jit import part
from terrain.ground import Ground
from terrain.wheel import ContactStep
from vehicle_dynamics.driving.model import DrivingVehicle, DrivingWorkspace
from vehicle_dynamics.driving.state import DRIVING_SIZE, ENGINE_SPEED, GEAR, MOVING_SIZE, PITMAN, SOIL
from vehicle_dynamics.driving.stepping import (
    FORCE_ACROSS,
    FORCE_ALONG,
    LOAD,
    SINKAGE,
    SLIP_ACROSS,
    SLIP_ALONG,
    Array,
    controls,
    is_sound,
    moving_rate,
)
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.suspension.strut import length_and_slope

SNAPSHOT = np.dtype(
    [
        ("position", "f8", 3),  # of the chassis origin [m]
        ("attitude", "f8", 4),  # world_from_chassis, x y z w
        ("velocity", "f8", 3),  # of the chassis origin [m/s]
        ("angular_velocity", "f8", 3),  # chassis axes [rad/s]
        ("acceleration", "f8", 3),  # of the chassis origin [m/s^2]
        ("angular_acceleration", "f8", 3),  # chassis axes [rad/s^2]
        ("arm_angle", "f8", 4),  # of the lower arms; positive raises the wheel [rad]
        ("arm_rate", "f8", 4),  # [rad/s]
        ("spring_compression", "f8", 4),  # [m]
        ("spin", "f8", 4),  # wheel angles [rad]
        ("spin_rate", "f8", 4),  # [rad/s]
        ("steer_angle", "f8", 4),  # of the wheels about the chassis' z axis, left positive [rad]
        ("wheel_centre", "f8", (4, 3)),  # chassis axes [m]
        ("wheel_axis", "f8", (4, 3)),  # chassis axes, to the left
        ("load", "f8", 4),  # normal force [N]
        ("force_along", "f8", 4),  # of the ground on the tyre [N]
        ("force_across", "f8", 4),  # to the left [N]
        ("slip_along", "f8", 4),
        ("slip_across", "f8", 4),
        ("sinkage", "f8", 4),  # into soft soil [m]
        ("brake_torque", "f8", 4),  # on the wheel [N m]
        ("drive_torque", "f8", 4),  # on the wheel [N m]
        ("collision", "f8"),  # push of obstacles on the body [N]; 0 while it touches none
        ("pitman_angle", "f8"),  # as the chassis sees it: negative steers left [rad]
        ("engine_speed", "f8"),  # [rad/s]
        ("gear", "f8"),
        ("steering", "f8"),  # the pedals, as in Pedals
        ("throttle", "f8"),
        ("brake", "f8"),
        ("selected", "f8"),
    ]
)
SnapshotRecord: TypeAlias = Any

LATEST = 0  # rows of the work array `rates` that observe may use
SHORTEST = 1e-9  # [s]: a step that changes nothing
COMING = 1e-3  # [s]: the load on soft soil is that of the coming step; soil is too stiff to compute it without one


@part
def fill_snapshot(
    vehicle: DrivingVehicle, ground: Ground, pedals: Pedals, state: Array, work: DrivingWorkspace, out: SnapshotRecord
) -> bool:
    """Fill the record of all outputs of the vehicle in its present state; kernel of handle.observe."""
    if not is_sound(vehicle, state):
        return False
    copy = work.last
    for k in range(DRIVING_SIZE):
        copy[k] = state[k]
    controls(vehicle, pedals, SHORTEST, copy, work)
    rate = work.rates[LATEST]
    span = ContactStep(0.0, COMING, False)
    moving_rate(vehicle, ground, state[:MOVING_SIZE], state[SOIL], pedals.steering, span, work, rate)
    seen = out[0]
    for k in range(3):
        seen.position[k], seen.velocity[k], seen.angular_velocity[k] = state[k], state[15 + k], state[18 + k]
        seen.acceleration[k], seen.angular_acceleration[k] = rate[15 + k], rate[18 + k]
    for k in range(4):
        corner, tyre, wheel = vehicle.bodies.corners[k], work.tyre[k], work.wheel[k]
        seen.attitude[k] = state[3 + k]
        seen.arm_angle[k], seen.arm_rate[k] = state[7 + k], state[21 + k]
        seen.spin[k], seen.spin_rate[k] = state[11 + k], state[25 + k]
        theta = state[7 + k]
        length, _ = length_and_slope(corner.strut.spring_square, math.cos(theta), math.sin(theta))
        seen.spring_compression[k] = corner.strut.spring_free - length
        seen.steer_angle[k] = math.atan2(-wheel[3], wheel[4])
        for axis in range(3):
            seen.wheel_centre[k, axis], seen.wheel_axis[k, axis] = wheel[axis], wheel[3 + axis]
        seen.load[k], seen.force_along[k], seen.force_across[k] = tyre[LOAD], tyre[FORCE_ALONG], tyre[FORCE_ACROSS]
        seen.slip_along[k], seen.slip_across[k] = tyre[SLIP_ALONG], tyre[SLIP_ACROSS]
        seen.sinkage[k] = tyre[SINKAGE]
        seen.brake_torque[k], seen.drive_torque[k] = work.brake_torque[k], work.drive_torque[k]
    seen.pitman_angle, seen.gear = state[PITMAN], state[GEAR]
    seen.collision = work.collision[0]
    seen.engine_speed = copy[ENGINE_SPEED]  # an engine geared to the wheels follows from them
    seen.steering, seen.throttle, seen.brake = pedals.steering, pedals.throttle, pedals.brake
    seen.selected = float(pedals.selected)
    return True
