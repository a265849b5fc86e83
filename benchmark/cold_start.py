"""Cold start: CPU time to compile the kernels, and of the first and the second start of urban.

Each start is `proving-ground launch urban` without a browser, until time runs, and until the vehicle moves.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from proving_ground.ros_support.domain import private_domain
from proving_ground.scenarios.refereeing import TIMING
from proving_ground.settings import SettingsError
from proving_ground.settings.text_table import text_table

LONGEST_S = 900.0
LOOK_EVERY_S = 0.1
GOALS = {"kernels_cpu_s": 70.0, "first_drive_s": 200.0, "second_ready_s": 8.0, "compiled_late": 0.0}
WORDS = {
    "kernels_cpu_s": "CPU time of all kernels of our scenarios, one process [s]",
    "kernels_wall_s": "the same, by the machine's clock [s]",
    "first_ready_s": "from the first launch, nothing compiled, until time runs [s]",
    "first_drive_s": "and until the vehicle moves [s]",
    "second_ready_s": "from the second launch until time runs [s]",
    "second_drive_s": "and until the vehicle moves [s]",
    "compiled_late": "kernels compiled after a node was ready, in both",
}


def run(say: Callable[[str], None]) -> dict[str, float]:
    """Figures by name, measured with folders of compiled kernels of their own."""
    with tempfile.TemporaryDirectory() as folder:
        say(WORDS["kernels_cpu_s"])
        figures = _kernels(Path(folder) / "all")
        late = 0
        for name in ("first", "second"):
            say(WORDS[f"{name}_ready_s"])
            ready_s, drive_s, compiled = _start(Path(folder) / "launch", Path(folder) / name)
            figures |= {f"{name}_ready_s": ready_s, f"{name}_drive_s": drive_s}
            late += compiled
        return figures | {"compiled_late": late}


def show(figures: Mapping[str, float]) -> str:
    """The figures as a table."""
    rows = [
        [words, f"{figures[name]:.1f}", f"{GOALS[name]:g}" if name in GOALS else "-"] for name, words in WORDS.items()
    ]
    return text_table(["cold start", "measured", "at most"], rows)


def _kernels(cache: Path) -> dict[str, float]:
    began = time.monotonic()
    command = [sys.executable, "-m", "proving_ground", "kernels"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST_S)
    found = re.search(r"([\d.]+) s of CPU time", done.stdout)
    if done.returncode or found is None:
        raise SettingsError(f"bench cold_start: kernels cannot be compiled: {done.stderr.strip()[-500:]}")
    return {"kernels_cpu_s": float(found[1]), "kernels_wall_s": time.monotonic() - began}


def _start(cache: Path, out: Path) -> tuple[float, float, int]:
    """Seconds until time runs and until the vehicle moves, and how many kernels were compiled late."""
    log = out.with_suffix(".txt")
    began = time.monotonic()
    with private_domain() as domain, _launch({**os.environ, **domain, "XDG_CACHE_HOME": str(cache)}, out, log) as ended:
        ready_s = _wait(lambda: (out / TIMING).exists(), ended, log) - began
        drive_s = _wait(lambda: "planner: driving" in log.read_text(), ended, log) - began
    return ready_s, drive_s, log.read_text().count(" late, in ")


@contextlib.contextmanager
def _launch(environment: Mapping[str, str], out: Path, log: Path) -> Iterator[Callable[[], bool]]:
    command = [sys.executable, "-m", "proving_ground", "launch", "urban", f"out:={out}"]
    with log.open("w") as file, subprocess.Popen(command, env=environment, stdout=file, stderr=file) as process:
        try:
            yield lambda: process.poll() is not None
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def _wait(condition: Callable[[], bool], ended: Callable[[], bool], log: Path) -> float:
    """Time of a steady clock when it holds [s]."""
    end = time.monotonic() + LONGEST_S
    while not condition():
        if ended() or time.monotonic() > end:
            lines = log.read_text().strip().splitlines()
            raise SettingsError(f"bench cold_start: the launch did not get there: {json.dumps(lines[-3:])}")
        time.sleep(LOOK_EVERY_S)
    return time.monotonic()
