"""`proving-ground record`: the recorder node with command-line options."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError


def add_parser(commands: Commands) -> None:
    """Add the command `record` to the command line."""
    parser = commands.add_parser(
        "record",
        help="record topics into a rosbag2 (MCAP)",
        description="Topics are found as they appear; Ctrl-C ends. Without topics all but logs and parameter events.",
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="what to record (default: all)")
    parser.add_argument("--all", action="store_true", help="logs, parameter events and hidden topics too")
    parser.add_argument("--exclude", default="", metavar="REGEX", help="topics that are left out")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="new folder (default: runs/rosbag2_DATE)")
    parser.add_argument(
        "--compression", default="none", metavar="KIND", help="compression of chunks: none, lz4 or zstd"
    )
    parser.add_argument(
        "--use-sim-time", action="store_true", help="log times are those of /clock, not of the machine's clock"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Become the recorder node."""
    from proving_ground.launching.command_node import become_node

    for topic in options.topics:
        if topic.split() != [topic]:  # the node gets them in one line, and checks the rest of their names
            raise SettingsError(f"record {topic!r}: a topic's name has no spaces")
    return become_node(
        "recorder",
        {
            "out": str(options.out) if options.out else "",
            "topics": " ".join(options.topics),
            "exclude": options.exclude,
            "everything": options.all,
            "compression": options.compression,
            "log_time": "clock" if options.use_sim_time else "wall",
        },
    )
