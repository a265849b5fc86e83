"""Shows the progress of a long task: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

WIDTH = 40
LINES_EVERY_S = 10.0
DRAWN_EVERY_S = 0.1


def progress_on_stderr(name: str) -> Callable[[float], None]:
    """A function that shows the progress of a task of this name, given the completed share from 0 to 1."""
    shown_at = time.monotonic()
    is_terminal = sys.stderr.isatty()

    def show(share: float) -> None:
        nonlocal shown_at
        now = time.monotonic()
        if is_terminal:
            if now - shown_at < DRAWN_EVERY_S and share < 1.0:
                return
            done = round(WIDTH * share)
            end = "\n" if share >= 1.0 else ""
            print(f"\r{name} [{'#' * done}{' ' * (WIDTH - done)}] {share:4.0%}", end=end, file=sys.stderr, flush=True)
        elif now - shown_at >= LINES_EVERY_S:
            print(f"{name}: {share:.0%}", file=sys.stderr, flush=True)
        else:
            return
        shown_at = now

    return show
