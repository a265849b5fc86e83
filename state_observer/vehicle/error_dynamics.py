"""Error propagation of the multibody model: constants, transition and noise of the errorEKF ([Sanjurjo] Eq. 3.113).

In [Sanjurjo] the errors of all rates are random walks. Here the transition also couples them as in any vehicle: tyres
tie velocity to heading (single-track model) and wheels to the ground, springs tie the body to it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import state_observer.vehicle.layout as at
from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import Rotation, rotation_from, to_chassis
from proving_ground.kernels.vector3 import vector
from state_observer.vehicle.fusion import propagate_covariance
from state_observer.vehicle.layout import FilterState, Record
from vehicle_dynamics.driving.state import PITMAN
from vehicle_dynamics.vehicle_state import ANGULAR_VELOCITY, ATTITUDE, POSITION, SPIN_RATE, VELOCITY

CONSTANTS = np.dtype(
    [
        ("mass", "f8"),
        ("yaw_inertia", "f8"),
        ("cornering", "f8", 2),  # front and rear axle: lateral force over slip angle [N/rad]
        ("axle", "f8", 2),  # x of the axles in the chassis frame [m]
        ("radius", "f8"),
        ("spin_inertia", "f8"),
        ("slip_slope", "f8"),  # of one tyre: longitudinal force over slip [N]
        ("slip_limit", "f8"),  # slip at the largest force
        ("wheel", "f8", (4, 2)),  # positions in the chassis frame [m]
        ("steer", "f8", 4),  # wheel angle over Pitman angle
        ("springs", "f8", 3),  # heave, pitch, roll: square of the natural frequency [rad^2/s^2]
        ("dampers", "f8", 3),  # 2 zeta omega [rad/s]
        ("noise", "f8", at.ERROR_SIZE),  # PSD of each error state
        ("disturbance_time", "f8", 3),
        ("bias_limit", "f8", 2),  # gyroscopes, accelerometers
        ("gravity", "f8"),
        ("base", "f8", 3),  # base_link in the chassis [m]
        ("gps_arm", "f8", 3),  # in the chassis [m]
        ("imu_arm", "f8", 3),
        ("imu_axes", "f8", (3, 3)),  # chassis_from_imu
        ("full_jacobian", "f8"),  # 1: Eq. 5.46, 0: Eq. 5.47
        ("course_as_yaw", "f8"),
        ("pulse", "f8"),  # width of a pulse [rad]
        ("wheel_variance", "f8"),
        ("wheel_gate", "f8"),
        ("imu_gate", "f8"),
        ("gps_gate", "f8", 3),  # with 1, 2 and 3 degrees of freedom
        ("input_variance", "f8"),
        ("course_variance", "f8"),
        ("course_speed", "f8"),
        ("wheel_limit", "f8"),  # [rad/s^2]
        ("pedal_lock", "f8"),  # Pitman angle of full steering [rad]
    ]
)
SLIP_ERROR = 0.3  # relative uncertainty of the model's wheel slip
SLOWEST = 2.0  # [m/s]: lower bound of the speed in slips


@kernel
def grow(constants: Record, filter_state: FilterState, before: Any, step: float) -> None:
    """Update accelerations, odometry and disturbance after a model step [s], and propagate the covariance.

    before (62) is the model's state at the beginning of the step.
    """
    known, now = constants[0], filter_state[0]
    state = now.state
    rotation = rotation_from(state[ATTITUDE])
    disturbance = (now.disturbance[0], now.disturbance[1], 0.0)
    rows = (rotation.x, rotation.y, rotation.z)
    for k in range(3):
        pushed = rows[k][0] * disturbance[0] + rows[k][1] * disturbance[1]
        state[VELOCITY][k] += step * pushed
        now.acceleration[k] = (state[VELOCITY][k] - before[VELOCITY][k]) / step
        now.angular_acceleration[k] = (state[ANGULAR_VELOCITY][k] - before[ANGULAR_VELOCITY][k]) / step
    state[ANGULAR_VELOCITY][2] += step * now.disturbance[2]
    now.angular_acceleration[2] += now.disturbance[2]
    _odometry(known, now, before, rotation)
    transition = np.zeros((at.ERROR_SIZE, at.ERROR_SIZE))
    for k in range(at.ERROR_SIZE):
        transition[k, k] = 1.0
    _kinematics(rotation, state, step, transition)
    noise = np.empty(at.ERROR_SIZE)
    for k in range(at.ERROR_SIZE):
        noise[k] = step * known.noise[k]
    _tyres(known, rotation, state, step, transition, noise)
    for k in range(3):
        transition[at.DISTURBANCE + k, at.DISTURBANCE + k] = math.exp(-step / known.disturbance_time[k])
        now.disturbance[k] *= transition[at.DISTURBANCE + k, at.DISTURBANCE + k]
    for k in range(3):
        noise[at.ANGULAR_VELOCITY + k] *= math.exp(now.noise_inflation[3])
    noise[at.DISTURBANCE] *= math.exp(now.noise_inflation[0])
    noise[at.DISTURBANCE + 1] *= math.exp(now.noise_inflation[1])
    noise[at.VELOCITY + 1] *= math.exp(now.noise_inflation[1])
    noise[at.VELOCITY + 2] *= math.exp(now.noise_inflation[2])
    noise[at.DISTURBANCE + 2] *= math.exp(now.noise_inflation[3])
    # Errors from slip, rolling radius and gyroscope scale grow with distance and rotation, not with time.
    speed, yaw_rate = math.hypot(state[VELOCITY][0], state[VELOCITY][1]), abs(state[ANGULAR_VELOCITY][2])
    noise[at.POSITION] *= speed
    noise[at.POSITION + 1] *= speed
    noise[at.YAW] *= yaw_rate
    propagate_covariance(transition, noise, now.covariance)


@part
def _odometry(known: Record, now: Record, before: Any, rotation: Rotation) -> None:
    """Add the motion of base_link in the step, along the heading of the odometry."""
    old = rotation_from(before[ATTITUDE])
    yaw_change = math.atan2(rotation.y[0], rotation.x[0]) - math.atan2(old.y[0], old.x[0])
    yaw_change -= 2.0 * math.pi * round(yaw_change / (2.0 * math.pi))
    offset = now.odom[3] - math.atan2(old.y[0], old.x[0])
    cosine, sine = math.cos(offset), math.sin(offset)
    went = np.empty(3)
    for k in range(3):
        new_row = rotation.x if k == 0 else (rotation.y if k == 1 else rotation.z)
        old_row = old.x if k == 0 else (old.y if k == 1 else old.z)
        went[k] = now.state[POSITION][k] - before[POSITION][k]
        for j in range(3):
            went[k] += (new_row[j] - old_row[j]) * known.base[j]
    now.odom[0] += cosine * went[0] - sine * went[1]
    now.odom[1] += sine * went[0] + cosine * went[1]
    now.odom[2] += went[2]
    now.odom[3] += yaw_change


@part
def _kinematics(rotation: Rotation, state: Any, step: float, transition: Any) -> None:
    """Jacobian of p' = R v; rotation of the levelled heading frame; wheel angles."""
    heading = math.atan2(rotation.y[0], rotation.x[0])
    cosine, sine = math.cos(heading), math.sin(heading)
    rows = (rotation.x, rotation.y, rotation.z)
    velocity = vector(state[VELOCITY])
    # World axes of the attitude errors: roll about (c, s, 0), pitch about (-s, c, 0), yaw about z.
    for k in range(3):
        for j in range(3):
            transition[at.POSITION + k, at.VELOCITY + j] += step * rows[k][j]
    transition[at.POSITION, at.YAW] -= step * velocity[1]
    transition[at.POSITION + 1, at.YAW] += step * velocity[0]
    along, across = cosine * velocity[0] + sine * velocity[1], cosine * velocity[1] - sine * velocity[0]
    transition[at.POSITION + 2, at.ROLL] += step * across
    transition[at.POSITION + 2, at.PITCH] -= step * along
    for j in range(3):
        transition[at.ROLL, at.ANGULAR_VELOCITY + j] += step * (cosine * rows[0][j] + sine * rows[1][j])
        transition[at.PITCH, at.ANGULAR_VELOCITY + j] += step * (cosine * rows[1][j] - sine * rows[0][j])
        transition[at.YAW, at.ANGULAR_VELOCITY + j] += step * rows[2][j]
    transition[at.ROLL, at.PITCH] += step * state[ANGULAR_VELOCITY][2]
    transition[at.PITCH, at.ROLL] -= step * state[ANGULAR_VELOCITY][2]
    for k in range(4):
        transition[at.WHEEL + k, at.WHEEL_RATE + k] += step


