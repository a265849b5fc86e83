"""Steps that build the interface packages of `interfaces/` which the installed ROS 2 does not have."""

from __future__ import annotations

import os
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from functools import partial
from graphlib import TopologicalSorter
from pathlib import Path

from environment.errors import CommandError, SetupError, explain_pip, last_error, read_log
from environment.python_headers import python_include_dirs
from environment.runner import Runner
from environment.steps import Step
from environment.virtual_env import VirtualEnv

DISTRIBUTION_PREFIX = "proving-ground-"  # as pip knows them: proving-ground-tf2-msgs


def interface_steps(root: Path, venv: VirtualEnv, ros_inputs: Sequence[Path]) -> list[Step]:
    """One step per package, a package after those it depends on."""
    folder = root / "environment" / "interfaces"
    builder = sorted((root / "environment" / "interface_build").glob("*.py"))
    steps = []
    for package in _in_build_order(folder):
        definitions = sorted(path for path in package.rglob("*") if path.is_file())
        steps.append(
            Step(
                name=f"interface-{package.name}",
                title=f"interface package {package.name}",
                estimate_s=round(5 + 0.5 * len(definitions)),
                action=partial(_install, package, venv),
                facts={"definitions": " ".join(str(path.relative_to(package)) for path in definitions)},
                files=[*definitions, *builder, *ros_inputs],
            )
        )
    return steps


def find_compilers(variables: Mapping[str, str]) -> tuple[str, str]:
    """The C and the C++ compiler: CC and CXX if set, else what the PATH has."""
    c_compiler = _find(variables.get("CC"), "cc", "gcc", "clang")
    cxx_compiler = _find(variables.get("CXX"), "c++", "g++", "clang++")
    if c_compiler is None:
        raise SetupError("no C compiler found (cc, gcc, clang)", "sudo apt install gcc g++")
    if cxx_compiler is None:
        raise SetupError("no C++ compiler found (c++, g++, clang++)", "sudo apt install g++")
    return c_compiler, cxx_compiler


def _find(*candidates: str | None) -> str | None:
    return next((found for name in candidates if name and (found := shutil.which(name))), None)


def _in_build_order(folder: Path) -> list[Path]:
    packages = {path.parent.name: path for path in sorted(folder.glob("*/package.xml"))}
    graph = {
        name: [depend.text for depend in ElementTree.parse(path).getroot() if depend.text in packages]
        for name, path in packages.items()
    }
    # The <name> element is a child with the package's own name: not a dependency on itself.
    order = TopologicalSorter({name: [d for d in depends if d != name] for name, depends in graph.items()})
    return [folder / str(name) for name in order.static_order()]


def _install(package: Path, venv: VirtualEnv, runner: Runner) -> None:
    pip: list[str | Path] = [venv.python, "-m", "pip"]
    distribution = DISTRIBUTION_PREFIX + package.name.replace("_", "-")
    runner.run([*pip, "uninstall", "--yes", distribution])
    if runner.succeeds([venv.python, "-c", f"import {package.name}.msg"]):
        return  # the real one is installed: never shadow it
    compilers = find_compilers(os.environ)
    headers = python_include_dirs(venv.state / "python-headers", runner)
    staging = venv.state / f"build-{package.name}"
    shutil.rmtree(staging, ignore_errors=True)
    _build(package, staging, compilers, headers, venv, runner)
    try:
        runner.run([*pip, "install", "--no-deps", "--no-build-isolation", "--no-index", staging / "wheel"])
        runner.run([venv.python, "-c", f"import {package.name}.msg"])
    except CommandError as error:
        raise explain_pip(error) from error
    shutil.rmtree(staging)


def _build(
    package: Path,
    staging: Path,
    compilers: tuple[str, str],
    headers: Sequence[Path],
    venv: VirtualEnv,
    runner: Runner,
) -> None:
    script = runner.root / "environment" / "interface_build" / "build.py"
    options = ["--distribution-prefix", DISTRIBUTION_PREFIX, "--cc", compilers[0], "--cxx", compilers[1]]
    for path in headers:
        options += ["--python-include", str(path)]
    try:
        runner.run([venv.python, script, package, staging, *options])
    except CommandError as error:
        cause = last_error(read_log(error.log)) or str(error)
        raise SetupError(cause, f"see the log; the definitions are in {package}", error.log) from error
