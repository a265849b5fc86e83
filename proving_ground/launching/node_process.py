"""Starts a node of the suite as a process without ROS's own tools."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import yaml

from proving_ground.launching.forked import Entry
from proving_ground.launching.supervisor import ProcessSpec
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name

if TYPE_CHECKING:
    from proving_ground.launching.node_spec import NodeSpec, Value

NODE_GROUP, SENSOR_GROUP = "proving_ground.nodes", "proving_ground.sensors"


def node_modules() -> dict[str, str]:
    """Module of each node executable, as setup.py declares them."""
    return {name: entry.module for name, entry in _entries().items()}


def _entries() -> dict[str, Entry]:
    """Functions that run nodes: those of setup.py, and sensors of other packages."""
    found = {item.name: Entry(item.module, item.attr) for item in entry_points(group=NODE_GROUP)}
    if found:
        for item in entry_points(group=SENSOR_GROUP):
            found.setdefault(item.name, Entry("sensors.ros.sensor_node", "main", (item.name,)))
    return dict(sorted(found.items()))


def node_entry(executable: str) -> Entry:
    """Function that runs a node executable; raises SettingsError for an unknown name."""
    entries = _entries()
    if not entries:
        raise SettingsError(
            "the package is not installed in this Python; run `make venv` and use .venv/bin/proving-ground"
        )
    if executable not in entries:
        raise SettingsError(f"node {executable}: {close_name(executable, entries)}")
    return entries[executable]


def node_command(executable: str, arguments: list[str]) -> list[str]:
    """Command line of a node executable; raises SettingsError for an unknown name."""
    module, function, values = node_entry(executable)
    # Not `python -m`: that would import modules of our names from the current folder.
    start = "import sys; sys.path[:] = filter(None, sys.path)"
    code = f"{start}; from {module} import {function}; sys.exit({function}(*{values!r}))"
    return [sys.executable, "-c", code, *arguments]


def node_process(spec: NodeSpec) -> ProcessSpec:
    """The process of a node in a launch."""
    if not spec.is_ours:
        program = shutil.which(spec.executable)
        if program is None:
            raise SettingsError(f"{spec.executable}: is not installed, or not on the PATH")
        params = [word for name, value in spec.params.items() for word in ("-p", f"{name}:={_yaml(value)}")]
        command = [program, *spec.arguments, *(["--ros-args", *params] if params else [])]
        return ProcessSpec(spec.name, command, node_environment(), is_ours=False, is_optional=spec.is_optional)
    arguments = ["--ros-args", "-r", f"__node:={spec.name}"]
    for path in spec.params_files:
        arguments += ["--params-file", str(path)]
    for name, value in spec.params.items():
        arguments += ["-p", f"{name}:={_yaml(value)}"]
    return ProcessSpec(
        spec.name,
        arguments,
        node_environment(),
        spec.respawn,
        spec.finishes,
        is_optional=spec.is_optional,
        is_background=spec.is_background,
        entry=node_entry(spec.executable),
    )


def _yaml(value: Value) -> str:
    """A value as ROS parses it: JSON is YAML; text stays unquoted where it is parsed as text."""
    if isinstance(value, str):
        try:
            if isinstance(yaml.safe_load(value), str):
                return value
        except yaml.YAMLError:
            pass
    return json.dumps(value)


def node_environment() -> dict[str, str]:
    """The present environment, with discovery on this machine only and readable log lines unless set otherwise."""
    environment = dict(os.environ)
    environment.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    environment.setdefault("RCUTILS_CONSOLE_OUTPUT_FORMAT", "[{severity}] {message}")  # the launcher prefixes the name
    environment.setdefault("PYTHONUNBUFFERED", "1")
    return environment
