"""One line about the progress of a campaign: runs, failures, rate, end."""

from __future__ import annotations

import sys
import time
from datetime import datetime, timedelta

LINES_EVERY_S = 10.0
DRAWN_EVERY_S = 0.5
SETTLES_S = 2.0  # before, a rate is meaningless


class ProgressLine:
    """Progress on stderr: redrawn on a terminal, a line now and then elsewhere."""

    def __init__(self, name: str, total: int, done: int) -> None:
        self._name, self._total, self._before = name, total, done
        self.done, self.failures = done, 0
        self._first: float | None = None  # when the first run ended
        self._shown = 0.0
        self._is_terminal = sys.stderr.isatty()

    def record(self, passed: bool) -> None:
        """Count a finished run; passed: whether it met its criteria."""
        self._first = self._first or time.monotonic()
        self.done += 1
        self.failures += not passed

    def show(self, is_last: bool = False) -> None:
        """Print the progress line if it is due, or the last one."""
        now = time.monotonic()
        every = DRAWN_EVERY_S if self._is_terminal else LINES_EVERY_S
        if not is_last and now - self._shown < every:
            return
        self._shown = now
        begin, end = ("\r\x1b[K", "\n" if is_last else "") if self._is_terminal else ("", "\n")
        print(f"{begin}{self.text(now)}", end=end, file=sys.stderr, flush=True)

    def text(self, now: float) -> str:
        """The progress line: runs done, rate, and time left."""
        line = f"{self._name}: {self.done}/{self._total} runs, {self.failures} not passed"
        rate = self.rate(now)
        if rate is None:
            return line
        left = (self._total - self.done) / rate
        at = (datetime.now() + timedelta(seconds=left)).strftime("%H:%M")
        return f"{line}, {60.0 * rate:.1f} runs/min, {_span(left)} left (until {at})"

    def rate(self, now: float) -> float | None:
        """Runs per second since the first one ended."""
        count = self.done - self._before - 1
        if self._first is None or count < 1 or now - self._first < SETTLES_S:
            return None
        return count / (now - self._first)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
