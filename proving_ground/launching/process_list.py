"""Finds the processes of running launches by the titles that they give themselves (fork_server)."""

from __future__ import annotations

from pathlib import Path

from proving_ground.launching.fork_server import NODES, PROGRAM


def node_processes(launch: int) -> dict[str, int]:
    """Process ids of the live nodes of a launch, by name; launch: its own process id."""
    servers = children(launch)
    return children(servers[NODES]) if NODES in servers else {}


def children(parent: int) -> dict[str, int]:
    """Process ids of the suite's processes that another one has started, by name."""
    found: dict[str, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            own_parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            title = (process / "cmdline").read_text().partition("\0")[0]
        except OSError:  # it has just ended
            continue
        if own_parent == parent and title.startswith(f"{PROGRAM}-"):
            found[title.removeprefix(f"{PROGRAM}-")] = int(process.name)
    return found
