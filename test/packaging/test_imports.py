"""Importing a room loads only what its layer allows, and no ROS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter import api

ROOT = Path(__file__).parents[2]
LAYERS, ROS = api.read_configuration(str(ROOT / "pyproject.toml"))["contracts_options"]
ROOMS = [[room.strip() for room in str(layer).split("|")] for layer in LAYERS["layers"]]  # the highest layer first
CORES = ("terrain", "vehicle_dynamics", "sensors", "state_observer", "planner")
NAMES_OF_ROOMS = [room for layer in ROOMS for room in layer]

IMPORT_ALL = """
import importlib, pkgutil, sys
room = importlib.import_module(sys.argv[1])
for item in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
    if ".ros" not in item.name:
        importlib.import_module(item.name)
print(*sys.modules)
"""


def modules_after(code: str, *arguments: str) -> set[str]:
    """Names of all modules that a fresh interpreter has after some code, which prints them."""
    run = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def rooms_of(modules: set[str]) -> set[str]:
    return {room for room in NAMES_OF_ROOMS if room in modules}


def at_or_below(room: str) -> set[str]:
    (level,) = [number for number, layer in enumerate(ROOMS) if room in layer]
    return {room, *(lower for layer in ROOMS[level + 1 :] for lower in layer)}


@pytest.mark.parametrize("room", CORES)
def test_importing_a_room_loads_no_other_room_and_no_ros(room: str) -> None:
    loaded = modules_after(f"import {room}, sys; print(*sys.modules)")

    assert rooms_of(loaded) == {room}
    assert loaded & {*ROS["ros_packages"]} == set()


@pytest.mark.parametrize("room", CORES)
def test_all_of_a_core_needs_only_the_layers_below_and_no_ros(room: str) -> None:
    loaded = modules_after(IMPORT_ALL, room)

    assert rooms_of(loaded) <= at_or_below(room)
    assert loaded & {*ROS["ros_packages"]} == set()


def test_names_of_the_package_are_imported_when_they_are_first_used() -> None:
    before = modules_after("import proving_ground, sys; print(*sys.modules)")
    after = modules_after("from proving_ground import *; import sys; print(*sys.modules)")  # every name of __all__

    assert rooms_of(before) == set()
    assert rooms_of(after) >= {"proving_ground.scenarios", "vehicle_dynamics", "terrain"}
    assert after & {*ROS["ros_packages"]} == set()


def test_every_kind_of_sensor_of_the_suite_has_a_node() -> None:
    """setup.py must not import the suite: it takes the kinds from their folders of presets."""
    from proving_ground.launching.node_process import node_modules
    from sensors.kinds import SENSOR_KINDS

    folders = {path.name for path in (ROOT / "config/sensors").iterdir()}

    assert folders == {Path(kind.settings.presets).name for kind in SENSOR_KINDS.values()} == set(SENSOR_KINDS)
    assert folders <= set(node_modules())
