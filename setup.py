"""Installs proving_ground the same way for pip, `pip install -e` and colcon (ament_python)."""

import sys
from pathlib import Path

from setuptools import find_packages, setup

PACKAGE = "proving_ground"
VERSION = "0.2.0"
ROOMS = [PACKAGE, "benchmark", "planner", "sensors", "state_observer", "terrain", "vehicle_dynamics"]
COMMAND = "proving-ground = proving_ground.cli.main:main"
# Kinds of the suite, each with a folder of presets; those of other packages register themselves.
SENSORS = sorted(path.name for path in Path("config/sensors").iterdir() if path.is_dir())
NODES = [
    "cockpit = proving_ground.cockpit.ros.cockpit_node:main",
    "joystick = planner.ros.joystick_node:main",
    "keyboard = planner.ros.keyboard_node:main",
    "monitor = proving_ground.launching.monitor_node:main",
    "observer = state_observer.ros.observer_node:main",
    "planner = planner.ros.planner_node:main",
    "recorder = proving_ground.recording.ros.recorder_node:main",
    "referee = proving_ground.launching.referee_node:main",
    "replayer = proving_ground.recording.ros.replayer_node:main",
    "script = proving_ground.scenarios.ros.script_node:main",
    "teleop = planner.ros.teleop_node:main",
    "terrain = terrain.ros.terrain_node:main",
    "vehicle = vehicle_dynamics.ros.vehicle_node:main",
    *(f"{name} = sensors.ros.sensor_node:{name}" for name in SENSORS),
]

# A file that is both sh and Python: sh starts the interpreter of the prefix it is installed in (pip does not
# rewrite the first line of data files), which then reads the rest.
STARTER = '''#!/bin/sh
""":"
here=$(dirname "$(readlink -f "$0")")
for python in "$here/../../bin/python3" "{python}" python3; do
    command -v "$python" >/dev/null 2>&1 && exec "$python" "$0" "$@"
done
echo "proving_ground: no python3 found for $0" >&2
exit 127
":"""
import sys

from {module} import {function}

sys.exit({function}())
'''


def share_files(folder: str) -> list[tuple[str, list[str]]]:
    """data_files entries that put every file below folder under share/proving_ground/, tree kept."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [(f"share/{PACKAGE}/{path.parent}", [str(path)]) for path in files]


def write_starters(entries: list[str], python: str = "") -> list[str]:
    """Write one starter file per 'name = module:function' entry below build/ and return their paths.

    python is an interpreter to try before the PATH's.
    """
    folder = Path("build/starters")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for entry in entries:
        name, target = (part.strip() for part in entry.split("="))
        module, function = target.split(":")
        path = folder / name
        path.write_text(STARTER.format(module=module, function=function, python=python))
        path.chmod(0o755)
        paths.append(str(path))
    return paths


def executables() -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Console scripts and data files that give `lib/proving_ground/NODE` and `bin/proving-ground`.

    Under colcon, setup.cfg sends console scripts to lib/proving_ground, so the command needs a starter in bin.
    Under pip, console scripts go to bin, so the nodes need starters in lib/proving_ground.
    """
    if {"install", "develop"} & set(sys.argv):
        return [COMMAND, *NODES], [("bin", write_starters([COMMAND], sys.executable))]
    if "bdist_wheel" in sys.argv:
        return [COMMAND], [(f"lib/{PACKAGE}", write_starters(NODES))]
    return [COMMAND], []


console_scripts, starter_files = executables()

setup(
    name=PACKAGE,
    version=VERSION,
    description="ROS 2 node suite to test autonomy stacks on a simulated off-road vehicle",
    long_description=Path("README.md").read_text(encoding="utf-8") if Path("README.md").exists() else "",
    long_description_content_type="text/markdown",
    author="The proving_ground founders",
    license="Apache-2.0",
    keywords=["ROS 2", "simulation", "multibody dynamics", "terramechanics", "state estimation", "autonomous vehicles"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering",
        "Typing :: Typed",
    ],
    python_requires=">=3.10",
    packages=find_packages(include=[*ROOMS, *(f"{room}.*" for room in ROOMS)]),
    package_data={room: ["py.typed"] for room in ROOMS},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
        *share_files("launch"),
        *share_files("config"),
        *starter_files,
    ],
    install_requires=[
        "setuptools",
        "numpy",
        "numba",
        "scipy",
        "embreex",
        "Jinja2",
        "matplotlib",
        "mcap",
        "pillow",
        "pyarrow",
        "PyYAML",
        "rosbags",
        "setproctitle",
        "transforms3d",
        "trimesh",
        "viser",
        'evdev-binary; platform_machine == "x86_64"',
        'evdev; platform_machine != "x86_64"',
    ],
    extras_require={"dask": ["distributed"]},
    zip_safe=False,
    entry_points={"console_scripts": console_scripts, "proving_ground.nodes": NODES},
)
