"""The vehicle of a recording is that of the scenario beside its bag."""

from __future__ import annotations

from pathlib import Path

import pytest

from proving_ground.recording.run_vehicle import vehicle_of_run
from proving_ground.settings import SettingsError
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE, vehicle_files

OTHER = next(name for name in vehicle_files() if name != DEFAULT_VEHICLE)
SCENARIO = f"""version: 1
description: a short drive
world: {{flat: {{friction: 0.8}}}}
vehicle: {{model: {OTHER}}}
driver: {{straight: {{speed_mps: 5.0}}}}
duration_s: 1.0
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run" / "bag").mkdir(parents=True)
    (tmp_path / "run" / "bag" / "bag_0.mcap").touch()
    return tmp_path / "run"


@pytest.mark.parametrize("path", ["", "bag", "bag/bag_0.mcap"])
def test_the_scenario_in_the_folder_of_a_run_names_the_vehicle(run: Path, path: str) -> None:
    (run / "scenario.yaml").write_text(SCENARIO)

    assert vehicle_of_run(run / path) == OTHER


def test_a_bag_without_a_scenario_is_of_the_default_vehicle(run: Path) -> None:
    assert vehicle_of_run(run / "bag") == DEFAULT_VEHICLE


def test_a_scenario_that_cannot_be_read_is_one_line(run: Path) -> None:
    (run / "scenario.yaml").write_text("version: 99\n")

    with pytest.raises(SettingsError, match="version"):
        vehicle_of_run(run)
