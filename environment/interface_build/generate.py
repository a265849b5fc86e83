"""Calls the rosidl generators as the CMake build of ROS 2 does, without CMake.

`rosidl generate` cannot be used: in the wheels every package is registered twice and the command rejects it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from itertools import repeat
from pathlib import Path
from typing import Any

from environment.interface_build.definitions import InterfacePackage

FASTRTPS, INTROSPECTION = "rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c"

# name -> (function, further arguments), in link order. Both type supports are needed: without introspection
# an endpoint cannot be created. The C++ ones are not, rclpy does not use them.
GENERATORS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "rosidl_generator_c": ("generate_c", ()),
    FASTRTPS: ("generate_typesupport_fastrtps_c", ()),
    INTROSPECTION: ("generate_c", ()),
    "rosidl_typesupport_c": ("generate_c", ([FASTRTPS, INTROSPECTION],)),
    "rosidl_generator_py": ("generate_py", (["rosidl_typesupport_c"],)),
}


@dataclass(frozen=True)
class Sources:
    """Folders of the generated files: one per generator, as two of them use the same file names."""

    idl: Path
    descriptions: Path  # X.json with type description and RIHS01 hash
    code: dict[str, Path]  # generator -> include root; the files are in <root>/<package>


def generate(package: InterfacePackage, output: Path, prefix: Path) -> Sources:
    """Write all generated sources of the package below output, with the generators installed in prefix."""
    sources = Sources(output / "idl", output / "descriptions", {name: output / name for name in GENERATORS})
    for name in package.interfaces:
        _function("rosidl_adapter", "convert_to_idl")(package.folder, package.name, Path(name), sources.idl)
    idl_files = [str(Path(name).with_suffix(".idl")) for name in package.interfaces]
    arguments: dict[str, Any] = {
        "package_name": package.name,
        "idl_tuples": [f"{sources.idl}:{name}" for name in idl_files],
        "ros_interface_dependencies": [],
        "target_dependencies": [],
        "ros_interface_files": [str(package.folder / name) for name in package.interfaces],
    }
    _describe_types(arguments, sources.descriptions, prefix)
    arguments["type_description_tuples"] = [
        f"{name}:{(sources.descriptions / name).with_suffix('.json')}" for name in idl_files
    ]
    with ProcessPoolExecutor(os.cpu_count()) as pool:  # the generators take most of the time, and need one core each
        names = list(GENERATORS)
        list(pool.map(_run, names, repeat(arguments), (sources.code[name] for name in names), repeat(prefix)))
    return sources


def _run(generator: str, arguments: dict[str, Any], root: Path, prefix: Path) -> None:
    function, further = GENERATORS[generator]
    folder = root / arguments["package_name"]
    resources = prefix / "share" / generator / "resource"
    file = _write_arguments(folder, {**arguments, "output_dir": str(folder), "template_dir": str(resources)})
    _function(generator, function)(str(file), *further)
    _write_visibility_header(generator, folder.name, resources, folder)


def _describe_types(arguments: dict[str, Any], output: Path, prefix: Path) -> None:
    # All installed interface packages: hashes need the used ones transitively, and the others cost nothing.
    installed = sorted((prefix / "share/ament_index/resource_index/rosidl_interfaces").iterdir())
    include = [f"{mark.name}:{prefix / 'share' / mark.name}" for mark in installed]
    file = _write_arguments(output, {**arguments, "output_dir": str(output), "include_paths": include})
    _function("rosidl_generator_type_description", "generate_type_hash")(str(file))


def _write_arguments(folder: Path, arguments: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder.with_name(f"{folder.name}.arguments.json")
    file.write_text(json.dumps(arguments))
    return file


def _write_visibility_header(generator: str, package: str, resources: Path, folder: Path) -> None:
    for template in resources.glob("*__visibility_control.h.in"):
        text = template.read_text().replace("@PROJECT_NAME_UPPER@", package.upper())
        header = folder / "msg" / template.name.removesuffix(".in")  # services and actions include it from there too
        header.parent.mkdir(exist_ok=True)
        header.write_text(text.replace("@PROJECT_NAME@", package))


def _function(module: str, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
