"""Wheels and soils for tests of contact."""

from __future__ import annotations

from typing import Any

import pytest

from settings.share import share_file
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.tyre.contact import tyre_record


@pytest.fixture(scope="session")
def vehicle_parameters() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


@pytest.fixture
def tyre(vehicle_parameters: VehicleParameters) -> Any:
    """The HMMWV's tyre as a record of its own, without rolling resistance: what is measured is the soil's."""
    record = tyre_record(vehicle_parameters).copy()
    record["rolling_resistance"] = 0.0
    return record
