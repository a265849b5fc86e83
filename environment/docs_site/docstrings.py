"""Griffe extension: reads our docstrings. A setting's meaning is its docstring, and doctests become code blocks."""

from __future__ import annotations

import ast
from typing import Any

import griffe

from environment.docs_site.source_text import with_fenced_examples

SETTING = "setting"  # proving_ground/settings/fields.py


class Docstrings(griffe.Extension):
    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_fenced_examples(obj.docstring.value)

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Read `name: float = setting(default, "Meaning", unit="m")`."""
        value = attr.value
        if not isinstance(value, griffe.ExprCall) or str(value.function) != SETTING:
            return
        default, meaning = value.arguments[:2]
        options = {item.name: item.value for item in value.arguments[2:] if isinstance(item, griffe.ExprKeyword)}
        attr.value = None if str(default) == "..." else default
        attr.docstring = griffe.Docstring(_setting_text(meaning, options), parent=attr)


def _setting_text(meaning: Any, options: dict[str, Any]) -> str:
    text = _plain(meaning)
    if "unit" in options:
        text += f" [{_plain(options['unit'])}]"
    if "minimum" in options and "maximum" in options:
        text += f"; from `{options['minimum']}` to `{options['maximum']}`"
    if "choices" in options:
        text += f"; one of `{options['choices']}`"
    return text + "."


def _plain(expression: Any) -> str:
    """The text of a literal; of any other expression its source."""
    try:
        return str(ast.literal_eval(str(expression)))
    except ValueError:
        return f"`{expression}`"
