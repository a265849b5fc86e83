"""The package installs the same for pip and for colcon: index mark, launch files, config, node executables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IGNORED = shutil.ignore_patterns(".venv", ".git", "build", "install", "log", "*.egg-info", "__pycache__", ".*_cache")
NODES = {"joystick", "keyboard", "monitor", "teleop"}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout") / "proving_ground"
    shutil.copytree(ROOT, folder, ignore=IGNORED)
    return folder


def run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    result = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=180
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture(scope="module")
def pip_prefix(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("prefix")
    options = [
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--ignore-installed",
        "--prefix",
        str(prefix),
    ]
    run([sys.executable, "-m", "pip", "install", *options, "."], checkout)
    return prefix


@pytest.fixture(scope="module", params=["build", "build --symlink-install"])
def colcon_prefix(request: pytest.FixtureRequest, checkout: Path) -> Iterator[Path]:
    colcon = Path(sys.executable).with_name("colcon")
    folders = [checkout / name for name in ("build", "install", "log")]
    run([str(colcon), *request.param.split()], checkout)
    yield checkout / "install" / "proving_ground"
    for folder in folders:
        shutil.rmtree(folder)


def check_ros_layout(prefix: Path) -> None:
    share = prefix / "share"
    assert (share / "ament_index/resource_index/packages/proving_ground").is_file()
    for name in ("package.xml", "launch/teleop.launch.py", "config/teleop.yaml", "config/pads/xbox.yaml"):
        assert (share / "proving_ground" / name).is_file(), name
    executables = {path.name: path for path in (prefix / "lib" / "proving_ground").iterdir()}
    assert set(executables) >= NODES
    assert all(os.access(path, os.X_OK) for path in executables.values())
    assert os.access(prefix / "bin" / "proving-ground", os.X_OK)


def site_packages(prefix: Path) -> Path:
    return next(prefix.glob("lib/python3.*/site-packages"))


def test_pip_install_lays_out_a_ros_package_that_runs(pip_prefix: Path) -> None:
    check_ros_layout(pip_prefix)

    variables = f"PATH={Path(sys.executable).parent}:$PATH PYTHONPATH={site_packages(pip_prefix)}"
    teleop = f"{variables} {pip_prefix}/lib/proving_ground/teleop --ros-args -p expo:=7; test $? = 2"
    assert "command line: expo: must be a number from 0 to 1, got 7" in run(["bash", "-c", teleop], pip_prefix)
    assert {path.name for path in (pip_prefix / "bin").iterdir()} == {"proving-ground"}  # no node clutters the PATH


def test_pip_install_finds_its_share_folder(pip_prefix: Path) -> None:
    environment = dict(
        os.environ, PYTHONPATH=str(site_packages(pip_prefix)), AMENT_PREFIX_PATH=str(pip_prefix), PYTHONSAFEPATH="1"
    )
    code = "import settings.share as s; print(s.__file__, s.share_directory())"

    output = run([sys.executable, "-c", code], pip_prefix, environment).split()

    assert output[0].startswith(str(pip_prefix))
    assert output[1] == str(pip_prefix / "share" / "proving_ground")


def test_colcon_build_lays_out_a_ros_package_that_runs(colcon_prefix: Path) -> None:
    check_ros_layout(colcon_prefix)

    set_up = f"source {colcon_prefix.parent / 'setup.bash'}"
    assert "pad:=xbox" in run(["bash", "-c", f"{set_up} && proving-ground launch"], colcon_prefix)
    teleop = f"{set_up} && {colcon_prefix}/lib/proving_ground/teleop --ros-args -p expo:=7; test $? = 2"
    assert "expo: must be a number" in run(["bash", "-c", teleop], colcon_prefix)


def test_package_manifest_names_what_is_imported() -> None:
    manifest = (ROOT / "package.xml").read_text()
    sources = [
        path.read_text() for room in ("planner", "ros_support", "scenarios") for path in (ROOT / room).glob("*.py")
    ]
    for name in ("geometry_msgs", "sensor_msgs", "std_msgs", "diagnostic_msgs", "tf2_msgs", "rcl_interfaces", "rclpy"):
        assert any(f"from {name}" in source or f"import {name}" in source for source in sources), name
        assert f"<exec_depend>{name}</exec_depend>" in manifest
