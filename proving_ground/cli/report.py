"""`proving-ground report`: pages of earlier runs, alone or compared; and a list of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError

if TYPE_CHECKING:
    from proving_ground.report.run_record import RunRecord

RUNS = Path("runs")
COMPARED = "comparison.html"


def add_parser(commands: Commands) -> None:
    """Add the command `report` to the command line."""
    parser = commands.add_parser(
        "report",
        help="make the report of a run or a bag, or one that compares several",
        description="RUN is a folder that `run` or `launch` wrote, or a rosbag2 with /ground_truth/odom. One: its"
        " report is made again; a run of `ros2 launch` that has not been judged yet is judged first. Several: one page"
        " compares them. None: those in runs/ are listed with their verdicts.",
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="folder of a run, or a bag")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"where to write (default: in the run's folder; several: {COMPARED})"
    )
    parser.add_argument(
        "--scenario",
        metavar="NAME",
        help="judge a run over ROS by this scenario, a name or a file (default: if it was not judged, by scenario.yaml"
        " in its folder, or by NAME where the folder is NAME_ros)",
    )
    parser.add_argument(
        "--vehicle",
        metavar="NAME",
        help="vehicle of a bag, a name in config/vehicles or a file (default: that of scenario.yaml beside the bag, or"
        " the default vehicle)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List runs, or write the page of the given ones."""
    if not options.runs:
        return list_runs(RUNS)
    if options.scenario is not None and len(options.runs) > 1:
        raise SettingsError(f"--scenario: one run is judged at a time, got {len(options.runs)}")
    return report(options.runs, options.out, options.scenario, options.vehicle)


def list_runs(folder: Path) -> int:
    """Runs in a folder, their verdicts, and whether they have a report."""
    from proving_ground.report.run_record import METRICS, REPORT, load_metrics
    from proving_ground.settings.text_table import text_table

    rows = []
    for path in sorted(item.parent for item in folder.glob(f"*/{METRICS}")):
        try:
            said = load_metrics(path)
        except SettingsError:  # written by another program, or by `observe`
            continue
        passed = said.get("passed")
        verdict = "passed" if passed is True else "FAILED" if passed is False else "not judged"
        rows.append([str(path), verdict, _line(said["scenario"]), REPORT if (path / REPORT).is_file() else "-"])
    if not rows:
        print(f"no runs in {folder}/; `proving-ground run SCENARIO` makes one")
        return 0
    print(text_table(["run", "verdict", "scenario", "report"], rows))
    return 0


def report(paths: list[Path], out: Path | None, scenario: str | None = None, vehicle: str | None = None) -> int:
    """Write the page and print where it is; status 1 where a bag is damaged, or a judged run does not pass.

    scenario: to judge by, name or file; None: what the folder says, if it was not judged yet.
    vehicle: of bags, name or file; None: that of the scenario beside a bag, else the default.
    """
    from proving_ground.report.compare import MOST_RUNS, compare_page, labelled
    from proving_ground.report.page import write_report
    from proving_ground.report.run_record import REPORT
    from proving_ground.settings.files import write_whole

    if len(paths) > MOST_RUNS:
        raise SettingsError(f"{len(paths)} runs are too many to tell apart on one page, {MOST_RUNS} are the most")
    if len(paths) == 1:
        judge_by = _judge_by(paths[0], scenario)
        if judge_by is not None:
            return _judge(judge_by, paths[0], out)
    records = [_load(path, vehicle) for path in paths]
    is_damaged = any(record.remarks and not _is_run(path) for path, record in zip(paths, records, strict=True))
    if len(paths) == 1:
        (path,), (record,) = paths, records
        target = out if out is not None or _is_run(path) else Path(f"{path.resolve().stem}_{REPORT}")
        _say(record)
        print(f"  report: {write_report(path, record, out=target)}")
        return int(is_damaged)
    records = labelled(records, paths)
    target = out or Path(COMPARED)
    write_whole(target, compare_page(records))
    for record in records:
        _say(record)
    print(f"  report: {target}")
    return int(is_damaged)


def _judge_by(path: Path, scenario: str | None) -> Path | None:
    """File of the scenario by which a recorded run over ROS is judged; None if it need not be judged.

    path: the run's folder; scenario: name or file that the user gave, by default the one in the folder or of its name.
    """
    from proving_ground.launching.scenario_launch import OVER_ROS
    from proving_ground.recording.parts import SCENARIO, parts
    from proving_ground.scenarios.scenario import scenario_file, scenario_files

    if scenario is not None:
        if not parts(path):
            raise SettingsError(f"{path}: has no bag to judge; --scenario is for the folder of a run over ROS")
        return scenario_file(scenario)
    if _is_run(path) or not parts(path):
        return None
    if (path / SCENARIO).is_file():
        return path / SCENARIO
    name = path.resolve().name
    return scenario_files().get(name.removesuffix(OVER_ROS)) if name.endswith(OVER_ROS) else None


def _judge(scenario: Path, folder: Path, out: Path | None) -> int:
    from proving_ground.launching.ros_run import judge_bag
    from proving_ground.report.page import write_report
    from proving_ground.report.run_record import load_run

    status = judge_bag(scenario, folder, {})
    if out is not None:
        print(f"  report: {write_report(folder, load_run(folder), out=out)}")
    return status


def _say(record: RunRecord) -> None:
    print(f"{_line(record.name)}: {record.verdict}")
    for remark in record.remarks:
        print(f"  note  {_line(remark)}")


def _load(path: Path, vehicle: str | None) -> RunRecord:
    from proving_ground.report.run_record import load_run

    if _is_run(path):
        return load_run(path)
    if not path.exists():
        raise SettingsError(f"{path}: No such file or directory")
    from proving_ground.recording.parts import parts
    from proving_ground.recording.reading import is_bag
    from proving_ground.recording.run_vehicle import vehicle_of_run
    from proving_ground.report.from_bag import record_from_bag

    if path.is_dir() and not is_bag(path) and not parts(path):
        raise SettingsError(f"{path}: neither a run (it has no metrics.json) nor a bag")
    return record_from_bag(path, vehicle or vehicle_of_run(path))


def _is_run(path: Path) -> bool:
    from proving_ground.report.run_record import METRICS

    return (path / METRICS).is_file()


def _line(words: object) -> str:
    """Text as one line, without characters that cannot be printed."""
    return "".join(letter if letter.isprintable() else " " for letter in str(words))[:200]
