"""Settings with some values changed, by dotted keys: checked as if they were in the file.

>>> from terrain.worlds import PoseSettings
>>> altered(PoseSettings(x_m=1.0, y_m=2.0), {"x_m": Change(3.0), "y_m": Change(2.0, is_factor=True)})
PoseSettings(x_m=3.0, y_m=4.0, heading_deg=0.0)
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from proving_ground.campaigns.distributions import Value
from proving_ground.settings import Declaration, SettingsError
from proving_ground.settings.fields import close_name, declaration

Settings = TypeVar("Settings")
_Parts = tuple[str, ...]


class Change(NamedTuple):
    """New value of a key, or a factor on the old one."""

    value: Value
    is_factor: bool = False  # on the present value


def altered(settings: Settings, changes: Mapping[str, Change], prefix: str = "") -> Settings:
    """A copy with the changes; all at once, so that relations between fields hold at the end, not in between.

    prefix: text before the keys in messages. Raises SettingsError with the key and what is allowed.
    """
    split = [(tuple(key.split(".")), change) for key, change in changes.items()]
    return _group(settings, split, prefix) if split else settings


def value_at(settings: Any, key: str) -> Any:
    """The value at a key; raises SettingsError as altered does."""
    node, prefix = settings, ""
    for part in key.split("."):
        prefix = _joined(prefix, part)
        if node is None:
            raise SettingsError(f"{prefix}: the base has nothing there to vary")
        if isinstance(node, tuple):
            node = node[_index(part, node, prefix)]
        elif dataclasses.is_dataclass(node):
            node = getattr(node, _field(node, part, prefix).name)
        else:
            raise SettingsError(f"{prefix}: there is no key below a value")
    return node


def _group(node: Any, changes: Sequence[tuple[_Parts, Change]], prefix: str) -> Any:
    """A dataclass with changes in it."""
    new = {}
    for name, below in _by_head(changes).items():
        here = _joined(prefix, name)
        field = _field(node, name, here)
        child = getattr(node, name)
        new[name] = _child(child, below, here, functools.partial(_declared, type(node), field.name, here))
    try:
        return dataclasses.replace(node, **new)
    except SettingsError:
        raise
    except ValueError as error:  # a relation between fields
        raise SettingsError(f"{prefix}: {error}" if prefix else str(error)) from None


def _child(child: Any, below: Sequence[tuple[_Parts, Change]], here: str, declared: Any) -> Any:
    leaf = [change for parts, change in below if not parts]
    if leaf:
        if dataclasses.is_dataclass(child) or (isinstance(child, tuple) and child and _is_group(child[0])):
            raise SettingsError(f"{here}: is a group of settings; give one of its keys")
        if child is None:
            raise SettingsError(f"{here}: the base has nothing there to vary")
        return _checked(declared(), child, leaf[0])
    if dataclasses.is_dataclass(child):
        return _group(child, below, here)
    if isinstance(child, tuple):
        return _list(child, below, here, declared)
    if child is None:
        raise SettingsError(f"{here}: the base has nothing there to vary")
    raise SettingsError(f"{_joined(here, below[0][0][0])}: there is no key below a value")


def _list(items: tuple[Any, ...], changes: Sequence[tuple[_Parts, Change]], prefix: str, declared: Any) -> Any:
    new = list(items)
    for name, below in _by_head(changes).items():
        here = _joined(prefix, name)
        index = _index(name, items, here)
        if dataclasses.is_dataclass(items[index]):
            new[index] = _child(items[index], below, here, declared)
        else:
            item = dataclasses.replace(declared(), name=here, is_list=False)
            new[index] = _child(items[index], below, here, lambda item=item: item)
    return tuple(new)


def _checked(declared: Declaration, old: Any, change: Change) -> Any:
    value: Any = change.value
    if change.is_factor:
        value = tuple(item * value for item in old) if isinstance(old, tuple) else old * value
    elif declared.kind is bool and value in ("true", "false"):
        value = value == "true"
    if declared.kind is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    return declared.check(value)


def _by_head(changes: Sequence[tuple[_Parts, Change]]) -> dict[str, list[tuple[_Parts, Change]]]:
    found: dict[str, list[tuple[_Parts, Change]]] = {}
    for parts, change in changes:
        found.setdefault(parts[0], []).append((parts[1:], change))
    return found


def _field(node: Any, name: str, here: str) -> dataclasses.Field[Any]:
    fields = {field.name: field for field in dataclasses.fields(node)}
    if name not in fields:
        raise SettingsError(f"{here}: {close_name(name, fields)}")
    return fields[name]


def _index(name: str, items: tuple[Any, ...], here: str) -> int:
    if not name.isdecimal() or int(name) >= len(items):
        allowed = f"a whole number from 0 to {len(items) - 1}" if items else "nothing, the list is empty"
        raise SettingsError(f"{here}: the index of a list must be {allowed}")
    return int(name)


def _declared(owner: type, name: str, here: str) -> Declaration:
    return dataclasses.replace(_declarations(owner)[name], name=here)


@functools.cache
def _declarations(owner: type) -> dict[str, Declaration]:
    """Declarations of the fields that are plain settings."""
    hints, found = typing.get_type_hints(owner), {}
    for field in dataclasses.fields(owner):
        kinds = [kind for kind in typing.get_args(hints[field.name]) if kind is not type(None)]
        is_group = _is_group(hints[field.name]) or any(_is_group(kind) for kind in kinds)
        if not is_group and "description" in field.metadata:
            found[field.name] = declaration(field, hints[field.name])
    return found


def _is_group(item: Any) -> bool:
    return dataclasses.is_dataclass(item)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
