"""`proving-ground identify`: rolling resistance and brake friction, found and configured, as a table or as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from proving_ground.cli.parsing import Commands
from proving_ground.settings.text_table import text_table

if TYPE_CHECKING:
    from proving_ground.scenarios.identify import Identified


def add_parser(commands: Commands) -> None:
    """Add the command `identify` to the command line."""
    parser = commands.add_parser(
        "identify", help="identify rolling resistance and brake friction from coast-down and braking runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the coefficients identified from runs beside the configured ones."""
    from proving_ground.scenarios.identify import brake_friction, rolling_resistance

    items = (*rolling_resistance(), brake_friction())
    print(_json(items) if options.json else _table(items))
    return 0


def _json(items: Sequence[Identified]) -> str:
    return json.dumps({item.name: {"found": item.found, "configured": item.configured} for item in items})


def _table(items: Sequence[Identified]) -> str:
    rows = [
        [item.name, f"{item.found:.5f}", f"{item.configured:.5f}", f"{100.0 * item.error:+.2f} %"] for item in items
    ]
    return text_table(["coefficient", "found", "configured", "difference"], rows)
