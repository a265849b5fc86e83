"""Code that runs inside a Dask worker: it reuses a few of our worker processes."""

from __future__ import annotations

import atexit
import threading
from typing import Any

from proving_ground.campaigns.plan import Job
from proving_ground.campaigns.worker_process import WorkerProcess
from proving_ground.settings import SettingsError

ROW, CRASH, STUCK, REJECTED = "row", "crash", "stuck", "rejected"
POLL_S = 0.5

_lock = threading.Lock()
_idle: dict[str, list[WorkerProcess]] = {}  # by the name of their kit


def as_it_is(kit: bytes) -> bytes:
    """Return the pickled kit unchanged: as a result on the cluster it is there for all jobs."""
    return kit


def in_process_of_its_own(kit: bytes, name: str, job: Job, time_limit_s: float) -> tuple[str, Any]:
    """Run a job in a worker process of this Dask worker; name: identifies the kit, whose processes are reused.

    Returns ROW and the row, or another outcome (CRASH, STUCK, REJECTED) and the reason.
    """
    worker = _taken(kit, name, time_limit_s)
    try:
        row = _row_of(worker, job)
    except EOFError:
        return CRASH, worker.end(patience_s=5.0)
    except SettingsError as error:
        worker.end()
        return REJECTED, str(error)
    except TimeoutError:
        worker.end()
        from proving_ground.campaigns.perform import error_row

        return ROW, error_row("did not end long after its time limit")
    with _lock:
        _idle.setdefault(name, []).append(worker)
    return ROW, row


def _row_of(worker: WorkerProcess, job: Job) -> dict[str, Any]:
    while True:
        if worker.is_idle:
            worker.begin(job)
        if worker.is_stuck:
            raise TimeoutError
        if worker.connection.poll(POLL_S):
            row = worker.receive()
            if row is not None:
                return row


def _taken(kit: bytes, name: str, time_limit_s: float) -> WorkerProcess:
    """An idle worker that has the kit, or a new one; those of other campaigns are ended."""
    with _lock:
        for other in [key for key in _idle if key != name]:
            for worker in _idle.pop(other):
                worker.end()
        if _idle.get(name):
            return _idle[name].pop()
    return WorkerProcess(kit, time_limit_s)


@atexit.register
def _end_all() -> None:
    for workers in _idle.values():
        for worker in workers:
            worker.end()
