"""`proving-ground run`: one scenario in lock-step, with figures, pictures and a verdict."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path

import numpy as np

from scenarios.channels import CHANNELS, Channels
from scenarios.handling import handling_figures
from scenarios.lock_step import LockStep, Run
from scenarios.metrics import Finding, judge, load_reference
from scenarios.plots import FIGURES, figure, path_figure
from scenarios.progress import progress_on_stderr
from scenarios.scenario import Scenario, load_scenario, scenario_file, scenario_files
from settings import SettingsError
from settings.files import write_whole

FAILED = 1
LAST_STATE = "last_state.json"


def list_scenarios() -> int:
    """Names and descriptions of those in config/scenarios."""
    for name, path in scenario_files().items():
        print(f"{name}: {load_scenario(path).description}")
    return 0


def run(name: str, out: Path | None, with_pictures: bool = True, bag: Path | None = None) -> int:
    """Run a scenario and write history, metrics and pictures into a folder; status 1 when it does not pass.

    bag: a new folder for a rosbag2 of sensors and truth.
    """
    path = scenario_file(name)
    scenario = load_scenario(path)
    reference = load_reference(scenario, path.parent)
    folder = _folder(out or Path("runs") / path.stem)
    begun = time.monotonic()
    runner, result, cpu = _drive(scenario, path, bag)
    findings = judge(scenario.criteria, result.channels, reference)
    passed = result.diverged_at is None and all(finding.passed for finding in findings)
    simulated = float(result.time[-1])
    speed = simulated / cpu if cpu > 0.0 else math.inf
    write_whole(folder / "history.csv", _table(result.channels))
    figures = handling_figures(scenario, result)
    metrics = _metrics(path.stem, result, findings, figures, passed)
    write_whole(folder / "metrics.json", json.dumps(metrics, indent=2, allow_nan=False) + "\n")
    written = ["history.csv", "metrics.json"]
    if result.diverged_at is not None:
        write_whole(folder / LAST_STATE, runner.checkpoint().to_json() + "\n")
        written.append(LAST_STATE)
    pictures = _draw(folder, scenario.description, result.channels, reference) if with_pictures else []
    print(f"{path.stem}: {scenario.description}")
    for finding in findings:
        print(f"  {'pass' if finding.passed else 'FAIL'}  {finding.words()}")
    if result.diverged_at is not None:
        print(f"  FAIL  the motion diverged at {result.diverged_at:.2f} s; {LAST_STATE} has the last sound state")
    for key, value in figures.items():
        print(f"  {key} = {value:.4g}")
    print(f"  {simulated:g} s simulated in {cpu:.2f} s of CPU time, {speed:.0f} times real time")
    print(f"  written to {folder}: {', '.join([*written, *pictures])}")
    print(f"{'PASSED' if passed else 'FAILED'} ({time.monotonic() - begun:.1f} s)")
    return 0 if passed else FAILED


def _drive(scenario: Scenario, path: Path, bag: Path | None) -> tuple[LockStep, Run, float]:
    """In lock-step, with a bag if it is asked for; and the CPU time it takes [s]."""
    show = progress_on_stderr(path.stem)
    if bag is None:
        runner = LockStep(scenario, path.parent)
        begun = time.process_time()
        return runner, runner.run(show), time.process_time() - begun
    from scenarios.bags.recording import Recording  # its libraries take a second to import
    from scenarios.bags.writing import BagWriter

    with BagWriter(bag) as writer:
        recording = Recording(writer)
        runner = LockStep(scenario, path.parent, listener=recording.sample)
        recording.watch(runner, scenario.start.time_ns())
        begun = time.process_time()
        result = runner.run(show)
    print(f"  {writer.count} messages written to {bag}")
    return runner, result, time.process_time() - begun


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--out {path}: {error.strerror or error}") from None
    return path


def _table(found: Channels) -> str:
    lines = [",".join(CHANNELS)]
    columns = np.column_stack([found[name] for name in CHANNELS])
    lines += [",".join(f"{value:.9g}" for value in row) for row in columns.tolist()]
    return "\n".join(lines) + "\n"


def _metrics(
    name: str, result: Run, findings: list[Finding], figures: dict[str, float], passed: bool
) -> dict[str, object]:
    return {
        "scenario": name,
        "passed": passed,
        "diverged_at_s": result.diverged_at,
        "duration_s": float(result.time[-1]),
        "figures": figures,
        "criteria": [finding.plain() for finding in findings],
        "channels": {
            key: {"minimum": float(values.min()), "maximum": float(values.max()), "end": float(values[-1])}
            for key, values in result.channels.items()
        },
    }


def _draw(folder: Path, title: str, found: Channels, reference: Channels | None) -> list[str]:
    names = []
    for name in FIGURES:
        write_whole(folder / f"{name}.png", figure(name, title, found, reference))
        names.append(f"{name}.png")
    write_whole(folder / "path.png", path_figure(title, found, reference))
    return [*names, "path.png"]
