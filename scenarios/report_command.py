"""`proving-ground report`: pages of runs that were made before, alone or compared; and a list of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from settings import SettingsError

if TYPE_CHECKING:
    from scenarios.report.run_record import RunRecord

RUNS = Path("runs")
COMPARED = "comparison.html"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """The command with its arguments."""
    parser = commands.add_parser(
        "report",
        help="make the report of a run or a bag, or one that compares several",
        description="RUN is a folder that `run` wrote, or a rosbag2 with /ground_truth/odom. One: its report is made"
        " anew. Several: one page compares them. None: those in runs/ are listed with their verdicts.",
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folder of a run, or a bag")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"where to write (default: in the run's folder; several: {COMPARED})"
    )
    parser.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    if not options.runs:
        return list_runs(RUNS)
    return report(options.runs, options.out)


def list_runs(folder: Path) -> int:
    """Runs in a folder, their verdicts, and whether they have a report."""
    from scenarios.report.page import REPORT
    from scenarios.report.run_record import METRICS, load_metrics
    from scenarios.table import text_table

    rows = []
    for path in sorted(item.parent for item in folder.glob(f"*/{METRICS}")):
        try:
            said = load_metrics(path)
        except SettingsError:  # of another program, or of `observe`
            continue
        passed = said.get("passed")
        verdict = "passed" if passed is True else "FAILED" if passed is False else "not judged"
        rows.append([str(path), verdict, _line(said["scenario"]), REPORT if (path / REPORT).is_file() else "-"])
    if not rows:
        print(f"no runs in {folder}/; `proving-ground run SCENARIO` makes one")
        return 0
    print(text_table(["run", "verdict", "scenario", "report"], rows))
    return 0


def report(paths: list[Path], out: Path | None) -> int:
    """Write the page and print where it is."""
    from scenarios.report.compare import MOST_RUNS, compare_page, labelled
    from scenarios.report.page import REPORT, write_report
    from settings.files import write_whole

    if len(paths) > MOST_RUNS:
        raise SettingsError(f"{len(paths)} runs are too many to tell apart on one page, {MOST_RUNS} are the most")
    records = [_load(path) for path in paths]
    if len(paths) == 1:
        (path,), (record,) = paths, records
        target = out if out is not None or _is_run(path) else Path(f"{path.resolve().stem}_{REPORT}")
        print(f"{_line(record.name)}: {record.verdict}")
        print(f"  report: {write_report(path, record, out=target)}")
        return 0
    records = labelled(records, paths)
    target = out or Path(COMPARED)
    write_whole(target, compare_page(records))
    for record in records:
        print(f"{_line(record.name)}: {record.verdict}")
    print(f"  report: {target}")
    return 0


def _load(path: Path) -> RunRecord:
    from scenarios.report.run_record import load_run

    if _is_run(path):
        return load_run(path)
    if not path.exists():
        raise SettingsError(f"{path}: No such file or directory")
    if path.is_dir() and not _looks_like_bag(path):
        raise SettingsError(f"{path}: neither a run (it has no metrics.json) nor a bag")
    from scenarios.report.from_bag import record_from_bag

    return record_from_bag(path)


def _is_run(path: Path) -> bool:
    from scenarios.report.run_record import METRICS

    return (path / METRICS).is_file()


def _looks_like_bag(folder: Path) -> bool:
    from scenarios.bags.parts import parts

    return bool(parts(folder)) or any(
        item.suffix in (".mcap", ".db3") or item.name == "metadata.yaml" for item in folder.iterdir()
    )


def _line(words: object) -> str:
    """In one printable line."""
    return "".join(letter if letter.isprintable() else " " for letter in str(words))[:200]
