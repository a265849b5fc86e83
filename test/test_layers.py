"""Every test has exactly one layer, and what pure tests import needs no ROS."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from environment.related_tests import imported_modules
from layers import BROWSER_FIXTURES, BUILD_FIXTURES, LAYERS, ROS_PACKAGES, TEST, needs_ros, uses_playwright

# An interpreter without ROS that imports the modules named on its command line.
IMPORT_WITHOUT_ROS = """
import importlib, sys
ros, modules = sys.argv[1].split(","), sys.argv[2:]
sys.modules.update(dict.fromkeys(ros))  # None: an import raises ModuleNotFoundError
for module in modules:
    importlib.import_module(module)
"""


def test_every_test_has_exactly_one_layer(request: pytest.FixtureRequest) -> None:
    layers = {item.nodeid: [mark.name for mark in item.iter_markers()] for item in request.session.items}

    assert {test: names for test, names in layers.items() if len({*LAYERS} & {*names}) != 1} == {}


def test_what_pure_tests_import_needs_no_ros() -> None:
    rooms = {path.parent.name for path in TEST.parent.glob("*/__init__.py")}
    imported = {name for path in TEST.rglob("*.py") if not needs_ros(path) for name in imported_modules(path)}
    modules = [name for name in sorted(imported) if name.split(".")[0] in {*rooms, *ROS_PACKAGES} and _is_module(name)]

    command = [sys.executable, "-c", IMPORT_WITHOUT_ROS, ",".join(ROS_PACKAGES), *modules]
    result = subprocess.run(command, cwd=TEST.parent, capture_output=True, text=True)

    assert len(modules) > 100  # they were found
    assert result.stderr == ""


def _is_module(name: str) -> bool:
    """Whether it is a file or package of ours, or a ROS package; `a.b` may also be a name that module `a` defines."""
    path = TEST.parent / name.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir() or name in ROS_PACKAGES


def test_fixtures_that_decide_exist() -> None:
    texts = {path: path.read_text() for path in TEST.rglob("*.py")}

    for fixture in BUILD_FIXTURES:
        assert f"def {fixture}(" in texts[TEST / "conftest.py"]
    for fixture in BROWSER_FIXTURES:
        assert [path for path, text in texts.items() if f"def {fixture}(" in text and uses_playwright(path)] != []


def test_a_pure_test_cannot_start_a_node() -> None:
    if importlib.util.find_spec("rclpy") is None:
        pytest.skip("rclpy is not installed")

    result = subprocess.run([sys.executable, "-c", "import rclpy; rclpy.init()"], capture_output=True, text=True)

    assert result.returncode != 0
    assert "none_for_a_pure_test" in result.stderr


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("ros/test_parameters.py", True),  # by its folder
        ("interfaces/test_codecs.py", True),  # imports rclpy
        ("ros_support/test_time.py", True),  # imports a module that does
        ("recording/test_bags.py", False),
        ("test_layers.py", False),
    ],
)
def test_files_that_need_ros_are_found(file: str, expected: bool) -> None:
    assert needs_ros(TEST / Path(file)) is expected
