"""Single key presses from a terminal, which is restored however the process ends, SIGKILL included."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tty
from types import FrameType
from typing import Any

# Runs as a process of its own and holds the reading end of a pipe. When the other end closes, for any reason,
# it restores the terminal. It ignores the terminal's signals, including the one that would stop it from
# changing a terminal it is not in the foreground of.
_GUARD = """
import os, signal, sys, termios
for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGTSTP", "SIGTTOU"):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
before = termios.tcgetattr(0)
os.write(1, b"ready")
os.close(1)
while os.read(int(sys.argv[1]), 64):
    pass
termios.tcsetattr(0, termios.TCSANOW, before)  # at once: output may be halted by Ctrl-S
"""

ESCAPE_WAIT_S = 0.02  # the rest of an arrow key's sequence follows within this time
LONGEST_SEQUENCE = 32


class KeyTerminal:
    """A terminal whose keys arrive one by one, without echo, while it is open. Ctrl-C and Ctrl-Z work as usual."""

    def __init__(self, fd: int | None = None) -> None:
        self._fd = sys.stdin.fileno() if fd is None else fd
        if not os.isatty(self._fd):
            raise OSError("the keyboard node needs a terminal on its standard input")
        self._guard, self._guard_pipe = self._start_guard()
        tty.setcbreak(self._fd)
        self._previous_continue: Any = signal.signal(signal.SIGCONT, self._continued)

    def close(self) -> None:
        """Restore the terminal's former mode."""
        signal.signal(signal.SIGCONT, self._previous_continue)
        os.close(self._guard_pipe)
        self._guard.wait()

    def read_key(self, timeout: float) -> str:
        """One key, '' when none came within the timeout [s]; an arrow key is its whole escape sequence."""
        if not select.select([self._fd], [], [], timeout)[0]:
            return ""
        key = self._byte()
        if key == b"\x1b":
            key += self._rest_of_sequence()
        return key.decode("ascii", "replace")

    def _rest_of_sequence(self) -> bytes:
        """The bytes after an escape: one byte, or a CSI (ESC [ ... final byte) or SS3 (ESC O x) sequence to its end."""
        rest = self._byte_soon()
        if rest == b"O":
            return rest + self._byte_soon()
        if rest == b"[":
            while len(rest) < LONGEST_SEQUENCE and (byte := self._byte_soon()):
                rest += byte
                if 0x40 <= byte[0] <= 0x7E:
                    break
        return rest

    def _byte_soon(self) -> bytes:
        return self._byte() if select.select([self._fd], [], [], ESCAPE_WAIT_S)[0] else b""

    def _byte(self) -> bytes:
        byte = os.read(self._fd, 1)
        if not byte:
            raise EOFError("the terminal was closed")
        return byte

    def _start_guard(self) -> tuple[subprocess.Popen[bytes], int]:
        reading, writing = os.pipe()
        command = [sys.executable, "-I", "-S", "-c", _GUARD, str(reading)]
        guard = subprocess.Popen(command, stdin=self._fd, stdout=subprocess.PIPE, pass_fds=[reading])
        os.close(reading)
        if guard.stdout is None or guard.stdout.read() != b"ready":
            raise OSError("the process that restores the terminal did not start")
        guard.stdout.close()
        return guard, writing

    def _continued(self, number: int, frame: FrameType | None) -> None:
        tty.setcbreak(self._fd)  # the shell has set its own mode while we were suspended
