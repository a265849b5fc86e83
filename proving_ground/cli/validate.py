"""`proving-ground validate` on the command line."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it."""
    validate = commands.add_parser(
        "validate",
        help="compare with papers and references: makes docs/validation.md with tables and pictures",
        description="Every figure comes from a run that is made now. Status 1: something is outside its bounds.",
    )
    validate.add_argument(
        "--out", type=Path, metavar="FOLDER", help="default: docs; with --only runs/validation, as docs has all parts"
    )
    validate.add_argument("--full", action="store_true", help="also what takes long: ten minutes instead of two")
    validate.add_argument(
        "--only", nargs="+", default=[], metavar="PART", help="some parts, by name; `list` lists them"
    )
    validate.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from proving_ground.validation.page import validate  # with all that it runs

    out = options.out or Path("runs/validation" if options.only else "docs")
    return validate(out, is_full=options.full, only=options.only)
