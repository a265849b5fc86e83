"""The vehicle for RViz: URDF with base_link, sensor frames, free steering and a body that looks like a vehicle."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.equipment import Equipment
from vehicle_dynamics.export.urdf import Mount, urdf
from vehicle_dynamics.export.vehicle_shapes import vehicle_shapes
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism


def sensor_mounts(equipment: Equipment) -> dict[str, Mount]:
    """Frames of sensors on base_link, by name, from the vehicle's file."""
    found = {}
    for position in equipment.sensors:
        roll, pitch, yaw = (math.radians(angle) for angle in position.rpy_deg)
        found[position.frame_name] = Mount(position.xyz_m, (roll, pitch, yaw))
    return found


def vehicle_urdf(
    parameters: VehicleParameters,
    base_in_chassis: Sequence[float] | NDArray[np.float64],
    sensors: Mapping[str, Mount] | None = None,
) -> str:
    """URDF text whose joints are those of joint_positions.JointPositions.

    base_in_chassis [m] is base_link's origin in the chassis frame (Hmmwv.base_in_chassis); sensors are the frames
    on base_link, by name; None: those of the vehicle's file.
    """
    mounts = sensor_mounts(parameters.equipment) if sensors is None else sensors
    mechanism = vehicle_mechanism(parameters, steering_is_free=True)
    shapes = vehicle_shapes(parameters, mechanism)
    return urdf(mechanism, parameters.name, base_in_root=base_in_chassis, mounts=mounts, shapes=shapes)
