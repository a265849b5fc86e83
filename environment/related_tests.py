"""The tests that belong to a file, by the tree, where `test/` mirrors the rooms, and by the imports of tests."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from pathlib import Path

GROUPS = ("proving_ground", "config")  # folders whose parts are mirrored, not they themselves
DEFAULT = ("test/docs", "test/settings")  # when no test belongs to a change: quick, and any change may break them


@functools.cache
def imported_modules(path: Path) -> frozenset[str]:
    """Modules that a file imports anywhere in it: for `from a import b` both `a` and `a.b`, which may be a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def related_tests(changed: Iterable[Path], root: Path) -> list[Path]:
    """Test files and folders to run after a change, without those inside another; paths are relative to `root`.

    The rooms of the changed files, tests elsewhere that import a changed module themselves, and the tests of all code.
    """
    found = {test for path in changed for test in _tests_of_file(path, root)} or {Path(name) for name in DEFAULT}
    found |= {path.relative_to(root) for path in root.glob("test/test_*.py")}
    return sorted(test for test in found if found.isdisjoint(test.parents))


def _tests_of_file(path: Path, root: Path) -> Iterator[Path]:
    if path.suffix == ".md":
        yield Path("test/docs")
    elif path.parts[0] == "test":
        yield from _tests_beside(path, root)
    elif (room := _mirror(path, root)) is not None:
        yield room
    if path.suffix == ".py":
        yield from _importers(path, root)
    elif path.suffix != ".md":
        yield from _readers(path, root)


def _tests_beside(path: Path, root: Path) -> Iterator[Path]:
    """A test file itself; all tests of its folder for anything else that they may use."""
    if path.name.startswith("test_"):
        if (root / path).is_file():
            yield path
    elif path.parent != Path("test") and (root / path.parent).is_dir():
        yield path.parent


def _mirror(path: Path, root: Path) -> Path | None:
    """The folder of tests that mirrors a file's room: test/recording for proving_ground/recording/bag.py."""
    parts = path.with_suffix("").parts
    room = Path("test", parts[1] if parts[0] in GROUPS and len(parts) > 1 else parts[0])
    return room if (root / room).is_dir() else None


def _importers(path: Path, root: Path) -> Iterator[Path]:
    """Test files that import a module themselves, of a helper of tests by its bare name."""
    parts = path.with_suffix("").parts
    module = parts[-1] if parts[0] == "test" else ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return (test.relative_to(root) for test in _test_files(root) if module in imported_modules(test))


def _readers(path: Path, root: Path) -> Iterator[Path]:
    """Test files that name a file which is not code."""
    return (test.relative_to(root) for test in _test_files(root) if path.name in test.read_text())


def _test_files(root: Path) -> Iterator[Path]:
    return root.glob("test/**/test_*.py")
