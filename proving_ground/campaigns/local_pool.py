"""Worker processes on this machine: runs go out, outcomes come back in the order of completion."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait

from proving_ground.campaigns.kit import Kit
from proving_ground.campaigns.perform import CRASHED, Row, error_row
from proving_ground.campaigns.plan import Job
from proving_ground.campaigns.worker_process import WorkerProcess
from proving_ground.settings import SettingsError

TICK_S = 0.5
MOST_ATTEMPTS = 2  # of a run that crashes its worker
PATIENCE_S = 5.0  # wait for a process that has closed its connection to exit
MOST_FALSE_STARTS = 4  # consecutive workers that end before they have done anything


@dataclass(frozen=True)
class Outcome:
    """A finished run: its job, its row of the results, and the number of attempts."""

    job: Job
    row: Row
    attempts: int


class LocalPool:
    """A fixed number of worker processes."""

    def __init__(self, kit: Kit, workers: int) -> None:
        self._kit, self._limit = pickle.dumps(kit, protocol=pickle.HIGHEST_PROTOCOL), kit.campaign.time_limit_s
        self._count = workers
        self.workers: list[WorkerProcess] = []
        self._is_warm = False
        self._false_starts = 0

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[Outcome | None]:
        """All outcomes of the jobs; None now and then, so that the caller can act. Raises SettingsError."""
        retries: deque[Job] = deque()
        attempts: dict[int, int] = {}
        waiting = next(jobs, None)
        while waiting is not None or retries or any(worker.job for worker in self.workers):
            while len(self.workers) < self._count and (waiting is not None or retries):
                self.workers.append(WorkerProcess(self._kit, self._limit))
            for worker in self.workers:
                job = retries[0] if retries else waiting
                if job is None or not self._is_free(worker, job):
                    continue
                if retries:
                    retries.popleft()
                else:
                    waiting = next(jobs, None)
                attempts[job.number] = attempts.get(job.number, 0) + 1
                worker.begin(job)
            yield from self._received_outcomes(attempts, retries)
            yield None

    def _is_free(self, worker: WorkerProcess, job: Job) -> bool:
        """Whether it can take a job. One worker warms up alone: the others find all compiled code in the cache."""
        if not worker.is_idle:
            return False
        if not self._is_warm and not any(other.is_warming for other in self.workers):
            worker.warm(job)
        return self._is_warm

    def _received_outcomes(self, attempts: dict[int, int], retries: deque[Job]) -> Iterator[Outcome]:
        readable = wait([worker.connection for worker in self.workers], timeout=TICK_S)
        for worker in list(self.workers):
            was_warming, job = worker.is_warming, worker.job
            if worker.is_stuck:
                self._drop(worker)
                yield Outcome(job, error_row("did not end long after its time limit"), 1)  # type: ignore[arg-type]
            elif worker.connection in readable:
                try:
                    row = worker.receive()
                except EOFError:
                    yield from self._lost(worker, attempts, retries)
                    continue
                self._is_warm |= was_warming and not worker.is_warming
                if row is not None and job is not None:
                    self._false_starts = 0
                    yield Outcome(job, row, attempts.pop(job.number))

    def _lost(self, worker: WorkerProcess, attempts: dict[int, int], retries: deque[Job]) -> Iterator[Outcome]:
        """A worker has died: its job goes to another one, or counts as crashed."""
        was_warming, job = worker.is_warming, worker.job
        how = self._drop(worker, PATIENCE_S)
        self._is_warm |= was_warming  # the run itself will show what is wrong
        if job is None:
            self._false_starts += 1
            if self._false_starts >= MOST_FALSE_STARTS:
                raise SettingsError(f"workers end before they do anything: the last one {how}")
        elif attempts[job.number] < MOST_ATTEMPTS:
            retries.append(job)
        else:
            reason = f"its worker {how}, and so did another one"
            yield Outcome(job, error_row(reason, CRASHED), attempts.pop(job.number))

    def _drop(self, worker: WorkerProcess, patience_s: float = 0.0) -> str:
        self.workers.remove(worker)
        return worker.end(patience_s)

    def close(self) -> None:
        """Terminate all worker processes at once."""
        for worker in list(self.workers):
            self._drop(worker)
