"""Formats of a vehicle's rigid-body model, by name: mjcf (MuJoCo, loops closed) and urdf (RViz, loops open)."""

from __future__ import annotations

from collections.abc import Callable

from vehicle_dynamics.export.mjcf import mjcf
from vehicle_dynamics.export.vehicle_urdf import vehicle_urdf
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism


def _mjcf(parameters: VehicleParameters) -> str:
    return mjcf(vehicle_mechanism(parameters), parameters.name)


def _urdf(parameters: VehicleParameters) -> str:
    """URDF with base_link under the rear axle at rest, which only the dynamics know."""
    return vehicle_urdf(parameters, Hmmwv(parameters).base_in_chassis)


FORMATS: dict[str, Callable[[VehicleParameters], str]] = {"mjcf": _mjcf, "urdf": _urdf}
