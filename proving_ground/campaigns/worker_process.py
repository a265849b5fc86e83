"""Starts a worker process and talks with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from proving_ground.campaigns.plan import Job
from proving_ground.campaigns.worker import DONE, KIT, READY, REJECTED, RUN, WARM, WARMED
from proving_ground.settings import SettingsError

ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
STUCK_FACTOR, STUCK_EXTRA_S = 1.5, 20.0  # beyond its time limit, when a run that has not ended is killed
# Import modules from the driver's paths, not from the folder it was started in.
START = "import sys; sys.path[:] = filter(None, sys.path); from proving_ground.campaigns.worker import main; main()"


class WorkerProcess:
    """One process; it has a job, or is idle, or is not ready yet."""

    def __init__(self, kit: bytes, time_limit_s: float) -> None:
        """Start the process; kit: the campaign's inputs, pickled; time_limit_s: of a run."""
        ours, theirs = multiprocessing.Pipe()
        path = os.pathsep.join(item or str(Path.cwd()) for item in sys.path)
        # Its own session: Ctrl-C on a terminal reaches only the driver. It ends when its connection does.
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, str(theirs.fileno())],
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
            pass_fds=(theirs.fileno(),),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self.connection: Connection = ours
        self.job: Job | None = None
        self.is_ready = self.is_warming = False
        self._kit, self._limit = kit, time_limit_s * STUCK_FACTOR + STUCK_EXTRA_S
        self._since = time.monotonic()

    @property
    def pid(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    @property
    def is_idle(self) -> bool:
        """Whether the worker is ready and has no job."""
        return self.is_ready and self.job is None and not self.is_warming

    @property
    def is_stuck(self) -> bool:
        """Whether the worker's job has taken longer than any job may."""
        return self.job is not None and time.monotonic() - self._since > self._limit

    def warm(self, job: Job) -> None:
        """Make the process load its kernels, by means of a job whose result is dropped."""
        self.is_warming = True
        self._send(WARM, job)

    def begin(self, job: Job) -> None:
        """Send a job to the idle worker."""
        self.job, self._since = job, time.monotonic()
        self._send(RUN, job)

    def receive(self) -> dict[str, Any] | None:
        """Read a message of the worker; returns the row of a finished job, None for another message.

        Raises EOFError when the process is gone.
        """
        try:
            what, content = self.connection.recv()
        except (ConnectionError, OSError) as error:
            raise EOFError from error
        if what == READY:
            self.is_ready = True
            self._send(KIT, self._kit)
        elif what == WARMED:
            self.is_warming = False
        elif what == REJECTED:
            raise SettingsError(f"worker on {content}")
        elif what == DONE:
            self.job = None
            row: dict[str, Any] = content
            return row
        return None

    def end(self, patience_s: float = 0.0) -> str:
        """End the process; patience_s: time that it gets to exit by itself. Returns how it ended."""
        try:
            code = self._process.wait(timeout=patience_s)
            how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        except subprocess.TimeoutExpired:
            how = "closed its connection"
        self._process.kill()
        self._process.wait()
        self.connection.close()
        return how

    def _send(self, what: str, content: object) -> None:
        with contextlib.suppress(ConnectionError, OSError):  # a dead worker is detected on the next receive
            self.connection.send((what, content))
