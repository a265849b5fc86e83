"""Compiled kernels on disk, shared by processes that start at the same time: each kernel is compiled by one of them."""

from __future__ import annotations

import gc
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.event import Event, Listener, register

from proving_ground.kernels.compilations import COMPILATIONS
from proving_ground.kernels.compile_lock import CompileLock


class SharedCache(FunctionCache):
    """numba's cache of a function. From a miss until the outermost result is saved, the process holds the lock."""

    lock: CompileLock | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """See numba.core.caching.Cache."""
        found = super().load_overload(sig, target_context)
        if found is None and self.lock is not None and self.lock.acquire():
            found = super().load_overload(sig, target_context)
            if found is not None:
                self.lock.release()
        if found is not None and not COMPILATIONS.depth:
            COMPILATIONS.on_load(_name(self._py_func))
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """See numba.core.caching.Cache."""
        try:
            super().save_overload(sig, data)
        finally:
            if self.lock is not None and not COMPILATIONS.depth:
                self.lock.release()


class _Events(Listener):
    """Follows numba's compilations; releases the lock after one that fails, because nothing of it is saved.

    Python's garbage collector rests meanwhile: a tenth of the time, for nothing.
    """

    def __init__(self) -> None:
        self._collects = False

    def on_start(self, event: Event) -> None:
        if not COMPILATIONS.depth:
            self._collects = gc.isenabled()
            gc.disable()
        COMPILATIONS.start()

    def on_end(self, event: Event) -> None:
        dispatcher = event.data["dispatcher"]
        COMPILATIONS.end(_name(dispatcher.py_func))
        if COMPILATIONS.depth:
            return
        if self._collects:
            gc.enable()
        cache = getattr(dispatcher, "_cache", None)
        has_failed = any(event._exc_details or ())  # numba's own is_failed is always false
        if has_failed and isinstance(cache, SharedCache) and cache.lock is not None:
            cache.lock.release()


def _name(function: Any) -> str:
    return f"{function.__module__}.{function.__name__}"


register("numba:compile", _Events())
