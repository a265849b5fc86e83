"""Dry run of a campaign: its inputs, its first samples, and its expected time, measured on two runs."""

from __future__ import annotations

import numpy as np

from proving_ground.campaigns.distributions import Value
from proving_ground.campaigns.kit import Kit, check_jobs
from proving_ground.campaigns.local_pool import LocalPool
from proving_ground.campaigns.plan import Plan
from proving_ground.settings.text_table import text_table

SHOWN = 10
MEASURED = 2


def dry_run(name: str, kit: Kit, plan: Plan, workers: int) -> int:
    """Print inputs, first samples and expected time of a campaign; returns the exit status.

    Raises SettingsError for the first sample that makes no valid scenario.
    """
    campaign = kit.campaign
    print(f"{name}: {campaign.description}")
    print(f"  base {campaign.base}, {plan.runs} runs, sampling {campaign.sampling}, seed {campaign.seed}\n")
    jobs = [plan.job(number) for number in range(plan.runs)]
    rows = []
    for index, item in enumerate(campaign.vary):
        values = [job.values[index] for job in jobs]
        factor = " (factor)" if item.scale else ""
        rows.append([item.called, ", ".join(item.keys) + factor, item.distribution.shown(), _range(values)])
    print(text_table(["input", "key", "distribution", "of these samples"], rows) + "\n")
    samples = [[str(job.number), *map(_shown, job.values), str(job.seed)] for job in jobs[:SHOWN]]
    print(text_table(["run", *(item.called for item in campaign.vary), "seed"], samples))
    if plan.runs > SHOWN:
        print(f"... and {plan.runs - SHOWN} more")
    check_jobs(kit, jobs)
    print("\nall samples make valid scenarios" + (", worlds not built" if kit.world_file is not None else ""))
    print(_expected(kit, plan, workers))
    return 0


def _expected(kit: Kit, plan: Plan, workers: int) -> str:
    """Expected time, from runs spread over the plan, in a worker."""
    chosen = sorted({0, plan.runs // 2})[:MEASURED]
    pool = LocalPool(kit, 1)
    try:
        outcomes = [item for item in pool.outcomes(plan.job(number) for number in chosen) if item is not None]
    finally:
        pool.close()
    seconds = [outcome.row.get("host.wall_s", 0.0) for outcome in outcomes]
    verdicts = ", ".join(f"run {item.job.number} {item.row['verdict']}" for item in outcomes)
    reasons = [item.row["reason"] for item in outcomes if item.row["verdict"] in ("error", "crashed")]
    total = float(np.mean(seconds)) * plan.runs / workers
    line = f"{len(seconds)} runs measured ({verdicts}): {np.mean(seconds):.2f} s each; "
    line += f"expected time with {workers} worker{'s' * (workers > 1)}: {total / 60.0:.1f} minutes"
    return "\n".join([line, *reasons])


def _range(values: list[Value]) -> str:
    if any(isinstance(value, str) for value in values):
        return f"{len(set(values))} different"
    found = np.array(values, dtype=float)
    return f"{found.min():.5g} .. {found.max():.5g}, mean {found.mean():.5g}"


def _shown(value: Value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
