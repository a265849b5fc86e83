"""`proving-ground campaign`: a scenario many times with values that vary, on this machine or on a Dask cluster."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError


def add_parser(commands: Commands) -> None:
    """Add the command `campaign` to the command line."""
    parser = commands.add_parser(
        "campaign",
        help="run a scenario many times with values that vary; table, report",
        description="Without an action, lists all campaigns.",
    )
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    _add_run(actions)
    _add_report(actions)
    _add_show(actions)


def run(options: argparse.Namespace) -> int:
    """List the campaigns; the actions run, report and show have functions of their own."""
    from proving_ground.campaigns.campaign_file import campaign_files, load_campaign

    for name, path in campaign_files().items():
        print(f"{name}: {load_campaign(path).description}")
    return 0


def _add_run(actions: Commands) -> None:
    parser = actions.add_parser(
        "run",
        help="run what is not done yet; Ctrl-C or a crash loses nothing",
        description="If it is stopped, the same command goes on with the missing runs.",
    )
    parser.add_argument("name", nargs="?", metavar="CAMPAIGN", help="name or YAML file; without it all are listed")
    parser.add_argument("--runs", type=int, metavar="N", help="number of runs, in place of the file's")
    parser.add_argument("--workers", type=int, metavar="N", help="processes on this machine (default: one per core)")
    parser.add_argument(
        "--scheduler", default="", metavar="ADDRESS", help="address of a Dask scheduler, as tcp://10.0.0.7:8786"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where results go (default: runs/campaigns/CAMPAIGN)"
    )
    parser.add_argument("--dry-run", action="store_true", help="only show inputs, samples and the expected time")
    parser.set_defaults(run=_run)


def _add_report(actions: Commands) -> None:
    parser = actions.add_parser("report", help="write an HTML report of a campaign's results")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the results")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: FOLDER/report.html)")
    parser.set_defaults(run=_report)


def _add_show(actions: Commands) -> None:
    parser = actions.add_parser("show", help="print a campaign's results in a few lines")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of the results")
    parser.set_defaults(run=_show)


def _run(options: argparse.Namespace) -> int:
    if options.name is None:
        return run(options)
    if options.scheduler and options.workers is not None:
        raise SettingsError("--workers: a cluster has its own; leave it out with --scheduler")
    from proving_ground.campaigns.driver import Request, run_campaign

    return run_campaign(
        Request(options.name, options.runs, options.workers, options.scheduler, options.out, options.dry_run)
    )


def _report(options: argparse.Namespace) -> int:
    from proving_ground.campaigns.report import write_report

    path = write_report(options.folder, options.out)
    print(f"written to {path}")
    return 0


def _show(options: argparse.Namespace) -> int:
    from proving_ground.campaigns.store import load_made_of, load_results
    from proving_ground.campaigns.summary import summary

    made_of = load_made_of(options.folder)
    table = load_results(options.folder)
    print(summary(made_of["name"], table))
    print(f"{len(table)} of {made_of['runs']} runs are done")
    return 0
