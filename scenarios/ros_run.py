"""A scenario over ROS from start to verdict: its nodes run, a bag is recorded, judged and reported on."""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from scenarios.bags.parts import parts
from scenarios.launcher import processes, start_nodes
from scenarios.metrics import Finding, judge, load_reference
from scenarios.refereeing import TIMING
from scenarios.report.holes import holes, is_open
from scenarios.report.run_record import RunRecord, Timing, save_run
from scenarios.scenario import load_scenario, scenario_file
from scenarios.scenario_launch import run_folder, scenario_launch
from settings import SettingsError

EXIT_FAILED = 1
CLAIM = ".launch"  # a file that says whose folder it is
RESULTS = ("metrics.json", "history.csv", "scenario.yaml", "reference.csv", "estimates.npz", "report.html")
MISSING_S = 0.5  # at the end of a bag, which is closed while the last messages come


def run_over_ros(name: str, given: Mapping[str, str], show: bool) -> int:
    """Start the launch of a scenario; status 0 when it came to its end and passed, as far as a bag can tell."""
    path = scenario_file(name)
    specs = scenario_launch(name).nodes(given)
    processes(specs, show)  # what is wrong with them is told before anything is touched
    if given.get("record") == "false":
        return start_nodes(specs, show)
    folder = run_folder(path, given)
    with _claimed(folder):
        _make_room(folder)
        status = start_nodes(specs, show)
        try:
            return judge_bag(path, folder, given) or status
        except SettingsError as error:  # nothing usable was recorded
            print(f"{path.stem}: the run did not come to its end, and cannot be judged: {error}")
            return status or EXIT_FAILED


def judge_bag(path: Path, folder: Path, given: Mapping[str, str]) -> int:
    """Judge what was recorded into a run's folder by the scenario's criteria, write figures and report, say what came.

    A criterion that could have been broken in a stretch that was not recorded is neither met nor missed.
    """
    from scenarios.report.from_bag import record_from_bag  # its libraries take a while to import
    from scenarios.report.from_run import fault_events, world_name
    from scenarios.report.page import write_report
    from scenarios.report.versions import versions

    scenario = load_scenario(path)
    record = record_from_bag(folder, scenario.vehicle.model, path.parent)
    reference = load_reference(scenario, path.parent)
    known = [item for item in scenario.criteria if item.channel in record.channels]
    left_out = [item for item in scenario.criteria if item.channel not in record.channels]
    findings = judge(known, record.channels, reference)
    timing, simulated = _timing(folder)
    remarks, unsound = [*record.remarks], []
    if simulated is None:
        unsound.append("the run did not come to its end")
    elif record.duration_s < simulated - MISSING_S:
        unsound.append(f"the bag has {record.duration_s:.1f} of {simulated:.1f} s")
    unsound += [f"criterion on {item.channel}: is not in the bag, and cannot be judged" for item in left_out]
    lacking = holes(record.channels["time_s"])
    undecided = [finding for finding in findings if is_open(finding, lacking)]
    is_broken = bool(unsound) or not all(finding.passed for finding in findings)
    passed = False if is_broken else None if undecided else True
    remarks += unsound
    if lacking:
        broken = f"{len(undecided)} of {len(findings)} criteria could have been broken meanwhile"
        remarks.append(f"judged on the rest: {broken if undecided else 'no criterion depends on what is missing'}")
    record = replace(
        record,
        name=path.stem,
        description=scenario.description,
        passed=passed,
        findings=tuple(_plain(finding, finding in undecided) for finding in findings),
        seed=int(given["seed"]) if given.get("seed") else scenario.seed,
        timing=timing,
        versions=versions(),
        scenario=path.read_text(encoding="utf-8"),
        reference=reference,
        world=world_name(scenario, path.parent),
        events=(*fault_events(scenario), *record.events),
        remarks=tuple(remarks),
    )
    save_run(folder, record)
    report = write_report(folder, record)
    for finding in findings:
        mark = "open" if finding in undecided else "pass" if finding.passed else "FAIL"
        print(f"  {mark}  {finding.words()}")
    _say(record, report)
    return 0 if passed else EXIT_FAILED


def _plain(finding: Finding, undecided: bool) -> dict[str, object]:
    return {**finding.plain(), "passed": False, "open": True} if undecided else finding.plain()


def _say(record: RunRecord, report: Path) -> None:
    for remark in record.remarks:
        print(f"  note  {remark}")
    if record.timing.real_time_factor is not None:
        print(f"  {record.timing.real_time_factor:.3f} times real time")
    print(f"  report: {report}")
    print(f"{record.name}: {record.verdict.upper()}")


def _timing(folder: Path) -> tuple[Timing, float | None]:
    """What the referee wrote when it saw the end of the run, and the simulated time until then [s]."""
    try:
        found = json.loads((folder / TIMING).read_text(encoding="utf-8"))
        timing = Timing(wall_s=float(found["wall_s"]), real_time_factor=float(found["real_time_factor"]))
        return timing, float(found["simulated_s"])
    except (OSError, ValueError, KeyError, TypeError):
        return Timing(), None


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """The folder is this launch's alone; raises SettingsError where another one runs in it, or it is not ours."""
    found = parts(folder)
    if found and not (folder / CLAIM).exists():
        raise SettingsError(f"{found[0]}: is of no launch; move it, or choose another folder with out:=")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        claim = (folder / CLAIM).open("a")
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be written to: {error.strerror}") from None
    with claim:
        try:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise SettingsError(f"{folder}: another launch runs in it; choose another folder with out:=") from None
        yield


def _make_room(folder: Path) -> None:
    """What an earlier launch left goes away, and nothing else."""
    for name in (TIMING, *RESULTS):
        (folder / name).unlink(missing_ok=True)
    for bag in parts(folder):
        if not bag.is_symlink():
            shutil.rmtree(bag)
