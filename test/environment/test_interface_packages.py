"""Generated interface packages speak the same language on the wire as those of a ROS 2 installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from environment.errors import SetupError
from environment.interface_build.definitions import InterfacePackage
from environment.interface_packages import find_compilers
from environment.python_headers import python_include_dirs
from environment.runner import Runner

REPOSITORY = Path(__file__).resolve().parents[2]
INTERFACES = REPOSITORY / "environment" / "interfaces"
STANDARD = [path for kind in ("msg", "srv") for path in sorted((INTERFACES / "simulation_interfaces" / kind).iterdir())]

# Of Jazzy's tf2_msgs, and of ackermann_msgs as the independent implementation in `rosbags` computes them.
TYPE_HASHES = {
    "tf2_msgs/msg/TFMessage": "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "ackermann_msgs/msg/AckermannDrive": "RIHS01_acf287a224a947dd1b0b87d6d76cdb73f497b0237b8fc73be2173b2ebbb82c99",
    "ackermann_msgs/msg/AckermannDriveStamped": (
        "RIHS01_48ca7612a08d3bb72744fd98b71b7cf2ea24c6ad50fa4e1aa0bbad963c90d8cf"
    ),
}

PROBE_MANIFEST = """<package format="3">
  <name>probe_msgs</name><version>1.2.3</version><description>For a test</description>
  <license>Apache-2.0</license><depend>geometry_msgs</depend>
</package>"""
PROBE_DEFINITIONS = {
    "msg/Probe.msg": "uint8 LIMIT=7\ngeometry_msgs/Point position\nstring<=8 label\nint32[3] counts\n",
    "srv/Probe.srv": "uint64 steps 1\n---\nuint8 BROKEN=101\nProbe[] found\n",  # of the same name as the message
    "action/Dig.action": "float64 depth\n---\nProbe last\n---\nuint64 completed\n",
}

ROUND_TRIP = """
from probe_msgs import action, msg, srv
from geometry_msgs.msg import Point
from rclpy.serialization import deserialize_message, serialize_message

def returned(sent):
    return deserialize_message(serialize_message(sent), type(sent))

probe = msg.Probe(position=Point(x=1.5, y=-2.0), label="soil", counts=[1, 2, 3])
assert returned(probe) == probe and probe.LIMIT == 7, probe
response = srv.Probe.Response(found=[probe, probe])
assert returned(response) == response and response.BROKEN == 101, response
assert srv.Probe.Request().steps == 1
result = action.Dig.Result(last=probe)
assert returned(result) == result, result
"""


def prefixes() -> list[Path]:
    return [Path(sys.prefix), *map(Path, filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(":")))]


def type_hash(name: str, description: Path) -> str:
    hashes = json.loads(description.read_text())["type_hashes"]
    return str(next(entry["hash_string"] for entry in hashes if entry["type_name"] == name))


@pytest.mark.parametrize("name", TYPE_HASHES)
def test_installed_type_has_the_hash_of_the_real_one(name: str) -> None:
    found = [path for prefix in prefixes() if (path := prefix / "share" / f"{name}.json").is_file()]
    if not found and os.environ.get("ROS_DISTRO"):
        pytest.skip(f"{name} is not part of this ROS installation; `proving-ground doctor` says how to get it")
    assert type_hash(name, found[0]) == TYPE_HASHES[name]


@pytest.mark.parametrize("name", TYPE_HASHES)
def test_repository_defines_each_type_that_has_a_known_hash(name: str) -> None:
    package, _, message = name.split("/")
    assert f"msg/{message}.msg" in InterfacePackage.read(INTERFACES / package).interfaces


@pytest.mark.parametrize("definition", STANDARD, ids=lambda path: path.name)
def test_installed_simulation_interface_has_the_hash_that_rosbags_computes(definition: Path) -> None:
    found = [path for prefix in prefixes() if (path := _description(prefix, definition)).is_file()]
    if not found and os.environ.get("ROS_DISTRO"):
        pytest.skip(f"{definition.stem} is not part of this ROS installation; `proving-ground doctor` says more")
    store = _store_of_simulation_interfaces()

    for name in _types_in(definition):
        assert type_hash(name, found[0]) == store.hash_rihs01(name)


def _description(prefix: Path, definition: Path) -> Path:
    return prefix / "share" / definition.relative_to(INTERFACES).with_suffix(".json")


def _types_in(definition: Path) -> dict[str, Any]:
    """Types of a file as `rosbags` reads them, which knows messages only: a service is two of them."""
    parts = definition.read_text().split("---\n")
    endings = ("_Request", "_Response") if definition.suffix == ".srv" else ("",)
    types: dict[str, Any] = {}
    for text, ending in zip(parts, endings, strict=True):
        lines = [" ".join(line.split()[:2]) for line in text.splitlines()]  # without defaults
        if all("=" in line for line in lines):
            lines.append("uint8 structure_needs_at_least_one_member")  # as rosidl fills empty types
        read = get_types_from_msg("\n".join(lines), f"simulation_interfaces/msg/{definition.stem}{ending}")
        types |= {name.replace("msg", definition.suffix[1:]): value for name, value in read.items()}
    return types


@cache
def _store_of_simulation_interfaces() -> Any:
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register({name: value for file in STANDARD for name, value in _types_in(file).items()})
    return store


@pytest.mark.build
def test_new_package_is_generated_compiled_and_passes_a_message(tmp_path: Path) -> None:
    if not (Path(sys.prefix) / "share" / "rosidl_generator_py").is_dir():
        pytest.skip("the rosidl generators are not in this environment (a sourced ROS 2 is used)")
    package = tmp_path / "probe_msgs"
    for name, text in {"package.xml": PROBE_MANIFEST, **PROBE_DEFINITIONS}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)

    project = build(package, tmp_path / "staging")

    libraries = os.pathsep.join([str(project / "prefix" / "lib"), os.environ.get("LD_LIBRARY_PATH", "")])
    variables = os.environ | {"LD_LIBRARY_PATH": libraries, "PYTHONPATH": str(project)}
    subprocess.run([sys.executable, "-c", ROUND_TRIP], env=variables, check=True, timeout=60)
    index = project / "prefix/share/ament_index/resource_index"
    assert (index / "packages/probe_msgs").is_file()
    assert set(PROBE_DEFINITIONS) < set((index / "rosidl_interfaces/probe_msgs").read_text().split())


def build(package: Path, staging: Path) -> Path:
    """Build as the set-up does; the folder that pip would install."""
    runner = Runner(REPOSITORY, staging.parent / "build.log", os.environ)
    c_compiler, cxx_compiler = find_compilers(os.environ)
    options: list[str | Path] = ["--cc", c_compiler, "--cxx", cxx_compiler]
    for folder in python_include_dirs(Path(sys.prefix) / ".proving_ground" / "python-headers", runner):
        options += ["--python-include", folder]
    script = REPOSITORY / "environment" / "interface_build" / "build.py"
    runner.run([sys.executable, script, package, staging, *options])
    return staging / "wheel"


def test_missing_compiler_is_reported_with_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cc").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match=r"no C\+\+ compiler") as caught:
        find_compilers({})
    assert caught.value.remedy == "sudo apt install g++"


def test_missing_headers_are_reported_with_the_package_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path / "nowhere"))
    monkeypatch.setenv("PATH", str(tmp_path))  # no apt-get either
    with pytest.raises(SetupError, match=r"Python\.h") as caught:
        python_include_dirs(tmp_path / "headers", Runner(tmp_path, tmp_path / "log", os.environ))
    assert "sudo apt install python3-dev" in caught.value.remedy
