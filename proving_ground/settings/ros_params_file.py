"""Checks a ROS parameter file against a node's settings before rcl sees it, so that errors name file, line and key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import Declaration, build, check_named, close_name, declarations
from proving_ground.settings.yaml_file import KeyPath, YamlFile, read_yaml

SECTION = "ros__parameters"
ANY_NODE_KEYS = ("use_sim_time", "start_type_description_service")  # declared by rclpy itself
ANY_NODE_PREFIX = "qos_overrides"
QOS_POLICIES = {
    "history": ("keep_last", "keep_all", "system_default"),
    "reliability": ("reliable", "best_effort", "system_default"),
    "durability": ("volatile", "transient_local", "system_default"),
}
LARGEST_DEPTH = 100_000


class Given(NamedTuple):
    """A checked value and where it was given, for errors."""

    value: object
    location: str


class ParamsFile(NamedTuple):
    """Content of a parameter file for one node."""

    given: dict[str, Given]
    is_addressed: bool  # whether any section is for the node
    nodes: list[str]  # all nodes named in the file


def check_params_file(path: Path, node_name: str, settings_type: type) -> ParamsFile:
    """The values that the file gives the node, each checked; raises SettingsError for the first bad one.

    node_name is fully qualified ('/teleop', '/truck_1/teleop').
    """
    file = read_yaml(path)
    if not isinstance(file.content, dict):
        raise file.error((), f"a ROS parameter file maps node names to '{SECTION}', got {type(file.content).__name__}")
    given: dict[str, Given] = {}
    patterns = []
    for pattern, location, section in _sections(file, file.content, ()):
        patterns.append(pattern)
        if matches(pattern, node_name):
            given.update(_check_section(file, location, section, declarations(settings_type)))
    return ParamsFile(given, any(matches(pattern, node_name) for pattern in patterns), patterns)


def check_together(settings_type: type, given: Mapping[str, Given]) -> None:
    """Check relations between values that may come from several sources; raises SettingsError naming the source."""
    try:
        build(settings_type, {name: item.value for name, item in given.items()})
    except SettingsError as error:
        key = str(error).partition(":")[0]
        locations = [given[key].location] if key in given else sorted({item.location for item in given.values()})
        raise SettingsError(f"{', '.join(locations)}: {error}") from None


def belongs_to_rclpy(name: object) -> bool:
    """Whether rclpy itself declares a parameter of this name on every node."""
    return name in ANY_NODE_KEYS or str(name).split(".")[0] == ANY_NODE_PREFIX


def check_rclpy_value(name: str, value: object) -> None:
    """Raise SettingsError for a bad value of a parameter that rclpy declares on every node."""
    if name in ANY_NODE_KEYS:
        if not isinstance(value, bool):
            raise SettingsError(f"{name}: must be true or false, got {value!r}")
    elif isinstance(value, dict):  # a tree of overrides in a file
        for key, item in value.items():
            check_rclpy_value(f"{name}.{key}", item)
    else:
        _check_qos_override(name, value)


def _check_qos_override(name: str, value: object) -> None:
    policy = name.rpartition(".")[2]
    if policy == "depth":
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_DEPTH:
            raise SettingsError(f"{name}: must be a whole number from 1 to {LARGEST_DEPTH}, got {value!r}")
    elif policy not in QOS_POLICIES:
        raise SettingsError(f"{name}: {close_name(policy, [*QOS_POLICIES, 'depth'])}")
    elif value not in QOS_POLICIES[policy]:
        raise SettingsError(f"{name}: must be one of {', '.join(QOS_POLICIES[policy])}, got {value!r}")


def matches(pattern: str, node_name: str) -> bool:
    """Whether a node key of a parameter file ('teleop', '/**', '/*/teleop') matches the node.

    As in rcl, * stands for one name and ** for any number of names, none included.
    """
    wildcards = {"**": "(/[^/]+)*", "*": "/[^/]+"}
    tokens = [token for token in pattern.split("/") if token]
    expression = "".join(wildcards.get(token, "/" + re.escape(token)) for token in tokens)
    return re.fullmatch(expression, node_name) is not None


def _sections(file: YamlFile, tree: dict[Any, Any], location: KeyPath) -> Iterator[tuple[str, KeyPath, Any]]:
    for key, value in tree.items():
        here = (*location, key)
        if key == SECTION:
            yield "/".join(str(part).rstrip("/") for part in location), here, value
        elif isinstance(value, dict):
            yield from _sections(file, value, here)
        else:
            raise file.error(here, f"{key}: expected a node name with '{SECTION}' below it")


def _check_section(
    file: YamlFile, location: KeyPath, section: Any, known: Mapping[str, Declaration]
) -> dict[str, Given]:
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise file.error(location, f"{SECTION}: must map names to values, got {type(section).__name__}")
    return dict(_checked(file, location, section, "", known))


def _checked(
    file: YamlFile, location: KeyPath, section: dict[Any, Any], prefix: str, known: Mapping[str, Declaration]
) -> Iterator[tuple[str, Given]]:
    """Values by dotted name: rcl treats `start: {x_m: 1.0}` and `start.x_m: 1.0` alike."""
    for key, value in section.items():
        name, here = f"{prefix}{key}" if prefix else key, (*location, key)
        if isinstance(value, dict) and any(other.startswith(f"{name}.") for other in known):
            yield from _checked(file, here, value, f"{name}.", known)
            continue
        try:
            if belongs_to_rclpy(name):
                check_rclpy_value(name, value)
                continue
            given = Given(check_named(known, name, value), file.location(here))
        except SettingsError as error:
            raise file.error(here, str(error)) from None
        yield name, given
