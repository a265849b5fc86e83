"""How a node of the suite is started as a process without ROS's own tools."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import yaml

from proving_ground.launching.supervisor import ProcessSpec
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name

if TYPE_CHECKING:
    from proving_ground.launching.node_spec import NodeSpec, Value

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
    command = node_command(spec.executable, arguments)
    return ProcessSpec(
        spec.name, command, node_environment(), spec.respawn, spec.finishes, is_optional=spec.is_optional
    )


def _yaml(value: Value) -> str:
    """As ROS reads it: JSON is YAML; text stays as it is where it is read as text."""
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
    environment.setdefault("RCUTILS_CONSOLE_OUTPUT_FORMAT", "[{severity}] {message}")  # the name stands before it
    environment.setdefault("PYTHONUNBUFFERED", "1")
    return environment
