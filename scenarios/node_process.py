"""How a node of the suite is started as a process without ROS's own tools."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points

from scenarios.bring_up import NodeSpec
from scenarios.supervisor import ProcessSpec
from settings import SettingsError
from settings.fields import close_name

NODE_GROUP = "proving_ground.nodes"


def node_modules() -> dict[str, str]:
    """Module of each node executable, as setup.py declares them."""
    return {item.name: item.module for item in sorted(entry_points(group=NODE_GROUP), key=lambda item: item.name)}


def node_command(executable: str, arguments: list[str]) -> list[str]:
    """Command line of a node executable; raises SettingsError when there is none of that name."""
    modules = node_modules()
    if not modules:
        raise SettingsError(
            "the package is not installed in this Python; run `make venv` and use .venv/bin/proving-ground"
        )
    if executable not in modules:
        raise SettingsError(f"node {executable}: {close_name(executable, modules)}")
    # Not `python -m`: that would take modules from the current folder, whatever lies there under our names.
    code = f"import sys; sys.path[:] = filter(None, sys.path); from {modules[executable]} import main; sys.exit(main())"
    return [sys.executable, "-c", code, *arguments]


def node_process(spec: NodeSpec) -> ProcessSpec:
    """The process of a node in a launch."""
    arguments = ["--ros-args", "-r", f"__node:={spec.name}"]
    for path in spec.params_files:
        arguments += ["--params-file", str(path)]
    for name, value in spec.params.items():
        arguments += ["-p", f"{name}:={str(value).lower() if isinstance(value, bool) else value}"]
    return ProcessSpec(spec.name, node_command(spec.executable, arguments), node_environment(), spec.respawn)


def node_environment() -> dict[str, str]:
    """The present environment, with discovery on this machine only and readable log lines unless set otherwise."""
    environment = dict(os.environ)
    environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    environment.setdefault("RCUTILS_CONSOLE_OUTPUT_FORMAT", "[{severity}] {message}")  # the name stands before it
    environment.setdefault("PYTHONUNBUFFERED", "1")
    return environment
