"""Constants of the errorEKF's kernels, from settings and from a vehicle at rest."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from state_observer.vehicle.error_dynamics import CONSTANTS
from state_observer.vehicle.filter_base import gate
from state_observer.vehicle.layout import (
    ANGULAR_VELOCITY,
    DISTURBANCE,
    ERROR_SIZE,
    FORCE_BIAS,
    GROUND,
    GYRO_BIAS,
    POSITION,
    VELOCITY,
    WHEEL_RATE,
    YAW,
    Record,
)
from state_observer.vehicle.settings import ModelNoise, VehicleObserverSettings
from terrain.ground import FlatGround
from vehicle_dynamics.attitude import rotation_from_rpy
from vehicle_dynamics.driving.state import PITMAN
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.pedals import Pedals
from vehicle_dynamics.tyre.inflation import tyre_of_wheel

Array = NDArray[np.float64]

ROLLING_SHARE = 0.99  # rolling radius over the unloaded one
PLAUSIBLE = 5.0  # standard deviations of the initial bias; a larger bias is a modelling error


def filter_constants(settings: VehicleObserverSettings, model: Hmmwv, parameters: VehicleParameters) -> Record:
    """Constants for kernels; tyre stiffnesses at the static loads."""
    known = np.zeros(1, CONSTANTS)
    one = known[0]
    road = FlatGround()
    state = model.start(road)
    seen = model.snapshot(state, Pedals(), road)
    loads = seen["load"]
    tyres = [tyre_of_wheel(parameters.tyre, wheel) for wheel in range(4)]
    one["mass"] = loads.sum() / model.kernel.gravity
    one["wheel"] = seen["wheel_centre"][:, :2]
    mass_at_x = float(loads @ seen["wheel_centre"][:, 0] / loads.sum())
    from_mass = one["wheel"] - (mass_at_x, 0.0)
    # What is not the chassis is near the wheels.
    beside_chassis = one["mass"] - parameters.chassis.mass_kg
    one["yaw_inertia"] = parameters.chassis.inertia_kgm2[2] + beside_chassis * (from_mass**2).sum(axis=1).mean()
    for axle in range(2):
        pair = slice(2 * axle, 2 * axle + 2)
        one["axle"][axle] = seen["wheel_centre"][pair, 0].mean()
        one["cornering"][axle] = sum(
            _slope(tyre.lateral.slope_n, load / tyre.nominal_load_n)
            for tyre, load in zip(tyres[pair], loads[pair], strict=True)
        )
    # Inertia about the centre of mass, not the origin.
    one["axle"] -= mass_at_x
    one["radius"] = parameters.wheel.radius_m * ROLLING_SHARE
    one["spin_inertia"] = parameters.wheel.inertia_kgm2[1] + parameters.wheel.extra_spin_inertia_kgm2
    at_mean_load = float(loads.mean()) / parameters.tyre.nominal_load_n
    # Medians: the kernels know one slope for all tyres, whose pressures may differ.
    one["slip_slope"] = np.median([_slope(tyre.longitudinal.slope_n, at_mean_load) for tyre in tyres])
    one["slip_limit"] = np.median([tyre.longitudinal.max_slip[0] for tyre in tyres])
    steered = state.copy()
    steered[PITMAN] = 0.1
    one["steer"] = (model.snapshot(steered, Pedals(), road)["steer_angle"] - seen["steer_angle"]) / 0.1
    natural = 2.0 * math.pi * np.array([settings.heave_hz, settings.pitch_hz, settings.roll_hz])
    one["springs"], one["dampers"] = natural**2, 2.0 * settings.damping * natural
    one["noise"], one["disturbance_time"] = error_noise(settings), disturbance_times(settings.noise)
    one["gravity"], one["base"] = model.kernel.gravity, model.base_in_chassis
    mounts, gates, sensors = settings.mounts, settings.gates, settings.sensors
    one["gps_arm"] = model.base_in_chassis + mounts.gps_xyz_m
    one["imu_arm"] = model.base_in_chassis + mounts.imu_xyz_m
    one["imu_axes"] = rotation_from_rpy(*np.radians(mounts.imu_rpy_deg))
    one["full_jacobian"] = settings.full_position_jacobian
    one["course_as_yaw"] = settings.heading_from == "course"
    one["pulse"] = 2.0 * math.pi / sensors.wheel_pulses
    one["wheel_variance"] = sensors.wheel_std**2
    one["wheel_gate"], one["imu_gate"] = gate(gates.wheel_sigma, 1), gate(gates.imu_sigma, 3)
    one["gps_gate"] = [gate(gates.gps_sigma, degrees_of_freedom) for degrees_of_freedom in (1, 2, 3)]
    one["bias_limit"] = PLAUSIBLE * settings.start.gyro_bias_std_radps, PLAUSIBLE * settings.start.force_bias_std_mps2
    one["input_variance"] = sensors.input_std_mps2**2
    one["course_variance"], one["course_speed"] = sensors.course_std**2, gates.course_above_mps
    one["wheel_limit"] = gates.wheel_limit_mps2 / parameters.wheel.radius_m
    one["pedal_lock"] = math.radians(parameters.steering.max_pitman_angle_deg)
    return known


def _slope(pair: tuple[float, float], load: float) -> float:
    """TMeasy's stiffness at a load over the nominal load, through zero and both values ([Sanjurjo] Section 5.3.2)."""
    return load * (2.0 * pair[0] - 0.5 * pair[1] - (pair[0] - 0.5 * pair[1]) * load)


def error_noise(settings: VehicleObserverSettings) -> Array:
    """PSD of each error state; 0 if it is not estimated."""
    noise, psd = settings.noise, np.zeros(ERROR_SIZE)
    psd[POSITION : POSITION + 2] = noise.drift_m
    psd[YAW] = noise.drift_yaw
    psd[VELOCITY : VELOCITY + 3] = noise.along_mps2, noise.across_mps2, noise.up_mps2
    psd[ANGULAR_VELOCITY : ANGULAR_VELOCITY + 3] = noise.tilt_radps2, noise.tilt_radps2, noise.yaw_radps2
    psd[WHEEL_RATE : WHEEL_RATE + 4] = noise.wheel_radps2
    if settings.estimates_biases:
        psd[GYRO_BIAS : GYRO_BIAS + 3] = noise.gyro_bias_radps2
        psd[FORCE_BIAS : FORCE_BIAS + 3] = noise.force_bias_mps3
    if not settings.knows_ground:
        psd[GROUND] = noise.ground_mps
    if settings.estimates_disturbance:
        psd[DISTURBANCE : DISTURBANCE + 3] = (
            noise.disturbance_mps3,
            noise.disturbance_mps3,
            noise.yaw_disturbance_radps3,
        )
    return psd


def disturbance_times(noise: ModelNoise) -> Array:
    """Correlation times of the longitudinal, lateral and yaw disturbance [s]."""
    return np.array([noise.disturbance_time_s, noise.disturbance_time_s, noise.yaw_disturbance_time_s])
