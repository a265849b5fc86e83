"""Limits that hold for all of our code: few positional parameters, no function that is too complex to read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = (
    "benchmark", "environment", "examples", "launch", "planner", "proving_ground", "sensors", "state_observer",
    "terrain", "vehicle_dynamics",
)  # fmt: skip
MOST_POSITIONAL = 8  # parameters beside self and cls; further ones are keyword-only, or fields of a NamedTuple
MOST_COMPLEX = 20  # cyclomatic complexity, counted as radon does; above it radon's grade is D or worse

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def all_functions() -> Iterator[tuple[str, Function]]:
    """Every function of ours with its file and line."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for function in functions(ast.parse(path.read_text())):
                yield f"{path.relative_to(ROOT)}:{function.lineno} {function.name}", function


def positional(function: Function) -> int:
    """Number of arguments that a caller may have to put in order."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def complexity(function: Function) -> int:
    """McCabe's number as radon counts it: functions within a function count for themselves."""
    return 1 + sum(_branches(child) for child in function.body)


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return 0
    return _own_branches(node) + sum(_branches(child) for child in ast.iter_child_nodes(node))


def _own_branches(node: ast.AST) -> int:
    if isinstance(node, ast.If | ast.IfExp | ast.Assert):
        return 1
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return 1 + bool(node.orelse)
    if isinstance(node, ast.Try):
        return len(node.handlers) + bool(node.orelse)
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return len(node.cases) if isinstance(node, ast.Match) else 0


def test_no_function_has_more_than_eight_positional_parameters() -> None:
    counts = {where: positional(function) for where, function in all_functions()}

    assert len(counts) > 1000  # the packages were found
    assert {where: count for where, count in counts.items() if count > MOST_POSITIONAL} == {}


def test_no_function_is_complex_beyond_grade_c() -> None:
    counts = {where: complexity(function) for where, function in all_functions()}

    assert {where: count for where, count in counts.items() if count > MOST_COMPLEX} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(a): return a", 1),
        ("def f(a):\n    if a and a > 1 or a < 0:\n        return 1\n    return 0", 4),
        ("def f(a):\n    for x in a:\n        pass\n    else:\n        a()\n    while a:\n        pass", 4),
        ("def f(a):\n    try:\n        a()\n    except OSError:\n        pass\n    else:\n        a()", 3),
        ("def f(a): return [x if x else 1 for x in a if x]", 4),
        (
            "def f(a):\n    assert a\n    match a:\n        case 1:\n            a()\n        case 2:\n            a()",
            4,
        ),
        ("def f(a):\n    def g():\n        return 1 if a else 2\n    with a:\n        return lambda: a", 1),
    ],
)
def test_complexity_counts_branches_loops_handlers_and_conditions(text: str, expected: int) -> None:
    (function,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))

    assert complexity(function) == expected


def test_self_and_keyword_only_parameters_do_not_count() -> None:
    one, other = functions(ast.parse("def f(self, a, b=1, *, c): pass\ndef g(a, b, /, c, *d, **e): pass"))

    assert (positional(one), positional(other)) == (2, 3)
