"""The page of architecture and the rooms' READMEs name files, functions and layers that exist."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest
from importlinter import api

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/architecture.md"
LAYERS, ROS = api.read_configuration(str(ROOT / "pyproject.toml"))["contracts_options"]
ROOMS = sorted(ROOT / room.strip().replace(".", "/") for layer in LAYERS["layers"] for room in str(layer).split("|"))
OTHERS = ("README.md", "CONTRIBUTING.md", "test/README.md", "environment/README.md")
PAGES = [PAGE, *(room / "README.md" for room in ROOMS), *(ROOT / name for name in OTHERS)]
SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"([\w/.]+\.py)(?::([\w.]+))?")  # `path.py` or `path.py:function`
FURTHER = re.compile(r":([\w.]+)")  # `:function` of the file before it


def mentions(text: str) -> list[tuple[str, str]]:
    """Files and functions named in a text's code; a function is empty where a file is named alone."""
    found: list[tuple[str, str]] = []
    for span in SPAN.findall(text):
        if match := FILE.fullmatch(span):
            found.append((match[1], match[2] or ""))
        elif (match := FURTHER.fullmatch(span)) and found:
            found.append((found[-1][0], match[1]))
    return found


@functools.cache
def names_in(path: Path) -> set[str]:
    """Functions, classes, `Class.method` and constants that a module defines."""
    names: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        names |= _targets(node)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for inner in node.body for name in _targets(inner)}
    return names


def _targets(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_functions_that_a_page_names_exist(page: Path) -> None:
    missing = []
    for file, name in mentions(page.read_text()):
        path = next((folder / file for folder in (ROOT, page.parent) if (folder / file).is_file()), None)
        if path is None or (name and name not in names_in(path)):
            missing.append(f"{file}:{name}")

    assert missing == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT)))
def test_every_room_has_a_page_with_entry_points_that_architecture_links_to(room: Path) -> None:
    page = room / "README.md"

    chapter = page.read_text().split("## Entry points\n")[1].split("\n## ")[0]

    assert [file for file, name in mentions(chapter) if name] != []
    assert f"](../{page.relative_to(ROOT)})" in PAGE.read_text()


def test_layers_of_the_page_are_those_of_the_contract() -> None:
    block = PAGE.read_text().split("```\n")[1]

    assert [line.split("  ")[0] for line in block.splitlines()] == LAYERS["layers"]


def test_the_page_names_all_modules_that_may_import_ros() -> None:
    spans = SPAN.findall(PAGE.read_text())

    assert set(ROS["allowed_modules"]) <= set(spans)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", page.read_text())]

    assert [target for target in targets if target and ":" not in target and not (page.parent / target).exists()] == []
