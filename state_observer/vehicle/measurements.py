"""Sensor models of the errorEKF ([Sanjurjo] Section 5.6) and their Jacobians over the error states, in kernels.

With R world_from_chassis and a small rotation d of the chassis in world axes, R a becomes R a + d x (R a).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import state_observer.vehicle.layout as at
from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import Rotation, rotate_quaternion, rotation_from, to_chassis, to_world
from proving_ground.kernels.vector3 import Vector3, add, cross, three, vector
from state_observer.vehicle.error_dynamics import SLOWEST, side_force_jacobian
from state_observer.vehicle.fusion import apply_scalar, doubt, fuse, inflated, marginal_nis
from state_observer.vehicle.layout import FilterState, Record
from vehicle_dynamics.driving.state import STUCK
from vehicle_dynamics.vehicle_state import ANGULAR_VELOCITY, ATTITUDE, POSITION, SPIN, SPIN_RATE, VELOCITY

SLIPS_FOR_NS = 300_000_000
PATIENCE = 5.0  # consecutive samples rejected by a gate
DOUBT_SPEED, DOUBT_ANGULAR_VELOCITY, DOUBT_DISTURBANCE = (
    4.0,
    0.25,
    9.0,
)  # variances added after that [m^2/s^2, rad^2/s^2, m^2/s^4]
SWINGS_FOR, SETTLED = 0.25, 0.05  # decay time after a start [s], share at which it has settled
SWING_ANGULAR_VELOCITY, SWING_FORCE = 0.1, 1.0  # standard deviations at the start [rad/s], [m/s^2]
MAY_STAND_MPS = 0.3  # a slower vehicle that brakes and whose wheels rest is standing
BRAKED = 0.02  # pedal; unbraked, a vehicle moves off before the first pulse of its wheels
STILL_SPEED, STILL_ANGULAR_VELOCITY = 1e-4, 4e-8  # variances of a standing vehicle's velocity and yaw rate


@kernel
def correct_with_gps(constants: Record, filter_state: FilterState, fix: Any, variance: Any) -> int:
    """Correct with position and velocity (east, north, up) in fix (6), with variances (6); infinite: element ignored.

    Returns 1 if the position was used, 0 if it was rejected, -1 if there was none.
    """
    known, now = constants[0], filter_state[0]
    rotation = rotation_from(now.state[ATTITUDE])
    arm = to_world(rotation, three(known.gps_arm, 0))
    error = np.zeros(at.ERROR_SIZE)
    rows, innovation, noise_variance = np.zeros((3, at.ERROR_SIZE)), np.empty(3), np.empty(3)
    count = 0
    for k in range(3):
        if variance[k] < np.inf:
            row = rows[count]
            row[at.POSITION + k] = 1.0
            if k == 2:
                row[at.GROUND] = 1.0
            if known.full_jacobian > 0.0:  # Eq. 5.46, else Eq. 5.47
                _add_attitude_jacobian(rotation, arm, k, row)
            innovation[count] = fix[k] - now.state[POSITION][k] - arm[k] - (now.ground if k == 2 else 0.0)
            noise_variance[count] = variance[k]
            count += 1
    used = -1
    if count > 0:
        gate = known.gps_gate[count - 1]
        used = 1 if fuse(now, at.GPS_POSITION, rows, innovation, noise_variance, count, gate, error) else 0
    if used != 0:  # do not use the velocity of a rejected position
        _velocity(known, now, rotation, arm, fix, variance, error)
    correct(now, error, known.bias_limit)
    return used


@part
def _velocity(
    known: Record, now: Record, rotation: Rotation, arm: Vector3, fix: Any, variance: Any, error: Any
) -> None:
    """GPS velocity ([Sanjurjo] Eqs. 5.49-5.51), and the course as yaw."""
    world_angular_velocity = to_world(rotation, vector(now.state[ANGULAR_VELOCITY]))
    velocity = add(vector(now.state[VELOCITY]), cross(world_angular_velocity, arm))
    rows, innovation, noise_variance = np.zeros((3, at.ERROR_SIZE)), np.empty(3), np.empty(3)
    # Velocity follows position within one sample: innovations are relative to the error estimated so far.
    count = 0
    body = (rotation.x, rotation.y, rotation.z)
    lever = three(known.gps_arm, 0)
    for k in range(3):
        if variance[3 + k] < np.inf:
            row = rows[count]
            for j in range(3):
                row[at.VELOCITY + j] = body[k][j]
            by_rate = cross(lever, body[k])  # d/dw of (R (w x l))_k
            for j in range(3):
                row[at.ANGULAR_VELOCITY + j] = by_rate[j]
            # As in Eq. 5.50, there is no attitude term when the course gives the yaw.
            if known.course_as_yaw == 0.0:
                _add_attitude_jacobian(rotation, velocity, k, row)
            innovation[count], noise_variance[count] = fix[3 + k] - velocity[k], variance[3 + k]
            count += 1
    if count > 0:
        doubt(now, at.GPS_VELOCITY, PATIENCE, now.covariance, at.VELOCITY, 3, DOUBT_SPEED)
        for k in range(count):
            for j in range(at.ERROR_SIZE):
                innovation[k] -= rows[k, j] * error[j]
        change = np.zeros(at.ERROR_SIZE)
        fuse(now, at.GPS_VELOCITY, rows, innovation, noise_variance, count, known.gps_gate[count - 1], change)
        for j in range(at.ERROR_SIZE):
            error[j] += change[j]
    speed = math.hypot(fix[3], fix[4])
    if known.course_as_yaw > 0.0 and speed > known.course_speed and variance[3] < np.inf and variance[4] < np.inf:
        row = np.zeros((1, at.ERROR_SIZE))
        row[0, at.YAW] = 1.0
        # The antenna's course and the vehicle's yaw differ by the model's sideslip at the antenna.
        course_error = math.atan2(fix[4], fix[3]) - math.atan2(velocity[1], velocity[0]) - error[at.YAW]
        innovation[0] = course_error - 2.0 * math.pi * round(course_error / (2.0 * math.pi))
        noise_variance[0] = 0.5 * (variance[3] + variance[4]) / (speed * speed) + known.course_variance
        change = np.zeros(at.ERROR_SIZE)
        fuse(now, at.COURSE, row, innovation, noise_variance, 1, known.gps_gate[0], change)
        for j in range(at.ERROR_SIZE):
            error[j] += change[j]


@kernel
def correct_with_imu(constants: Record, filter_state: FilterState, reading: Any, variance: Any) -> None:
    """Correct with angular velocity and specific force in reading (6), sensor axes; variance (6), infinite: ignored.

    Gyroscopes as Eqs. 5.62-5.64. Accelerometers as attitude information (Eqs. 5.65-5.68), and as a measurement of the
    disturbance and of the tyres' lateral forces.
    """
    known, now = constants[0], filter_state[0]
    rotation = rotation_from(now.state[ATTITUDE])
    angular_velocity, arm = vector(now.state[ANGULAR_VELOCITY]), three(known.imu_arm, 0)
    error, rows = np.zeros(at.ERROR_SIZE), np.zeros((3, at.ERROR_SIZE))
    innovation, noise_variance = np.empty(3), np.empty(3)
    # After a start the body swings to the model's equilibrium.
    swing = math.exp((now.started_ns - now.time_ns) * 1e-9 / SWINGS_FOR)
    count = 0
    for k in range(3):
        if variance[k] < np.inf:
            row = rows[count]
            expected = now.gyro_bias[k]
            for j in range(3):
                row[at.ANGULAR_VELOCITY + j] = known.imu_axes[j, k]
                expected += known.imu_axes[j, k] * angular_velocity[j]
            row[at.GYRO_BIAS + k] = 1.0
            innovation[count], noise_variance[count] = (
                reading[k] - expected,
                variance[k] + (SWING_ANGULAR_VELOCITY * swing) ** 2,
            )
            count += 1
    if count > 0:
        doubt(now, at.GYRO, PATIENCE, now.covariance, at.ANGULAR_VELOCITY, 3, DOUBT_ANGULAR_VELOCITY)
        fuse(now, at.GYRO, rows, innovation, noise_variance, count, known.imu_gate, error)
        if swing < SETTLED:
            now.noise_inflation[3] = inflated(now.noise_inflation[3], now.last_nis[at.GYRO] / count)
    felt = (now.acceleration[0], now.acceleration[1], now.acceleration[2] + known.gravity)
    force = to_chassis(rotation, felt)
    force = add(
        force,
        add(cross(three(now.angular_acceleration, 0), arm), cross(angular_velocity, cross(angular_velocity, arm))),
    )
    heading = math.atan2(rotation.y[0], rotation.x[0])
    axes = ((math.cos(heading), math.sin(heading), 0.0), (-math.sin(heading), math.cos(heading), 0.0))
    # Only gravity rotates in chassis axes with roll and pitch; tyre forces are fixed to them. (Eq. 5.67 rotates all.)
    tilted = (
        to_chassis(rotation, cross((0.0, 0.0, known.gravity), axes[0])),
        to_chassis(rotation, cross((0.0, 0.0, known.gravity), axes[1])),
    )
    velocity = to_chassis(rotation, vector(now.state[VELOCITY]))
    side, _ = side_force_jacobian(known, max(abs(velocity[0]), 2.0 * SLOWEST))
    inputs = known.input_variance * math.exp(now.noise_inflation[0])
    count = 0
    rows = np.zeros((3, at.ERROR_SIZE))
    for k in range(3):
        if variance[3 + k] < np.inf:
            row = rows[count]
            expected = now.force_bias[k]
            for j in range(3):
                axis = known.imu_axes[j, k]
                expected += axis * force[j]
                row[at.ROLL] += axis * tilted[0][j]
                row[at.PITCH] += axis * tilted[1][j]
            row[at.FORCE_BIAS + k] = 1.0
            row[at.DISTURBANCE], row[at.DISTURBANCE + 1] = known.imu_axes[0, k], known.imu_axes[1, k]
            row[at.VELOCITY + 1] = known.imu_axes[1, k] * side[0]
            row[at.ANGULAR_VELOCITY + 2] = known.imu_axes[1, k] * side[1]
            row[at.POSITION + 2] = -known.imu_axes[2, k] * known.springs[0]  # heave acts at once
            row[at.VELOCITY + 2] = -known.imu_axes[2, k] * known.dampers[0]
            innovation[count] = reading[3 + k] - expected
            noise_variance[count] = variance[3 + k] + known.imu_axes[0, k] ** 2 * inputs + (SWING_FORCE * swing) ** 2
            for j in range(at.ERROR_SIZE):
                innovation[count] -= row[j] * error[j]
            nis = marginal_nis(now.covariance, row, innovation[count], noise_variance[count])
            for j in range(3):
                if known.imu_axes[j, k] ** 2 > 0.5 and swing < SETTLED:  # the chassis axis nearest to this sensor axis
                    now.noise_inflation[j] = inflated(now.noise_inflation[j], nis)
            count += 1
    if count > 0:
        doubt(now, at.ACCELEROMETER, PATIENCE, now.covariance, at.DISTURBANCE, 2, DOUBT_DISTURBANCE)
        change = np.zeros(at.ERROR_SIZE)
        fuse(now, at.ACCELEROMETER, rows, innovation, noise_variance, count, known.imu_gate, change)
        for j in range(at.ERROR_SIZE):
            error[j] += change[j]
    correct(now, error, known.bias_limit)


@kernel
def correct_with_wheels(
    constants: Record, filter_state: FilterState, moved: Any, rates: Any, passed: float, time_ns: int
) -> int:
    """Correct with wheel angles from pulses ([Sanjurjo] Eqs. 5.69-5.73), each with its own gate.

    Returns the number of rejected wheels.

    moved (4): change of each count [rad]; rates (4): measured [rad/s]; passed: time since the last sample [s]. A wheel
    whose count changes has just passed an edge: it is beyond it by no more than its rotation between samples. An
    unchanged count is informative only if the model has the wheel outside the current pulse. A rejected wheel is reset
    to its measured angle: only relative rotation matters.
    """
    known, now = constants[0], filter_state[0]
    error, row, innovation, noise_variance = (
        np.zeros(at.ERROR_SIZE),
        np.zeros((1, at.ERROR_SIZE)),
        np.empty(1),
        np.empty(1),
    )
    rejected = 0
    for k in range(4):
        change = abs(rates[k] - now.counted_rate[k]) / max(passed, 1e-3)
        noise = 2.0 * known.pulse / max(passed, 1e-3) ** 2  # of that change, by quantisation
        if passed > 0.0 and change > known.wheel_limit + noise:
            now.slipping_ns[k] = time_ns + SLIPS_FOR_NS
        if time_ns < now.slipping_ns[k]:
            _take_up(now, k, known.pulse)
            now.gated[at.WHEELS] += 1.0
            rejected += 1
            continue
        low, width = now.rotated[k], known.pulse
        if moved[k] != 0.0:
            width = min(max(abs(now.state[SPIN_RATE][k]), abs(rates[k])) * passed, known.pulse)
            if moved[k] < 0.0:
                low += known.pulse - width
        innovation[0] = low + 0.5 * width - now.state[SPIN][k] - error[at.WHEEL + k]
        if moved[k] == 0.0 and abs(innovation[0]) <= 0.5 * width:
            continue
        row[0, :] = 0.0
        row[0, at.WHEEL + k] = 1.0
        noise_variance[0] = known.wheel_variance + width * width / 12.0  # uniform distribution
        one = np.zeros(at.ERROR_SIZE)
        if fuse(now, at.WHEELS, row, innovation, noise_variance, 1, known.wheel_gate, one):
            for j in range(at.ERROR_SIZE):
                error[j] += one[j]
        else:
            now.slipping_ns[k] = time_ns + SLIPS_FOR_NS
            _take_up(now, k, known.pulse)
            error[at.WHEEL + k] = 0.0
            rejected += 1
    _stand(now, rates, error)
    correct(now, error, known.bias_limit)
    return rejected


@part
def _stand(now: Record, rates: Any, error: Any) -> None:
    """Zero-velocity update at standstill: otherwise the residual gyroscope bias rotates the vehicle slowly."""
    body = to_chassis(rotation_from(now.state[ATTITUDE]), vector(now.state[VELOCITY]))
    if math.hypot(body[0], body[1]) > MAY_STAND_MPS or now.pedals[2] < BRAKED:
        return
    for k in range(4):
        if rates[k] != 0.0:
            return
    row = np.zeros(at.ERROR_SIZE)
    for index in (at.VELOCITY, at.VELOCITY + 1, at.ANGULAR_VELOCITY + 2):
        row[:] = 0.0
        row[index] = 1.0
        present = now.state[ANGULAR_VELOCITY][2] if index == at.ANGULAR_VELOCITY + 2 else body[index - at.VELOCITY]
        apply_scalar(
            now.covariance,
            row,
            -present,
            STILL_ANGULAR_VELOCITY if index == at.ANGULAR_VELOCITY + 2 else STILL_SPEED,
            error,
        )


@part
def _take_up(now: Record, wheel: int, pulse: float) -> None:
    """Reset the wheel's estimated angle to the measured one, with the uncertainty of a pulse."""
    angle = now.rotated[wheel] + 0.5 * pulse
    now.state[STUCK][wheel] += angle - now.state[SPIN][wheel]
    now.state[SPIN][wheel] = angle
    for j in range(at.ERROR_SIZE):
        now.covariance[at.WHEEL + wheel, j] = 0.0
        now.covariance[j, at.WHEEL + wheel] = 0.0
    now.covariance[at.WHEEL + wheel, at.WHEEL + wheel] = pulse * pulse / 12.0


