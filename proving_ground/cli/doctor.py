"""`proving-ground doctor`: what this machine has, what is missing, and the remedy. Works where ROS itself is broken."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import shutil
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError
from proving_ground.settings.text_table import text_table

INTERFACES = (
    "ackermann_msgs",
    "builtin_interfaces",
    "diagnostic_msgs",
    "geometry_msgs",
    "nav_msgs",
    "rosgraph_msgs",
    "sensor_msgs",
    "simulation_interfaces",
    "std_msgs",
    "std_srvs",
    "tf2_msgs",
    "visualization_msgs",
)
SET_UP = "run `make venv` in the checkout"


@dataclass(frozen=True)
class Finding:
    """Row of the report: what was checked, what was found, its state, and a remedy if needed."""

    what: str
    found: str
    state: str  # OK, missing (needed) or optional (works without)
    remedy: str = ""


def add_parser(commands: Commands) -> None:
    """Add the command `doctor` to the command line."""
    parser = commands.add_parser("doctor", help="check this machine: Python, ROS, interfaces, compiler, joystick")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the findings; the status is 1 when something needed is missing."""
    findings = examine()
    healthy = all(finding.state != "missing" for finding in findings)
    if options.json:
        print(json.dumps({"healthy": healthy, "findings": [asdict(finding) for finding in findings]}))
    else:
        rows = [[item.what, item.state, item.found, item.remedy] for item in findings]
        print(text_table(["what", "state", "found", "remedy"], rows))
        print("\nReady." if healthy else "\nSomething needed is missing: see the remedies above.")
    return 0 if healthy else 1


def examine() -> list[Finding]:
    """All findings, in the order of set-up."""
    return [
        _python(),
        _package(),
        *_ros(),
        *(_interface(name) for name in INTERFACES),
        *_launch_tools(),
        _compiler(),
        _joystick(),
    ]


def _python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    is_good = sys.version_info >= (3, 10)
    return Finding("Python", found, "OK" if is_good else "missing", "" if is_good else "Python 3.10 or newer")


def _package() -> Finding:
    from importlib import metadata

    try:
        version = metadata.version("proving_ground")
    except metadata.PackageNotFoundError:
        return Finding("proving_ground", "not installed in this Python", "missing", SET_UP)
    return Finding("proving_ground", version, "OK")


def _ros() -> Iterable[Finding]:
    try:
        rclpy = importlib.import_module("rclpy")
        implementation = importlib.import_module("rclpy.utilities").get_rmw_implementation_identifier()
    except Exception as error:  # a broken install fails in many ways; the doctor reports them all
        yield Finding("ROS 2", _one_line(error), "missing", _ros_remedy())
        return
    sourced = os.environ.get("ROS_DISTRO", "")
    source = f"sourced ({sourced})" if sourced else "wheels in this environment (jazzy)"
    state = "OK" if sourced in ("", "jazzy") else "optional"
    remedy = "" if state == "OK" else "made for jazzy; other distributions are untested"
    yield Finding("ROS 2", f"{source}, rclpy at {Path(str(rclpy.__file__)).parent}", state, remedy)
    yield Finding("RMW", implementation, "OK")
    yield _domain()
    yield Finding("discovery", os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST (our default)"), "OK")


def _domain() -> Finding:
    from proving_ground.ros_support.arguments import check_domain

    text = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    try:
        check_domain(text)
    except SettingsError as error:
        return Finding("domain", text, "missing", str(error))
    return Finding("domain", text, "OK")


def _interface(name: str) -> Finding:
    try:
        module = importlib.import_module(f"{name}.msg" if name != "std_srvs" else f"{name}.srv")
        _load_type_support(module)
    except Exception as error:  # as above
        return Finding(name, _one_line(error), "missing", _ros_remedy(name))
    return Finding(name, "type support loads", "OK")


def _load_type_support(module: ModuleType) -> None:
    """Load the compiled part of an interface package, as creating a publisher would."""
    name = min(name for name in vars(module) if name[0].isupper())
    metaclass: Any = type(getattr(module, name))
    metaclass.__import_type_support__()


def _ros_remedy(interface: str = "") -> str:
    distribution = os.environ.get("ROS_DISTRO")
    if distribution and interface:
        return f"sudo apt install ros-{distribution}-{interface.replace('_', '-')}"
    return SET_UP


def _launch_tools() -> Iterable[Finding]:
    # Our own launch/ folder imports as an empty namespace package: only LaunchDescription identifies the real one.
    try:
        has_launch = hasattr(importlib.import_module("launch"), "LaunchDescription")
        importlib.import_module("launch_ros")
    except ImportError:
        has_launch = False
    if has_launch:
        yield Finding("launch tooling", "launch and launch_ros", "OK")
    else:
        yield Finding("launch tooling", "not installed", "optional", "`proving-ground launch` starts the same nodes")
    has_tf = importlib.util.find_spec("tf_transformations") is not None
    yield Finding("tf_transformations", "installed" if has_tf else "transforms3d stands in for it", "OK")


def _compiler() -> Finding:
    paths = [shutil.which(name) for name in ("cc", "c++")]
    has_headers = Path(sysconfig.get_path("include"), "Python.h").is_file()
    if None in paths:
        return Finding("compiler", "no C or C++ compiler", "optional", "sudo apt install gcc g++ (to build interfaces)")
    headers = "with Python headers" if has_headers else "Python headers are fetched when needed"
    return Finding("compiler", f"{paths[0]}, {paths[1]}, {headers}", "OK")


def _joystick() -> Finding:
    try:
        from planner.joystick import find_pad

        pad, words = find_pad("", dead_zone=0.0)
    except (ImportError, OSError) as error:
        return Finding("joystick", _one_line(error), "missing", SET_UP)
    if pad is None:
        return Finding(
            "joystick", words.partition(";")[0], "optional", "plug one in at any time, or use the keyboard node"
        )
    pad.device.close()
    return Finding("joystick", pad.label, "OK")


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 90 else text[:87] + "..."
