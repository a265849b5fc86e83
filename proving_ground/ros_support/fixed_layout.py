"""Messages of a fixed layout as bytes (CDR), whose numbers are read and written in place.

rclpy converts every field of a message to or from Python objects, names and covariances included, which costs more
than most callbacks. While the texts and the lengths of a message's arrays stay the same, so do the places of its
numbers: a view has the attributes of the message, and each access reads or writes only the bytes of that field.
"""

from __future__ import annotations

import re
import struct
from typing import Any, Final, NamedTuple

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message

_PLAIN: Final = b"\x00\x01"  # CDR, little-endian
_CONTENT: Final = 4  # where alignment begins
_PADDING: Final = 16  # fewer bytes than these may follow: the size of empty arrays is estimated generously
_CODES: Final = {  # of struct and numpy, by ROS type
    "boolean": "?", "float": "f", "double": "d", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H",
    "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
}  # fmt: skip
_ARRAY: Final = re.compile(r"(?P<item>.+)\[(?P<count>\d+)\]")
_SEQUENCE: Final = re.compile(r"sequence<(?P<item>[^,]+)(, \d+)?>")
MOST_LAYOUTS: Final = 4  # of one topic: publishers with other frames or names


class View:
    """A message, or a part of one, in the bytes of the whole; made by Layout."""

    __slots__ = ("_data",)

    def __init__(self, data: Any) -> None:
        self._data = data

    def __bytes__(self) -> bytes:
        """The whole message, as it is published."""
        return bytes(self._data)


class _Constant(NamedTuple):
    begin: int
    content: bytes


class Layout:
    """Where the numbers of a message are; raises TypeError for types that have no fixed places."""

    def __init__(self, message: Any) -> None:
        """message: with all texts, and arrays of the right lengths; its numbers do not matter."""
        self._data = bytearray(serialize_message(message))
        self._constants: list[_Constant] = []
        if self._data[:2] != _PLAIN:
            raise TypeError(f"{type(message).__name__} is not in little-endian CDR")
        self._at = _CONTENT
        self._view = self._message(message)
        if not 0 <= len(self._data) - self._at < _PADDING:
            raise TypeError(f"{type(message).__name__} has another layout than expected")
        del self._data[self._at :]

    def writable(self) -> Any:
        """A view whose numbers can be written; its bytes are those of the message."""
        return self._view(bytearray(self._data))

    def reads(self, data: bytes) -> bool:
        """Whether bytes have this layout and its texts."""
        if not 0 <= len(data) - len(self._data) < _PADDING or data[:2] != _PLAIN:
            return False
        return all(data.startswith(content, begin) for begin, content in self._constants)

    def readable(self, data: bytes) -> Any:
        """A view of bytes of this layout."""
        return self._view(data)

    def _message(self, message: Any) -> type[View]:
        """The class of views of a part of the message that begins here."""
        members: dict[str, Any] = {"__slots__": ()}
        for name, kind in message.get_fields_and_field_types().items():
            members[name] = self._field(kind, getattr(message, name))
        return type(f"{type(message).__name__}View", (View,), members)

    def _field(self, kind: str, value: Any) -> property:
        if (array := _ARRAY.fullmatch(kind)) is not None:
            return self._items(array["item"], value)
        if (sequence := _SEQUENCE.fullmatch(kind)) is not None:
            self._constant(struct.pack("<I", len(value)), 4)
            return self._items(sequence["item"], value)
        if kind in _CODES:
            return _number(_CODES[kind], self._take(struct.calcsize(_CODES[kind])))
        if kind == "string":
            return self._text(value)
        if "/" in kind:
            return _fixed(self._message(value))
        raise TypeError(f"a field of type {kind} has no fixed place")

    def _items(self, kind: str, values: Any) -> property:
        if kind in _CODES:
            size = struct.calcsize(_CODES[kind])
            if not len(values):
                return _numbers(_CODES[kind], self._at, 0)  # nothing to align
            return _numbers(_CODES[kind], self._take(size, len(values)), len(values))
        if kind == "string":
            for value in values:
                self._text(value)
            texts = list(values)
            return property(lambda view: texts)
        if "/" in kind:
            parts = [self._message(value) for value in values]
            return property(lambda view: [part(view._data) for part in parts])
        raise TypeError(f"an array of {kind} has no fixed place")

    def _text(self, value: str) -> property:
        content = value.encode() + b"\x00"
        self._constant(struct.pack("<I", len(content)) + content, 4)
        return property(lambda view: value)

    def _constant(self, content: bytes, alignment: int) -> None:
        """Content that stays the same; it is joined with what is directly before it."""
        begin = self._take(alignment, 0)
        self._at += len(content)
        if self._constants and self._constants[-1].begin + len(self._constants[-1].content) == begin:
            begin = self._constants.pop().begin
        self._constants.append(_Constant(begin, bytes(self._data[begin : self._at])))

    def _take(self, size: int, count: int = 1) -> int:
        """Where the next numbers of a size begin; what follows begins after them. Padding in between becomes 0."""
        begin = self._at + (_CONTENT - self._at) % size
        self._data[self._at : begin] = bytes(begin - self._at)
        self._at = begin + size * count
        return begin


def _number(code: str, at: int) -> property:
    plan = struct.Struct(f"<{code}")

    def get(view: View) -> Any:
        return plan.unpack_from(view._data, at)[0]

    def put(view: View, value: Any) -> None:
        plan.pack_into(view._data, at, value)

    return property(get, put)


def _numbers(code: str, at: int, count: int) -> property:
    kind = np.dtype(f"<{code}")
    end = at + kind.itemsize * count

    def get(view: View) -> Any:
        return np.frombuffer(view._data, kind, count, at).copy()  # a view of its own may be unaligned

    def put(view: View, values: Any) -> None:
        data = np.ascontiguousarray(values, kind).tobytes()
        if at + len(data) != end:
            raise ValueError(f"must have {count} numbers, as when the layout was made")
        view._data[at:end] = data

    return property(get, put)


def _fixed(part: type[View]) -> property:
    return property(lambda view: part(view._data))


def fixed(message: Any) -> Any:
    """A view of a message to fill again and again; the message itself where its type has no fixed layout."""
    try:
        return Layout(message).writable()
    except TypeError:
        return message


class Reader:
    """Makes views of the bytes of one topic's messages, or messages where the layout changes all the time."""

    def __init__(self, message_type: type) -> None:
        self._type = message_type
        self._layouts: list[Layout] = []

    def __call__(self, data: bytes) -> Any:
        """The message; raises ValueError for bytes that are none of its type."""
        for layout in self._layouts:
            if layout.reads(data):
                return layout.readable(data)
        try:
            message = deserialize_message(data, self._type)
        except Exception as error:  # of many types, none of them rclpy's own
            raise ValueError(f"cannot be read: {error}") from None
        if len(self._layouts) < MOST_LAYOUTS:
            self._learn(message, data)
        return message

    def _learn(self, message: Any, data: bytes) -> None:
        try:
            layout = Layout(message)
        except TypeError:
            return
        if layout.reads(data):
            self._layouts.append(layout)


def as_published(message: Any) -> Any:
    """What a publisher takes: bytes of a view, else the message itself."""
    return bytes(message) if isinstance(message, View) else message
