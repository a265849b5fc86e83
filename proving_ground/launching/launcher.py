"""`proving-ground launch`: the nodes of a launch under one supervisor, where ROS's own launch is not installed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Mapping

from proving_ground.launching.bring_up import bring_up, bring_ups
from proving_ground.launching.node_process import node_process
from proving_ground.launching.node_spec import NodeSpec
from proving_ground.launching.supervisor import ProcessSpec, Supervisor

COLOURS = (36, 32, 33, 35, 34)  # cyan, green, yellow, magenta, blue


def launch(name: str, given: Mapping[str, str], show: bool) -> int:
    """Start the launch of that name and return its exit status; with show, a monitor prints what is published."""
    if name not in bring_ups():
        from proving_ground.launching.ros_run import run_over_ros  # it imports this module

        bring_up(name)
        return run_over_ros(name, given, show)
    return start_nodes(bring_up(name).nodes(given), show, given.get("use_sim_time") == "true")


def start_nodes(
    specs: list[NodeSpec],
    show: bool,
    use_sim_time: bool = False,
    meanwhile: Coroutine[None, None, None] | None = None,
) -> int:
    """Run nodes until one ends or Ctrl-C, and return their exit status; show: with a monitor.

    meanwhile: runs beside them, and is cancelled at the end.
    """
    found = processes(specs, show, use_sim_time)
    printer = _Printer([process.name for process in found])
    return asyncio.run(_supervise(Supervisor(found, printer.write), meanwhile))


async def _supervise(supervisor: Supervisor, meanwhile: Coroutine[None, None, None] | None) -> int:
    beside = None if meanwhile is None else asyncio.create_task(meanwhile)
    try:
        return await supervisor.run()
    finally:
        if beside is not None:
            beside.cancel()


def processes(specs: list[NodeSpec], show: bool, use_sim_time: bool = False) -> list[ProcessSpec]:
    """Processes of the nodes, and of a monitor if requested; raises SettingsError for an unknown one."""
    monitor = [NodeSpec("monitor", params={"use_sim_time": use_sim_time}, respawn=True)] if show else []
    return [node_process(spec) for spec in [*specs, *monitor]]


class _Printer:
    """Writes 'name | line', in colour on a terminal."""

    def __init__(self, names: list[str]) -> None:
        self._width = max(map(len, [*names, "launch"]))
        self._colours = {name: COLOURS[index % len(COLOURS)] for index, name in enumerate(names)}

    def write(self, name: str, line: str) -> None:
        label = (name or "launch").ljust(self._width)
        if sys.stdout is None:  # closed by the shell: `>&-`
            raise OSError("no standard output")
        if sys.stdout.isatty() and name:
            label = f"\x1b[{self._colours[name]}m{label}\x1b[0m"
        print(f"{label} | {line}", flush=True)
