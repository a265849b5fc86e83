"""Walk through all attributes of a run's parts, to compare two runs: whatever differs was not saved."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np

ROOMS = ("planner", "proving_ground", "sensors", "state_observer", "terrain", "vehicle_dynamics")


def differences(first: Any, second: Any, is_left_out: Any) -> list[str]:
    """Paths of attributes that differ between two objects; is_left_out(class, attribute) skips what may differ."""
    return list(_Walk(is_left_out).compare("run", first, second))


class _Walk:
    def __init__(self, is_left_out: Any) -> None:
        self._is_left_out, self._seen = is_left_out, set[tuple[int, int]]()
        self._kept: list[Any] = []  # so that no id is used twice

    def compare(self, path: str, first: Any, second: Any) -> Iterator[str]:
        if (id(first), id(second)) in self._seen:
            return
        self._seen.add((id(first), id(second)))
        self._kept.append((first, second))
        if type(first) is not type(second):
            yield f"{path}: {type(first).__name__} and {type(second).__name__}"
        elif isinstance(first, np.ndarray | np.generic):
            if first.shape != second.shape or first.tobytes() != second.tobytes():
                yield path
        elif isinstance(first, np.random.Generator):
            if first.bit_generator.state != second.bit_generator.state:
                yield path
        elif isinstance(first, dict):
            yield from self._compare_dicts(path, first, second)
        elif isinstance(first, list | tuple | deque):
            if len(first) != len(second):
                yield f"{path}: {len(first)} and {len(second)} items"
            for index, (a, b) in enumerate(zip(first, second, strict=False)):
                yield from self.compare(f"{path}[{index}]", a, b)
        elif type(first).__module__.split(".")[0] in ROOMS:
            yield from self._compare_objects(path, first, second)
        elif isinstance(first, str | int | float | bool | bytes | type | None) and repr(first) != repr(second):
            yield f"{path}: {first!r} and {second!r}"

    def _compare_dicts(self, path: str, first: dict[Any, Any], second: dict[Any, Any]) -> Iterator[str]:
        if list(first) != list(second):
            yield f"{path}: other keys"
            return
        for key, value in first.items():
            yield from self.compare(f"{path}[{key!r}]", value, second[key])

    def _compare_objects(self, path: str, first: Any, second: Any) -> Iterator[str]:
        names = list(getattr(first, "__dict__", {}))
        if dataclasses.is_dataclass(first):
            names += [item.name for item in dataclasses.fields(first) if item.name not in names]
        for name in names:
            if not self._is_left_out(type(first), name):
                yield from self.compare(f"{path}.{name}", getattr(first, name), getattr(second, name, None))
