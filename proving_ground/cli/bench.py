"""`proving-ground bench`: runs benchmarks and prints a table or one JSON object."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmark import BENCHMARKS, CHECKS
from benchmark.results import load, plain, save
from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.text_table import text_table

MODULES = BENCHMARKS | CHECKS  # by name
PICTURES = (".png", ".svg", ".pdf")


def add_parser(commands: Commands) -> None:
    """Add the command `bench` to the command line."""
    parser = commands.add_parser("bench", help="run benchmarks; every figure beside one to compare it with")
    parser.add_argument("name", nargs="?", metavar="NAME", help="which benchmark, or `all`; without it all are listed")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument(
        "--picture", metavar="FILE", help="write the benchmark's picture too, where it has one (quarter_car, planner)"
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="put the figures into a JSON file, each benchmark's as soon as it ends",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run one benchmark, or all; progress goes to stderr, figures to stdout, a picture to the given file."""
    name = options.name
    if name is None:
        return _list()
    if name != "all" and name not in MODULES:
        raise SettingsError(f"bench {name}: {close_name(name, [*MODULES, 'all'])}")
    draw = _drawing(name, options.picture)
    if options.save is not None and options.save.exists():
        load(options.save)  # before anything long begins
    results = {}
    for item in BENCHMARKS if name == "all" else [name]:
        results[item] = _measured(item)
        if options.save is not None:
            save(options.save, item, results[item])
    if options.json:
        values = {item: plain(figures) for item, figures in results.items()}
        print(json.dumps(values if name == "all" else values[name]))
    else:
        for item, figures in results.items():
            print(f"\n{item}: {_summary(MODULES[item])}")
            print(_table(item, figures))
    if draw is not None:
        draw()
    return 0


def _list() -> int:
    for item, module in MODULES.items():
        print(f"{item}: {_summary(module)}")
    return 0


def _drawing(name: str, picture: str | None) -> Callable[[], None] | None:
    """The function that draws the requested picture, found before anything long begins."""
    if picture is None:
        return None
    module = importlib.import_module(MODULES[name]) if name in MODULES else None
    if not hasattr(module, "draw"):
        drawn = [item for item, path in MODULES.items() if hasattr(importlib.import_module(path), "draw")]
        raise SettingsError(f"bench {name}: has no picture; these have: {', '.join(drawn)}")
    path = Path(picture)
    if path.suffix not in PICTURES:
        raise SettingsError(f"--picture {picture}: must end in one of {', '.join(PICTURES)}")
    if not path.parent.is_dir():
        raise SettingsError(f"--picture {picture}: there is no folder {path.parent}")
    return lambda: module.draw(path)  # type: ignore[union-attr]


def _measured(name: str) -> Mapping[str, Any]:
    figures: Mapping[str, Any] = importlib.import_module(MODULES[name]).run(
        lambda text: print(f"{name}: {text}", file=sys.stderr, flush=True)
    )
    return figures


def _table(name: str, figures: Mapping[str, Any]) -> str:
    module = importlib.import_module(MODULES[name])
    if hasattr(module, "show"):
        return str(module.show(figures))
    return text_table(["figure", "value"], [[key, _shown(value)] for key, value in figures.items()])


def _summary(module: str) -> str:
    return (importlib.import_module(module).__doc__ or "").strip().splitlines()[0]


def _shown(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.4g}"
