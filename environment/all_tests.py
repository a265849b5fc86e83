"""`make test` after lint: all tests, in two sessions of pytest at the same time.

Tests that start nodes and other processes wait for most of their time, while tests of numerical rooms keep a processor
busy. The second kind runs at a lower priority: it fills the time in which the first kind waits, and disturbs it little.
Sessions by marker (`pure`, and the rest) would both collect all files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUSY = tuple(
    f"test/{room}"
    for room in ("vehicle_dynamics", "state_observer", "scenarios", "guard", "terrain", "sensors", "validation")
)
WORKERS = 2  # of each session
NICENESS = 5  # a third of the weight: a process that compiles for others must not starve
OPTIONS = ("--dist", "loadfile", "--no-loadscope-reorder")  # in the order of test/conftest.py, not by number of tests


def main() -> int:
    """Status 0 when all tests passed."""
    return run(ROOT, BUSY, sys.argv[1:])


def run(root: Path, busy: Sequence[str], options: Sequence[str] = ()) -> int:
    """Run the tests of the busy folders beside all others; their output is shown when both have ended."""
    with tempfile.TemporaryFile("w+") as output:
        beside = subprocess.Popen(
            _command(*options, *busy),
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: os.nice(NICENESS),
        )
        try:
            others = [word for folder in busy for word in ("--ignore", folder)]
            status = subprocess.run(_command(*options, *others), cwd=root).returncode
            status = beside.wait() or status
        finally:
            beside.terminate()  # after an interruption; else it has ended
            beside.wait()
            output.seek(0)
            print(f"Tests of {', '.join(busy)}:\n{output.read()}", flush=True)
    return status


def _command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "--numprocesses", str(WORKERS), *OPTIONS, *arguments]


if __name__ == "__main__":
    sys.exit(main())
