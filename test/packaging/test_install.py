"""The package installs the same for pip and for colcon: index mark, launch files, config, node executables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NODES = {"joystick", "keyboard", "monitor", "teleop"}
BAD_START = "lib/proving_ground/teleop --ros-args -p expo:=7"
REJECTION = "teleop: command line: expo: must be a number from 0 to 1, got 7"


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None, status: int = 0) -> str:
    result = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180
    )
    assert result.returncode == status, result.stdout
    return result.stdout


@pytest.fixture(params=["build", "build --symlink-install"])
def colcon_prefix(request: pytest.FixtureRequest, checkout: Path) -> Iterator[Path]:
    run([str(Path(sys.executable).with_name("colcon")), *request.param.split()], checkout)
    yield checkout / "install" / "proving_ground"
    for name in ("build", "install", "log"):
        shutil.rmtree(checkout / name)


def check_ros_layout(prefix: Path) -> None:
    share = prefix / "share"
    assert (share / "ament_index/resource_index/packages/proving_ground").is_file()
    for name in ("package.xml", "launch/teleop.launch.py", "config/teleop.yaml", "config/pads/xbox.yaml"):
        assert (share / "proving_ground" / name).is_file(), name
    executables = {path.name: path for path in (prefix / "lib" / "proving_ground").iterdir()}
    assert set(executables) >= NODES
    assert all(os.access(path, os.X_OK) for path in executables.values())
    assert os.access(prefix / "bin" / "proving-ground", os.X_OK)


def test_pip_install_lays_out_a_ros_package_that_runs(pip_prefix: Path, pip_environment: dict[str, str]) -> None:
    check_ros_layout(pip_prefix)

    # A rejection proves that the executable starts and finds its code.
    assert REJECTION in run(BAD_START.split(), pip_prefix, pip_environment, status=2)
    assert '<mujoco model="HMMWV">' in run(["bin/proving-ground", "export", "hmmwv"], pip_prefix, pip_environment)
    assert {path.name for path in (pip_prefix / "bin").iterdir()} == {"proving-ground"}  # no nodes on the PATH


def test_pip_install_finds_its_share_folder(pip_prefix: Path, pip_environment: dict[str, str]) -> None:
    code = "import proving_ground.settings.share as s; print(s.__file__, s.share_directory())"

    output = run([sys.executable, "-c", code], pip_prefix, pip_environment).split()

    assert output[0].startswith(str(pip_prefix))
    assert output[1] == str(pip_prefix / "share" / "proving_ground")


def test_colcon_build_lays_out_a_ros_package_that_runs(colcon_prefix: Path) -> None:
    check_ros_layout(colcon_prefix)

    set_up = f"source {colcon_prefix.parent / 'setup.bash'}"
    assert "pad:=xbox" in run(["bash", "-c", f"{set_up} && proving-ground launch"], colcon_prefix)
    assert REJECTION in run(["bash", "-c", f"{set_up} && {BAD_START}"], colcon_prefix, status=2)
    assert '<mujoco model="HMMWV">' in run(["bash", "-c", f"{set_up} && proving-ground export hmmwv"], colcon_prefix)


def test_package_manifest_declares_every_ros_package_that_is_imported() -> None:
    manifest = ElementTree.parse(ROOT / "package.xml").getroot()
    declared = {item.text for item in manifest if item.tag == "exec_depend"}
    rooms = [path.parent for path in ROOT.glob("*/__init__.py") if path.parent.name != "environment"]
    sources = "\n".join(path.read_text() for room in rooms for path in room.rglob("*.py"))
    imported = set(re.findall(r"^\s*(?:from|import) (\w+)", sources, re.MULTILINE))
    ros_packages = {
        name for name in imported if re.search(r"_(msgs|srvs|interfaces|ros|transformations)$|^rclpy$", name)
    }

    assert {"rclpy", "sensor_msgs", "tf2_msgs", "launch_ros"} <= ros_packages
    assert ros_packages <= declared
