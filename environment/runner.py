"""Runs the commands of a step: output to its log, a tick while waiting, no orphans when interrupted."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from environment.errors import CommandError

TICK_S = 1.0
GRACE_S = 5.0


class Runner:
    """Runs child processes in `root` with one log file and one set of environment variables."""

    def __init__(
        self,
        root: Path,
        log: Path,
        variables: Mapping[str, str],
        on_tick: Callable[[], None] = lambda: None,
        lock: int | None = None,
    ) -> None:
        self.root = root
        self.log = log
        self._variables = dict(variables)
        self._on_tick = on_tick
        # Children hold the lock too: if only we are killed, the next set-up waits until their work has ended.
        self._inherited = () if lock is None else (lock,)

    def run(self, command: Sequence[str | Path], folder: Path | None = None) -> None:
        """Run to the end, in folder or else in root; raises CommandError if the status is not zero."""
        words = [str(word) for word in command]
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a") as log:
            log.write(f"$ {shlex.join(words)}\n")
            log.flush()
            # A separate session makes it possible to stop pip together with the compilers it started.
            child = subprocess.Popen(
                words,
                cwd=folder or self.root,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=self._inherited,
            )
            try:
                status = self._wait(child)
            except BaseException:
                _stop(child)
                raise
        if status != 0:
            raise CommandError(Path(words[0]).name, status, self.log)

    def succeeds(self, command: Sequence[str | Path]) -> bool:
        """Whether the command ends with status zero."""
        try:
            self.run(command)
        except CommandError:
            return False
        return True

    def _wait(self, child: subprocess.Popen[bytes]) -> int:
        while True:
            try:
                return child.wait(timeout=TICK_S)
            except subprocess.TimeoutExpired:
                self._on_tick()


def _stop(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
            child.wait(timeout=GRACE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
