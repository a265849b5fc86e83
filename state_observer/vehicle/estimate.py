"""Kernels that compute an estimate from a filter's state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import rotation_from, to_chassis, to_world
from proving_ground.kernels.vector3 import add, cross, three
from state_observer.vehicle.layout import (
    ANGULAR_VELOCITY,
    CRAWL,
    ERROR_SIZE,
    GROUND,
    INS_POSITION,
    INS_ROTATION,
    INS_SIZE,
    INS_VELOCITY,
    PITCH,
    POSITION,
    ROLL,
    VELOCITY,
    YAW,
    FilterState,
    Record,
)

NS = 1e-9


@kernel
def write_vehicle_estimate(constants: Record, filter_state: FilterState, out: Record, index: int) -> None:
    """Fill record `index` of out (ESTIMATE) from the errorEKF."""
    known, now, estimate = constants[0], filter_state[0], out[index]
    state = now.state
    rotation = rotation_from(state[3:7])
    base = three(known.base, 0)
    arm = to_world(rotation, base)
    angular_velocity = three(state, 18)
    body = to_chassis(rotation, three(state, 15))
    moves = add(body, cross(angular_velocity, base))
    jacobian = np.zeros((12, ERROR_SIZE))
    heading = math.atan2(rotation.y[0], rotation.x[0])
    axes = (
        (math.cos(heading), math.sin(heading), 0.0),
        (-math.sin(heading), math.cos(heading), 0.0),
        (0.0, 0.0, 1.0),
    )
    columns = (ROLL, PITCH, YAW)
    for j in range(3):
        swung = cross(axes[j], arm)
        for k in range(3):
            jacobian[k, columns[j]] = swung[k]
            jacobian[3 + k, columns[j]] = axes[j][k]
    for k in range(3):
        jacobian[k, POSITION + k] = 1.0
        jacobian[6 + k, VELOCITY + k] = 1.0
        jacobian[9 + k, ANGULAR_VELOCITY + k] = 1.0
        estimate.position[k] = state[k] + arm[k]
        estimate.velocity[k], estimate.angular_velocity[k] = moves[k], angular_velocity[k]
        estimate.gyro_bias[k], estimate.force_bias[k] = now.gyro_bias[k], now.force_bias[k]
    jacobian[2, GROUND] = 1.0
    jacobian[6, ANGULAR_VELOCITY + 1], jacobian[6, ANGULAR_VELOCITY + 2] = base[2], -base[1]
    jacobian[7, ANGULAR_VELOCITY], jacobian[7, ANGULAR_VELOCITY + 2] = -base[2], base[0]
    jacobian[8, ANGULAR_VELOCITY], jacobian[8, ANGULAR_VELOCITY + 1] = base[1], -base[0]
    estimate.position[2] += now.ground
    _finish(now, state[3:7], body, jacobian, estimate, ERROR_SIZE)
    speed = math.hypot(body[0], body[1])
    estimate.sideslip, estimate.sideslip_variance = 0.0, math.pi**2
    if speed > CRAWL:
        estimate.sideslip = math.atan2(body[1], abs(body[0]))
        along, across = -body[1] / speed**2, body[0] / speed**2
        covariance = now.covariance
        estimate.sideslip_variance = (
            along**2 * covariance[VELOCITY, VELOCITY]
            + 2.0 * along * across * covariance[VELOCITY, VELOCITY + 1]
            + across**2 * covariance[VELOCITY + 1, VELOCITY + 1]
        )


@kernel
def write_ins_estimate(constants: Record, filter_state: FilterState, out: Record, index: int) -> None:
    """Fill record `index` of out (ESTIMATE) from the INS."""
    known, now, estimate = constants[0], filter_state[0], out[index]
    rotation = rotation_from(now.attitude)
    back = three(known.imu_arm, 0)
    offset = (-back[0], -back[1], -back[2])  # base_link from the IMU
    arm = to_world(rotation, offset)
    angular_velocity = three(now.angular_velocity, 0)
    velocity = to_chassis(rotation, three(now.velocity, 0))
    moves = add(velocity, cross(angular_velocity, offset))
    jacobian = np.zeros((12, INS_SIZE))
    units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    rows = (rotation.x, rotation.y, rotation.z)
    for j in range(3):
        swung = cross(units[j], arm)
        # v in base axes = R' v: a rotation d of R changes it by R' (v x d).
        tilted = to_chassis(rotation, cross(three(now.velocity, 0), units[j]))
        for k in range(3):
            jacobian[k, INS_ROTATION + j] = swung[k]
            jacobian[3 + k, INS_ROTATION + j] = units[j][k]
            jacobian[6 + k, INS_ROTATION + j] = tilted[k]
            jacobian[6 + k, INS_VELOCITY + j] = rows[j][k]
            jacobian[9 + k, 9 + j] = -known.imu_axes[k, j]
        for k in range(3):
            leaned = cross((known.imu_axes[0, j], known.imu_axes[1, j], known.imu_axes[2, j]), offset)
            jacobian[6 + k, 9 + j] = -leaned[k]
    for k in range(3):
        jacobian[k, INS_POSITION + k] = 1.0
        estimate.position[k] = now.position[k] + arm[k]
        estimate.velocity[k], estimate.angular_velocity[k] = moves[k], angular_velocity[k]
        estimate.gyro_bias[k], estimate.force_bias[k] = now.gyro_bias[k], now.force_bias[k]
    _finish(now, now.attitude, moves, jacobian, estimate, INS_SIZE)
    for k in range(3):  # noise of the gyroscopes
        estimate.covariance[9 + k, 9 + k] += known.gyro_variance
    middle = (moves[0], moves[1] + angular_velocity[2] * known.middle, moves[2])
    speed = math.hypot(middle[0], middle[1])
    estimate.sideslip, estimate.sideslip_variance = 0.0, math.pi**2
    if speed > CRAWL:
        estimate.sideslip = math.atan2(middle[1], abs(middle[0]))
        estimate.sideslip_variance = (
            estimate.covariance[7, 7] + known.middle**2 * estimate.covariance[11, 11]
        ) / speed**2


@part
def _finish(now: Record, attitude: Any, body: Any, jacobian: Any, estimate: Record, size: int) -> None:
    """Fields common to both filters; covariance from its Jacobian over the error states."""
    half = np.zeros((12, size))
    for i in range(12):
        for j in range(size):
            if jacobian[i, j] != 0.0:
                for k in range(size):
                    half[i, k] += jacobian[i, j] * now.covariance[j, k]
    for m in range(12):
        for i in range(m + 1):
            estimate.covariance[i, m] = 0.0
        for k in range(size):
            if jacobian[m, k] != 0.0:
                for i in range(m + 1):
                    estimate.covariance[i, m] += half[i, k] * jacobian[m, k]
        for i in range(m):
            estimate.covariance[m, i] = estimate.covariance[i, m]
    for k in range(4):
        estimate.attitude[k], estimate.odom[k] = attitude[k], now.odom[k]
    estimate.time_ns, estimate.resets, estimate.running = now.time_ns, now.resets, now.running
    estimate.since_fix_s = (now.time_ns - now.fixed_ns) * NS
