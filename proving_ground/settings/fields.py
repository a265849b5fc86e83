"""Settings declared once, as the fields of a frozen dataclass.

>>> @dataclass(frozen=True, kw_only=True)
... class Gps:
...     update_rate_hz: float = setting(5.0, "Fixes per second", unit="Hz", minimum=0.1, maximum=100.0)
>>> build(Gps, {"update_rate_hz": 10}).update_rate_hz
10.0
>>> build(Gps, {"update_rat_hz": 10})
Traceback (most recent call last):
proving_ground.settings.errors.SettingsError: update_rat_hz: unknown; did you mean update_rate_hz? Known: update_rate_hz
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from proving_ground.settings.errors import SettingsError

Settings = TypeVar("Settings")
Value = Any  # bool, int, float, str or a tuple of one of these

INTEGER_LIMIT = 2**31 - 1  # fits a ROS integer parameter and a C int

_TYPE_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """One setting: type, default, meaning, unit and allowed values."""

    name: str
    kind: type
    is_list: bool
    default: Value
    description: str
    unit: str
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    read_only: bool
    length: int = 0  # of a list; 0 is any

    def allowed(self) -> str:
        """The allowed values in words, e.g. 'a number from 0 to 40 [m/s]'."""
        words = _TYPE_WORDS[self.kind]
        if self.choices:
            words = "one of " + ", ".join(self.choices)
        elif self.minimum is not None and self.maximum is not None:
            form = ".0f" if self.kind is int else "g"  # 2147483647, not 2.14748e+09
            words += f" from {self.minimum:{form}} to {self.maximum:{form}}"
        elif self.kind is float:
            words = "a finite number"
        if self.unit:
            words += f" [{self.unit}]"
        if not self.is_list:
            return words
        return f"a list of {self.length}, each {words}" if self.length else f"a list, each item {words}"

    def check(self, value: object) -> Value:
        """Return the value in the declared type, or raise a SettingsError that says what is allowed."""
        if not self.is_list:
            return self._check_item(value, value)
        if not isinstance(value, list | tuple) or (self.length and len(value) != self.length):
            raise self._rejection(value)
        return tuple(self._check_item(item, value) for item in value)

    def _check_item(self, item: object, whole: object) -> Value:
        if self.kind is float and isinstance(item, int) and not isinstance(item, bool) and abs(item) < 2**53:
            item = float(item)  # users write 5 for 5.0
        if type(item) is not self.kind:
            raise self._rejection(whole)
        if isinstance(item, float) and not math.isfinite(item):
            raise self._rejection(whole)
        if isinstance(item, int | float) and not isinstance(item, bool):
            low = -INTEGER_LIMIT if self.minimum is None and isinstance(item, int) else self.minimum
            high = INTEGER_LIMIT if self.maximum is None and isinstance(item, int) else self.maximum
            if (low is not None and item < low) or (high is not None and item > high):
                raise self._rejection(whole)
        if self.choices and item not in self.choices:
            raise self._rejection(whole)
        return item

    def _rejection(self, value: object) -> SettingsError:
        return SettingsError(f"{self.name}: must be {self.allowed()}, got {_shown(value)}")


def setting(
    default: Value,
    description: str,
    *,
    unit: str = "",
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Iterable[str] = (),
    read_only: bool = False,
) -> Any:
    """A dataclass field that carries its description, unit and allowed values; the default ... makes it required.

    Give both bounds or neither: ROS descriptors know closed ranges only.
    """
    if (minimum is None) != (maximum is None):
        raise TypeError("give both minimum and maximum, or neither")
    metadata = {
        "description": description,
        "unit": unit,
        "minimum": minimum,
        "maximum": maximum,
        "choices": tuple(choices),
        "read_only": read_only,
    }
    return dataclasses.field(default=dataclasses.MISSING if default is ... else default, metadata=metadata)


def same_setting(owner: type, name: str, **changes: Any) -> Any:
    """A setting of the same quantity as one of another settings class: all as there, except for the changes.

    >>> @dataclass(frozen=True, kw_only=True)
    ... class Road:
    ...     friction: float = setting(0.8, "Friction coefficient", minimum=0.0, maximum=2.0)
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Ice:
    ...     friction: float = same_setting(Road, "friction", default=0.1)
    >>> declarations(Ice)["friction"].allowed(), Ice().friction
    ('a number from 0 to 2', 0.1)
    """
    first = next(item for item in dataclasses.fields(owner) if item.name == name)
    default = ... if default_of(first) is dataclasses.MISSING else default_of(first)
    return setting(**({"default": default, **first.metadata} | changes))


class Declarations(dict[str, Declaration]):
    """Declarations by name, dotted below nested settings, with their former names."""

    def __init__(self, items: Mapping[str, Declaration], renamed: Mapping[str, str]) -> None:
        super().__init__(items)
        self.renamed = dict(renamed)  # current name by former name


def declarations(settings_type: type) -> Declarations:
    """The declarations of a settings dataclass by name, in order; those of nested settings as `outer.inner`."""
    return _declared(settings_type, "", None)


def _declared(settings_type: type, prefix: str, defaults: Any) -> Declarations:
    """defaults: an object of the type that the enclosing settings have by default, or None."""
    found: dict[str, Declaration] = {}
    renamed = {prefix + old: prefix + new for old, new in renamed_fields(settings_type).items()}
    hints = _hints(settings_type)
    for item in dataclasses.fields(settings_type):
        hint, name = hints[item.name], prefix + item.name
        own = getattr(defaults, item.name) if defaults is not None else default_of(item)
        if dataclasses.is_dataclass(hint):
            inner = _declared(typing.cast(type, hint), f"{name}.", None if own is dataclasses.MISSING else own)
            found |= inner
            renamed |= inner.renamed
        else:
            found[name] = dataclasses.replace(declaration(item, hint), name=name, default=own)
    return Declarations(found, renamed)


@functools.cache
def _hints(settings_type: type) -> dict[str, Any]:
    """Types of the fields; evaluating their texts takes most of the time of a check."""
    return typing.get_type_hints(settings_type)


def default_of(field: dataclasses.Field[Any]) -> Any:
    """The default value of a field; dataclasses.MISSING where it has none."""
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default


def renamed_fields(settings_type: type) -> dict[str, str]:
    """Current names by former ones, from the class attributes `renamed` of a settings class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(settings_type.__mro__):
        found |= vars(base).get("renamed", {})
    return found


