"""Saved figures of a benchmark run, with the machine and the versions that they were measured on."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole

RESULTS = Path(__file__).with_name("results.json")  # of this project's machine; the README's figures come from here
# Distributions, of which the first that is installed counts, by the name that people know.
PACKAGES = {
    "numpy": ("numpy",),
    "scipy": ("scipy",),
    "numba": ("numba",),
    "embreex": ("embreex",),
    "pinocchio": ("pin",),
    "mujoco": ("mujoco", "mujoco-core"),
}


def save(path: Path, name: str, figures: Mapping[str, Any]) -> None:
    """Put the figures of one benchmark into a file; those of other benchmarks stay."""
    content = load(path) if path.exists() else {}
    content[name] = {"conditions": conditions(), "figures": plain(figures)}
    write_whole(path, json.dumps(dict(sorted(content.items())), indent=1) + "\n")


def load(path: Path = RESULTS) -> dict[str, Any]:
    """Conditions and figures by benchmark; raises SettingsError for a file that `save` did not write."""
    try:
        content = json.loads(path.read_text())
        if not all(set(item) == {"conditions", "figures"} for item in content.values()):
            raise ValueError("conditions and figures are expected for each benchmark")
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise SettingsError(f"{path}: not the results of benchmarks: {error}") from None
    return dict(content)


def conditions() -> dict[str, str]:
    """Processor, Python and package versions."""
    found = {"processor": _processor(), "cores": str(os.cpu_count()), "python": platform.python_version()}
    return found | {name: _version(owners) for name, owners in PACKAGES.items()}


def plain(value: Any) -> Any:
    """A figure, or a table of figures, as JSON allows it: infinity and NaN become None."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, int):
        return int(value)
    return float(value) if value is not None and math.isfinite(value) else None


def _version(distributions: Iterable[str]) -> str:
    for name in distributions:
        with contextlib.suppress(PackageNotFoundError):
            return version(name)
    return "not installed"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
