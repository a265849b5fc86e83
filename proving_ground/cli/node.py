"""`proving-ground node`: one node, as `ros2 run proving_ground NODE` starts it."""

from __future__ import annotations

import argparse
import os
import signal

from proving_ground.cli.parsing import Commands


def add_parser(commands: Commands) -> None:
    """Add the command `node` to the command line."""
    parser = commands.add_parser("node", help="run one node, as `ros2 run proving_ground NODE` does")
    parser.add_argument("name", nargs="?", metavar="NODE", help="which node; without it all are listed")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="passed on, e.g. --ros-args -p ...")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Become the given node, or list the nodes."""
    from proving_ground.launching.node_process import node_command, node_modules

    if options.name is None:
        print("\n".join(node_modules()))
        return 0
    command = node_command(options.name, options.arguments)
    # Signals stay blocked until the node can stop cleanly; it unblocks them itself.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    os.execv(command[0], command)
