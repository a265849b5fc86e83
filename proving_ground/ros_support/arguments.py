"""Checks a node's command line before rcl parses it, so that errors name file, key and allowed range in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proving_ground.ros_support.names import full_name
from proving_ground.settings import SettingsError, declarations
from proving_ground.settings.fields import check_named
from proving_ground.settings.ros_params_file import (
    Given,
    belongs_to_rclpy,
    check_params_file,
    check_rclpy_value,
    check_together,
)
from proving_ground.settings.yaml_file import read_value

LAST_DOMAIN = 232


@dataclass(frozen=True)
class RosArguments:
    """The part of `--ros-args` that concerns parameters."""

    node_name: str  # fully qualified
    params_files: tuple[Path, ...]
    params: tuple[tuple[str, str], ...]  # name and YAML text
    others: tuple[str, ...]  # not for ROS


def parse_ros_arguments(arguments: Sequence[str], default_name: str) -> RosArguments:
    """Node name, parameter files and parameters of `--ros-args -r __ns:=/truck --params-file f.yaml -p a:=1`."""
    name, namespace = default_name, "/"
    files: list[Path] = []
    params: list[tuple[str, str]] = []
    others: list[str] = []
    in_ros_arguments = False
    previous = ""
    for argument in arguments:
        if argument in ("--ros-args", "--"):
            in_ros_arguments = argument == "--ros-args"
        elif not in_ros_arguments:
            others.append(argument)
        elif previous == "--params-file":
            files.append(Path(argument))
        elif previous in ("-r", "--remap", "-p", "--param"):
            target, _, value = argument.partition(":=")
            key = target.rpartition(":")[2]  # 'node:key' is for that node only; here there is one
            if previous in ("-p", "--param"):
                params.append((key, value))
            elif key in ("__node", "__name"):
                name = value
            elif key == "__ns":
                namespace = value
        previous = argument
    return RosArguments(full_name(namespace, name), tuple(files), tuple(params), tuple(others))


def check_ros_arguments(arguments: Sequence[str], default_name: str, settings_type: type) -> list[str]:
    """Raise SettingsError for what the node would reject; returns warnings about what it would ignore."""
    parsed = parse_ros_arguments(arguments, default_name)
    if parsed.others:
        raise SettingsError(f"{parsed.others[0]}: unknown; arguments for ROS come after --ros-args")
    known = declarations(settings_type)
    given: dict[str, Given] = {}
    warnings = []
    for path in parsed.params_files:
        file = check_params_file(path, parsed.node_name, settings_type)
        given.update(file.given)
        if not file.is_addressed:
            warnings.append(f"{path} is ignored: it is for {', '.join(file.nodes)}, not for {parsed.node_name}")
    for name, text in parsed.params:
        value = read_value(text, f"command line: {name}")
        try:
            if belongs_to_rclpy(name):
                check_rclpy_value(name, value)
            else:
                given[name] = Given(check_named(known, name, value), "command line")
        except SettingsError as error:
            raise SettingsError(f"command line: {error}") from None
    check_together(settings_type, given)
    return warnings


def check_environment(variables: Mapping[str, str]) -> None:
    """Raise SettingsError for what would make ROS fail with a less helpful message."""
    check_domain(variables.get("ROS_DOMAIN_ID", "") or "0")
    if not variables.get("HOME") and not variables.get("ROS_LOG_DIR") and not variables.get("ROS_HOME"):
        raise SettingsError("HOME: not set, and neither is ROS_LOG_DIR; ROS needs one of them for its log files")


def check_domain(text: str) -> None:
    """Raise SettingsError unless the text is a ROS domain."""
    if not (text.isascii() and text.isdigit() and int(text) <= LAST_DOMAIN):
        raise SettingsError(f"ROS_DOMAIN_ID: must be a whole number from 0 to {LAST_DOMAIN}, got {text!r}")


def rcl_complaint(error: BaseException) -> SettingsError:
    """Error text of rcl in one line, without its C source locations."""
    if type(error).__name__ == "UnknownROSArgsError":
        return SettingsError(f"command line: unknown ROS arguments {error}")
    return SettingsError(f"ROS does not start: {str(error).split(', at ')[0] or type(error).__name__}")


def settings_help(name: str, settings_type: type) -> str:
    """Help text of the node's parameters: name, default, allowed values, meaning."""
    lines = [f"usage: {name} [--ros-args -p NAME:=VALUE --params-file FILE -r FROM:=TO ...]", "", "parameters:"]
    for item in declarations(settings_type).values():
        lines.append(f"  {item.name} = {item.default!r}")
        lines.append(f"      {item.description}; {item.allowed()}{' (at start only)' if item.read_only else ''}")
    return "\n".join(lines)
