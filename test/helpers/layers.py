"""Layers of tests: what a test needs from the machine, found from its folder, its fixtures and its imports."""

from __future__ import annotations

import functools
from pathlib import Path

import grimp
import pytest
from importlinter import api

from environment.related_tests import imported_modules

TEST = Path(__file__).resolve().parents[1]
LAYERS = ("build", "browser", "ros", "pure")  # the rule below gives the first that fits
BUILD_FIXTURES = {"checkout"}
BROWSER_FIXTURES = {"browser", "bench"}  # in files that use Playwright; a parameter may have such a name elsewhere

_CONFIGURATION = api.read_configuration(str(TEST.parent / "pyproject.toml"))
ROS_PACKAGES = frozenset().union(*(item.get("ros_packages", ()) for item in _CONFIGURATION["contracts_options"]))


def layer_of(item: pytest.Item) -> str:
    """The layer that a test is marked with in its file, else the one that its fixtures or its file ask for."""
    fixtures = {*getattr(item, "fixturenames", ())}
    if marked := [layer for layer in LAYERS if item.get_closest_marker(layer)]:
        return marked[0]
    if fixtures & BUILD_FIXTURES:
        return "build"
    if fixtures & BROWSER_FIXTURES and uses_playwright(item.path):
        return "browser"
    return "ros" if needs_ros(item.path) else "pure"


@functools.cache
def uses_playwright(path: Path) -> bool:
    """Whether a test file drives a browser; it may import the driver by name, to skip where that is missing."""
    return "playwright.sync_api" in path.read_text()


@functools.cache
def needs_ros(path: Path) -> bool:
    """Whether a test file starts nodes by its folder, or imports a ROS package, directly or through our modules."""
    modules = imported_modules(path)
    roots = {module.partition(".")[0] for module in modules}
    return path.is_relative_to(TEST / "ros") or bool(roots & ROS_PACKAGES or modules & _modules_with_ros())


@functools.cache
def _modules_with_ros() -> frozenset[str]:
    packages = _CONFIGURATION["session_options"]["root_packages"]
    graph = grimp.build_graph(
        *packages, include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )
    return frozenset().union(*(graph.find_downstream_modules(name) for name in ROS_PACKAGES & graph.modules))
