"""`proving-ground observe` beside the scenario of the run: its encoders and its ground, not the usual ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from observed_bags import metrics, run
from proving_ground.recording.observed_run import ObservedRun, observed_run
from proving_ground.settings import SettingsError
from state_observer.kinds import OBSERVER_KINDS
from terrain.ground import height_at

SCENARIO = """version: 1
description: up a hill
world: {flat: {slope_x: 0.1}}
driver: {straight: {speed_mps: 5.0}}
duration_s: 5.0
sensors: [{imu: {}}, {gps: {}}, {encoders: {preset: quadrature, full_brake_pressure_pa: 5.0e+6}}]
"""


def test_encoders_and_ground_are_those_of_the_scenario_beside_the_bag(tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "bag").mkdir()
    said: list[str] = []

    found = observed_run(tmp_path / "bag", said.append)
    settings = found.informed(OBSERVER_KINDS["vehicle"].load())

    assert (settings.sensors.wheel_pulses, settings.wheels_know_direction, settings.full_brake_pa) == (2048, True, 5e6)
    assert height_at(found.ground().kernel(), 10.0, 0.0) == 1.0
    assert said == ["scenario: encoders and ground as in scenario.yaml"]


def test_without_a_usable_scenario_the_usual_values_stay(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "bag").mkdir()

    assert observed_run(tmp_path / "bag", said.append) == ObservedRun()
    assert not said
    (tmp_path / "scenario.yaml").write_text(SCENARIO.replace("{imu: {}}, ", "") + "vehicle: {model: hmmwv_chrono}\n")
    assert observed_run(tmp_path / "bag", said.append) == ObservedRun("hmmwv_chrono")
    assert said == ["scenario: encoders and ground not used: observer: needs a sensor of kind imu"]


def test_a_scenario_that_cannot_be_read_ends_the_observation_in_one_line(drive: Path, tmp_path: Path) -> None:
    shutil.copytree(drive, tmp_path / "bag")
    (tmp_path / "scenario.yaml").write_text("version: 99\n")

    with pytest.raises(SettingsError, match="version"):
        observed_run(tmp_path / "bag", print)
    assert run(tmp_path / "bag", tmp_path / "out") == 2
    assert not (tmp_path / "out").exists()


def test_a_bag_in_the_folder_of_its_run_is_observed_with_its_scenario(drive: Path, tmp_path: Path) -> None:
    shutil.copytree(drive, tmp_path / "bag")
    shutil.copy(drive.parent / "drive.yaml", tmp_path / "scenario.yaml")

    assert run(tmp_path / "bag", tmp_path / "out") == 0

    found = metrics(tmp_path / "out")
    assert found["remarks"] == ["scenario: encoders and ground as in scenario.yaml"]
    assert found["rmse"]["position_xy_m"] < 0.5 * found["gps_rmse_xy_m"]
