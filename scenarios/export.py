"""`proving-ground export`: the vehicle's rigid-body model as text for other programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from settings import SettingsError
from settings.fields import close_name
from settings.share import share_directory
from vehicle_dynamics.export.mjcf import mjcf
from vehicle_dynamics.export.urdf import urdf
from vehicle_dynamics.multibody.mechanism import Mechanism
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism

FORMATS: dict[str, Callable[[Mechanism, str], str]] = {"mjcf": mjcf, "urdf": urdf}


def export(vehicle: str | None, file_format: str, out: Path | None) -> int:
    """Print the model of a vehicle, or write it to a file; without a vehicle, list those there are."""
    if vehicle is None:
        print("\n".join(vehicle_files()))
        return 0
    if file_format not in FORMATS:
        raise SettingsError(f"--format {file_format}: {close_name(file_format, FORMATS)}")
    path = vehicle_file(vehicle)
    parameters = VehicleParameters.from_yaml(path)
    try:
        text = FORMATS[file_format](vehicle_mechanism(parameters), parameters.name)
    except ValueError as error:  # numbers that are each allowed, but together make no vehicle
        raise SettingsError(f"{path}: {error}") from error
    if out is None:
        print(text, end="", flush=True)
    else:
        _write_whole(out, text)
    return 0


def vehicle_files() -> dict[str, Path]:
    """The vehicles in config/vehicles by name."""
    return {path.stem: path for path in sorted((share_directory() / "config/vehicles").glob("*.yaml"))}


def vehicle_file(vehicle: str) -> Path:
    """The file of a vehicle given by its name in config/vehicles or by a path to a YAML file."""
    if "/" in vehicle or vehicle.endswith((".yaml", ".yml")):
        return Path(vehicle)
    known = vehicle_files()
    if vehicle not in known:
        raise SettingsError(f"vehicle {vehicle}: {close_name(vehicle, known)}; or give a path to a YAML file")
    return known[vehicle]


def _write_whole(path: Path, text: str) -> None:
    """Write beside the file, then rename: whoever reads it sees the old content or the new, never a part."""
    target = path.resolve()  # through links: they stay
    part = target.parent / f".{target.name}.{os.getpid()}.part"
    try:
        if target.exists() and not target.is_file():  # a device, a pipe; or a folder, which the system refuses
            target.write_text(text, encoding="utf-8")
            return
        try:
            part.write_text(text, encoding="utf-8")
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror or error}") from error
