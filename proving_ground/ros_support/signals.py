"""SIGINT and SIGTERM as a request to stop while ROS is still running.

rclpy's own handlers shut the context down at once, while callbacks and threads may still publish: now and then
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
    """Context in which either signal, however often it comes, calls the `on_stop` function from a separate thread.

    A launcher may start a process with these signals blocked, so that none hits its imports; here they are unblocked.
    """

    def __init__(self) -> None:
        self._stop: Callable[[], None] | None = None
        self._requested = False
        self._lock = threading.Lock()
        self._inside, self._outside = socket.socketpair()
        self._outside.setblocking(False)
        self._watcher = threading.Thread(target=self._watch, name="signal watcher", daemon=True)

    def __enter__(self) -> StopSignals:
        # The C-level handler writes to the socket at once, also while the main thread waits inside rcl.
        signal.set_wakeup_fd(self._outside.fileno(), warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda number, frame: None)
        self._watcher.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.set_wakeup_fd(-1)
        self._outside.close()
        self._watcher.join()
        self._inside.close()
        # The handlers stay: a second Ctrl-C must not disturb the shutdown.

    @property
    def requested(self) -> bool:
        """Whether a signal has arrived."""
        with self._lock:
            return self._requested

    def on_stop(self, stop: Callable[[], None]) -> None:
        """Call stop when a signal arrives, and now if one already has."""
        with self._lock:
            self._stop = stop
            if self._requested:
                stop()

    def _watch(self) -> None:
        while received := self._inside.recv(64):
            if set(received) & set(SIGNALS):
                with self._lock:
                    self._requested = True
                    if self._stop is not None:
                        self._stop()
