"""Model of the driving vehicle for kernels, and its work arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.kernels.vector3 import Vector3
from terrain.contact_plane import SAMPLES
from vehicle_dynamics.drive.brake import BrakeConstants, brake_constants
from vehicle_dynamics.drive.driveline import DrivelineConstants, driveline_constants
from vehicle_dynamics.drive.powertrain import converter_record, map_record
from vehicle_dynamics.driving.body_contact import BodyPoints, body_points
from vehicle_dynamics.driving.state import DRIVING_SIZE, MOVING_SIZE
from vehicle_dynamics.embedded_vehicle import OUT_SIZE, VehicleBodies, Workspace, vehicle_bodies, workspace
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.steering import SteeringBodies, steering_bodies
from vehicle_dynamics.tyre.contact import tyre_records

Array = NDArray[np.float64]

POWERTRAINS = ("converter", "map")


class Servo(NamedTuple):
    """Servo that turns the Pitman arm to the commanded angle."""

    lock: float  # Pitman angle at full steering [rad]
    fastest: float  # [rad/s]
    bandwidth: float  # [rad/s]; critically damped


class Air(NamedTuple):
    """Drag: force = -factor |v| v."""

    factor: float  # [N s^2/m^2]
    centre: Vector3  # where it acts, chassis axes [m]


class DrivingVehicle(NamedTuple):
    """The vehicle in the form that kernels use."""

    bodies: VehicleBodies
    steering: SteeringBodies
    tyre: NDArray[np.void]  # a record of TYRE for each wheel
    brakes: BrakeConstants
    driveline: DrivelineConstants
    powertrain: NDArray[np.void]  # one record of POWERTRAIN
    servo: Servo
    antiroll: tuple[float, float]  # of the front and the rear axle [N m/rad]
    bushing: tuple[float, float]  # of the arms [N m/rad]
    air: Air
    body: BodyPoints
    gravity: float  # [m/s^2]


class DrivingWorkspace(NamedTuple):
    """Work arrays of a step, allocated once."""

    dynamics: Workspace
    accelerations: Array  # 14, see embedded_vehicle.py
    tie_end: Array  # 4 x 9
    wheel_force: Array  # 4 x 6: moment and force on each wheel
    tyre: Array  # 4 x 9, see the columns in stepping.py
    soil: Array  # 16: state of wheels on soft soil after the step
    heights: Array  # of the ground under a wheel
    wheel: Array  # 4 x 6: centre and axis of the wheels, chassis axes
    drive_torque: Array  # 4: from the half shafts
    collision: Array  # 1: push of obstacles on the body [N]
    # 5: torque on the drive shaft, inertia that spins with it, locks and range of the transfer case, and the engine's
    # reaction on the chassis
    shaft: Array
    brake_torque: Array  # 4
    spin_torque: Array  # 4: from the spindles on the wheels
    theta_force: Array  # 4
    chassis_force: Array  # 6
    rates: Array  # 4 x moving state
    middle: Array  # moving state
    last: Array  # whole state before the latest step


def driving_vehicle(
    parameters: VehicleParameters, powertrain: str = "converter", gravity: float = 9.81
) -> DrivingVehicle:
    """Build a vehicle with one of POWERTRAINS; gravity in m/s^2."""
    if powertrain not in POWERTRAINS:
        raise ValueError(f"powertrain: must be one of {', '.join(POWERTRAINS)}, got {powertrain!r}")
    kinds = parameters.powertrain
    record = converter_record(kinds.converter) if powertrain == "converter" else map_record(kinds.map)
    steering, air = parameters.steering, parameters.aerodynamics
    return DrivingVehicle(
        vehicle_bodies(parameters),
        steering_bodies(parameters),
        tyre_records(parameters),
        brake_constants(parameters.brakes, parameters.driveline.hub_ratio, parameters.wheel.radius_m),
        driveline_constants(parameters.driveline),
        np.array([record]),
        Servo(
            float(np.deg2rad(steering.max_pitman_angle_deg)),
            float(np.deg2rad(steering.max_pitman_rate_degps)),
            steering.servo_bandwidth_radps,
        ),
        (parameters.front_suspension.antiroll_nmprad, parameters.rear_suspension.antiroll_nmprad),
        (parameters.front_suspension.bushing_nmprad, parameters.rear_suspension.bushing_nmprad),
        Air(0.5 * air.air_density_kgpm3 * air.drag_area_m2, air.centre_m),
        body_points(parameters.body_contact, _half_width_over_tyres(parameters), _wheel_reach(parameters)),
        float(gravity),
    )


def _wheel_reach(parameters: VehicleParameters) -> float:
    """Distance of the farthest point of a tyre from the chassis origin [m], with room for the suspension's travel."""
    points = (parameters.front_suspension.hardpoints_left_m, parameters.rear_suspension.hardpoints_left_m)
    farthest = max(float(np.linalg.norm(item.wheel_centre)) for item in points)
    return farthest + 2.0 * parameters.wheel.radius_m + parameters.tyre.width_m


def _half_width_over_tyres(parameters: VehicleParameters) -> float:
    """Distance of the tyres' outer edges from the vehicle's middle plane [m]."""
    points = (parameters.front_suspension.hardpoints_left_m, parameters.rear_suspension.hardpoints_left_m)
    return max(item.wheel_centre[1] for item in points) + 0.5 * parameters.tyre.width_m


def driving_workspace(vehicle: DrivingVehicle) -> DrivingWorkspace:
    """New arrays for one thread."""
    tie_end = np.zeros((4, 9))
    tie_end[:, :3] = vehicle.bodies.corners["geometry"]["tie_inner"]
    return DrivingWorkspace(
        workspace(),
        np.zeros(OUT_SIZE),
        tie_end,
        np.zeros((4, 6)),
        np.zeros((4, 9)),
        np.zeros(16),
        np.zeros(SAMPLES),
        np.zeros((4, 6)),
        np.zeros(4),
        np.zeros(1),
        np.zeros(5),
        np.zeros(4),
        np.zeros(4),
        np.zeros(4),
        np.zeros(6),
        np.zeros((4, MOVING_SIZE)),
        np.zeros(MOVING_SIZE),
        np.zeros(DRIVING_SIZE),
    )
