"""States as bytes, without pickle: one JSON text with the structure, and the raw contents of all arrays.

Only data can be read: numbers, texts, containers, arrays, random generators, and those of the suite's loaded classes
that hold plain values (enums, named tuples, dataclasses, parts with a STATE). Arrays that were one object are so again.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections import Counter, OrderedDict, deque
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import SavedPart, Stateful
from proving_ground.settings import SettingsError

PLAIN = (bool, int, float, str, type(None))
DICTS: dict[str, type[dict[Any, Any]]] = {"dict": dict, "counter": Counter, "ordered": OrderedDict}
LENGTH_BYTES = 8


def encoded(state: Any) -> bytes:
    """A state as bytes; raises SettingsError for a value that is no data."""
    writer = _Writer()
    text = json.dumps({"tree": writer.tree(state), "arrays": writer.arrays}).encode()
    return b"".join([len(text).to_bytes(LENGTH_BYTES, "little"), text, *writer.contents])


def decoded(data: bytes) -> Any:
    """The state, with a SavedPart for each part; raises SettingsError for bytes that `encoded` did not write."""
    try:
        end = LENGTH_BYTES + int.from_bytes(data[:LENGTH_BYTES], "little")
        header = json.loads(data[LENGTH_BYTES:end])
        return _Reader(_arrays(header["arrays"], data, end)).value(header["tree"])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        if isinstance(error, SettingsError):
            raise
        raise SettingsError(f"checkpoint: is damaged: {error}") from None


class _Writer:
    """Turns values into a tree for JSON, in which every object is one tag with its content."""

    def __init__(self) -> None:
        self.arrays: list[dict[str, Any]] = []
        self.contents: list[bytes | memoryview] = []
        self._known: dict[int, tuple[int, Any]] = {}  # arrays by id, which stay alive meanwhile

    def tree(self, value: Any) -> Any:
        """The tree of a value."""
        if type(value) in PLAIN:
            return value
        if isinstance(value, Stateful):
            return {"part": [_name(type(value)), self._items(value.saved_state())]}
        if isinstance(value, Enum):
            return {"enum": [_name(type(value)), value.name]}
        if isinstance(value, np.ndarray):
            return {"array": self._array(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.array([value], value.dtype))}
        if isinstance(value, np.random.Generator):
            return {"random": self.tree(value.bit_generator.state)}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {"fields": [_name(type(value)), [self.tree(item) for item in value]]}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            names = (item.name for item in dataclasses.fields(value))
            return {"record": [_name(type(value)), self._items({name: getattr(value, name) for name in names})]}
        return self._container(value)

    def _container(self, value: Any) -> Any:
        if type(value) is deque:
            return {"deque": [value.maxlen, [self.tree(item) for item in value]]}
        for tag, kind in DICTS.items():
            if type(value) is kind:
                return {tag: self._items(value)}
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.tree(item) for item in value]}
        raise SettingsError(f"checkpoint: a value of class {_name(type(value))} cannot be saved; see Stateful")

    def _items(self, values: dict[Any, Any]) -> list[Any]:
        return [[self.tree(key), self.tree(value)] for key, value in values.items()]

    def _array(self, array: NDArray[Any]) -> int:
        if id(array) in self._known:
            return self._known[id(array)][0]
        if array.dtype.hasobject:
            raise SettingsError("checkpoint: an array of objects cannot be saved")
        # A transposed array stays one: the order of summation follows the memory.
        is_transposed = array.flags.f_contiguous and not array.flags.c_contiguous
        flat = np.ascontiguousarray(array.T if is_transposed else array)
        descr = np.lib.format.dtype_to_descr(array.dtype)
        self.arrays.append({"type": descr, "shape": list(flat.shape), "transposed": is_transposed})
        self.contents.append(flat.reshape(-1).view(np.uint8).data if flat.size else b"")
        self._known[id(array)] = len(self.arrays) - 1, array
        return len(self.arrays) - 1


class _Reader:
    """Turns a tree back into values."""

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._arrays = arrays

    def value(self, tree: Any) -> Any:
        """The value of a tree."""
        if not isinstance(tree, dict):
            return tree
        ((tag, content),) = tree.items()
        read = getattr(self, f"_{tag}", None)
        if read is not None:
            return read(content)
        if tag in DICTS:
            return DICTS[tag](self._items(content))
        items = [self.value(item) for item in content]
        return {"list": list, "tuple": tuple}[tag](items)

    def _items(self, content: Any) -> dict[Any, Any]:
        return {self.value(key): self.value(value) for key, value in content}

    def _array(self, index: int) -> NDArray[Any]:
        return self._arrays[index]

    def _scalar(self, index: int) -> Any:
        return self._arrays[index][0]

    def _random(self, content: Any) -> np.random.Generator:
        state = self.value(content)
        kind = {"PCG64": np.random.PCG64}[state["bit_generator"]]
        generator = np.random.Generator(kind())
        generator.bit_generator.state = state
        return generator

    def _deque(self, content: Any) -> deque[Any]:
        length, items = content
        return deque((self.value(item) for item in items), maxlen=length)

    def _enum(self, content: Any) -> Enum:
        found: Enum = _class(content[0], Enum)[content[1]]
        return found

    def _fields(self, content: Any) -> Any:
        return _class(content[0], tuple)(*(self.value(item) for item in content[1]))

    def _record(self, content: Any) -> Any:
        return _class(content[0], object)(**self._items(content[1]))

    def _part(self, content: Any) -> SavedPart:
        return SavedPart(_class(content[0], Stateful), self._items(content[1]))


def _arrays(described: list[Any], data: bytes, start: int) -> list[NDArray[Any]]:
    """Arrays of their own memory, as they were described."""
    found = []
    for item in described:
        dtype = np.lib.format.descr_to_dtype(_tuples(item["type"]))
        if math.prod(item["shape"]) * dtype.itemsize > len(data) - start:
            raise ValueError("the contents of an array are missing")
        array: NDArray[Any] = np.empty(item["shape"], dtype)
        if array.size:
            piece = np.frombuffer(data, np.uint8, array.nbytes, start)
            array.reshape(-1).view(np.uint8)[:] = piece
        start += array.nbytes
        found.append(array.T if item["transposed"] else array)
    if start != len(data):
        raise ValueError(f"{len(data) - start} bytes too many")
    return found


def _tuples(descr: Any) -> Any:
    """JSON has no tuples, which numpy's description of a type needs: fields, and shapes within them."""
    if isinstance(descr, str):
        return descr
    return [(item[0], _tuples(item[1]), *(tuple(shape) for shape in item[2:])) for item in descr]


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _class(name: str, base: type) -> Any:
    """A class by its name, of a module that is loaded already: reading a file imports nothing."""
    module, _, path = name.partition(":")
    found: Any = sys.modules[module]
    for word in path.split("."):
        found = getattr(found, word)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ValueError(f"{name} is of another kind")
    if not (issubclass(found, Enum | Stateful) or hasattr(found, "_fields") or dataclasses.is_dataclass(found)):
        raise ValueError(f"{name} does not hold plain values")
    return found
