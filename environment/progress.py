"""Progress lines on the terminal: `[2/5] ROS 2 Jazzy wheels (about 45 s) ... 43 s`."""

from __future__ import annotations

import time
from typing import TextIO

from environment.steps import Step


class Progress:
    """One line per step. On a terminal the elapsed time counts up; in a file it is written at the end."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._line = ""
        self._start = 0.0

    def started(self, number: int, total: int, step: Step) -> None:
        self._line = f"[{number}/{total}] {step.title} (about {step.estimate_s} s) ..."
        self._start = time.monotonic()
        self._write(self._line)

    def waiting(self) -> None:
        if self._line and self._is_terminal:
            self._write(f"\r{self._line} {self._elapsed()}")

    def finished(self) -> None:
        start = f"\r{self._line}" if self._is_terminal else ""
        self._write(f"{start} {self._elapsed()}\n")
        self._line = ""

    def say(self, text: str) -> None:
        """Print a separate line, also in the middle of a step."""
        self.end_line()
        self._write(text + "\n")

    def end_line(self) -> None:
        if self._line:
            self._write("\n")
        self._line = ""

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self._start:.0f} s"

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
