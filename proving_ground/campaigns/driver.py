"""Runs a campaign: hands out runs, stores the results, and ends when all are done or a stop rule says so."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from proving_ground.campaigns.campaign_file import campaign_file
from proving_ground.campaigns.dry_run import dry_run
from proving_ground.campaigns.kit import Kit, check_jobs, load_kit
from proving_ground.campaigns.local_pool import LocalPool, Outcome
from proving_ground.campaigns.perform import PASSED
from proving_ground.campaigns.plan import Job, Plan
from proving_ground.campaigns.progress_line import ProgressLine
from proving_ground.campaigns.rules import EarlyStop
from proving_ground.campaigns.store import Store, done_mask
from proving_ground.campaigns.summary import summary
from proving_ground.campaigns.table import row_of, schema_of
from proving_ground.settings import SettingsError

INTERRUPTED = 130
CHECKED_FIRST = 2000  # runs whose values are checked before any work; later ones become errors in the table
MOST_WORKERS = 1024


@dataclass(frozen=True)
class Request:
    """Options of `proving-ground campaign run`."""

    name: str
    runs: int | None = None
    workers: int | None = None
    scheduler: str = ""
    out: Path | None = None
    is_dry: bool = False


class Pool(Protocol):
    """Computes runs, here or on a cluster."""

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[Outcome | None]: ...
    def close(self) -> None: ...


def run_campaign(request: Request) -> int:
    """Run what is missing; status 0 when all runs are recorded, whatever their verdicts."""
    path = campaign_file(request.name)
    if request.runs is not None and request.runs < 1:
        raise SettingsError(f"--runs: must be a whole number above 0, got {request.runs}")
    kit = load_kit(path)
    plan = Plan(kit.campaign, request.runs)
    if request.is_dry:
        return dry_run(path.stem, kit, plan, workers_of(request))
    check_jobs(kit, [plan.job(number) for number in range(min(plan.runs, CHECKED_FIRST))])
    store = Store(request.out or Path("runs/campaigns") / path.stem, schema_of(kit, plan.job(0).values))
    try:
        store.adopt(path, kit, plan.runs, plan.is_extensible)
        return _Session(path.stem, request, kit, plan, store).run()
    finally:
        store.close()


def workers_of(request: Request) -> int:
    """The number requested, or one for each core that this process may use."""
    if request.workers is None:
        return len(os.sched_getaffinity(0))
    if not 1 <= request.workers <= MOST_WORKERS:
        raise SettingsError(f"--workers: must be a whole number from 1 to {MOST_WORKERS}, got {request.workers}")
    return request.workers


class _Session:
    """One execution of `campaign run`: its pool of workers, store and progress."""

    def __init__(self, name: str, request: Request, kit: Kit, plan: Plan, store: Store) -> None:
        self._name, self._request, self._kit, self._plan, self._store = name, request, kit, plan, store
        verdicts = store.verdicts()
        self._done = done_mask(verdicts, plan.runs)
        self._stop = EarlyStop(kit.campaign.stop)
        self._stop.record(verdicts)
        self._line = ProgressLine(name, plan.runs, int(self._done.sum()))
        self._wall_end = time.monotonic() + (kit.campaign.stop.max_wall_s or float("inf"))

    def run(self) -> int:
        if self._done.all():
            print(f"{self._name}: all {self._plan.runs} runs are there")
        elif self._done.any():
            print(f"{self._name}: {self._line.done} of {self._plan.runs} runs are there, goes on with the others")
        is_interrupted = False
        if not self._done.all() and self._stop.last_run is None:
            pool = self._pool()
            try:
                with terminated_as_interrupted():
                    self._work(pool)
            except KeyboardInterrupt:
                is_interrupted = True
            except SettingsError as error:
                raise self._with_what_is_kept(error) from None
            finally:
                pool.close()
            self._line.show(is_last=True)
        try:
            table = self._store.finish(self._stop.last_run)
        except SettingsError as error:
            raise self._with_what_is_kept(error) from None
        self._say(table, is_interrupted)
        return INTERRUPTED if is_interrupted else 0

    def _with_what_is_kept(self, error: SettingsError) -> SettingsError:
        kept, runs = int(done_mask(self._store.verdicts(), self._plan.runs).sum()), self._plan.runs
        return SettingsError(
            f"{error}; {kept} of {runs} runs are kept in {self._store.folder}, the same command goes on with the others"
        )

    def _pool(self) -> Pool:
        if self._request.scheduler:
            from proving_ground.campaigns.dask_pool import DaskPool

            return DaskPool(self._kit, self._request.scheduler)
        return LocalPool(self._kit, min(workers_of(self._request), int((~self._done).sum())))

    def _work(self, pool: Pool) -> None:
        for outcome in pool.outcomes(self._jobs()):
            if outcome is None:
                self._store.tick()
            else:
                row = row_of(self._kit, outcome)
                self._store.add(row)
                self._done[outcome.job.number] = True
                self._line.record(row["verdict"] == PASSED)
                self._stop.record({outcome.job.number: row["verdict"]})
            self._line.show()
            if self._stop.last_run is not None:
                return

    def _jobs(self) -> Iterator[Job]:
        for number in range(self._plan.runs):
            if time.monotonic() > self._wall_end:
                return
            if not self._done[number]:
                yield self._plan.job(number)

    def _say(self, table: pa.Table, is_interrupted: bool) -> None:
        print(summary(self._name, table))
        if self._stop.why:
            print(f"ended early: {self._stop.why}")
        elif not self._done.all():
            why = "interrupted" if is_interrupted else "ended by stop.max_wall_s"
            print(f"{why} after {int(self._done.sum())} of {self._plan.runs} runs; the same command goes on")
        print(f"written to {self._store.folder}; proving-ground campaign report {self._store.folder} draws them")


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM ends a campaign as orderly as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
