"""A change is followed by the tests that belong to it, and by no others."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from environment.check import changed_files
from environment.related_tests import imported_modules, related_tests
from file_tree import write_tree

FILES = {
    "planner/arcs.py": "",
    "planner/__init__.py": "",
    "config/soils.yaml": "",
    "test/test_all.py": "",
    "test/docs/test_pages.py": "",
    "test/settings/test_fields.py": "",
    "test/planner/test_arcs.py": "from planner.arcs import Arc",
    "test/planner/yards.py": "",
    "test/recording/test_bag.py": "def test_bag():\n    from planner import arcs",
    "test/scenarios/test_run.py": "import planner.maps\nfrom yards import Yard",
    "test/terrain/test_soil.py": "FILE = 'config/soils.yaml'",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small repository."""
    return write_tree(tmp_path, FILES)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ("planner/arcs.py", ["test/planner", "test/recording/test_bag.py"]),  # its room, and the tests that import it
        ("planner/ros/planner_node.py", ["test/planner"]),
        ("planner/__init__.py", ["test/planner", "test/recording/test_bag.py"]),
        ("planner/README.md", ["test/docs"]),
        ("proving_ground/recording/ros/recorder_node.py", ["test/recording"]),
        ("proving_ground/recording/gone.py", ["test/recording"]),
        ("config/scenarios/urban.yaml", ["test/scenarios"]),
        ("config/terrain.yaml", ["test/terrain"]),
        ("config/soils.yaml", ["test/terrain/test_soil.py"]),  # the test that names it
        ("docs/topics.md", ["test/docs"]),
        ("test/planner/test_arcs.py", ["test/planner/test_arcs.py"]),
        ("test/planner/test_gone.py", ["test/docs", "test/settings"]),
        ("test/planner/yards.py", ["test/planner", "test/scenarios/test_run.py"]),
        ("test/conftest.py", ["test/docs", "test/settings"]),
        ("Makefile", ["test/docs", "test/settings"]),
    ],
)
def test_a_changed_file_is_followed_by_its_tests(tree: Path, changed: str, expected: list[str]) -> None:
    found = related_tests([Path(changed)], tree)

    assert [str(path) for path in found] == [*expected, "test/test_all.py"]


def test_tests_of_several_files_are_named_once(tree: Path) -> None:
    changed = [Path("planner/arcs.py"), Path("test/planner/test_arcs.py"), Path("proving_ground/recording/bag.py")]

    assert [str(path) for path in related_tests(changed, tree)] == [
        "test/planner",
        "test/recording",
        "test/test_all.py",
    ]


def test_without_a_change_pages_and_settings_are_tested(tree: Path) -> None:
    assert [str(path) for path in related_tests([], tree)] == ["test/docs", "test/settings", "test/test_all.py"]


def test_every_room_of_the_repository_with_tests_is_found() -> None:
    root = Path(__file__).parents[2]
    rooms = [*root.glob("*/__init__.py"), *root.glob("proving_ground/*/__init__.py")]

    found = {path for room in rooms for path in related_tests([room.relative_to(root)], root)}

    mirrors = {path.relative_to(root) for path in root.glob("test/*/") if path.name not in ("ros", "helpers")}
    assert mirrors - found <= {Path("test", name) for name in ("docs", "guard", "packaging", "__pycache__")}


def test_imports_are_found_anywhere_in_a_file(tree: Path) -> None:
    assert imported_modules(tree / "test/recording/test_bag.py") == {"planner", "planner.arcs"}
    assert imported_modules(tree / "test/scenarios/test_run.py") == {"planner.maps", "yards", "yards.Yard"}


def test_changes_are_those_since_main_committed_or_not(tree: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *identity, *arguments], cwd=tree, check=True, capture_output=True)

    git("init", "--initial-branch", "main")
    git("add", ".")
    git("commit", "--message", "first")
    assert changed_files(tree) == []
    git("checkout", "-b", "work")
    (tree / "planner/arcs.py").write_text("changed and committed")
    git("commit", "--all", "--message", "second")
    (tree / "config/soils.yaml").write_text("changed")
    (tree / "test/planner/yards.py").unlink()
    (tree / "planner/new one.py").write_text("not added")

    names = ["config/soils.yaml", "planner/arcs.py", "planner/new one.py", "test/planner/yards.py"]
    assert changed_files(tree) == [Path(name) for name in names]
