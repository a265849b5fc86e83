"""Whole scenarios over DDS, for measurements."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmark.vehicle_node import cpu_seconds
from proving_ground.launching.process_list import node_processes
from proving_ground.ros_support.domain import private_domain
from proving_ground.scenarios.refereeing import HASHES, TIMING
from proving_ground.settings import SettingsError

LOOK_EVERY_S = 0.1


class Launched(NamedTuple):
    """Result of a launch."""

    timing: dict[str, float]  # simulated and wall time, factor, as the referee writes them
    hashes: dict[str, dict[str, str]]  # of a synchronous run, by node
    cpu_s: dict[str, float]  # CPU time that each node has used while time ran


def launch(
    scenario: str,
    *words: str,
    seconds: float,
    meanwhile: Callable[[subprocess.Popen[str]], None] = lambda process: None,
    on_line: Callable[[str], None] = lambda line: None,
) -> Launched:
    """`proving-ground launch` with arguments; seconds: simulated, for the time-out; raises SettingsError if it fails.

    meanwhile: called with the process of the launch once it has begun. on_line: called with each line of its output.
    """
    with tempfile.TemporaryDirectory() as folder, private_domain() as domain:
        environment = {**os.environ, **domain}
        environment.pop("FASTDDS_BUILTIN_TRANSPORTS", None)  # the users' default, with shared memory
        out = Path(folder) / "run"
        command = [sys.executable, "-m", "proving_ground", "launch", scenario, *words, f"out:={out}"]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(command, env=environment, **pipes) as process:
            cpu = _NodesCpu(process, out / TIMING)
            limit = threading.Timer(60.0 * seconds + 600.0, process.kill)
            limit.start()
            meanwhile(process)
            last = "?"
            assert process.stdout is not None
            for line in process.stdout:
                last = line.strip() or last
                on_line(line)
            process.wait()
            limit.cancel()
            cpu.join()
        timing, hashes = _read(out / TIMING), _read(out / HASHES)
        if "real_time_factor" not in timing:
            raise SettingsError(f"launch {scenario}: the run did not complete: {last}")
        return Launched(timing, hashes, cpu.used_s)


class _NodesCpu(threading.Thread):
    """Reads the CPU time that nodes use between the two times at which the referee writes its file."""

    def __init__(self, process: subprocess.Popen[str], timing: Path) -> None:
        super().__init__(name="CPU of nodes", daemon=True)
        self._process, self._timing = process, timing
        self._before: dict[str, float] = {}
        self.used_s: dict[str, float] = {}
        self.start()

    def run(self) -> None:
        nodes: dict[str, int] = {}
        found: dict[str, Any] = {}
        while "real_time_factor" not in found and self._process.poll() is None:
            time.sleep(LOOK_EVERY_S)
            found = _read(self._timing)
            if found and not nodes:
                nodes = node_processes(self._process.pid)
                self._before = {name: cpu_seconds(process) for name, process in nodes.items()}
            with contextlib.suppress(OSError):  # a node has ended
                now = {name: cpu_seconds(process) for name, process in nodes.items()}
                self.used_s = {name: seconds - self._before[name] for name, seconds in now.items()}


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Keep this many processes busy."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_spin, daemon=True) for _ in range(loops)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


def _spin() -> None:
    while True:
        pass


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found
