"""SHA-256 of what a part of a run has received and produced, in order: two runs are the same if these are.

>>> one, other = Digest(), Digest()
>>> one.received(10, (1.0, 2.0)), other.received(10, [1.0, 2.0]), one.texts() == other.texts()
(None, None, True)
>>> one.produced(10, 3), one.texts() == other.texts()
(None, False)
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

INPUTS, OUTPUTS = "inputs_sha256", "outputs_sha256"  # names in diagnostics and files


class Digest:
    """Hashes of one part."""

    def __init__(self) -> None:
        self._received, self._produced = hashlib.sha256(), hashlib.sha256()

    def received(self, time_ns: int, *values: Any) -> None:
        """Add an input of an instant: numbers, texts, arrays and sequences of these."""
        self._add(self._received, time_ns, values)

    def produced(self, time_ns: int, *values: Any) -> None:
        """Add an output of an instant."""
        self._add(self._produced, time_ns, values)

    def texts(self) -> dict[str, str]:
        """Both hashes so far."""
        return {
            INPUTS: self._received.hexdigest(),
            OUTPUTS: self._produced.hexdigest(),
        }

    def _add(self, digest: Any, time_ns: int, values: tuple[Any, ...]) -> None:
        digest.update(struct.pack("<q", time_ns))
        for value in values:
            for part in _bytes(value):
                digest.update(part)


def _bytes(value: Any) -> Iterator[bytes]:
    """The bits of a value; -0.0 and 0.0 differ, 1 and 1.0 do not."""
    if isinstance(value, np.ndarray | np.void):
        yield value.tobytes()
    elif isinstance(value, float | int):  # and bool
        yield struct.pack("<d", value) if abs(value) < 2**53 else struct.pack("<q", value)
    elif isinstance(value, str):
        yield value.encode()
    elif value is None:
        yield b"none"
    else:
        for part in value:
            yield from _bytes(part)
