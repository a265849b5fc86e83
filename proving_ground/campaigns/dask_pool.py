"""The same runs on a Dask cluster: each Dask worker keeps worker processes of ours and hands them runs.

So a run that ends its process ends no Dask worker, time limits hold, and the kit goes to each worker once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import queue
from collections.abc import Iterator
from typing import Any

from proving_ground.campaigns.dask_side import CRASH, ROW, as_it_is, in_process_of_its_own
from proving_ground.campaigns.kit import Kit
from proving_ground.campaigns.local_pool import MOST_ATTEMPTS, TICK_S, Outcome
from proving_ground.campaigns.perform import CRASHED, error_row
from proving_ground.campaigns.plan import Job
from proving_ground.settings import SettingsError

CONNECT_S = 10.0
AHEAD = 2  # runs submitted at a time for each thread of the cluster


class DaskPool:
    """An existing cluster, by the address of its scheduler."""

    def __init__(self, kit: Kit, address: str) -> None:
        """Raises SettingsError when no scheduler answers, or dask.distributed is not installed."""
        try:
            import dask
            import distributed
        except ImportError:
            raise SettingsError("--scheduler needs dask.distributed: pip install proving_ground[dask]") from None
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its complaints would hide our one line
        self._address, self._limit, self._name = address, kit.campaign.time_limit_s, kit.digest
        client: Any = distributed.Client  # untyped
        try:
            self._client: Any = client(address, timeout=CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise SettingsError(f"--scheduler {address}: cannot be reached: {error}") from None
        if not self._client.ncores():
            self.close()
            raise SettingsError(f"--scheduler {address}: has no workers")
        content = pickle.dumps(kit, protocol=pickle.HIGHEST_PROTOCOL)
        # A result, not scattered data: Dask computes a result again when the last worker that had it is gone.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):  # a town is large
            self._kit = self._client.submit(as_it_is, content, key=f"kit-{self._name}-{id(self)}", pure=False)
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._running: dict[str, tuple[Any, Job, int]] = {}  # by key: future, job, attempt

    def outcomes(self, jobs: Iterator[Job]) -> Iterator[Outcome | None]:
        """All outcomes of the jobs; None now and then, so that the caller can act. Raises SettingsError."""
        waiting = next(jobs, None)
        while waiting is not None or self._running:
            most = AHEAD * max(sum(self._client.ncores().values()), 1)
            while waiting is not None and len(self._running) < most:
                self._submit(waiting, 1)
                waiting = next(jobs, None)
            yield from self._received_outcomes()
            yield None

    def _submit(self, job: Job, attempt: int) -> None:
        key = f"campaign-{self._name}-{id(self)}-{job.number}-{attempt}"
        future = self._client.submit(
            in_process_of_its_own, self._kit, self._name, job, self._limit, key=key, pure=False, retries=0
        )
        self._await(future, job, attempt)

    def _await(self, future: Any, job: Job, attempt: int) -> None:
        self._running[future.key] = (future, job, attempt)
        future.add_done_callback(self._ended.put)

    def _received_outcomes(self) -> Iterator[Outcome]:
        try:
            key = self._ended.get(timeout=TICK_S).key
        except queue.Empty:
            if self._client.status != "running":
                raise SettingsError(f"--scheduler {self._address}: the connection is lost") from None
            return
        if key not in self._running:
            return
        future, job, attempt = self._running.pop(key)
        try:
            what, content = future.result(timeout=CONNECT_S)
        except (TimeoutError, asyncio.TimeoutError):  # the same class from Python 3.11 on
            self._await(future, job, attempt)  # its worker is gone with the result: Dask runs it again
            return
        except Exception as error:  # from Dask, or from a worker with another version of this code
            if type(error).__name__ == "KilledWorker":
                what, content = CRASH, "was ended with its Dask worker"
            else:
                raise SettingsError(
                    f"--scheduler {self._address}: a worker cannot run this ({type(error).__name__}: {error})"
                ) from None
        if what == ROW:
            yield Outcome(job, content, attempt)
        elif what == CRASH and attempt < MOST_ATTEMPTS:
            self._submit(job, attempt + 1)
        elif what == CRASH:
            yield Outcome(job, error_row(f"its worker {content}, and so did another one", CRASHED), attempt)
        else:
            raise SettingsError(f"--scheduler {self._address}: {content}")

    def close(self) -> None:
        """Leave the cluster as it was."""
        with contextlib.suppress(Exception):  # it may be gone already
            futures = [future for future, _, _ in getattr(self, "_running", {}).values()]
            self._client.cancel(futures)
        with contextlib.suppress(Exception):
            self._client.close(timeout=CONNECT_S)
