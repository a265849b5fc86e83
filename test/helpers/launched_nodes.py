"""Processes of a launch that a test has started."""

from __future__ import annotations

from pathlib import Path


def node_processes(launch: int) -> dict[str, int]:
    """Process ids of the live nodes of a launch, by name; launch: its own process id."""
    found: dict[str, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_text().split("\0")
        except OSError:  # it has just ended
            continue
        if parent == launch:
            found |= {word.partition(":=")[2]: int(process.name) for word in words if word.startswith("__node:=")}
    return found
