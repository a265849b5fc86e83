"""The modules of the suite and of its own package that a module depends on, read from the sources without importing."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

ROOMS = ("benchmark", "planner", "proving_ground", "sensors", "state_observer", "terrain", "vehicle_dynamics")
ROOT = Path(__file__).resolve().parents[2]

_IMPORT = re.compile(r"^(?:from|import)\s+([\w.]+)", re.MULTILINE)


def with_imports(module: str) -> set[str]:
    """The module and all modules of the suite and of its package that it imports at the top of a file, recursively."""
    found, new = set(), {module}
    while new:
        found |= new
        new = {name for item in new for name in _imports(item)} - found
    return found


@functools.cache
def source(module: str) -> bytes:
    """The text of a module or of a package's __init__, a user's if it is imported; empty if it has none."""
    stem = ROOT / module.replace(".", "/")
    elsewhere = Path(getattr(sys.modules.get(module), "__file__", None) or ROOT)
    for path in (stem.with_suffix(".py"), stem / "__init__.py", elsewhere):
        if path.is_file():
            return path.read_bytes()
    return b""


@functools.cache
def _imports(module: str) -> tuple[str, ...]:
    ours = (*ROOMS, module.split(".")[0])
    return tuple(name for name in _IMPORT.findall(source(module).decode()) if name.split(".")[0] in ours)
