"""Checks a node's command line before rcl parses it, so that errors name file, key and allowed range in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ros_support.names import full_name
from settings import SettingsError, declarations
from settings.fields import check_named
from settings.ros_params_file import Given, belongs_to_rclpy, check_params_file, check_together
from settings.yaml_file import read_value


@dataclass(frozen=True)
class RosArguments:
    """The part of `--ros-args` that concerns parameters."""

    node_name: str  # fully qualified
    params_files: tuple[Path, ...]
    params: tuple[tuple[str, str], ...]  # name and YAML text


def parse_ros_arguments(arguments: Sequence[str], default_name: str) -> RosArguments:
    """Node name, parameter files and parameters of `--ros-args -r __ns:=/truck --params-file f.yaml -p a:=1`."""
    name, namespace = default_name, "/"
    files: list[Path] = []
    params: list[tuple[str, str]] = []
    in_ros_arguments = False
    previous = ""
    for argument in arguments:
        if argument in ("--ros-args", "--"):
            in_ros_arguments = argument == "--ros-args"
        elif in_ros_arguments and previous == "--params-file":
            files.append(Path(argument))
        elif in_ros_arguments and previous in ("-r", "--remap", "-p", "--param"):
            target, _, value = argument.partition(":=")
            key = target.rpartition(":")[2]  # 'node:key' speaks of that node only; here there is one
            if previous in ("-p", "--param"):
                params.append((key, value))
            elif key in ("__node", "__name"):
                name = value
            elif key == "__ns":
                namespace = value
        previous = argument
    return RosArguments(full_name(namespace, name), tuple(files), tuple(params))


def check_ros_arguments(arguments: Sequence[str], default_name: str, settings_type: type) -> None:
    """Raise SettingsError if a parameter file or a -p holds what the node would refuse."""
    parsed = parse_ros_arguments(arguments, default_name)
    known = declarations(settings_type)
    given: dict[str, Given] = {}
    for path in parsed.params_files:
        given.update(check_params_file(path, parsed.node_name, settings_type))
    for name, text in parsed.params:
        value = read_value(text, f"command line: {name}")
        if not belongs_to_rclpy(name):
            try:
                given[name] = Given(check_named(known, name, value), "command line")
            except SettingsError as error:
                raise SettingsError(f"command line: {error}") from None
    check_together(settings_type, given)


def rcl_complaint(error: BaseException) -> SettingsError:
    """What rcl says of a command line, in one line and without its C source locations."""
    if type(error).__name__ == "UnknownROSArgsError":
        return SettingsError(f"command line: unknown ROS arguments {error}")
    return SettingsError(f"command line: {str(error).split(', at ')[0] or type(error).__name__}")
