"""A scenario over ROS from start to verdict: its nodes run, a bag is recorded, judged and reported on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from scenarios.launcher import start_nodes
from scenarios.metrics import Finding, judge, load_reference
from scenarios.refereeing import TIMING
from scenarios.report.run_record import Timing, save_run
from scenarios.scenario import load_scenario, scenario_file
from scenarios.scenario_launch import BAG, run_folder, scenario_launch
from settings import SettingsError

EXIT_FAILED = 1


def run_over_ros(name: str, given: Mapping[str, str], show: bool) -> int:
    """Start the launch of a scenario; status 0 when it came to its end and passed, as far as a bag can tell."""
    path = scenario_file(name)
    specs = scenario_launch(name).nodes(given)
    folder = run_folder(path, given)
    _make_room(folder)
    status = start_nodes(specs, show)
    if given.get("record") == "false":
        return status
    if not (folder / BAG).exists():
        return status or EXIT_FAILED
    return judge_bag(path, folder, given) or status


def judge_bag(path: Path, folder: Path, given: Mapping[str, str]) -> int:
    """Judge the bag in a run's folder by the scenario's criteria, write figures and report, say what came of it."""
    from scenarios.report.from_bag import record_from_bag  # its libraries take a while to import
    from scenarios.report.from_run import fault_events, world_name
    from scenarios.report.page import write_report
    from scenarios.report.versions import versions

    scenario = load_scenario(path)
    record = record_from_bag(folder / BAG)
    reference = load_reference(scenario, path.parent)
    known = [item for item in scenario.criteria if item.channel in record.channels]
    left_out = [item for item in scenario.criteria if item.channel not in record.channels]
    findings = judge(known, record.channels, reference)
    timing = _timing(folder)
    has_ended = timing is not None
    passed = has_ended and all(finding.passed for finding in findings)
    remarks = [*record.remarks]
    if not has_ended:
        remarks.append("the run did not come to its end")
    remarks += [f"criterion on {item.channel}: not in bags, not judged" for item in left_out]
    record = replace(
        record,
        name=path.stem,
        description=scenario.description,
        passed=passed,
        findings=tuple(finding.plain() for finding in findings),
        seed=int(given["seed"]) if given.get("seed") else scenario.seed,
        timing=timing or Timing(),
        versions=versions(),
        scenario=path.read_text(encoding="utf-8"),
        reference=reference,
        world=world_name(scenario, path.parent),
        events=(*fault_events(scenario), *record.events),
        remarks=tuple(remarks),
    )
    save_run(folder, record)
    report = write_report(folder, record)
    _say(path.stem, findings, remarks, record.timing.real_time_factor, report, passed)
    return 0 if passed else EXIT_FAILED


def _say(
    name: str, findings: list[Finding], remarks: list[str], factor: float | None, report: Path, passed: bool
) -> None:
    for finding in findings:
        print(f"  {'pass' if finding.passed else 'FAIL'}  {finding.words()}")
    for remark in remarks:
        print(f"  note  {remark}")
    if factor is not None:
        print(f"  {factor:.3f} times real time")
    print(f"  report: {report}")
    print(f"{name}: {'PASSED' if passed else 'FAILED'}")


def _timing(folder: Path) -> Timing | None:
    """What the referee wrote when it saw the end of the run."""
    try:
        found = json.loads((folder / TIMING).read_text(encoding="utf-8"))
        return Timing(wall_s=found["wall_s"], real_time_factor=found["real_time_factor"])
    except (OSError, ValueError, KeyError):
        return None


def _make_room(folder: Path) -> None:
    """An earlier run's bag goes away; anything else in its place is left alone."""
    (folder / TIMING).unlink(missing_ok=True)
    for bag in sorted(folder.glob(f"{BAG}*")):
        others = (
            [item.name for item in bag.iterdir() if item.suffix not in (".mcap", ".yaml")] if bag.is_dir() else ["?"]
        )
        if bag.is_symlink() or others:
            raise SettingsError(f"{bag}: is in the way and no bag; move it, or choose another folder with out:=")
        shutil.rmtree(bag)
