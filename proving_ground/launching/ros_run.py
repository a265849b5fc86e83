"""A scenario over ROS from start to verdict: its nodes run, a bag is recorded, judged and reported on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from proving_ground.launching.kernels_first import compile_first
from proving_ground.launching.launch_folder import (
    claimed,
    require_inputs_elsewhere,
    set_aside,
    settle,
    settle_when_time_runs,
)
from proving_ground.launching.launcher import processes, start_nodes
from proving_ground.launching.scenario_launch import OVER_ROS, run_folder, scenario_launch
from proving_ground.recording.parts import SCENARIO
from proving_ground.report.run_record import RunRecord, Timing, in_order, missing_events, save_run
from proving_ground.scenarios.channels import ESTIMATE_CHANNELS
from proving_ground.scenarios.gaps import EDGE_S, Gap, Missing
from proving_ground.scenarios.metrics import Finding, load_reference, verdict
from proving_ground.scenarios.refereeing import START_WITHIN_S, TIMING
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError
from terrain.world import World

EXIT_FAILED = 1
REPORTED_ARGUMENTS = (
    "planner",
    "observer",
    "rate",
    "duration",
)  # launch arguments that the report lists; it also has the seed


def run_over_ros(name: str, given: Mapping[str, str], show: bool) -> int:
    """Start the launch of a scenario; status 0 when it completed and passed, judged by its bag."""
    path = scenario_file(name)
    specs = scenario_launch(name).nodes(given)
    processes(specs, show)  # report what is wrong with them before anything is touched
    compile_first(path)
    if given.get("record") == "false":
        return start_nodes(specs, show)
    folder, reference = run_folder(path, given), load_scenario(path).reference
    require_inputs_elsewhere(folder, [path, Path(reference)] if reference else [path])
    with claimed(folder):
        had_results = set_aside(folder)
        try:
            status = start_nodes(specs, show, meanwhile=settle_when_time_runs(folder))
        finally:
            has_run = settle(folder)
        if not has_run:
            kept = "; what the run before left is kept" if had_results else ""
            print(f"{path.stem}: the run did not complete: time never ran{kept}")
            return status or EXIT_FAILED
        try:
            return judge_bag(path, folder, given) or status
        except SettingsError as error:  # nothing usable was recorded
            print(f"{path.stem}: the run did not complete and cannot be judged: {error}")
            return status or EXIT_FAILED


def judge_bag(path: Path, folder: Path, given: Mapping[str, str]) -> int:
    """Judge the recording in a run's folder, write figures and report, print the verdict."""
    from proving_ground.report.page import write_report  # its libraries take a while to import

    record, findings, world = judged(path, folder, given)
    save_run(folder, record)
    report = write_report(folder, record, world)
    for finding in findings:
        print(f"  {finding.mark}  {finding.words()}")
    _say(record, report)
    return 0 if record.passed else EXIT_FAILED


def judged(path: Path, folder: Path, given: Mapping[str, str]) -> tuple[RunRecord, list[Finding], World | None]:
    """The recording in a run's folder, judged by the scenario's criteria; the findings on these; the run's world.

    A criterion that the missing data could have met or broken is open: neither met nor missed.
    """
    from proving_ground.report.from_bag import recorded
    from proving_ground.report.from_run import change_events, collision_events, fault_events, goal_of, world_name
    from proving_ground.report.versions import versions
    from proving_ground.scenarios.judging import judge_around

    scenario = load_scenario(path)
    knows_start = scenario.observer is not None and scenario.observer.knows_start
    record, lacking = recorded(folder, scenario.vehicle.model, observer_knows_start=knows_start)
    reference = load_reference(scenario)
    world = scenario.world.load()
    known = [item for item in scenario.criteria if item.channel in record.channels]
    left_out = [item for item in scenario.criteria if item.channel not in record.channels]
    timing, simulated, incidents = _timing(folder)
    last, unsound = _end(record, scenario, simulated)
    lacking = replace(lacking, everywhere=(*lacking.everywhere, *last))
    findings = judge_around(known, record.channels, reference, lacking)
    unsound += [f"criterion on {item.channel}: is not in the bag and cannot be judged" for item in left_out]
    passed = False if unsound else verdict(findings)
    remarks = [*record.remarks, *unsound, *incidents, *_remarks(record, scenario, findings, lacking, last)]
    events = [*record.events, *fault_events(scenario), *change_events(scenario)]
    events += [*collision_events(record.channels), *missing_events(last)]
    record = replace(
        record,
        name=_run_name(path, folder),
        description=scenario.description,
        passed=passed,
        findings=tuple(finding.plain() for finding in findings),
        seed=int(given["seed"]) if given.get("seed") else scenario.seed,
        timing=timing,
        versions=versions(),
        scenario=path.read_text(encoding="utf-8"),
        reference=reference,
        world=world_name(scenario, path.parent),
        goal=goal_of(scenario, world),
        arguments={name: given[name] for name in REPORTED_ARGUMENTS if given.get(name)},
        events=in_order(events),
        remarks=tuple(remarks),
    )
    return record, findings, world


