"""The vehicles that drive, for all tests of this folder."""

from __future__ import annotations

import pytest

from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.single_track import SingleTrack
from vehicle_dynamics.vehicle import Vehicle


@pytest.fixture(scope="session")
def car(parameters: VehicleParameters) -> Hmmwv:
    """The HMMWV with its default powertrain and integrator."""
    return Hmmwv(parameters)


@pytest.fixture(scope="session", params=["hmmwv", "hmmwv_rk4", "hmmwv_map", "single_track"])
def any_vehicle(parameters: VehicleParameters, request: pytest.FixtureRequest) -> Vehicle:
    """Each of the vehicles that a scenario can pick."""
    kinds = {
        "hmmwv": lambda: Hmmwv(parameters),
        "hmmwv_rk4": lambda: Hmmwv(parameters, method="rk4"),
        "hmmwv_map": lambda: Hmmwv(parameters, powertrain="map"),
        "single_track": lambda: SingleTrack(parameters),
    }
    vehicle: Vehicle = kinds[request.param]()
    return vehicle
