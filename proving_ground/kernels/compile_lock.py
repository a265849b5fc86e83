"""One process of this machine compiles at a time; others wait, then load what it has compiled.

The lock is one on a file in the folder of compiled kernels. The system drops it when its process ends, however it ends,
so a lock never outlives its process; the process id in the file is for people.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import time
from pathlib import Path

WAIT_S = 300.0  # a process that holds the lock for longer is stuck: compile beside it
NOTICE_AFTER_S = 1.0
LOOK_EVERY_S = 0.05


class CompileLock:
    """Lock between processes, so that one of them compiles at a time; inside a process numba has its own lock."""

    def __init__(self, path: Path, wait_s: float = WAIT_S) -> None:
        self.path, self._wait_s = path, wait_s
        self._file: int | None = None
        self._has_said = False

    def acquire(self) -> bool:
        """Take the lock, unless this process has it; True if another one had it, and may have compiled what we need."""
        if self._file is not None:
            return False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:  # cannot be written: then nothing is shared either
            return False
        has_waited = self._wait(self._file)
        with contextlib.suppress(OSError):  # a full disk
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        return has_waited

    def release(self) -> None:
        """Release the lock, if this process has it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _wait(self, file: int) -> bool:
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return time.monotonic() - began > LOOK_EVERY_S
            except BlockingIOError:
                waited = time.monotonic() - began
            except OSError:  # a file system without locks
                return False
            if waited > self._wait_s:
                _say(f"process {_holder(file)} has been compiling for {waited:.0f} s; compiling beside it")
                return True
            if waited > NOTICE_AFTER_S and not self._has_said:
                self._has_said = True
                _say(f"waiting for process {_holder(file)}, which compiles numerical kernels")
            time.sleep(LOOK_EVERY_S)


def _holder(file: int) -> str:
    try:
        return os.pread(file, 20, 0).decode("ascii", "replace").strip() or "?"
    except OSError:
        return "?"


def _say(words: str) -> None:
    print(f"proving_ground: {words}", file=sys.stderr, flush=True)
