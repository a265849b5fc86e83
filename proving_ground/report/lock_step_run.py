"""One scenario in lock-step with its results in a folder: history, metrics, pictures, report; and the verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from proving_ground.report.from_run import record_from_run
from proving_ground.report.run_record import REPORT, RunRecord, Timing, save_run
from proving_ground.report.watching import WatchedLockStep
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.handling import handling_figures
from proving_ground.scenarios.judging import judge_run, silent_observer
from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.metrics import Finding, load_reference, verdict
from proving_ground.scenarios.plots import FIGURES, figure, path_figure
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from proving_ground.settings.progress import progress_on_stderr
from terrain.world import World
from vehicle_dynamics.parameters import VehicleParameters

FAILED = 1
LAST_STATE = "last_state.json"
PICTURES = tuple(f"{name}.png" for name in (*FIGURES, "path"))


class Task(NamedTuple):
    """A scenario to run."""

    path: Path  # scenario file; its stem is the name of the run
    scenario: Scenario
    text: str  # content of the file
    world: World | None
    parameters: VehicleParameters | None = None  # in place of the scenario's vehicle file


class Outputs(NamedTuple):
    """Outputs to write."""

    folder: Path | None = None  # None: runs/SCENARIO
    with_pictures: bool = True  # without them there is no report either
    bag: Path | None = None  # a new folder for a rosbag2 of sensors and truth
    with_report: bool = True

    @property
    def is_reported(self) -> bool:
        """Whether to write a report."""
        return self.with_pictures and self.with_report


class _Driven(NamedTuple):
    runner: WatchedLockStep
    result: Run
    timing: Timing


def load_task(name: str) -> Task:
    """The scenario of this name, or of a YAML file; raises SettingsError."""
    path = scenario_file(name)
    scenario = load_scenario(path)
    return Task(path, scenario, path.read_text(encoding="utf-8"), scenario.world.load())


def perform(task: Task, outputs: Outputs) -> int:
    """Run a scenario and write its results into a folder; status 1 when it does not pass."""
    reference = load_reference(task.scenario)
    folder = _made(outputs.folder or Path("runs") / task.path.stem)
    begun = time.monotonic()
    driven = _drive(task, outputs.bag)
    findings = judge_run(task.scenario, driven.result, reference)
    record = _record(task, driven, findings, reference)
    written = save_run(folder, record)
    has_last_state = driven.result.diverged_at is not None and _keep_last_state(folder, driven.runner)
    written += [LAST_STATE] if has_last_state else []
    if outputs.with_pictures:
        written += _draw(folder, task.scenario.description, driven.result.channels, reference)
    _remove_earlier(folder, {*written, REPORT} if outputs.is_reported else set(written))
    _print(task, record, findings, has_last_state)
    print(f"  written to {folder}: {', '.join(written)}")
    if outputs.is_reported:
        from proving_ground.report.page import write_report  # its libraries take a while to import

        print(f"  report: {write_report(folder, record, task.world)}")
    print(f"{record.verdict.upper()} ({time.monotonic() - begun:.1f} s)")
    return 0 if record.passed else FAILED


def _drive(task: Task, bag: Path | None) -> _Driven:
    """Run in lock-step, with a bag if requested, and measure the time."""
    path, scenario, _, world, parameters = task
    show = progress_on_stderr(path.stem)
    if bag is None:
        return _timed(WatchedLockStep(scenario, world=world, parameters=parameters), show)
    from proving_ground.recording.recording import Recording  # its libraries take a second to import
    from proving_ground.recording.writing import BagWriter

    with BagWriter(bag) as writer:
        recording = Recording(writer)
        listener = recording.sample
        runner = WatchedLockStep(scenario, world=world, parameters=parameters, listener=listener)
        recording.watch(runner, scenario.start.time_ns())
        driven = _timed(runner, show)
        recording.finish()
    print(f"  {writer.count} messages written to {bag}")
    return driven


def _timed(runner: WatchedLockStep, show: Callable[[float], None]) -> _Driven:
    wall, cpu = time.monotonic(), time.process_time()
    result = runner.run(show)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    factor = float(result.time[-1]) / cpu if cpu > 0.0 else None
    return _Driven(runner, result, Timing(wall_s=wall, cpu_s=cpu, real_time_factor=factor))


def _record(task: Task, driven: _Driven, findings: Sequence[Finding], reference: Channels | None) -> RunRecord:
    result = driven.result
    return record_from_run(
        task.path, task.text, task.scenario, task.world, driven.runner, result,
        reference=reference,
        findings=findings,
        figures=handling_figures(task.scenario, result),
        passed=verdict(findings) if result.diverged_at is None else False,
        timing=driven.timing,
        silent=silent_observer(task.scenario, result),
    )  # fmt: skip


def _keep_last_state(folder: Path, runner: WatchedLockStep) -> bool:
    """Write the last state, where it can be saved."""
    try:
        text = runner.checkpoint().to_json()
    except SettingsError:  # planners and observers cannot be saved
        return False
    write_whole(folder / LAST_STATE, text + "\n")
    return True


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--out {folder}: {error.strerror or error}") from None
    return folder


def _draw(folder: Path, title: str, found: Channels, reference: Channels | None) -> list[str]:
    drawn = [*(figure(name, title, found, reference) for name in FIGURES), path_figure(title, found, reference)]
    for name, picture in zip(PICTURES, drawn, strict=True):
        write_whole(folder / name, picture)
    return list(PICTURES)


def _remove_earlier(folder: Path, written: set[str]) -> None:
    """Remove files of an earlier run that this one does not write."""
    for name in {LAST_STATE, REPORT, *PICTURES} - written:
        (folder / name).unlink(missing_ok=True)


def _print(task: Task, record: RunRecord, findings: Sequence[Finding], has_last_state: bool) -> None:
    print(f"{task.path.stem}: {task.scenario.description}")
    for finding in findings:
        print(f"  {finding.mark}  {finding.words()}")
    for remark in record.remarks:
        print(f"  note  {remark}")
    if record.diverged_at_s is not None:
        last_state = f"; {LAST_STATE} has the last valid state" if has_last_state else ""
        print(f"  FAIL  the motion diverged at {record.diverged_at_s:.2f} s{last_state}")
    for key, value in record.figures.items():
        print(f"  {key} = {value:.4g}")
    speed = record.timing.real_time_factor or math.inf
    seconds = record.timing.cpu_s or 0.0
    print(f"  {record.duration_s:g} s simulated in {seconds:.2f} s of CPU time, {speed:.0f} times real time")
