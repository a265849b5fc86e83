"""Safe YAML reading that keeps the line of every key, so that errors can point at it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from proving_ground.settings.errors import SettingsError

SIZE_LIMIT_BYTES = 4_000_000
NODE_LIMIT = 200_000  # aliases can expand a small file into a huge tree

KeyPath = tuple[Any, ...]


class _Loader(yaml.SafeLoader):
    """SafeLoader that also reads 1e3 as a number, as YAML 1.2 and ROS do."""


_Loader.yaml_implicit_resolvers = {key: list(value) for key, value in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+.0123456789")
)


@dataclass(frozen=True)
class YamlFile:
    """The content of a YAML file and the line of each key."""

    path: Path
    content: Any
    lines: dict[KeyPath, int] = field(repr=False)

    def error(self, key_path: KeyPath, message: str) -> SettingsError:
        """An error that points at the line of the key."""
        return SettingsError(f"{self.location(key_path)}: {message}")

    def location(self, key_path: KeyPath) -> str:
        """Location of a key in the file, as 'file:line'."""
        return f"{self.path}:{self.lines.get(key_path, 1)}"


def read_yaml(path: Path) -> YamlFile:
    """Read one YAML document; raises SettingsError with file and line for anything unreadable."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe would be read forever
            raise SettingsError(f"{path}: is not a file")
        size = path.stat().st_size
        if size > SIZE_LIMIT_BYTES:
            raise SettingsError(f"{path}: {size} bytes is too large for a settings file (limit {SIZE_LIMIT_BYTES})")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: not UTF-8 text (byte {error.start})") from None
    return read_yaml_text(text, path)


def read_yaml_text(text: str, path: Path | str) -> YamlFile:
    """One YAML document from text; path is its name in errors. Raises SettingsError as read_yaml does."""
    path = Path(path)
    try:
        return _compose(path, text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SettingsError(f"{path}:{line}: not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise SettingsError(f"{path}: not valid YAML: {error}") from None
    except RecursionError:
        raise SettingsError(f"{path}: not valid YAML: nested too deeply") from None


def read_value(text: str, location: str) -> Any:
    """One YAML value, as given on a command line; raises SettingsError naming the location."""
    try:
        return yaml.load(text, Loader=_Loader)  # a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        raise SettingsError(f"{location}: not a valid value: {text}") from None


def _compose(path: Path, text: str) -> YamlFile:
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        reader = _TreeReader(path, loader)
        content = reader.read(root, ()) if root is not None else None
        return YamlFile(path, content, reader.lines)
    finally:
        loader.dispose()


class _TreeReader:
    """Turns composed YAML nodes into plain Python values, recording lines and rejecting dubious constructs."""

    def __init__(self, path: Path, loader: _Loader) -> None:
        self.lines: dict[KeyPath, int] = {}
        self._path = path
        self._loader = loader
        self._count = 0

    def read(self, node: yaml.Node, key_path: KeyPath) -> Any:
        self._count += 1
        line = node.start_mark.line + 1
        if self._count > NODE_LIMIT:
            raise SettingsError(f"{self._path}:{line}: more than {NODE_LIMIT} values (does an alias repeat itself?)")
        self.lines.setdefault(key_path, line)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, key_path)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*key_path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, line)

    def _mapping(self, node: yaml.MappingNode, key_path: KeyPath) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise SettingsError(f"{self._path}:{line}: a key must be a plain word")
            key = self._scalar(key_node, line)
            if key in result:
                raise SettingsError(f"{self._path}:{line}: duplicate key {key!r}")
            here = (*key_path, key)
            self.lines[here] = line
            result[key] = self.read(value_node, here)
        return result

    def _scalar(self, node: yaml.Node, line: int) -> Any:
        try:
            return self._loader.construct_object(node)
        except (ValueError, OverflowError) as error:  # 2026-99-99, 0b, an integer of 5000 digits
            raise SettingsError(f"{self._path}:{line}: not a valid value: {error}") from None