def _end(record: RunRecord, scenario: Scenario, simulated: float | None) -> tuple[list[Gap], list[str]]:
    """Data missing at the end of a recording, and what makes the run fail; simulated: its length [s]."""
    if simulated is None:
        return [], ["the run did not complete"]
    if record.duration_s >= simulated - EDGE_S:
        return [], []
    late = (record.start_ns - scenario.start.time_ns()) * 1e-9
    if late > EDGE_S:  # then times of the run are unknown
        words = f"the bag has {record.duration_s:.1f} of {simulated:.1f} s, and begins {late:.1f} s after the run"
        return [], [words]
    return [Gap(record.duration_s, simulated, has_after=False)], []


def _remarks(
    record: RunRecord, scenario: Scenario, findings: Sequence[Finding], lacking: Missing, last: Sequence[Gap]
) -> list[str]:
    """Remarks on how missing data were judged."""
    remarks = [f"the bag has {gap.start_s:.1f} of {gap.end_s:.1f} s" for gap in last]
    if lacking:
        undecided = sum(finding.is_open for finding in findings)
        open_criteria = f"{undecided} of {len(findings)} criteria depend on what is missing, and are open"
        remarks.append(
            f"judged on the rest: {open_criteria if undecided else 'no criterion depends on what is missing'}"
        )
    if scenario.observer is None or scenario.observer.knows_start or record.estimates is None:
        return remarks
    first_s = (int(record.estimates["time_ns"][0]) - record.start_ns) * 1e-9
    early = [item for item in scenario.criteria if item.channel in ESTIMATE_CHANNELS and item.from_s < first_s]
    if early and first_s > START_WITHIN_S:
        remarks.append(
            f"the first estimate came at {first_s:.1f} s; before that, its error is taken as the first one's"
        )
    return remarks


def _run_name(path: Path, folder: Path) -> str:
    """Name of the scenario's file; the file in a run's folder always has the same name."""
    return folder.resolve().name.removesuffix(OVER_ROS) if path.name == SCENARIO else path.stem


def _say(record: RunRecord, report: Path) -> None:
    for remark in record.remarks:
        print(f"  note  {remark}")
    if record.timing.real_time_factor is not None:
        print(f"  {record.timing.real_time_factor:.3f} times real time")
    print(f"  report: {report}")
    print(f"{record.name}: {record.verdict.upper()}")


def _timing(folder: Path) -> tuple[Timing, float | None, list[str]]:
    """Timing written by the referee at the end of the run, the simulated time until then [s], and what happened."""
    try:
        found = json.loads((folder / TIMING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Timing(), None, []
    incidents = _incidents(found)
    try:
        timing = Timing(wall_s=float(found["wall_s"]), real_time_factor=float(found["real_time_factor"]))
        return timing, float(found["simulated_s"]), incidents
    except (ValueError, KeyError, TypeError):
        return Timing(), None, incidents


def _incidents(found: Mapping[str, Any]) -> list[str]:
    """Remarks on nodes that died, and on time that stood still."""
    remarks = []
    if found.get("given_up"):
        remarks.append(f"given up: {found['given_up']}")
    if found.get("restarted"):
        remarks.append(f"restarted during the run: {', '.join(found['restarted'])}")
    if found.get("longest_wait_for"):
        remarks.append(
            f"time stood still for {found['longest_wait_s']:.1f} s at most, waiting for {found['longest_wait_for']}"
        )
    return remarks
