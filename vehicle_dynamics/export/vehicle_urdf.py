"""The vehicle for RViz: URDF with base_link, sensor frames, free steering and a body that looks like a vehicle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vehicle_dynamics.export.urdf import Mount, urdf
from vehicle_dynamics.export.vehicle_shapes import vehicle_shapes
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

# In base_link, axes parallel to it: the IMU near the centre of mass, antenna and laser scanner on the roof.
SENSOR_MOUNTS = MappingProxyType(
    {
        "imu_link": Mount((1.7, 0.0, 0.8)),
        "gps_link": Mount((0.3, 0.0, 1.9)),
        "lidar_link": Mount((2.0, 0.0, 2.0)),
    }
)


def vehicle_urdf(
    parameters: VehicleParameters,
    base_in_chassis: Sequence[float] | NDArray[np.float64],
    sensors: Mapping[str, Mount] = SENSOR_MOUNTS,
) -> str:
    """URDF text whose joints are those of joint_positions.JointPositions.

    base_in_chassis [m] is where base_link stands in the chassis frame (Hmmwv.base_in_chassis); sensors are the frames
    to have on base_link, by name.
    """
    mechanism = vehicle_mechanism(parameters, steering_is_free=True)
    shapes = vehicle_shapes(parameters, mechanism)
    return urdf(mechanism, parameters.name, base_in_root=base_in_chassis, mounts=sensors, shapes=shapes)
