"""SIGINT and SIGTERM as a request to stop, made while ROS is still whole.

rclpy's own handlers shut the context down at once, under callbacks and threads that are about to publish: now and then
one of them fails, and the process ends with a traceback instead of status 0.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable
from types import TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Context in which either signal, however often it comes, calls `stop` from a thread of its own."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._inside, self._outside = socket.socketpair()
        self._outside.setblocking(False)
        self._watcher = threading.Thread(target=self._watch, name="signal watcher", daemon=True)

    def __enter__(self) -> StopSignals:
        # The C-level handler writes to the socket at once, also while the main thread waits inside rcl.
        signal.set_wakeup_fd(self._outside.fileno(), warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda number, frame: None)
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        self._outside.close()
        self._watcher.join()
        self._inside.close()
        # The handlers stay: a second Ctrl-C must not break the end of the process.

    def _watch(self) -> None:
        while received := self._inside.recv(64):
            if set(received) & set(SIGNALS):
                self._stop()
