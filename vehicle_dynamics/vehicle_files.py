"""Where the vehicles' numbers lie: config/vehicles, or wherever a path says."""

from __future__ import annotations

from pathlib import Path

from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.share import is_path, share_directory


def vehicle_files() -> dict[str, Path]:
    """The vehicles in config/vehicles by name."""
    return {path.stem: path for path in sorted((share_directory() / "config/vehicles").glob("*.yaml"))}


def vehicle_file(vehicle: str, folder: Path | None = None) -> Path:
    """The file of a vehicle given by its name in config/vehicles or by a path to a YAML file, relative to folder."""
    if is_path(vehicle):
        return (folder or Path()) / vehicle
    known = vehicle_files()
    if vehicle not in known:
        raise SettingsError(f"vehicle {vehicle}: {close_name(vehicle, known)}; or give a path to a YAML file")
    return known[vehicle]
