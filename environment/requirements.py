"""Requirement files: how they are read, and the one change that a sourced ROS needs."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path


def requirement_lines(text: str) -> list[str]:
    """The requirements of a file's text, without comments and blank lines."""
    lines = (line.split(" #")[0].strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def requirement_name(line: str) -> str:
    """The normalised name at the start of a requirement: 'PyYAML==6.0.3' gives 'pyyaml'."""
    name = re.match(r"[A-Za-z0-9._-]+", line)
    return re.sub(r"[-_.]+", "-", name.group()).lower() if name else ""


NEEDS_NUMPY_2 = {"pin"}


def for_system_numpy(requirements: Path, folder: Path) -> Path:
    """A copy of requirements in folder that pins exactly this numpy, without packages that do not work with it."""
    copy = with_system_numpy(requirements, folder)
    if int(importlib.metadata.version("numpy").split(".")[0]) < 2:
        lines = requirement_lines(copy.read_text())
        copy.write_text("\n".join(line for line in lines if requirement_name(line) not in NEEDS_NUMPY_2) + "\n")
    return copy


def with_system_numpy(requirements: Path, folder: Path) -> Path:
    """A copy of requirements in folder that pins the numpy this interpreter already has.

    So neither our own pin nor a package that requires a newer numpy can replace it.
    """
    wanted = requirement_lines(requirements.read_text())
    lines = [line for line in wanted if requirement_name(line) != "numpy"]
    lines.append(f"numpy=={importlib.metadata.version('numpy')}")
    copy = folder / f"{requirements.stem}-with-system-numpy.txt"
    copy.write_text("\n".join(lines) + "\n")
    return copy
