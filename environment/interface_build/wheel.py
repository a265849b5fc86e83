"""Lays the built files out as a setuptools project whose wheel fills a ROS prefix, ament index included."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from environment.interface_build.definitions import InterfacePackage
from environment.interface_build.generate import Sources
from environment.interface_build.native import Binaries

INDEX = Path("share/ament_index/resource_index")

# Reads its facts from a file beside it: no text of ours is pasted into code.
SETUP_PY = '''\
"""Installs files that are already built; written by environment/interface_build."""

import json
from pathlib import Path

from setuptools import Distribution, setup

facts = json.loads(Path("facts.json").read_text())
folders = {}
for path in sorted(Path("prefix").rglob("*")):
    if path.is_file():
        folders.setdefault(str(path.parent.relative_to("prefix")), []).append(str(path))


class BuiltDistribution(Distribution):
    def has_ext_modules(self):
        return True  # the wheel is for this Python and this machine only


setup(distclass=BuiltDistribution, data_files=sorted(folders.items()), zip_safe=False, **facts)
'''


def write_wheel_project(
    package: InterfacePackage, sources: Sources, binaries: Binaries, project: Path, distribution_prefix: str
) -> Path:
    """Write the project; `pip install` of it puts modules, libraries, share/ and include/ in place."""
    _write_modules(package, sources, binaries, project)
    _write_prefix(package, sources, binaries, project / "prefix")
    facts = {
        "name": distribution_prefix + package.name.replace("_", "-"),
        "version": package.version,
        "description": package.description,
        "license": package.license,
        "packages": [package.name, *(f"{package.name}.{kind}" for kind in package.kinds)],
        "package_data": {package.name: ["*.so"]},
    }
    (project / "facts.json").write_text(json.dumps(facts))
    (project / "setup.py").write_text(SETUP_PY)
    return project


def _write_modules(package: InterfacePackage, sources: Sources, binaries: Binaries, project: Path) -> None:
    modules = project / package.name
    modules.mkdir(parents=True)
    (modules / "__init__.py").touch()
    generated = sources.code["rosidl_generator_py"] / package.name
    for kind in package.kinds:
        for module in (generated / kind).glob("*.py"):
            _copy(module, modules / kind / module.name)
    shutil.copy(binaries.extension, modules)


def _write_prefix(package: InterfacePackage, sources: Sources, binaries: Binaries, prefix: Path) -> None:
    for library in binaries.libraries:
        _copy(library, prefix / "lib" / library.name)
    share = prefix / "share" / package.name
    _copy(package.folder / "package.xml", share / "package.xml")
    interfaces = []
    for interface in map(Path, package.interfaces):
        for root, suffix in (
            (package.folder, interface.suffix),
            (sources.idl, ".idl"),
            (sources.descriptions, ".json"),
        ):
            name = interface.with_suffix(suffix)
            _copy(root / name, share / name)
            if suffix != ".json":  # the index lists definitions only, as in a CMake build
                interfaces.append(str(name))
    for root in sources.code.values():  # for interface packages that use this one
        for header in sorted(root.rglob("*.h")):
            _copy(header, prefix / "include" / package.name / header.relative_to(root))
    _write_marks(package, interfaces, prefix / INDEX)


def _write_marks(package: InterfacePackage, interfaces: list[str], index: Path) -> None:
    marks = {
        "packages": "",
        "rosidl_interfaces": "\n".join(interfaces),
        "package_run_dependencies": ";".join(package.run_dependencies),
    }
    for resource, content in marks.items():
        mark = index / resource / package.name
        mark.parent.mkdir(parents=True)
        mark.write_text(content)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
