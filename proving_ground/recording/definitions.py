"""Message types in a bag: the definition with all types it uses, and its hash (RIHS01)."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.typesys import get_types_from_msg

from proving_ground.recording.types import store


class Definition(NamedTuple):
    """Definition of a type, as in MCAP files."""

    text: str
    digest: str
    encoding: str = "ros2msg"


@functools.cache
def definition(message_type: str) -> Definition | None:
    """The definition from ROS 2 Jazzy, else from the installed package; None if neither has it."""
    types = store()
    try:
        if message_type not in types.types:
            types.register(dict(_installed(message_type, set())))
        text, _ = types.generate_msgdef(message_type, ros_version=2)
        return Definition(text, types.hash_rihs01(message_type))
    except Exception:  # malformed .msg files raise arbitrary exceptions
        return None


def _installed(message_type: str, done: set[str]) -> Iterator[tuple[str, Any]]:
    """The type and the types it uses that are not known yet; raises OSError when a file is missing."""
    done.add(message_type)
    package, kind, name = message_type.split("/")
    found = get_types_from_msg(_file(package, kind, name).read_text(), message_type)
    yield from found.items()
    for used in sorted(_used(found)):
        if used not in store().types and used not in done and used not in found:
            yield from _installed(used, done)


def _used(types: Any) -> set[str]:
    """Names of the types in the fields."""

    def names(shape: Any) -> Iterator[str]:
        if isinstance(shape, str):
            if shape.count("/") == 2:
                yield shape
        elif isinstance(shape, tuple):
            for item in shape:
                yield from names(item)

    return {name for _, fields in types.values() for _, shape in fields for name in names(shape)}


def _file(package: str, kind: str, name: str) -> Path:
    """File in the ament index, which without a sourced ROS is the prefix of this Python."""
    prefixes = [*filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)), sys.prefix]
    paths = [Path(prefix) / "share" / package / kind / f"{name}.msg" for prefix in prefixes]
    return next((path for path in paths if path.is_file()), paths[-1])
