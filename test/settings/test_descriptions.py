"""Descriptions of settings are whole phrases: `ros2 param describe` shows each one alone."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from node_settings import settings_type

from proving_ground.launching.node_process import node_modules
from proving_ground.settings import declarations

ROOT = Path(__file__).parents[2]
ROOMS = sorted(path.parent.name for path in ROOT.glob("*/py.typed"))
FEWEST_WORDS = 3
MOST_EXPLAINED = 5  # choices; longer lists have a page of their own
# Words that need something before them: prepositions, conjunctions, pronouns and question words.
DEPENDENT = """
    of as at in on by for from with within without to into up along across above below beyond beside against since
    between over under about around per after before until while if else so but and or when where how what which who
    whose why that this these those they it its their them he she
"""


def fault(text: str) -> str:
    """Fault of a description; empty if it is self-contained."""
    words = text.split()
    first = words[0].lower().strip(",;:.()'") if words else ""
    found = [f"has fewer than {FEWEST_WORDS} words"] if len(words) < FEWEST_WORDS else []
    return ", ".join(found + [f"begins with {first!r}"] * (first in DEPENDENT.split()))


def sources() -> list[Path]:
    """Modules that declare settings."""
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return [path for path in paths if "setting(" in path.read_text()]


def written(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each description in a call of `setting`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setting" and len(node.args) > 1:
            words = node.args[1]
            if isinstance(words, ast.Constant) and isinstance(words.value, str):
                yield words.lineno, words.value


def declared(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each description that a module's dataclasses have, whichever helper made it."""
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for kind in vars(module).values():
        if isinstance(kind, type) and kind.__module__ == module.__name__ and dataclasses.is_dataclass(kind):
            own = inspect.get_annotations(kind)  # fields of a base are found in the base's file
            for item in dataclasses.fields(kind):
                if item.name in own and "description" in item.metadata:
                    yield _line(kind, item.name), item.metadata["description"]


def _line(kind: type, name: str) -> int:
    """Line of a field in its file; 1 where the class is generated."""
    try:
        lines, first = inspect.getsourcelines(kind)
    except (OSError, TypeError):
        return 1
    return next((first + at for at, line in enumerate(lines) if line.strip().startswith(f"{name}:")), first)


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_description_is_a_self_contained_phrase(path: Path) -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}: {words!r} {fault(words)}"
        for line, words in (*written(path), *declared(path))
        if fault(words)
    }

    assert not found, "\n" + "\n".join(sorted(found))


@pytest.mark.parametrize("name", sorted(node_modules()))
def test_every_parameter_of_a_node_has_such_a_description(name: str) -> None:
    found = [
        f"{item.name}: {item.description!r} {fault(item.description)}"
        for item in declarations(settings_type(name)).values()
        if fault(item.description)
    ]

    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("name", sorted(node_modules()))
def test_a_description_says_what_each_of_few_choices_means(name: str) -> None:
    found = [
        f"{item.name}: {item.description!r} does not name {choice!r}"
        for item in declarations(settings_type(name)).values()
        if len(item.choices) <= MOST_EXPLAINED
        for choice in item.choices
        if choice not in item.description
    ]

    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text",
    ["", "Held", "Of base_link", "Reverse gear", "How long that bias is like itself", "its own length, as given"],
)
def test_fragments_are_found(text: str) -> None:
    assert fault(text)