def as_parameters(settings: Any) -> dict[str, Value]:
    """All values by dotted name, as in a node's ROS parameters; `build` is the reverse."""
    found: dict[str, Value] = {}
    for item in dataclasses.fields(settings):
        value = getattr(settings, item.name)
        if dataclasses.is_dataclass(value):
            found |= {f"{item.name}.{name}": inner for name, inner in as_parameters(value).items()}
        else:
            found[item.name] = value
    return found


def changed_parameters(settings: Any) -> dict[str, Value]:
    """Values by dotted name, as as_parameters gives them, that differ from the defaults."""
    known = declarations(type(settings))
    return {name: value for name, value in as_parameters(settings).items() if value != known[name].default}


def flattened(values: Mapping[Any, object], known: Mapping[str, Declaration], prefix: str = "") -> dict[Any, object]:
    """Values of nested mappings by dotted name; a mapping that leads to no known name stays as it is."""
    found: dict[Any, object] = {}
    for name, value in values.items():
        dotted = f"{prefix}{name}"
        if isinstance(value, Mapping) and any(other.startswith(f"{dotted}.") for other in known):
            found |= flattened(value, known, f"{dotted}.")
        else:
            found[dotted if prefix else name] = value
    return found


def declaration(field: dataclasses.Field[Any], hint: Any) -> Declaration:
    """The declaration of one field made with `setting`, whose type is hint."""
    items = typing.get_args(hint)
    is_list = typing.get_origin(hint) is tuple
    kind = items[0] if is_list else hint
    if kind not in _TYPE_WORDS:
        raise TypeError(f"a setting cannot have type {hint}")
    return Declaration(
        name=field.name,
        kind=kind,
        is_list=is_list,
        length=len(items) if is_list and items[-1] is not Ellipsis else 0,
        default=field.default,
        **field.metadata,
    )


def build(settings_type: type[Settings], values: Mapping[str, object]) -> Settings:
    """A settings object from plain values, nested or by dotted name; raises SettingsError naming the first bad one."""
    known = declarations(settings_type)
    checked = {name: check_named(known, name, value) for name, value in flattened(values, known).items()}
    return typing.cast(Settings, _built(settings_type, checked, "", None))


def _built(settings_type: type, checked: Mapping[str, Value], prefix: str, defaults: Any) -> Any:
    """Settings from checked values by dotted name below the prefix."""
    hints = _hints(settings_type)
    values: dict[str, Value] = {}
    for item in dataclasses.fields(settings_type):
        name, hint = prefix + item.name, hints[item.name]
        own = getattr(defaults, item.name) if defaults is not None else default_of(item)
        if dataclasses.is_dataclass(hint):
            outer = None if own is dataclasses.MISSING else own
            values[item.name] = _built(typing.cast(type, hint), checked, f"{name}.", outer)
        elif name in checked:
            values[item.name] = checked[name]
        elif own is not dataclasses.MISSING:
            values[item.name] = own
        else:
            raise SettingsError(f"{name}: missing")
    try:
        return settings_type(**values)
    except ValueError as error:  # a relation between fields, checked by __post_init__
        raise SettingsError(f"{prefix}{error}") from None


def check_named(known: Mapping[str, Declaration], name: object, value: object) -> Value:
    """The value in its declared type; raises SettingsError for an unknown name, with the nearest or current one."""
    if isinstance(name, str) and name in known:
        return known[name].check(value)
    raise SettingsError(f"{_shown_name(name)}: {unknown_name(name, known, getattr(known, 'renamed', {}))}")


def unknown_name(name: object, known: Iterable[str], renamed: Mapping[str, str]) -> str:
    """Text for an unknown name: its current name if it was renamed, else the nearest one."""
    return f"is called {renamed[name]} now" if name in renamed else close_name(name, known)  # type: ignore[index]


def close_name(name: object, known: Iterable[str]) -> str:
    """Text for an unknown name: the nearest known one, and all known ones."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"unknown; {hint}Known: {', '.join(names)}"


def _shown(value: object) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer too long to print
        text = "a huge number"
    return text if len(text) <= 60 else text[:57] + "..."


def _shown_name(name: object) -> str:
    text = str(name)
    return text if text and text.isprintable() and len(text) <= 60 else _shown(name)
