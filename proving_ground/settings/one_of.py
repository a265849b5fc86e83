"""Settings of which exactly one kind is given, as in `world: {flat: {...}}`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def one_of(choice: Any, *besides: str) -> tuple[str, Any]:
    """Name and value of the only field that is not None; besides: fields that are not kinds.

    Raises ValueError when none or several are given.
    """
    names = [item.name for item in fields(choice) if item.name not in besides]
    given = [name for name in names if getattr(choice, name) is not None]
    if len(given) != 1:
        raise ValueError(f"must have exactly one of {', '.join(names)}, got {', '.join(given) or 'none'}")
    return given[0], getattr(choice, given[0])
