"""`proving-ground replay`: the replayer node with command-line options."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError


def add_parser(commands: Commands) -> None:
    """Add the command `replay` to the command line."""
    parser = commands.add_parser(
        "replay",
        help="publish what a bag holds, with its timing and /clock",
        description="Any rosbag2 (MCAP or sqlite3). While it runs: services ~/pause, ~/resume, ~/toggle, ~/step, topic"
        " ~/seek [s], parameter rate. Status 1: the bag is damaged; what is intact was played.",
    )
    parser.add_argument("bag", type=Path, metavar="BAG", help="folder of the bag, or one of its files")
    parser.add_argument("--rate", type=float, default=1.0, metavar="R", help="bag time over real time")
    parser.add_argument("--start-offset", type=float, default=0.0, metavar="S", help="where to begin [s]")
    parser.add_argument("--delay", type=float, default=1.0, metavar="S", help="before the first message (default: 1)")
    parser.add_argument("--loop", action="store_true", help="restart at the end; /clock jumps back")
    parser.add_argument("--pause", action="store_true", help="wait for ~/resume or ~/step")
    parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="only these")
    parser.add_argument("--exclude", default="", metavar="REGEX", help="topics that are left out")
    parser.add_argument("--remap", nargs="+", default=[], metavar="OLD:=NEW", help="publish under other names")
    clock = parser.add_mutually_exclusive_group()
    clock.add_argument(
        "--clock", type=float, metavar="HZ", help="/clock from log times (default: 100, see docs/bags.md)"
    )
    clock.add_argument("--no-clock", action="store_true", help="no /clock")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Become the replayer node."""
    from proving_ground.launching.command_node import become_node

    if not options.bag.exists():
        raise SettingsError(f"{options.bag}: No such file or directory")
    for text in options.remap:
        old, separator, new = text.partition(":=")
        if not (old and separator and new):
            raise SettingsError(f"--remap {text}: write OLD:=NEW")
    return become_node("replayer", _parameters(options), options.remap)


def _parameters(options: argparse.Namespace) -> dict[str, bool | float | str]:
    params: dict[str, bool | float | str] = {
        "bag": str(options.bag),
        "rate": options.rate,
        "start_offset_s": options.start_offset,
        "delay_s": options.delay,
        "loop": options.loop,
        "start_paused": options.pause,
        "topics": " ".join(options.topics),
        "exclude": options.exclude,
        "progress": True,
    }
    if options.no_clock:
        params["publish_clock"] = "none"
    elif options.clock is not None:
        params |= {"publish_clock": "made", "clock_hz": options.clock}
    return params
