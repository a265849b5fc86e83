"""Compiles and links the generated C and C++ into the libraries that rclpy opens by name."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from environment.interface_build.generate import Sources

RUNTIME_LIBRARIES = (
    "rosidl_runtime_c",
    "rosidl_typesupport_c",
    "rosidl_typesupport_fastrtps_c",
    "rosidl_typesupport_fastrtps_cpp",
    "rosidl_typesupport_introspection_c",
    "rcutils",
    "rmw",
    "fastcdr",
)
# From site-packages/<package>/ to lib/, so that the extension finds its libraries without LD_LIBRARY_PATH.
EXTENSION_RPATH = "$ORIGIN/../../.."
ENTRY_POINT = "entry point"  # of the extension module
DESCRIPTION = "__description.c"  # ends the names of files whose static names are not their own


@dataclass(frozen=True)
class Toolchain:
    """Compilers, the ROS prefix and the directories of Python.h."""

    prefix: Path
    c_compiler: str
    cxx_compiler: str
    python_includes: tuple[Path, ...]


@dataclass(frozen=True)
class Binaries:
    """Linked files: libraries for <prefix>/lib, one extension module for the Python package."""

    libraries: tuple[Path, ...]
    extension: Path


def compile_and_link(package: str, sources: Sources, output: Path, toolchain: Toolchain) -> Binaries:
    """One library per generator and the extension module; raises CalledProcessError if a compiler does."""
    output.mkdir(parents=True, exist_ok=True)
    objects = _compile_all(sources, output / "objects", toolchain)
    libraries: list[Path] = []
    for generator in sources.code:
        library = output / f"lib{package}__{generator}.so"
        used = [*libraries, *_installed_libraries(package, generator, toolchain.prefix)]
        _link(library, objects[generator], used, "$ORIGIN", toolchain)
        libraries.append(library)
    extension = output / f"{package}_s__rosidl_typesupport_c{sysconfig.get_config_var('EXT_SUFFIX')}"
    _link(extension, objects[ENTRY_POINT], libraries, EXTENSION_RPATH, toolchain)
    return Binaries(tuple(libraries), extension)


def _compile_all(sources: Sources, output: Path, toolchain: Toolchain) -> dict[str, list[Path]]:
    """Object files of each generator, and of ENTRY_POINT."""
    installed = toolchain.prefix / "include"  # holds a folder per ROS package, and fastcdr/ directly
    includes = [*sources.code.values(), *sorted(installed.iterdir()), installed]
    includes += [*toolchain.python_includes, Path(import_module("numpy").get_include())]
    flags = ["-O2", "-fPIC", "-w", *(f"-I{path}" for path in includes)]
    output.mkdir(parents=True, exist_ok=True)
    objects: dict[str, list[Path]] = {}
    commands = []
    for name, source in _units(sources, output):
        target = output / f"{source.name}.o"
        objects.setdefault(name, []).append(target)
        compiler = [toolchain.c_compiler] if source.suffix == ".c" else [toolchain.cxx_compiler, "-std=c++17"]
        commands.append([*compiler, *flags, "-c", str(source), "-o", str(target)])
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(_run, commands))
    return objects


def _units(sources: Sources, output: Path) -> Iterator[tuple[str, Path]]:
    """Files to compile, by generator: one that includes all of a language.

    Reading the same headers for each of hundreds of files would take five times as long.
    """
    for generator, root in sources.code.items():
        for suffix in (".c", ".cpp"):
            files = sorted(root.rglob(f"*{suffix}"))
            alone = [file for file in files if file.name.endswith(DESCRIPTION)]
            entry_points = [file for file in files if ".ep." in file.name]
            together = [file for file in files if file not in (*alone, *entry_points)]
            yield from ((ENTRY_POINT, file) for file in entry_points)
            for number, group in enumerate(filter(None, [together, *([file] for file in alone)])):
                unit = output / f"{generator}_{number}{suffix}"
                unit.write_text("".join(f'#include "{file}"\n' for file in group))
                yield generator, unit


def _installed_libraries(package: str, generator: str, prefix: Path) -> list[Path]:
    """Libraries of the other packages; the linker keeps those that are used (--as-needed)."""
    own = f"lib{package}__{generator}.so"
    others = [path for path in sorted((prefix / "lib").glob(f"lib*__{generator}.so")) if path.name != own]
    return others + [prefix / "lib" / f"lib{name}.so" for name in RUNTIME_LIBRARIES]


def _link(output: Path, objects: Sequence[Path], libraries: Sequence[Path], rpath: str, toolchain: Toolchain) -> None:
    flags = ["-shared", "-fPIC", "-Wl,--as-needed", f"-Wl,-rpath,{rpath}", f"-Wl,-soname,{output.name}"]
    inputs = [str(path) for path in (*objects, *libraries)]
    _run([toolchain.cxx_compiler, *flags, "-o", str(output), *inputs])


def _run(command: Sequence[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
