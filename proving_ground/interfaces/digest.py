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
import threading
import weakref
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any, Final

import numpy as np

INPUTS, OUTPUTS = "inputs_sha256", "outputs_sha256"  # names in diagnostics and files
LARGE: Final = 100_000  # bytes that are worth another thread


_Queue = SimpleQueue[tuple[Any, bytes, threading.Event] | None]  # None: the end


class Digest:
    """Hashes of one part. A thread hashes what is large, as point clouds, beside the part's own work."""

    def __init__(self) -> None:
        self._received, self._produced = hashlib.sha256(), hashlib.sha256()
        self._queue: _Queue | None = None
        self._hashed = threading.Event()  # the last of the queue
        self._hashed.set()

    def received(self, time_ns: int, *values: Any) -> None:
        """Add an input of an instant: numbers, texts, arrays and sequences of these."""
        self._add(self._received, time_ns, values)

    def produced(self, time_ns: int, *values: Any) -> None:
        """Add an output of an instant."""
        self._add(self._produced, time_ns, values)

    def texts(self) -> dict[str, str]:
        """Hashes of all inputs and of all outputs so far, as hexadecimal digits, by INPUTS and OUTPUTS."""
        self._hashed.wait()
        return {
            INPUTS: self._received.hexdigest(),
            OUTPUTS: self._produced.hexdigest(),
        }

    def _add(self, digest: Any, time_ns: int, values: tuple[Any, ...]) -> None:
        data = b"".join((struct.pack("<q", time_ns), *(part for value in values for part in _bytes(value))))
        if len(data) < LARGE and self._hashed.is_set():
            digest.update(data)
            return
        if self._queue is None:
            self._queue = SimpleQueue()
            threading.Thread(target=_work, args=(self._queue,), name="digest", daemon=True).start()
            # Not at exit: nodes, which are forked, crashed when a thread that had hashed ended with them.
            weakref.finalize(self, self._queue.put, None).atexit = False
        self._hashed = threading.Event()
        self._queue.put((digest, data, self._hashed))  # in order: it is one thread


def _work(queue: _Queue) -> None:
    while (item := queue.get()) is not None:
        digest, data, hashed = item
        digest.update(data)
        hashed.set()


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
