"""Strapdown INS, loosely coupled with GPS: an error-state EKF of 15 states, similar to robot_localization or PX4.

Its only vehicle model: the rear wheels roll and do not slide. World axes; attitude error as a rotation d:
R becomes (1 + d x) R.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.jit import kernel, part
from proving_ground.kernels.rotation import rotate_quaternion, rotation_from, to_chassis, to_world
from proving_ground.kernels.vector3 import Vector3, add, cross, three
from state_observer.vehicle.constants import ROLLING_SHARE
from state_observer.vehicle.estimate import write_ins_estimate
from state_observer.vehicle.filter_base import FilterBase, gate
from state_observer.vehicle.fusion import doubt, fuse, propagate_covariance
from state_observer.vehicle.layout import (
    GPS_POSITION,
    GPS_VELOCITY,
    INS_FORCE_BIAS,
    INS_GYRO_BIAS,
    INS_POSITION,
    INS_ROTATION,
    INS_SIZE,
    INS_STATE,
    INS_VELOCITY,
    WHEELS,
    FilterState,
    Record,
)
from state_observer.vehicle.settings import InsNoise, InsSettings
from state_observer.vehicle.start import ENOUGH_STILL, STILL_STD, InitialState
from state_observer.vehicle.validation import Reading
from vehicle_dynamics.attitude import rotation_from_rpy
from vehicle_dynamics.motion import heading_of
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_file

Array = NDArray[np.float64]

GRAVITY = 9.81
PATIENCE, DOUBT_SPEED = 5.0, 4.0  # see measurements.py

INS_CONSTANTS = np.dtype(
    [
        ("imu_arm", "f8", 3),  # in base_link [m]
        ("imu_axes", "f8", (3, 3)),  # base_from_imu
        ("gps_arm", "f8", 3),  # from the IMU, base axes [m]
        ("noise", "f8", INS_SIZE),
        ("gps_gate", "f8", 3),
        ("wheel_gate", "f8"),
        ("wheel_variance", "f8"),
        ("side_variance", "f8"),
        ("gyro_variance", "f8"),
        ("middle", "f8"),
    ]
)


class InsFilter(FilterBase):
    """Strapdown INS; position and velocity are those of the IMU."""

    def __init__(self, settings: InsSettings) -> None:
        self._own = settings
        vehicle = VehicleParameters.from_yaml(vehicle_file(settings.vehicle))
        self._wheel_radius = settings.wheel_radius_m or vehicle.wheel.radius_m * ROLLING_SHARE
        self.constants = _constants(settings, vehicle)
        self._axes = self.constants["imu_axes"][0]
        super().__init__(settings, INS_STATE, settings.step_s)

    def clear(self) -> None:
        super().clear()
        self.filter_state["attitude"] = 0.0, 0.0, 0.0, 1.0
        self.filter_state["force"] = 0.0, 0.0, GRAVITY

    def write_estimate(self, out: Any, index: int) -> None:
        write_ins_estimate(self.constants, self.filter_state, out, index)

    def base_angular_velocity(self, angular_velocity: Array) -> Array:
        return np.asarray(self._axes @ angular_velocity)

    @property
    def sideslip_point(self) -> Array:
        """Point in base_link [m] whose sideslip is estimated: the middle of the vehicle."""
        return np.array([float(self.constants["middle"][0]), 0.0, 0.0])

    def wheel_speed(self, rates: Array) -> float:
        return float(0.5 * (rates[2] + rates[3])) * self._wheel_radius

    def _step(self, seconds: float) -> bool:
        strap_down(self.constants, self.filter_state, seconds)
        return math.isfinite(float(self.filter_state["position"][0][0]))

    def _start(self, initial: InitialState) -> None:
        now, known, own = self.filter_state[0], self.constants[0], self._own
        half = 0.5 * initial.heading
        now["attitude"] = 0.0, 0.0, math.sin(half), math.cos(half)
        cosine, sine = math.cos(initial.heading), math.sin(initial.heading)
        arm = known["gps_arm"]
        off = np.array([cosine * arm[0] - sine * arm[1], sine * arm[0] + cosine * arm[1], arm[2]])
        now["position"] = initial.antenna - off
        now["velocity"] = initial.speed * cosine, initial.speed * sine, 0.0
        rests = now["still"] >= ENOUGH_STILL
        if rests:
            now["gyro_bias"] = now["still_angular_velocity"]
        variances = np.zeros(INS_SIZE)
        variances[INS_POSITION : INS_POSITION + 3] = (
            initial.position_variance,
            initial.position_variance,
            initial.up_variance,
        )
        variances[INS_VELOCITY : INS_VELOCITY + 3] = max(initial.speed_variance, 0.2**2)
        variances[INS_ROTATION : INS_ROTATION + 3] = 0.03**2, 0.03**2, initial.heading_variance + 0.02**2
        gyro = (STILL_STD if rests else own.start.gyro_bias_std_radps) ** 2
        variances[INS_GYRO_BIAS : INS_GYRO_BIAS + 3] = gyro
        variances[INS_FORCE_BIAS:] = own.start.force_bias_std_mps2**2
        now["covariance"] = np.diag(variances)

    def _correct_with_imu(self, reading: Reading, passed: float) -> None:
        now = self.filter_state[0]
        now["angular_velocity"] = self._axes @ (reading.values[:3] - now["gyro_bias"])
        now["force"] = self._axes @ (reading.values[3:] - now["force_bias"])

    def _correct_with_encoders(self, reading: Reading, passed: float) -> None:
        if self.is_running and self._own.uses_wheels:
            correct_ins_with_wheels(self.constants, self.filter_state, self.wheel_speed(reading.values[4:8]))

    def _correct_with_gps(self, reading: Reading) -> int:
        return int(correct_ins_with_gps(self.constants, self.filter_state, reading.values, reading.variance))

    def _move_to(self, reading: Reading) -> None:
        now = self.filter_state[0]
        estimate = self.estimate()
        heading = heading_of(estimate["attitude"].tolist())
        arm, covariance = self.constants["gps_arm"][0], now["covariance"]
        off = (
            math.cos(heading) * arm[0] - math.sin(heading) * arm[1],
            math.sin(heading) * arm[0] + math.cos(heading) * arm[1],
        )
        for k in range(2):
            now["position"][k] = reading.values[k] - off[k]
            covariance[INS_POSITION + k, :] = covariance[:, INS_POSITION + k] = 0.0
            covariance[INS_POSITION + k, INS_POSITION + k] = reading.variance[k] + 0.01
            covariance[INS_VELOCITY + k, INS_VELOCITY + k] += 0.5**2
        covariance[INS_ROTATION + 2, INS_ROTATION + 2] += 0.15**2


@kernel
def strap_down(constants: Record, filter_state: FilterState, step: float) -> None:
    """Advance position, velocity and attitude by a step [s] with the latest angular velocity and specific force."""
    known, now = constants[0], filter_state[0]
    rotation = rotation_from(now.attitude)
    angular_velocity, force = three(now.angular_velocity, 0), three(now.force, 0)
    push = to_world(rotation, force)
    heading = math.atan2(rotation.y[0], rotation.x[0])
    transition = np.zeros((INS_SIZE, INS_SIZE))
    for k in range(INS_SIZE):
        transition[k, k] = 1.0
    rows = (rotation.x, rotation.y, rotation.z)
    units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for k in range(3):
        transition[INS_POSITION + k, INS_VELOCITY + k] = step
        leaned = cross(units[k], push)
        for j in range(3):
            transition[INS_VELOCITY + j, INS_ROTATION + k] = step * leaned[j]
            total = 0.0
            for m in range(3):
                total += rows[k][m] * known.imu_axes[m, j]
            transition[INS_VELOCITY + k, INS_FORCE_BIAS + j] = -step * total
            transition[INS_ROTATION + k, INS_GYRO_BIAS + j] = -step * total
    base = (-known.imu_arm[0], -known.imu_arm[1], -known.imu_arm[2])
    before = to_world(rotation, base)
    rotate_quaternion(
        now.attitude, (step * angular_velocity[0], step * angular_velocity[1], step * angular_velocity[2]), now.attitude
    )
    after_rotation = rotation_from(now.attitude)
    after = to_world(after_rotation, base)
    yaw_change = math.atan2(after_rotation.y[0], after_rotation.x[0]) - heading
    yaw_change -= 2.0 * math.pi * round(yaw_change / (2.0 * math.pi))
    went = np.empty(3)
    for k in range(3):
        change = step * (push[k] - (GRAVITY if k == 2 else 0.0))
        moved = step * (now.velocity[k] + 0.5 * change)
        went[k] = moved + after[k] - before[k]
        now.position[k] += moved
        now.velocity[k] += change
        now.acceleration[k] = change / step
    at = now.odom[3] - heading
    cosine, sine = math.cos(at), math.sin(at)
    now.odom[0] += cosine * went[0] - sine * went[1]
    now.odom[1] += sine * went[0] + cosine * went[1]
    now.odom[2] += went[2]
    now.odom[3] += yaw_change
    propagate_covariance(transition, step * known.noise, now.covariance)


@kernel
def correct_ins_with_gps(constants: Record, filter_state: FilterState, fix: Any, variance: Any) -> int:
    """Correct as measurements.correct_with_gps does; returns 1 used, 0 rejected, -1 no position."""
    known, now = constants[0], filter_state[0]
    rotation = rotation_from(now.attitude)
    arm = to_world(rotation, three(known.gps_arm, 0))
    swing = to_world(rotation, cross(three(now.angular_velocity, 0), three(known.gps_arm, 0)))
    error = np.zeros(INS_SIZE)
    used = -1
    for part_of in range(2):
        rows, innovation, noise_variance = np.zeros((3, INS_SIZE)), np.empty(3), np.empty(3)
        count = 0
        vector = arm if part_of == 0 else swing
        for k in range(3):
            if variance[3 * part_of + k] < np.inf:
                row = rows[count]
                row[(INS_POSITION if part_of == 0 else INS_VELOCITY) + k] = 1.0
                _add_attitude_jacobian(vector, k, row)
                present = now.position[k] if part_of == 0 else now.velocity[k]
                innovation[count] = fix[3 * part_of + k] - present - vector[k]
                for j in range(INS_SIZE):
                    innovation[count] -= row[j] * error[j]
                noise_variance[count] = variance[3 * part_of + k]
                count += 1
        if count == 0:
            continue
        sensor = GPS_POSITION if part_of == 0 else GPS_VELOCITY
        if part_of == 1:
            doubt(now, sensor, PATIENCE, now.covariance, INS_VELOCITY, 3, DOUBT_SPEED)
        change = np.zeros(INS_SIZE)
        taken = fuse(now, sensor, rows, innovation, noise_variance, count, known.gps_gate[count - 1], change)
        for j in range(INS_SIZE):
            error[j] += change[j]
        if part_of == 0:
            used = 1 if taken else 0
            if not taken:
                break
    _correct(now, error)
    return used


@kernel
def correct_ins_with_wheels(constants: Record, filter_state: FilterState, speed: float) -> None:
    """Correct with the forward speed [m/s] of the rear axle, and zero lateral and vertical speed there."""
    known, now = constants[0], filter_state[0]
    rotation = rotation_from(now.attitude)
    back = (-known.imu_arm[0], -known.imu_arm[1], -known.imu_arm[2])
    velocity = three(now.velocity, 0)
    body = to_chassis(rotation, velocity)
    moves = add(body, cross(three(now.angular_velocity, 0), back))
    rows, innovation, noise_variance = np.zeros((3, INS_SIZE)), np.empty(3), np.empty(3)
    world = (rotation.x, rotation.y, rotation.z)
    units = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    for j in range(3):
        tilted = to_chassis(rotation, cross(velocity, units[j]))
        axis = (known.imu_axes[0, j], known.imu_axes[1, j], known.imu_axes[2, j])
        swung = cross(axis, back)
        for k in range(3):
            rows[k, INS_VELOCITY + j] = world[j][k]
            rows[k, INS_ROTATION + j] = tilted[k]
            rows[k, INS_GYRO_BIAS + j] = -swung[k]
    for k in range(3):
        innovation[k] = (speed if k == 0 else 0.0) - moves[k]
        noise_variance[k] = known.wheel_variance if k == 0 else known.side_variance
    error = np.zeros(INS_SIZE)
    fuse(now, WHEELS, rows, innovation, noise_variance, 3, known.wheel_gate, error)
    _correct(now, error)


@part
def _add_attitude_jacobian(vector: Vector3, k: int, row: Any) -> None:
    row[INS_ROTATION] += cross((1.0, 0.0, 0.0), vector)[k]
    row[INS_ROTATION + 1] += cross((0.0, 1.0, 0.0), vector)[k]
    row[INS_ROTATION + 2] += cross((0.0, 0.0, 1.0), vector)[k]


@part
def _correct(now: Record, error: Any) -> None:
    rotation = rotation_from(now.attitude)
    rotate_quaternion(now.attitude, to_chassis(rotation, three(error, INS_ROTATION)), now.attitude)
    for k in range(3):
        now.position[k] += error[INS_POSITION + k]
        now.velocity[k] += error[INS_VELOCITY + k]
        now.gyro_bias[k] += error[INS_GYRO_BIAS + k]
        now.force_bias[k] += error[INS_FORCE_BIAS + k]


def _constants(settings: InsSettings, vehicle: VehicleParameters) -> Record:
    known = np.zeros(1, INS_CONSTANTS)
    one, mounts, gates = known[0], settings.mounts, settings.gates
    one["imu_arm"] = mounts.imu_xyz_m
    one["imu_axes"] = rotation_from_rpy(*np.radians(mounts.imu_rpy_deg))
    one["gps_arm"] = np.subtract(mounts.gps_xyz_m, mounts.imu_xyz_m)
    one["noise"] = _noise(settings.noise)
    one["gps_gate"] = [gate(gates.gps_sigma, degrees_of_freedom) for degrees_of_freedom in (1, 2, 3)]
    one["wheel_gate"] = gate(gates.wheel_sigma, 3)
    one["wheel_variance"], one["side_variance"] = settings.wheel_speed_std_mps**2, settings.side_speed_std_mps**2
    one["gyro_variance"] = settings.sensors.gyro_std_radps**2
    one["middle"] = 0.5 * vehicle.wheelbase_m  # from the rear axle; sideslip is estimated there
    return known


def _noise(noise: InsNoise) -> Array:
    psd = np.zeros(INS_SIZE)
    psd[INS_VELOCITY : INS_VELOCITY + 3] = noise.force_mps2
    psd[INS_ROTATION : INS_ROTATION + 3] = noise.gyro_radps
    psd[INS_GYRO_BIAS : INS_GYRO_BIAS + 3] = noise.gyro_bias_radps2
    psd[INS_FORCE_BIAS:] = noise.force_bias_mps3
    return psd
