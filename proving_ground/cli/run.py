"""`proving-ground run`: one scenario in lock-step, with figures, pictures, a report and a verdict."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError


def add_parser(commands: Commands) -> None:
    """Add the command `run` to the command line."""
    parser = commands.add_parser(
        "run",
        help="run a scenario in lock-step: figures, pictures, pass or fail",
        description="All in one process without ROS, as fast as it goes, repeatable to the bit. Status 1: not passed.",
    )
    parser.add_argument("name", nargs="?", metavar="SCENARIO", help="name or YAML file; without it all are listed")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where results go (default: runs/SCENARIO)")
    parser.add_argument("--no-pictures", action="store_true", help="only figures, no report")
    parser.add_argument("--no-report", action="store_true", help="pictures, but no report.html")
    parser.add_argument(
        "--bag", type=Path, metavar="FOLDER", help="write sensors and truth into a new rosbag2 (MCAP) too"
    )
    parser.add_argument(
        "--save-at", type=float, action="append", default=[], metavar="SECONDS",
        help="write a checkpoint of this time into the results; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--from", dest="origin", type=Path, metavar="PATH",
        help="go on from a checkpoint of the scenario; with --run: the folder of a campaign",
    )  # fmt: skip
    parser.add_argument(
        "--cockpit", action="store_true",
        help="watch the run in a browser: stop, go back to a checkpoint, change friction, fault or command, run on",
    )  # fmt: skip
    parser.add_argument(
        "--port", type=int, metavar="N", help="of the cockpit's page (default: that of config/cockpit.yaml)"
    )
    parser.add_argument("--run", dest="number", type=int, metavar="N", help="repeat this run of the campaign")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the given scenario, or list all."""
    if options.number is not None and (options.origin is None or options.name is not None):
        raise SettingsError("--run: needs --from with the folder of a campaign, and no SCENARIO")
    if options.number is None and options.origin is not None and options.name is None:
        raise SettingsError("--from: needs the SCENARIO of a checkpoint, or --run with a run of a campaign")
    if options.number is None and options.name is None:
        return _list()
    if options.cockpit:
        return _show(options)
    from proving_ground.report.lock_step_run import Outputs, load_task, perform

    saved = tuple(options.save_at)
    outputs = Outputs(options.out, not options.no_pictures, options.bag, not options.no_report, saved)
    if options.number is None:
        return perform(load_task(options.name, options.origin), outputs)
    from proving_ground.campaigns.repeat import task_of_run

    return perform(task_of_run(options.origin, options.number), outputs)


def _show(options: argparse.Namespace) -> int:
    """Run with a page instead of results."""
    if options.number is not None or options.origin or options.bag or options.save_at or options.out:
        raise SettingsError("--cockpit: shows a run from its start, and cannot be combined with options of results")
    import threading

    from proving_ground.cockpit.lock_step_cockpit import show_run  # its libraries take a while to import
    from proving_ground.cockpit.settings import cockpit_settings
    from proving_ground.scenarios.parts import compiled
    from proving_ground.scenarios.scenario import load_scenario, scenario_file

    scenario = load_scenario(scenario_file(options.name))
    settings = cockpit_settings(compiled(scenario)["vehicle"].settings, opens=True, port=options.port)
    for line in show_run(scenario, settings, threading.Event()):
        print(line)
    return 0


def _list() -> int:
    from proving_ground.scenarios.scenario import load_scenario, scenario_files

    for name, path in scenario_files().items():
        print(f"{name}: {load_scenario(path).description}")
    return 0
