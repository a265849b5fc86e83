"""Campaigns of lane changes: runs per minute, and how much of the ideal speed-up two workers give over one.

60 simulated seconds each, with vehicle and scripted driver, no observer, no LIDAR. Blocks of runs with one and with two
workers alternate, so that other load on the machine affects both.
"""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from proving_ground.campaigns.campaign_file import campaign_file
from proving_ground.campaigns.kit import Kit, load_kit
from proving_ground.campaigns.local_pool import LocalPool
from proving_ground.campaigns.plan import Job, Plan
from proving_ground.campaigns.store import Store
from proving_ground.campaigns.table import row_of, schema_of

CAMPAIGN = "lane_change_robustness"
BLOCKS = 5
RUNS_OF_A_WORKER = 6  # in each block


def run(say: Callable[[str], None]) -> dict[str, Any]:
    """Figures of one measurement, and the load of the machine before it.

    By wall time, other load counts against the case that needs both cores. By CPU time it does not: there
    the efficiency is the cost of a run alone over its cost beside another, times the share of time that workers
    were busy.
    """
    load = os.getloadavg()[0]
    kit = load_kit(campaign_file(CAMPAIGN))
    plan, numbers = Plan(kit.campaign), count()
    pools = {workers: LocalPool(kit, workers) for workers in (1, 2)}
    blocks: dict[int, list[_Block]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), schema_of(kit, plan.job(0).values))
        try:
            say("starting workers")
            for workers, pool in pools.items():
                _block(pool, kit, store, [plan.job(next(numbers)) for _ in range(2 * workers)], workers)
            before = _memory_mb()
            for block in range(BLOCKS):
                say(f"block {block + 1} of {BLOCKS}")
                for workers, pool in pools.items():
                    jobs = [plan.job(next(numbers)) for _ in range((RUNS_OF_A_WORKER + 1) * workers)]
                    blocks[workers].append(_block(pool, kit, store, jobs, workers))
            grown = _memory_mb() - before
        finally:
            for pool in pools.values():
                pool.close()
            store.close()
    alone, beside = (statistics.median(block.cpu_s for block in blocks[workers]) for workers in (1, 2))
    one, two = (statistics.median(block.rate for block in blocks[workers]) for workers in (1, 2))
    at_work = statistics.median(block.share_at_work for block in blocks[2])
    return {
        "runs_per_minute": 60.0 * two,
        "runs_per_minute_one_worker": 60.0 * one,
        "efficiency": two / (2.0 * one),
        "efficiency_by_cpu_time": alone / beside * at_work,
        "share_of_time_at_work": at_work,
        "cpu_s_per_run": beside,
        "cpu_s_per_run_alone": alone,
        "minutes_for_1000_runs": 1000.0 / two / 60.0,
        "minutes_for_1000_runs_by_cpu_time": 1000.0 * beside / 2.0 / 60.0,
        "driver_memory_growth_mb": grown,
        "load_before": load,
    }


class _Block(NamedTuple):
    rate: float  # runs per second while all workers were busy
    cpu_s: float  # of a run
    share_at_work: float  # of the workers' time


def _block(pool: LocalPool, kit: Kit, store: Store, jobs: list[Job], workers: int) -> _Block:
    """Run jobs as `campaign run` does, and measure throughput and processor time."""
    ended, cpu, wall = [], [], []
    for outcome in pool.outcomes(iter(jobs)):
        if outcome is not None:
            ended.append(time.perf_counter())
            cpu.append(float(outcome.row["host.cpu_s"]))
            wall.append(float(outcome.row["host.wall_s"]))
            store.add(row_of(kit, outcome))
    full = len(jobs) - workers  # later runs had an idle worker beside them
    spent = ended[full] - ended[0]
    return _Block(full / spent, statistics.median(cpu), min(statistics.mean(wall) * full / (workers * spent), 1.0))


def _memory_mb() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
