"""The vehicle of a recorded run, from the scenario file beside its bag."""

from __future__ import annotations

from pathlib import Path

from proving_ground.recording.parts import SCENARIO
from proving_ground.scenarios.scenario import load_scenario
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE


def scenario_of_run(path: Path) -> Path | None:
    """The scenario file of the run that a recording is of, if there is one.

    path: of a bag, of a file in it, or of a run's folder.
    """
    path = path.resolve()
    folders = (path, path.parent) if path.is_dir() else (path.parent, path.parent.parent)
    return next((folder / SCENARIO for folder in folders if (folder / SCENARIO).is_file()), None)


def vehicle_of_run(path: Path) -> str:
    """Name in config/vehicles, or path, of the vehicle that a recording is of; the default one if nothing says.

    path: as for scenario_of_run. Raises SettingsError if the scenario cannot be read.
    """
    scenario = scenario_of_run(path)
    return DEFAULT_VEHICLE if scenario is None else load_scenario(scenario).vehicle.model