@part
def _add_attitude_jacobian(rotation: Rotation, vector: Vector3, k: int, row: Any) -> None:
    """Add the Jacobian of element k of a chassis-fixed vector in world axes over roll, pitch and yaw."""
    heading = math.atan2(rotation.y[0], rotation.x[0])
    cosine, sine = math.cos(heading), math.sin(heading)
    row[at.ROLL] += cross((cosine, sine, 0.0), vector)[k]
    row[at.PITCH] += cross((-sine, cosine, 0.0), vector)[k]
    row[at.YAW] += cross((0.0, 0.0, 1.0), vector)[k]


@part
def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


@part
def correct(now: Record, error: Any, limits: Any) -> None:
    """Remove the estimated error from the model ([Sanjurjo] Eq. 5.75). Its coordinates are relative: loops stay closed.

    Wheels and suspensions move with the chassis. A brake that holds a wheel holds it at its corrected angle.
    """
    state = now.state
    rotation = rotation_from(state[ATTITUDE])
    velocity = to_chassis(rotation, vector(state[VELOCITY]))
    heading = math.atan2(rotation.y[0], rotation.x[0])
    cosine, sine = math.cos(heading), math.sin(heading)
    rotation_vector = (
        cosine * error[at.ROLL] - sine * error[at.PITCH],
        sine * error[at.ROLL] + cosine * error[at.PITCH],
        error[at.YAW],
    )
    rotate_quaternion(state[ATTITUDE], to_chassis(rotation, rotation_vector), state[ATTITUDE])
    moved = (
        velocity[0] + error[at.VELOCITY],
        velocity[1] + error[at.VELOCITY + 1],
        velocity[2] + error[at.VELOCITY + 2],
    )
    world = to_world(rotation_from(state[ATTITUDE]), moved)
    stuck = state[STUCK]
    for k in range(3):
        state[POSITION][k] += error[at.POSITION + k]
        state[VELOCITY][k] = world[k]
        state[ANGULAR_VELOCITY][k] += error[at.ANGULAR_VELOCITY + k]
        now.gyro_bias[k] = _within(now.gyro_bias[k] + error[at.GYRO_BIAS + k], limits[0])
        now.force_bias[k] = _within(now.force_bias[k] + error[at.FORCE_BIAS + k], limits[1])
    for k in range(4):
        state[SPIN][k] += error[at.WHEEL + k]
        stuck[k] += error[at.WHEEL + k]
        state[SPIN_RATE][k] += error[at.WHEEL_RATE + k]
    now.ground += error[at.GROUND]
    for k in range(3):
        now.disturbance[k] += error[at.DISTURBANCE + k]
