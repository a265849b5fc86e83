"""`proving-ground export`: the vehicle's rigid-body model as text for other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError


def add_parser(commands: Commands) -> None:
    """Add the command `export` to the command line."""
    parser = commands.add_parser("export", help="write a vehicle's rigid-body model for other programs")
    parser.add_argument(
        "vehicle", nargs="?", metavar="VEHICLE", help="name in config/vehicles or a YAML file; without it, a list"
    )
    parser.add_argument("--format", default="mjcf", help="mjcf (MuJoCo, loops closed) or urdf (RViz, loops open)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it; without it to standard output")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the model of a vehicle, or write it to a file; without a vehicle, list all."""
    from proving_ground.settings.files import write_whole
    from vehicle_dynamics.vehicle_files import vehicle_files

    if options.vehicle is None:
        print("\n".join(vehicle_files()))
        return 0
    text = _model(options.vehicle, options.format)
    if options.out is None:
        print(text, end="", flush=True)
    else:
        write_whole(options.out, text)
    return 0


def _model(vehicle: str, file_format: str) -> str:
    from proving_ground.settings.fields import close_name
    from vehicle_dynamics.export.formats import FORMATS
    from vehicle_dynamics.parameters import VehicleParameters
    from vehicle_dynamics.vehicle_files import vehicle_file

    if file_format not in FORMATS:
        raise SettingsError(f"--format {file_format}: {close_name(file_format, FORMATS)}")
    path = vehicle_file(vehicle)
    parameters = VehicleParameters.from_yaml(path)
    try:
        return FORMATS[file_format](parameters)
    except ValueError as error:  # values that are valid one by one, but make no vehicle together
        raise SettingsError(f"{path}: {error}") from error
