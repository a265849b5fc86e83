"""Attributes of a class that its methods change, found in its source."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

CHANGING = (
    "add",
    "append",
    "appendleft",
    "clear",
    "extend",
    "insert",
    "move_to_end",
    "pop",
    "popitem",
    "popleft",
    "update",
)


def changed_attributes(kind: type) -> set[str]:
    """Attributes of self that methods other than __init__ assign, fill or extend."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(definition, ast.ClassDef)
    return {
        name
        for method in definition.body
        if isinstance(method, ast.FunctionDef) and method.name not in ("__init__", "restore_state")
        for node in ast.walk(method)
        for target in _targets(node)
        if (name := _attribute(target))
    }


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from target.elts if isinstance(target, ast.Tuple | ast.List) else (target,)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        yield node.target
    elif isinstance(node, ast.Delete):
        yield from node.targets
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        yield node.func.value


def _attribute(target: ast.expr) -> str:
    """The x of self.x, self.x[...], self.x[...].y; empty for other targets."""
    while isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            return target.attr
        target = target.value
    return ""
