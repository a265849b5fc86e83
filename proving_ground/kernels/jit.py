"""Decorators that compile the kernels, so that all are compiled with the same options.

Division by zero gives infinity or NaN as in numpy (checked at module boundaries), which keeps branches out of loops.
Without fastmath, because it breaks NaN checks and bit-equal replay.

Compiled code is kept on disk, in folders named after a module and the hash of its source and of all that it imports
from our rooms. numba by itself checks only the file of the called function: it would go on using old code of
a kernel in another file, or trip over a class that is gone.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba.core import config
from numba.core.event import Event, Listener, register

from proving_ground.kernels.compile_lock import CompileLock
from proving_ground.kernels.imports import ROOMS, ROOT, source, with_imports
from proving_ground.kernels.linked import LinkedCompiler
from proving_ground.kernels.shared_cache import SharedCache

Function = TypeVar("Function", bound=Callable[..., object])

LOCK = "compiling.lock"
NOTICE_AFTER_S = 0.5
KEPT_VERSIONS = 3  # of compiled code, for switching back and forth between versions


def kernel(function: Function) -> Function:
    """Compile the function with numba on its first call."""
    return _compiled(function)


def inlined(function: Function) -> Function:
    """A kernel that becomes part of each kernel that calls it: for small functions, and for large tuples of floats.

    Passing such tuples costs more than working on them: the vehicle's dynamics take 1.4 times as long without.
    """
    return _compiled(function, forceinline=True)


def inlined_part(function: Function) -> Function:
    """An inlined part: is compiled into its callers, which must be kernels. Saves a fifth of compile time."""
    return _compiled(function, forceinline=True, no_cpython_wrapper=True)


def part(function: Function) -> Function:
    """A kernel that only kernels can call; halves the compile time where arguments are tuples of many arrays."""
    return _compiled(function, no_cpython_wrapper=True)


def _compiled(function: Function, forceinline: bool = False, **wrappers: bool) -> Function:
    folder = _cache_folder(function.__module__)
    # numba reads the folder when it decorates.
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
    try:
        only_in_kernels = {"pipeline_class": LinkedCompiler} if wrappers else {}
        dispatcher = numba.njit(
            cache=folder is not None, error_model="numpy", forceinline=forceinline, **only_in_kernels
        )(function)
        if folder is not None and not config.DISABLE_JIT:
            dispatcher._cache = SharedCache(function)
            dispatcher._cache.lock = _lock(folder.parent)
    finally:
        config.CACHE_DIR = before
    if not config.DISABLE_JIT:  # njit itself rejects these; nothing of ours is called from C
        dispatcher.targetoptions.update(wrappers, no_cfunc_wrapper=True)
    return cast(Function, dispatcher)


@functools.cache
def _lock(base: Path) -> CompileLock:
    return CompileLock(base / LOCK)


def kernels_folder() -> Path:
    """Folder of all compiled kernels of this user."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "proving_ground" / "kernels"


@functools.cache
def sources_digest() -> str:
    """Hash of numba's version and of all sources of the rooms that may be compiled."""
    digest = hashlib.sha256(numba.__version__.encode())
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if _may_be_compiled(name):
                digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _cache_folder(module: str) -> Path | None:
    """Folder of this version of a module's compiled code; folders of versions not used for long are removed.

    None where it cannot be written. numba must not pick another folder then: beside the sources it would find code
    of other versions.
    """
    base = kernels_folder()
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(filter(_may_be_compiled, with_imports(module))):
        digest.update(name.encode() + b"\0" + source(name))
    folder = base / f"{module}-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            return None
        os.utime(folder)  # used now
        versions = sorted(base.glob(f"{module}-*"), key=lambda path: path.stat().st_mtime)
        for old in versions[:-KEPT_VERSIONS]:
            shutil.rmtree(old, ignore_errors=True)
    except FileNotFoundError:
        pass  # another process tidies up at the same time
    except OSError:
        return None
    return folder


def _may_be_compiled(module: str) -> bool:
    """Whether a module can end up in machine code; settings and other glue code cannot, and recompile nothing."""
    return module.startswith("proving_ground.kernels") or not module.startswith("proving_ground")


class _Notice(Listener):
    """Says once that kernels are being compiled, when that takes long enough to be noticed."""

    def __init__(self) -> None:
        self._said = False
        self._spent = 0.0  # [s] spent in kernels that were called from Python
        self._open: list[float] = []  # start times of the kernels being compiled now, outermost first

    def on_start(self, event: Event) -> None:
        now = time.monotonic()
        busy = self._spent + (now - self._open[0] if self._open else 0.0)
        self._open.append(now)
        function = event.data["dispatcher"].py_func
        if not self._said and busy > NOTICE_AFTER_S and function.__module__.split(".")[0] in ROOMS:
            self._said = True
            print("proving_ground: compiling numerical kernels, once on this machine (up to a minute)", file=sys.stderr)

    def on_end(self, event: Event) -> None:
        began = self._open.pop()
        if not self._open:
            self._spent += time.monotonic() - began


register("numba:compile", _Notice())
