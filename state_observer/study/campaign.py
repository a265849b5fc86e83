"""All runs of the study, distributed over the cores."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from state_observer.study.cases import Bench
from state_observer.study.merit import Merit
from state_observer.study.parameters import Case

REPEATS = 7
HIGHEST_RATE_HZ = 200

_bench: Bench | None = None  # of a worker process


def run_all(bench: Bench, workers: int, progress: Callable[[float], None]) -> dict[Case, Merit]:
    """Run every case of the study. `progress` gets the completed share."""
    cases = bench.study.cases()
    found: dict[Case, Merit] = {}
    if workers <= 1:
        for case in cases:
            found[case] = bench.run(case)[1]
            progress(len(found) / len(cases))
        return found
    # Workers are forked: they share the kernels that this process has compiled.
    warm_up(bench)
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, context, _start_worker, (bench,)) as pool:
        for case, result in zip(cases, pool.map(_run, cases, chunksize=4), strict=True):
            found[case] = result
            progress(len(found) / len(cases))
    return found


def warm_up(bench: Bench) -> None:
    """Compile (or load) all kernels, and compute the true motions."""
    short = Bench(replace(bench.study, duration_s=2 * bench.step), bench.tuning)
    short.run(Case(bench.study.linkages[0], "encoder", bench.study.errors[0].name, HIGHEST_RATE_HZ, "DEKF"))
    for linkage in bench.study.linkages:
        bench.truth(linkage)


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def real_time_factors(
    bench: Bench, repeats: int = REPEATS, say: Callable[[str], None] = lambda text: None
) -> Mapping[str, Mapping[str, float]]:
    """Simulated time over CPU time of each filter on each linkage, encoders at the highest rate ([Sanjurjo] Fig. 4.14).

    The best of several repeats: other load can only add time.
    """
    factors: dict[str, dict[str, float]] = {}
    for linkage in bench.study.linkages:
        factors[linkage] = {}
        for method in bench.study.filters:
            say(f"speed of {method} on the {linkage.replace('_', '-')}")
            case = Case(linkage, "encoder", bench.study.errors[0].name, HIGHEST_RATE_HZ, method)
            readings = bench.readings(case)
            best = float("inf")
            for _ in range(repeats):
                observer = bench.observer(case)
                begun = time.process_time()
                result = observer.run(readings)
                best = min(best, time.process_time() - begun)
            factors[linkage][method] = len(result.angles) * bench.step / best
    return factors


def _start_worker(bench: Bench) -> None:
    global _bench
    _bench = bench


def _run(case: Case) -> Merit:
    assert _bench is not None
    return _bench.run(case)[1]
