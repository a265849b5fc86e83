"""`proving-ground kernels`: compiles the numerical kernels, once on a machine."""

from __future__ import annotations

import argparse
import time

from proving_ground.cli.parsing import Commands

MOST_ROWS = 40


def add_parser(commands: Commands) -> None:
    """Add the command `kernels` to the command line."""
    parser = commands.add_parser(
        "kernels",
        help="compile the numerical kernels, once on a machine",
        description="Set-up and launches do this by themselves. Kernels that are compiled already are not again.",
    )
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help="names or YAML files; without any, all of ours")
    parser.add_argument("--times", action="store_true", help="list the functions that took longest to compile")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compile what is missing, with a line for each part that has something to compile."""
    from proving_ground.kernels.compilations import COMPILATIONS
    from proving_ground.kernels.marks import is_compiled
    from proving_ground.scenarios.scenario import scenario_file, scenario_files
    from proving_ground.scenarios.warm_up import compile_scenario
    from proving_ground.settings.text_table import text_table

    began = time.monotonic()
    for name in options.names or scenario_files():
        path = scenario_file(name)
        if is_compiled(path):
            continue
        for item in compile_scenario(path):
            print(f"{path.stem}: {item.part}: {item.kernels} functions, {item.cpu_s:.1f} s", flush=True)
    count, cpu_s = len(COMPILATIONS.done), COMPILATIONS.cpu_s
    if count:
        print(f"compiled {count} functions in {time.monotonic() - began:.0f} s, {cpu_s:.1f} s of CPU time")
    else:
        print("all kernels are compiled")
    if options.times:
        rows = sorted(COMPILATIONS.done, key=lambda item: -item.own_s)[:MOST_ROWS]
        cells = [[item.name, f"{item.own_s:.2f}", f"{item.total_s:.2f}"] for item in rows]
        print(text_table(["function", "CPU s", "with its parts"], cells))
    return 0
