"""`proving-ground campaign`: a scenario many times with values that vary, on this machine or on a Dask cluster."""

from __future__ import annotations

import argparse
from pathlib import Path

from proving_ground.settings import SettingsError


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of `proving-ground`."""
    parser = commands.add_parser(
        "campaign",
        help="run a scenario many times with values that vary; table, report",
        description="Without an action, lists the campaigns there are.",
    )
    parser.set_defaults(run=_list)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")

    run = actions.add_parser(
        "run",
        help="run all that is not done yet; Ctrl-C or worse loses nothing",
        description="Stopped in any way, the same command goes on with the runs that are missing.",
    )
    run.add_argument("name", nargs="?", metavar="CAMPAIGN", help="name or YAML file; without it all are listed")
    run.add_argument("--runs", type=int, metavar="N", help="in place of the file's")
    run.add_argument("--workers", type=int, metavar="N", help="processes on this machine (default: one per core)")
    run.add_argument("--scheduler", default="", metavar="ADDRESS", help="of a Dask cluster, as tcp://10.0.0.7:8786")
    run.add_argument("--out", type=Path, metavar="FOLDER", help="where results go (default: runs/campaigns/CAMPAIGN)")
    run.add_argument("--dry-run", action="store_true", help="only show inputs, samples and the expected time")
    run.set_defaults(run=_run)

    report = actions.add_parser("report", help="write an HTML report of a campaign's results")
    report.add_argument("folder", type=Path, metavar="FOLDER", help="of the results")
    report.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: FOLDER/report.html)")
    report.set_defaults(run=_report)

    show = actions.add_parser("show", help="print a campaign's results in a few lines")
    show.add_argument("folder", type=Path, metavar="FOLDER", help="of the results")
    show.set_defaults(run=_show)


def _list(options: argparse.Namespace) -> int:
    from proving_ground.campaigns.campaign_file import campaign_files, load_campaign

    for name, path in campaign_files().items():
        print(f"{name}: {load_campaign(path).description}")
    return 0


def _run(options: argparse.Namespace) -> int:
    if options.name is None:
        return _list(options)
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

    told = load_made_of(options.folder)
    table = load_results(options.folder)
    print(summary(told["name"], table))
    print(f"{len(table)} of {told['runs']} runs are done")
    return 0
