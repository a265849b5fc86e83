"""One run of a campaign, from its values to its row of the table."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from proving_ground.campaigns.figures import Drive, kept_metrics
from proving_ground.campaigns.kit import Kit, prepared
from proving_ground.campaigns.plan import Job
from proving_ground.scenarios.judging import judge_run
from proving_ground.scenarios.lock_step import LockStep, Run

Row = dict[str, Any]

PASSED, FAILED, DIVERGED, CRASHED, ERROR = VERDICTS = ("passed", "failed", "diverged", "crashed", "error")
WARM_S = 0.31  # every sensor and planner has been called by then
LONGEST_REASON = 400


class TimeLimitError(RuntimeError):
    """A run exceeded its time limit."""


def perform(kit: Kit, job: Job) -> Row:
    """The row of a run without its inputs; a run that raises is an error with its message."""
    begun, cpu_begun = time.monotonic(), time.process_time()
    try:
        row = _row(kit, job, begun)
    except Exception as error:  # whatever a user's planner raises is the run's result
        row = error_row(f"{type(error).__name__}: {error}" if not isinstance(error, TimeLimitError) else str(error))
    return row | {"host.wall_s": time.monotonic() - begun, "host.cpu_s": time.process_time() - cpu_begun}


def warm_up(kit: Kit, job: Job) -> None:
    """Compile every kernel, or load it from the cache."""
    ready = prepared(kit, job)
    short = replace(ready.scenario, duration_s=min(WARM_S, ready.scenario.duration_s))
    runner = LockStep(short, parameters=ready.parameters, world=ready.world)
    kept_metrics(kit.campaign.metrics, Drive(short, ready.parameters, ready.world, runner, runner.run()))


def error_row(reason: str, verdict: str = ERROR) -> Row:
    """Row of a run without results: its verdict, and the reason in words."""
    return {"verdict": verdict, "reason": " ".join(reason.split())[:LONGEST_REASON]}


def _row(kit: Kit, job: Job, begun: float) -> Row:
    limit = kit.campaign.time_limit_s

    def watch(share: float) -> None:
        if time.monotonic() - begun > limit and share < 1.0:
            raise TimeLimitError(f"took longer than {limit:g} s (time_limit_s), at {share:.0%} of the run")

    ready = prepared(kit, job)
    runner = LockStep(ready.scenario, parameters=ready.parameters, world=ready.world)
    if kit.checkpoint is not None:
        runner.restore(kit.checkpoint, changed=True)
    run = runner.run(watch)
    findings = judge_run(ready.scenario, run, kit.reference)
    metrics = kept_metrics(kit.campaign.metrics, Drive(ready.scenario, ready.parameters, ready.world, runner, run))
    missed = [finding.words() for finding in findings if not finding.passed] + _out_of_bounds(kit, metrics)
    verdict, reason = _verdict(run, missed)
    return {
        "verdict": verdict,
        "reason": reason,
        "simulated_s": float(run.time[-1]),
        "end.x_m": _finite(run.channels["x_m"][-1]),
        "end.y_m": _finite(run.channels["y_m"][-1]),
        **{f"criterion.{index}": _finite(finding.value) for index, finding in enumerate(findings)},
        **{f"metric.{name}": value for name, value in metrics.items()},
    }


def _out_of_bounds(kit: Kit, metrics: dict[str, float | None]) -> list[str]:
    missed = []
    for metric in kit.campaign.metrics:
        value = metrics[metric.called]
        if metric.has_bounds and (value is None or not metric.at_least <= value <= metric.at_most):
            missed.append(f"{metric.called}: {'none' if value is None else f'{value:.5g}'} ({metric.bounds()})")
    return missed


def _verdict(run: Run, missed: list[str]) -> tuple[str, str]:
    if run.diverged_at is not None:
        return DIVERGED, f"the motion diverged at {run.diverged_at:.2f} s"
    return (FAILED, "; ".join(missed)[:LONGEST_REASON]) if missed else (PASSED, "")


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
