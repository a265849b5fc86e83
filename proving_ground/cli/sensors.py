"""`proving-ground sensors`: lists presets, and draws what the sensors of a scenario see."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError


def add_parser(commands: Commands) -> None:
    """Add the command `sensors` to the command line."""
    parser = commands.add_parser(
        "sensors",
        help="list presets of sensors, or draw what the sensors of a scenario see",
        description="`sensors` lists presets; `sensors show SCENARIO` draws a LIDAR scan, GPS scatter and IMU noise.",
    )
    parser.add_argument("action", nargs="?", default="list", choices=("list", "show"), help="default: list")
    parser.add_argument("name", nargs="?", metavar="SCENARIO", help="name in config/scenarios or a YAML file")
    parser.add_argument("--at", type=float, metavar="S", help="when the scan is taken (default: half the duration)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where pictures go (default: runs/SCENARIO)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List sensor presets, or draw pictures of their errors."""
    if options.action == "list":
        return _list()
    if options.name is None:
        raise SettingsError("show needs a SCENARIO, as in `proving-ground sensors show sensor_drive`")
    from proving_ground.scenarios.sensor_pictures import show_sensors

    return show_sensors(options.name, options.at, options.out)


def _list() -> int:
    from proving_ground.settings.nested import preset_names
    from sensors.kinds import SENSOR_KINDS

    for kind in SENSOR_KINDS.values():
        print(f"{kind.name}: {', '.join(preset_names(kind.settings.presets))}")
    return 0
