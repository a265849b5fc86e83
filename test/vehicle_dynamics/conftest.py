"""The HMMWV's hardpoints, for all tests of this room."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from proving_ground.settings.share import share_file
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.suspension.pitman import PitmanGeometry, PitmanPoints
from vehicle_dynamics.suspension.wishbone import Hardpoints


@pytest.fixture(scope="session")
def hmmwv() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(share_file("config/vehicles/hmmwv_chrono.yaml").read_text())
    return content


@pytest.fixture(scope="session")
def parameters() -> VehicleParameters:
    return VehicleParameters.from_yaml(share_file("config/vehicles/hmmwv_chrono.yaml"))


@pytest.fixture(scope="session")
def hardpoints(hmmwv: dict[str, Any]) -> dict[str, Hardpoints]:
    """Hardpoints of all four corners."""
    result = {}
    for axle in ("front", "rear"):
        points = hmmwv[f"{axle}_suspension"]["hardpoints_left_m"]
        left = Hardpoints(**{name: tuple(value) for name, value in points.items() if not name.startswith("spring")})
        result[f"{axle}_left"], result[f"{axle}_right"] = left, left.mirrored()
    return result


@pytest.fixture(scope="session")
def steering(hmmwv: dict[str, Any]) -> PitmanGeometry:
    points = hmmwv["steering"]
    names = ("pitman_pivot", "pitman_joint", "idler_joint", "idler_pivot")
    return PitmanPoints(**{name: tuple(points[f"{name}_m"]) for name in names}, axis=tuple(points["axis"])).geometry()
