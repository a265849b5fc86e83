"""Files of vehicle parameters: config/vehicles, or any path."""

from __future__ import annotations

from pathlib import Path

from proving_ground.settings.named_files import named_file, named_files

DEFAULT_VEHICLE = "hmmwv"  # in config/vehicles


def vehicle_files() -> dict[str, Path]:
    """The vehicles in config/vehicles by name."""
    return named_files("vehicles")


def vehicle_file(vehicle: str) -> Path:
    """The file of a vehicle given by its name in config/vehicles or by a path to a YAML file."""
    return named_file("vehicles", vehicle, "vehicle")
