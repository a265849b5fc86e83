"""One scenario in lock-step with its results in a folder: history, metrics, pictures, report; and the verdict."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from proving_ground.interfaces.digest import Digest
from proving_ground.report.from_run import record_from_run
from proving_ground.report.run_record import REPORT, RunRecord, Timing, save_run
from proving_ground.report.watching import WatchedLockStep
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.checkpoint import SUFFIX, checkpoint_name, read_checkpoint
from proving_ground.scenarios.handling import handling_figures
from proving_ground.scenarios.judging import judge_run, silent_observer
from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.metrics import Finding, load_reference, verdict
from proving_ground.scenarios.plots import FIGURES, figure, path_figure
from proving_ground.scenarios.refereeing import HASHES
from proving_ground.scenarios.ride import ride_figures
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from proving_ground.settings.progress import progress_on_stderr
from terrain.world import World
from vehicle_dynamics.control.helm import PERIOD_S
from vehicle_dynamics.parameters import VehicleParameters

FAILED = 1
LAST_STATE = f"last_state{SUFFIX}"
PICTURES = tuple(f"{name}.png" for name in (*FIGURES, "path"))


class Task(NamedTuple):
    """A scenario to run in lock-step and to report."""

    path: Path  # scenario file; its stem is the name of the run
    scenario: Scenario
    text: str  # content of the file
    world: World | None
    parameters: VehicleParameters | None = None  # in place of the scenario's vehicle file
    checkpoint: bytes | None = None  # to go on from
    is_changed: bool = False  # since the checkpoint


class Outputs(NamedTuple):
    """Outputs of a run besides its verdict, and their folder."""

    folder: Path | None = None  # None: runs/SCENARIO
    with_pictures: bool = True  # without them there is no report either
    bag: Path | None = None  # a new folder for a rosbag2 of sensors and truth
    with_report: bool = True
    save_at_s: tuple[float, ...] = ()  # times of checkpoints

    @property
    def is_reported(self) -> bool:
        """Whether to write a report."""
        return self.with_pictures and self.with_report


class _Driven(NamedTuple):
    runner: WatchedLockStep
    result: Run
    digests: Mapping[str, Digest]
    timing: Timing


def load_task(name: str, checkpoint: Path | None = None) -> Task:
    """The scenario of this name, or of a YAML file; checkpoint: to go on from. Raises SettingsError."""
    path = scenario_file(name)
    scenario = load_scenario(path)
    data = read_checkpoint(checkpoint) if checkpoint is not None else None
    return Task(path, scenario, path.read_text(encoding="utf-8"), scenario.world.load(), checkpoint=data)


def perform(task: Task, outputs: Outputs) -> int:
    """Run a scenario and write its results into a folder; status 1 when it does not pass."""
    reference = load_reference(task.scenario)
    folder = _made(outputs.folder or Path("runs") / task.path.stem)
    begun = time.monotonic()
    saving = _Saving(folder, outputs.save_at_s)
    driven = _drive(task, outputs.bag, saving)
    findings = judge_run(task.scenario, driven.result, reference)
    record = _record(task, driven, findings, reference)
    written = save_run(folder, record) + saving.written
    written.append(_save_hashes(folder, driven))
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


def _save_hashes(folder: Path, driven: _Driven) -> str:
    """Write the hashes of every part's inputs and outputs, as a synchronous run over ROS writes them."""
    if not driven.runner.has_diverged:
        driven.runner.finish_instant()
    found = {name: digest.texts() for name, digest in driven.digests.items()}
    write_whole(folder / HASHES, json.dumps(found, indent=2, sort_keys=True) + "\n")
    return HASHES


class _Saving:
    """Checkpoints that are written on the way."""

    def __init__(self, folder: Path, times_s: Sequence[float]) -> None:
        """Raises SettingsError for a time between two periods."""
        self._folder, self.written = folder, list[str]()
        for time_s in times_s:
            if not (math.isfinite(time_s) and math.isclose(time_s / PERIOD_S, round(time_s / PERIOD_S), abs_tol=1e-6)):
                raise SettingsError(f"--save-at {time_s:g}: must be a whole number of {PERIOD_S:g} s")
        self._periods = sorted({round(time_s / PERIOD_S) for time_s in times_s})

    def run(self, runner: WatchedLockStep, show: Callable[[float], None]) -> Run:
        """Run to the end with pauses; raises SettingsError for a time that the run does not have."""
        for period in self._periods:
            time_s = period * PERIOD_S
            if not runner.time <= time_s <= runner.scenario.duration_s:
                raise SettingsError(
                    f"--save-at {time_s:g}: must be from {runner.time:g} to {runner.scenario.duration_s:g} s"
                )
        for period in self._periods:
            runner.run(show, period)
            if runner.period < period:  # it ended before
                break
            name = checkpoint_name(period * PERIOD_S)
            write_whole(self._folder / name, runner.save())
            self.written.append(name)
        return runner.run(show)


def _drive(task: Task, bag: Path | None, saving: _Saving) -> _Driven:
    """Run in lock-step, with a bag if requested, and measure the time."""
    path, scenario, _, world, parameters, *_ = task
    show = progress_on_stderr(path.stem)
    if bag is None:
        return _timed(_resumed(task, WatchedLockStep(scenario, world=world, parameters=parameters)), saving, show)
    from proving_ground.recording.recording import Recording  # its libraries take a second to import
    from proving_ground.recording.writing import BagWriter

    with BagWriter(bag) as writer:
        recording = Recording(writer)
        listener = recording.sample
        runner = WatchedLockStep(scenario, world=world, parameters=parameters, listener=listener)
        recording.watch(_resumed(task, runner), scenario.start.time_ns())
        driven = _timed(runner, saving, show)
        recording.finish()
    print(f"  {writer.count} messages written to {bag}")
    return driven


def _resumed(task: Task, runner: WatchedLockStep) -> WatchedLockStep:
    if task.checkpoint is not None:
        runner.restore(task.checkpoint, changed=task.is_changed)
    return runner


def _timed(runner: WatchedLockStep, saving: _Saving, show: Callable[[float], None]) -> _Driven:
    digests = runner.hashed()
    begin_s, wall, cpu = runner.time, time.monotonic(), time.process_time()
    result = saving.run(runner, show)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    factor = (float(result.time[-1]) - begin_s) / cpu if cpu > 0.0 else None
    return _Driven(runner, result, digests, Timing(wall_s=wall, cpu_s=cpu, real_time_factor=factor))


def _record(task: Task, driven: _Driven, findings: Sequence[Finding], reference: Channels | None) -> RunRecord:
    result = driven.result
    return record_from_run(
        task.path, task.text, task.scenario, task.world, driven.runner, result,
        reference=reference,
        findings=findings,
        figures=handling_figures(task.scenario, result) | ride_figures(result),
        passed=verdict(findings) if result.diverged_at is None else False,
        timing=driven.timing,
        silent=silent_observer(task.scenario, result),
    )  # fmt: skip


def _keep_last_state(folder: Path, runner: WatchedLockStep) -> bool:
    """Write the last state, where it can be saved."""
    try:
        data = runner.save()
    except SettingsError:  # a planner of the user's without a state to save
        return False
    write_whole(folder / LAST_STATE, data)
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
