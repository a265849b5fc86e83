"""`proving-ground rig`: a wheel of a vehicle on a test bench over soil."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError

if TYPE_CHECKING:
    from terrain.soil_law import SoilLaw


def add_parser(commands: Commands) -> None:
    """Add the command `rig` to the command line."""
    parser = commands.add_parser(
        "rig",
        help="pull, torque and sinkage of a wheel on soil beside published curves; list soils",
        description=(
            "`rig wheel --soil NAME` draws pull, torque and sinkage over slip beside published curves for the same cone"
            " index; `rig soils` lists all soils with their strength."
        ),
    )
    parser.add_argument("action", choices=("wheel", "soils"), help="wheel: test one; soils: list them")
    parser.add_argument("--soil", default="dry_sand", metavar="NAME", help="in config/soils.yaml, or FILE.yaml:NAME")
    parser.add_argument("--vehicle", default="hmmwv", metavar="NAME", help="in config/vehicles, or a file")
    parser.add_argument("--pressure", type=float, metavar="KPA", help="of the tyre; default: the front tyres'")
    parser.add_argument("--load", type=float, metavar="N", help="of the wheel; default: a quarter of the weight")
    parser.add_argument("--out", type=Path, metavar="FILE.png", help="picture; default: wheel_on_NAME.png")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Test a wheel or list the soils."""
    return _list() if options.action == "soils" else _wheel(options)


def _list() -> int:
    from proving_ground.settings.text_table import text_table
    from terrain.cone_index import bekker_of, cone_index_of
    from terrain.soils_file import load_soils

    rows = []
    for name, soil in load_soils().items():
        if soil.hard is not None:
            rows.append([name, "hard", "", "", "", f"friction {soil.hard.friction:g}; {soil.hard.source}"])
            continue
        law = soil.soft
        assert law is not None
        numbers, index = bekker_of(law), cone_index_of(law)
        angle, cohesion = (f"{numbers.friction_deg:.1f}", f"{1e-3 * numbers.cohesion_pa:.1f}") if numbers else ("", "")
        rows.append([name, law.kind_name(), f"{index:.0f}" if index == index else "", angle, cohesion, law.source])
    print(text_table(["soil", "law", "cone index [psi]", "friction [deg]", "cohesion [kPa]", "source"], rows))
    return 0


def _wheel(options: argparse.Namespace) -> int:
    from proving_ground.settings.files import write_whole
    from proving_ground.validation.mobility.wheel_curves import measure, picture, table

    soil = _soft(options.soil)
    target = options.out or Path(f"wheel_on_{options.soil.rpartition(':')[2]}.png")
    if target.suffix.lower() != ".png":
        raise SettingsError(f"--out {target}: must end in .png")
    for name, value in (("pressure", options.pressure), ("load", options.load)):
        if value is not None and not 0.0 < value < 1e6:
            raise SettingsError(f"--{name}: must be above 0 and below 1e6, got {value:g}")
    found = measure(options.vehicle, options.soil, soil, options.pressure, options.load)
    print(table(found))
    write_whole(target, picture(found))
    print(f"drawn to {target}")
    return 0


def _soft(name: str) -> SoilLaw:
    """The law of a soft soil; raises SettingsError for an unknown or a hard one."""
    from terrain.soils_file import soil_of

    soil = soil_of(name).soft
    if soil is None:
        raise SettingsError(f"--soil {name}: is hard; `proving-ground rig soils` lists the soft ones")
    return soil
