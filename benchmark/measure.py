"""Shared by benchmarks of dynamics: CPU time of a call, and other engines, imported only when used."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proving_ground.settings import SettingsError

PIP_PACKAGES = {"pinocchio": "pin", "mujoco": "mujoco"}


def engine(module: str) -> Any:
    """The engine's module; a SettingsError names its pip package where it is missing or broken."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = PIP_PACKAGES[module]
        raise SettingsError(f"{module} cannot be imported ({error}); pip install {package} brings it") from error


def cpu_time_us(call: Callable[[], object], calls: int = 200, repeats: int = 50) -> float:
    """CPU time [us] of one call: the least of many repeats, because other load can only add."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, time.process_time() - start)
    return 1e6 * best / calls


def clock_ghz() -> float:
    """Clock of the first core [GHz] as the kernel reports it; 3 where it does not."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(float(line.split(":")[1]) / 1e3 for line in lines if line.startswith("cpu MHz"))
    except (OSError, StopIteration, ValueError):
        return 3.0
