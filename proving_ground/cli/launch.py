"""`proving-ground launch`: the nodes of a launch, started and stopped together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError

if TYPE_CHECKING:
    from proving_ground.launching.bring_up import LaunchArgument


def add_parser(commands: Commands) -> None:
    """Add the command `launch` to the command line."""
    parser = commands.add_parser(
        "launch",
        help="start the nodes of a launch and stop them together",
        description="The same nodes and parameters as `ros2 launch proving_ground NAME.launch.py`.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="which launch, or a scenario by name or file; without it all are listed"
    )
    parser.add_argument("arguments", nargs="*", metavar="KEY:=VALUE", help="launch arguments, e.g. pad:=playstation")
    parser.add_argument("--show", action="store_true", help="also print what the nodes publish")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Start the given launch, or list all."""
    if options.name is None:
        return _list()
    from proving_ground.launching.launcher import launch

    return launch(options.name, dict(_pair(text) for text in options.arguments), options.show)


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition(":=")
    if not separator:
        raise SettingsError(f"{text}: write launch arguments as name:=value")
    return name, value


def _list() -> int:
    from proving_ground.launching.bring_up import bring_ups
    from proving_ground.launching.scenario_launch import scenario_launches

    for item in bring_ups().values():
        _print(item.name, item.description, item.arguments)
    scenarios = scenario_launches()
    words = f"a scenario from start to verdict: {', '.join(scenarios)}"
    _print("SCENARIO", words, next(iter(scenarios.values())).arguments)
    return 0


def _print(name: str, description: str, arguments: Sequence[LaunchArgument]) -> None:
    print(f"{name}: {description}")
    for argument in arguments:
        choices = f" ({', '.join(argument.choices)})" if argument.choices else ""
        print(f"    {argument.name}:={argument.default}  {argument.description}{choices}")
