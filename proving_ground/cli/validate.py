"""`proving-ground validate`: the vehicle and its parts compared with papers and other programs."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands


def add_parser(commands: Commands) -> None:
    """Add the command `validate` to the command line."""
    parser = commands.add_parser(
        "validate",
        help="compare with papers and references: makes docs/validation.md with tables and pictures",
        description="Every figure is computed now. Status 1: something is outside its bounds.",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="default: docs; with --only runs/validation, as docs has all parts"
    )
    parser.add_argument("--full", action="store_true", help="include the long parts: ten minutes instead of two")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="some parts, by name; `list` lists them")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare with papers and reference programs, and write the page."""
    from proving_ground.validation.page import validate  # with all that it runs

    out = options.out or Path("runs/validation" if options.only else "docs")
    return validate(out, is_full=options.full, only=options.only)
