"""`proving-ground export`: the vehicle's rigid-body model as text for other programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.files import write_whole
from vehicle_dynamics.export.mjcf import mjcf
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_file, vehicle_files
from vehicle_dynamics.vehicle_mechanism import vehicle_mechanism


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
        text = FORMATS[file_format](parameters)
    except ValueError as error:  # numbers that are each allowed, but together make no vehicle
        raise SettingsError(f"{path}: {error}") from error
    if out is None:
        print(text, end="", flush=True)
    else:
        write_whole(out, text)
    return 0


def _mjcf(parameters: VehicleParameters) -> str:
    return mjcf(vehicle_mechanism(parameters), parameters.name)


def _urdf(parameters: VehicleParameters) -> str:
    """With base_link under the rear axle of the vehicle at rest, which only its dynamics know."""
    from vehicle_dynamics.hmmwv import Hmmwv

    return Hmmwv(parameters).export("urdf")


FORMATS: dict[str, Callable[[VehicleParameters], str]] = {"mjcf": _mjcf, "urdf": _urdf}
