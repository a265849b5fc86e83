"""Nested settings from a YAML file: a dataclass whose fields are settings, further such dataclasses, or lists of them.

A field of type `X | None` may be left out. A dataclass with a class attribute `presets`, a folder below config/, can be
given a `preset`: the settings of a ROS parameter file there, which all other given values override. One with a class
attribute `defaults`, a ROS parameter file of the share directory, has its values as defaults.
A dataclass with a class attribute `kind_key` is a base of kinds: the content names one under that key, which
`kind` turns into a class. The items of a list may be of several dataclasses: the class attribute `known_by` of each is
the key that distinguishes its items from the others.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from pathlib import Path
from typing import Any, TypeVar, cast

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import (
    build,
    close_name,
    declaration,
    default_of,
    renamed_fields,
    unknown_name,
)
from proving_ground.settings.share import share_directory, share_file
from proving_ground.settings.yaml_file import KeyPath, YamlFile, read_yaml, read_yaml_text

Settings = TypeVar("Settings")


def load_settings(path: Path, settings_type: type[Settings]) -> Settings:
    """Settings from a YAML file; raises SettingsError with file, line, key and what is allowed."""
    file = read_yaml(path)
    return cast(Settings, _build(file, settings_type, file.content, ()))


def settings_from_text(text: str, settings_type: type[Settings], name: str) -> Settings:
    """Settings from YAML text, as `settings_text` writes it; raises SettingsError that begins with the name."""
    file = read_yaml_text(text, name)
    return cast(Settings, _build(file, settings_type, file.content, ()))


def settings_text(settings: Any) -> str:
    """One line of YAML with what differs from the defaults, for parameters of nodes."""
    return json.dumps(plain_values(settings))


def plain_values(settings: Any) -> dict[str, Any]:
    """Values that differ from the defaults, as mappings, lists and scalars."""
    found: dict[str, Any] = {}
    for item in dataclasses.fields(settings):
        value = getattr(settings, item.name)
        if value is not None and value != default_of(item):
            found[item.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return plain_values(value)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def build_nested(settings_type: type[Settings], content: dict[str, Any], name: str) -> Settings:
    """Settings from nested plain values, as a YAML file would give them; errors begin with the name."""
    return cast(Settings, _build(YamlFile(Path(name), content, {}), settings_type, content, ()))


def load_named(path: Path, settings_type: type[Settings]) -> dict[str, Settings]:
    """A file that maps names to settings of one type; raises SettingsError as load_settings does."""
    file = read_yaml(path)
    if not isinstance(file.content, dict) or not all(isinstance(name, str) for name in file.content):
        raise file.error((), "the file: must map names to settings")
    return {name: _build(file, settings_type, content, (name,)) for name, content in file.content.items()}


def load_section(path: Path, key: str, settings_type: type[Settings]) -> Settings:
    """The settings that a YAML file has under a key, or their defaults; the rest of the file is ignored."""
    file = read_yaml(path)
    content = file.content.get(key) if isinstance(file.content, dict) else None
    return cast(Settings, _build(file, settings_type, {} if content is None else content, (key,)))


def preset_names(folder: str) -> list[str]:
    """The presets of a folder below config/."""
    return sorted(path.stem for path in (share_directory() / "config" / folder).glob("*.yaml"))


def load_preset(settings_type: type[Settings], name: str) -> Settings:
    """The settings of a preset by its name in the folder `presets` of the type, checked; raises SettingsError."""
    return build(settings_type, preset_values(settings_type.presets, name))  # type: ignore[attr-defined]


def default_values(file: str) -> dict[str, Any]:
    """Values in a ROS parameter file of the share directory; raises SettingsError."""
    return dict(_section(share_file(file)))


def configured(node: str, settings_type: type[Settings]) -> Settings:
    """Settings of a node with the values of config/NODE.yaml; raises SettingsError."""
    return build(settings_type, default_values(f"config/{node}.yaml"))


def _section(path: Path) -> dict[str, Any]:
    """The one section of a ROS parameter file."""
    content = read_yaml(path).content
    try:
        (section,) = content.values()
        values: dict[str, Any] = section["ros__parameters"] or {}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise SettingsError(f"{path}: must have one node with 'ros__parameters'") from None
    return values


def preset_values(folder: str, name: object) -> dict[str, Any]:
    """Values of a preset: the one section of a ROS parameter file; raises SettingsError with the known names."""
    known = preset_names(folder)
    if name not in known:
        raise SettingsError(f"{name}: {close_name(name, known)}")
    return _section(share_directory() / "config" / folder / f"{name}.yaml")


def _build(file: YamlFile, settings_type: Any, content: Any, prefix: KeyPath) -> Any:
    name = ".".join(map(str, prefix))
    if not isinstance(content, dict):
        raise file.error(prefix, f"{name or 'the file'}: must map names to values, got {type(content).__name__}")
    if hasattr(settings_type, "kind_key"):
        settings_type, content = _kind(file, settings_type, content, prefix)
    hints = typing.get_type_hints(settings_type)
    fields = {field.name: field for field in dataclasses.fields(settings_type)}
    content = _completed(file, settings_type, content, prefix)
    for key in content:
        if key not in fields:
            words = unknown_name(key, fields, renamed_fields(settings_type))
            raise file.error((*prefix, key), f"{'.'.join(map(str, (*prefix, key)))}: {words}")
    values = {}
    for key, field in fields.items():
        here = (*prefix, key)
        if key in content:
            values[key] = _value(file, field, hints[key], content[key], here)
        elif hasattr(hints[key], "defaults"):
            values[key] = _build(file, hints[key], {}, here)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise file.error(prefix, f"{'.'.join(map(str, here))}: missing")
    try:
        return settings_type(**values)
    except SettingsError:
        raise
    except ValueError as error:  # a relation between fields, checked by __post_init__
        raise file.error(prefix, f"{name}: {error}" if name else str(error)) from None


def _completed(file: YamlFile, settings_type: Any, content: dict[Any, Any], prefix: KeyPath) -> dict[Any, Any]:
    """The given values, over those of the named preset, over the defaults of the type."""
    if hasattr(settings_type, "defaults"):
        names = {field.name for field in dataclasses.fields(settings_type)}
        usual = {key: value for key, value in default_values(settings_type.defaults).items() if key in names}
        content = {**usual, **content}
    presets = getattr(settings_type, "presets", "")
    if not presets or "preset" not in content:
        return content
    try:
        chosen = preset_values(presets, content["preset"])
    except SettingsError as error:
        raise file.error((*prefix, "preset"), f"{'.'.join(map(str, (*prefix, 'preset')))}: {error}") from None
    return {**chosen, **{key: value for key, value in content.items() if key != "preset"}}


def _value(file: YamlFile, field: dataclasses.Field[Any], hint: Any, content: Any, prefix: KeyPath) -> Any:
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    if typing.get_origin(hint) is types.UnionType:
        hint = kinds[0]
        content = {} if content is None else content  # `coast:` alone means all defaults
    if dataclasses.is_dataclass(hint):
        return _build(file, hint, content, prefix)
    if typing.get_origin(hint) is tuple and _item_types(kinds[0]):
        if not isinstance(content, list):
            raise file.error(prefix, f"{'.'.join(map(str, prefix))}: must be a list, got {type(content).__name__}")
        return tuple(_item(file, kinds[0], item, (*prefix, index)) for index, item in enumerate(content))
    declared = dataclasses.replace(declaration(field, hint), name=".".join(map(str, prefix)))
    try:
        return declared.check(content)
    except SettingsError as error:
        raise file.error(prefix, str(error)) from None


def _item_types(hint: Any) -> tuple[Any, ...]:
    """The dataclasses that items of a list can be of; empty: they are plain values."""
    found = typing.get_args(hint) if typing.get_origin(hint) is types.UnionType else (hint,)
    return found if all(map(dataclasses.is_dataclass, found)) else ()


def _item(file: YamlFile, hint: Any, content: Any, prefix: KeyPath) -> Any:
    """An item of a list of settings."""
    found = _item_types(hint)
    if len(found) > 1 and isinstance(content, dict):
        by_key = {kind.known_by: kind for kind in found}
        given = [key for key in by_key if key in content]
        if len(given) != 1:
            words = f"must have exactly one of {', '.join(by_key)}, got {', '.join(given) or 'none'}"
            raise file.error(prefix, f"{'.'.join(map(str, prefix))}: {words}")
        return _build(file, by_key[given[0]], content, prefix)
    return _build(file, found[0], content, prefix)


def _kind(file: YamlFile, base: Any, content: dict[str, Any], prefix: KeyPath) -> tuple[Any, dict[str, Any]]:
    """The class that the content names, or the base's default, and the rest of the content."""
    here = (*prefix, base.kind_key)
    try:
        chosen = base.kind(content.get(base.kind_key))
    except SettingsError as error:
        raise file.error(here, f"{'.'.join(map(str, here[:-1]))}: {error}") from None
    return chosen, {key: value for key, value in content.items() if key != base.kind_key}
