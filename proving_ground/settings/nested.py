"""Nested settings from a YAML file: a dataclass whose fields are settings, further such dataclasses, or lists of them.

A field of type `X | None` may be left out. A dataclass with a class attribute `presets`, a folder below config/, can be
given a `preset`: the settings of a ROS parameter file there, which what else is given overrides. One with a class
attribute `kind_key` is a base of kinds: the content names one of them under that key, which `kind` turns into a class.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from pathlib import Path
from typing import Any, TypeVar, cast

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import build, close_name, declaration
from proving_ground.settings.share import share_directory
from proving_ground.settings.yaml_file import KeyPath, YamlFile, read_yaml

Settings = TypeVar("Settings")


def load_settings(path: Path, settings_type: type[Settings]) -> Settings:
    """Settings from a YAML file; raises SettingsError with file, line, key and what is allowed."""
    file = read_yaml(path)
    return cast(Settings, _build(file, settings_type, file.content, ()))


def load_named(path: Path, settings_type: type[Settings]) -> dict[str, Settings]:
    """A file that maps names to settings of one type; raises SettingsError as load_settings does."""
    file = read_yaml(path)
    if not isinstance(file.content, dict) or not all(isinstance(name, str) for name in file.content):
        raise file.error((), "the file: must map names to settings")
    return {name: _build(file, settings_type, content, (name,)) for name, content in file.content.items()}


def load_list(path: Path, key: str, settings_type: type[Settings]) -> tuple[Settings, ...]:
    """The list that a YAML file must have under a key; nothing else in the file is looked at."""
    file = read_yaml(path)
    if not isinstance(file.content, dict) or key not in file.content:
        raise file.error((), f"{key}: missing")
    content = file.content[key]
    if not isinstance(content, list):
        raise file.error((key,), f"{key}: must be a list")
    return tuple(_build(file, settings_type, item, (key, index)) for index, item in enumerate(content))


def preset_names(folder: str) -> list[str]:
    """The presets of a folder below config/."""
    return sorted(path.stem for path in (share_directory() / "config" / folder).glob("*.yaml"))


def load_preset(settings_type: type[Settings], name: str) -> Settings:
    """The settings of a preset of the type's folder, checked; raises SettingsError."""
    return build(settings_type, preset_values(settings_type.presets, name))  # type: ignore[attr-defined]


def preset_values(folder: str, name: object) -> dict[str, Any]:
    """What a preset sets: the one section of a ROS parameter file; raises SettingsError with the names there are."""
    known = preset_names(folder)
    if name not in known:
        raise SettingsError(f"{name}: {close_name(name, known)}")
    file = read_yaml(share_directory() / "config" / folder / f"{name}.yaml")
    (section,) = file.content.values()
    values: dict[str, Any] = section["ros__parameters"]
    return values


def _build(file: YamlFile, settings_type: Any, content: Any, place: KeyPath) -> Any:
    name = ".".join(map(str, place))
    if not isinstance(content, dict):
        raise file.error(place, f"{name or 'the file'}: must map names to values, got {type(content).__name__}")
    if hasattr(settings_type, "kind_key"):
        settings_type, content = _kind(file, settings_type, content, place)
    presets = getattr(settings_type, "presets", "")
    if presets and "preset" in content:
        try:
            chosen = preset_values(presets, content["preset"])
        except SettingsError as error:
            raise file.error((*place, "preset"), f"{'.'.join(map(str, (*place, 'preset')))}: {error}") from None
        content = {**chosen, **{key: value for key, value in content.items() if key != "preset"}}
    hints = typing.get_type_hints(settings_type)
    fields = {field.name: field for field in dataclasses.fields(settings_type)}
    for key in content:
        if key not in fields:
            raise file.error((*place, key), f"{'.'.join(map(str, (*place, key)))}: {close_name(key, fields)}")
    values = {}
    for key, field in fields.items():
        here = (*place, key)
        if key in content:
            values[key] = _value(file, field, hints[key], content[key], here)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise file.error(place, f"{'.'.join(map(str, here))}: missing")
    try:
        return settings_type(**values)
    except SettingsError:
        raise
    except ValueError as error:  # a relation between fields, checked by __post_init__
        raise file.error(place, f"{name}: {error}" if name else str(error)) from None


def _value(file: YamlFile, field: dataclasses.Field[Any], hint: Any, content: Any, place: KeyPath) -> Any:
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    if typing.get_origin(hint) is types.UnionType:
        hint = kinds[0]
        content = {} if content is None else content  # `coast:` alone means all defaults
    if dataclasses.is_dataclass(hint):
        return _build(file, hint, content, place)
    if typing.get_origin(hint) is tuple and dataclasses.is_dataclass(kinds[0]):
        if not isinstance(content, list):
            raise file.error(place, f"{'.'.join(map(str, place))}: must be a list, got {type(content).__name__}")
        return tuple(_build(file, kinds[0], item, (*place, index)) for index, item in enumerate(content))
    declared = dataclasses.replace(declaration(field, hint), name=".".join(map(str, place)))
    try:
        return declared.check(content)
    except SettingsError as error:
        raise file.error(place, str(error)) from None


def _kind(file: YamlFile, base: Any, content: dict[str, Any], place: KeyPath) -> tuple[Any, dict[str, Any]]:
    """The class that the content names, or the base's usual one, and what else the content has."""
    here = (*place, base.kind_key)
    try:
        chosen = base.kind(content.get(base.kind_key))
    except SettingsError as error:
        raise file.error(here, f"{'.'.join(map(str, here[:-1]))}: {error}") from None
    return chosen, {key: value for key, value in content.items() if key != base.kind_key}
