"""The page on scenario files names every key, channel, statistic and driver."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from planner.scripted import Program
from proving_ground.scenarios.channels import MOTION, PER_WHEEL, SINGLE
from proving_ground.scenarios.scenario import STATISTICS, Criterion, Driver, Scenario
from terrain.ground import FlatGround
from vehicle_dynamics.control.levers import LeverSettings
from vehicle_dynamics.start import Start
from vehicle_dynamics.vehicle_choice import VehicleChoice

PAGE = (Path(__file__).parents[2] / "docs/scenarios.md").read_text()
DRIVERS = {item.name: item.type for item in fields(Driver)}


@pytest.mark.parametrize("name", [*MOTION, *SINGLE, *PER_WHEEL, *STATISTICS, *DRIVERS])
def test_channels_statistics_and_drivers_are_named(name: str) -> None:
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("kind", [Scenario, FlatGround, VehicleChoice, Start, LeverSettings, Program, Criterion])
def test_keys_are_named(kind: type) -> None:
    missing = [item.name for item in fields(kind) if item.name not in PAGE]  # type: ignore[arg-type]
    assert missing == []
