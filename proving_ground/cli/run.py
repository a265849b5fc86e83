"""`proving-ground run`: one scenario in lock-step, with figures, pictures, a report and a verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from proving_ground.report.from_run import record_from_run
from proving_ground.report.run_record import REPORT, Timing, save_run
from proving_ground.report.watching import WatchedLockStep
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.handling import handling_figures
from proving_ground.scenarios.judging import judge_run, silent_observer
from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.metrics import load_reference, verdict
from proving_ground.scenarios.plots import FIGURES, figure, path_figure
from proving_ground.scenarios.scenario import Scenario, load_scenario, scenario_file, scenario_files
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from proving_ground.settings.progress import progress_on_stderr
from terrain.world import World
from vehicle_dynamics.parameters import VehicleParameters

FAILED = 1
LAST_STATE = "last_state.json"
PICTURES = tuple(f"{name}.png" for name in (*FIGURES, "path"))


def list_scenarios() -> int:
    """Names and descriptions of those in config/scenarios."""
    for name, path in scenario_files().items():
        print(f"{name}: {load_scenario(path).description}")
    return 0


def run(
    name: str, out: Path | None, with_pictures: bool = True, bag: Path | None = None, with_report: bool = True
) -> int:
    """Run a scenario and write what came of it into a folder; status 1 when it does not pass.

    with_pictures: without them there is no report either; bag: a new folder for a rosbag2 of sensors and truth.
    """
    path = scenario_file(name)
    scenario = load_scenario(path)
    task = Task(path, scenario, path.read_text(encoding="utf-8"), scenario.world.load(path.parent))
    return perform(task, out, with_pictures, bag, with_report)


def run_again(
    campaign: Path, number: int, out: Path | None, with_pictures: bool, bag: Path | None, with_report: bool
) -> int:
    """A run of a campaign again, to the bit, from the folder of its results; as `run`."""
    from proving_ground.campaigns.kit import prepared
    from proving_ground.campaigns.repeat import run_of

    kit, job = run_of(campaign, number)
    ready, base = prepared(kit, job), kit.folder
    name = f"{campaign.resolve().name}_run_{number}"
    varied = "".join(f"# {item.key}: {value}\n" for item, value in zip(kit.campaign.vary, job.values, strict=True))
    text = f"# Run {number} of the campaign in {campaign}, with\n{varied}"
    task = Task(base / f"{name}.yaml", ready.scenario, text, ready.world, ready.parameters)
    return perform(task, out, with_pictures, bag, with_report)


class Task(NamedTuple):
    """What is to be run."""

    path: Path  # of the scenario's file; its stem is the name of the run
    scenario: Scenario
    text: str  # what the file holds
    world: World | None
    parameters: VehicleParameters | None = None  # in place of the scenario's vehicle file


def perform(task: Task, out: Path | None, with_pictures: bool, bag: Path | None, with_report: bool) -> int:
    """Run it; see `run`."""
    path, scenario, text, world, _ = task
    reference = load_reference(scenario, path.parent)
    folder = _folder(out or Path("runs") / path.stem)
    begun = time.monotonic()
    runner, result, timing = _drive(task, bag)
    silent, findings = silent_observer(scenario, result), judge_run(scenario, result, reference)
    passed = verdict(findings) if result.diverged_at is None else False
    figures = handling_figures(scenario, result)
    record = record_from_run(
        path, text, scenario, world, runner, result,
        reference=reference, findings=findings, figures=figures, passed=passed, timing=timing, silent=silent,
    )  # fmt: skip
    written = save_run(folder, record)
    last_state = _keep_last_state(folder, runner) if result.diverged_at is not None else ""
    written += [LAST_STATE] if last_state else []
    pictures = _draw(folder, scenario.description, result.channels, reference) if with_pictures else []
    is_reported = with_pictures and with_report
    for left in {LAST_STATE, REPORT, *PICTURES} - {*written, *pictures, *([REPORT] if is_reported else [])}:
        (folder / left).unlink(missing_ok=True)  # of an earlier run
    print(f"{path.stem}: {scenario.description}")
    for finding in findings:
        print(f"  {finding.mark}  {finding.words()}")
    for remark in record.remarks:
        print(f"  note  {remark}")
    if result.diverged_at is not None:
        print(f"  FAIL  the motion diverged at {result.diverged_at:.2f} s{last_state}")
    for key, value in figures.items():
        print(f"  {key} = {value:.4g}")
    speed = timing.real_time_factor or math.inf
    print(f"  {record.duration_s:g} s simulated in {timing.cpu_s:.2f} s of CPU time, {speed:.0f} times real time")
    print(f"  written to {folder}: {', '.join([*written, *pictures])}")
    if is_reported:
        from proving_ground.report.page import write_report  # its libraries take a while to import

        print(f"  report: {write_report(folder, record, world)}")
    print(f"{record.verdict.upper()} ({time.monotonic() - begun:.1f} s)")
    return 0 if passed else FAILED


def _drive(task: Task, bag: Path | None) -> tuple[WatchedLockStep, Run, Timing]:
    """In lock-step, with a bag if it is asked for; and how long it takes."""
    path, scenario, _, world, parameters = task
    show = progress_on_stderr(path.stem)
    if bag is None:
        runner = WatchedLockStep(scenario, path.parent, world=world, parameters=parameters)
        return runner, *_timed(runner, show)
    from proving_ground.recording.recording import Recording  # its libraries take a second to import
    from proving_ground.recording.writing import BagWriter

    with BagWriter(bag) as writer:
        recording = Recording(writer)
        listener = recording.sample
        runner = WatchedLockStep(scenario, path.parent, world=world, parameters=parameters, listener=listener)
        recording.watch(runner, scenario.start.time_ns())
        result, timing = _timed(runner, show)
        recording.finish()
    print(f"  {writer.count} messages written to {bag}")
    return runner, result, timing


def _timed(runner: WatchedLockStep, show: Callable[[float], None]) -> tuple[Run, Timing]:
    wall, cpu = time.monotonic(), time.process_time()
    result = runner.run(show)
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    factor = float(result.time[-1]) / cpu if cpu > 0.0 else None
    return result, Timing(wall_s=wall, cpu_s=cpu, real_time_factor=factor)


def _keep_last_state(folder: Path, runner: WatchedLockStep) -> str:
    """Words about where it is; none where there can be none."""
    try:
        text = runner.checkpoint().to_json()
    except SettingsError:  # planners and observers cannot be kept
        return ""
    write_whole(folder / LAST_STATE, text + "\n")
    return f"; {LAST_STATE} has the last sound state"


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--out {path}: {error.strerror or error}") from None
    return path


def _draw(folder: Path, title: str, found: Channels, reference: Channels | None) -> list[str]:
    drawn = [*(figure(name, title, found, reference) for name in FIGURES), path_figure(title, found, reference)]
    for name, picture in zip(PICTURES, drawn, strict=True):
        write_whole(folder / name, picture)
    return list(PICTURES)