@part
def _tyres(known: Record, rotation: Rotation, state: Any, step: float, transition: Any, noise: Any) -> None:
    """Single-track model for lateral motion, wheels that follow the ground, springs under the body.

    A wheel follows the ground except for its slip, which the model knows to within SLIP_ERROR.
    """
    velocity = to_chassis(rotation, vector(state[VELOCITY]))
    speed = velocity[0] if abs(velocity[0]) > 1e-9 else 1e-9
    floor = max(abs(speed), SLOWEST)
    side, yaw = side_force_jacobian(known, floor)
    # (lateral speed, yaw rate)' = A (lateral speed, yaw rate) + c: backward Euler, stable at any speed.
    a11, a12 = 1.0 - step * side[0], -step * (side[1] - speed)
    a21, a22 = -step * yaw[0], 1.0 - step * yaw[1]
    scale = 1.0 / (a11 * a22 - a12 * a21)
    vy, wz = at.VELOCITY + 1, at.ANGULAR_VELOCITY + 2
    transition[vy, vy], transition[vy, wz] = scale * a22, -scale * a12
    transition[wz, vy], transition[wz, wz] = -scale * a21, scale * a11
    transition[vy, at.DISTURBANCE + 1] = step * scale * a22
    transition[vy, at.VELOCITY] = -step * state[ANGULAR_VELOCITY][2] * scale * a22
    transition[wz, at.DISTURBANCE + 1] = -step * scale * a21
    transition[vy, at.DISTURBANCE + 2], transition[wz, at.DISTURBANCE + 2] = -step * scale * a12, step * scale * a11
    transition[at.VELOCITY, vy] += step * state[ANGULAR_VELOCITY][2]
    transition[at.VELOCITY, wz] += step * velocity[1]
    transition[at.VELOCITY, at.DISTURBANCE] += step
    for k in range(3):
        position = (at.POSITION + 2, at.PITCH, at.ROLL)[k]
        rate = (at.VELOCITY + 2, at.ANGULAR_VELOCITY + 1, at.ANGULAR_VELOCITY)[k]
        transition[rate, position] -= step * known.springs[k]
        transition[rate, rate] -= step * known.dampers[k]
    for k in range(4):
        angle = known.steer[k] * state[PITMAN]
        cosine, sine = math.cos(angle), math.sin(angle)
        x, y = known.wheel[k, 0], known.wheel[k, 1]
        rolls = cosine * (velocity[0] - y * state[ANGULAR_VELOCITY][2]) + sine * (
            velocity[1] + x * state[ANGULAR_VELOCITY][2]
        )
        slip = (known.radius * state[SPIN_RATE][k] - rolls) / max(abs(rolls), SLOWEST)
        # Beyond the slip of the largest force a wheel no longer follows the ground.
        grip = math.exp(-((slip / known.slip_limit) ** 2))
        follows = known.slip_slope * known.radius**2 / (known.spin_inertia * floor) * grip
        keeps = math.exp(-step * follows)
        rate_error = SLIP_ERROR * slip * max(abs(rolls), SLOWEST) / known.radius
        noise[at.WHEEL_RATE + k] += (1.0 - keeps * keeps) * rate_error * rate_error
        share = (1.0 - keeps) / known.radius
        transition[at.WHEEL_RATE + k, at.WHEEL_RATE + k] = keeps
        transition[at.WHEEL_RATE + k, at.VELOCITY] = share * cosine
        transition[at.WHEEL_RATE + k, at.VELOCITY + 1] = share * sine
        transition[at.WHEEL_RATE + k, at.ANGULAR_VELOCITY + 2] = share * (sine * x - cosine * y)


@part
def side_force_jacobian(known: Record, speed: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Jacobian of lateral [m/s^2] and yaw acceleration [rad/s^2] from tyres over lateral speed and yaw rate."""
    front, rear = known.cornering[0] / speed, known.cornering[1] / speed
    ahead, behind = known.axle[0], known.axle[1]
    swing = ahead * front + behind * rear
    return (
        (-(front + rear) / known.mass, -swing / known.mass),
        (-swing / known.yaw_inertia, -(ahead * ahead * front + behind * behind * rear) / known.yaw_inertia),
    )


BIASES = slice(at.GYRO_BIAS, at.FORCE_BIAS + 3)
