"""The `proving-ground` command: a list of modules, one per command, each with `add_parser` and `run`.

`--help` is quick and `doctor` works where ROS is broken, because a module imports what its command needs only when
that command runs.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from proving_ground.cli import (
    bench,
    campaign,
    doctor,
    export,
    identify,
    kernels,
    launch,
    node,
    observe,
    record,
    replay,
    report,
    rig,
    run,
    sensors,
    validate,
    world,
)
from proving_ground.settings import SettingsError

EXIT_BAD_INPUT = 2
# In the order of the help page.
COMMANDS = (
    doctor, run, report, record, replay, campaign, validate, observe, identify, launch, node, export, world, rig,
    sensors, kernels, bench,
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status. Bad input is one line on stderr and status 2."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        return status
    except SettingsError as error:
        print(f"proving-ground {options.command}: {error}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output is gone, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="proving-ground", description="Test an autonomy stack on a simulated off-road vehicle, over ROS 2."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in COMMANDS:
        module.add_parser(commands)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
