"""One process compiles at a time, and a process that dies or hangs meanwhile holds nobody up for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proving_ground.kernels.compile_lock import CompileLock

HOLD = """
import sys
from pathlib import Path
from proving_ground.kernels.compile_lock import CompileLock
CompileLock(Path(sys.argv[1])).acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_lock_of_a_killed_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "kernels" / "lock"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert path.read_text() == f"{holder.pid}\n"
        holder.send_signal(signal.SIGKILL)

    lock = CompileLock(path)

    assert not lock.acquire()  # nobody held it
    assert path.read_text() == f"{os.getpid()}\n"


def test_process_that_waits_too_long_compiles_beside_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = CompileLock(tmp_path / "lock"), CompileLock(tmp_path / "lock", wait_s=0.0)
    first.acquire()

    assert second.acquire()

    assert f"process {os.getpid()} has been compiling" in capsys.readouterr().err


def test_released_lock_is_free(tmp_path: Path) -> None:
    first, second = CompileLock(tmp_path / "lock"), CompileLock(tmp_path / "lock")
    first.acquire()
    first.release()

    assert not second.acquire()


def test_folder_that_cannot_be_written_locks_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")

    assert not CompileLock(tmp_path / "file" / "lock").acquire()
