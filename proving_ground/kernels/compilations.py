"""Count and cost of the kernels that this process has compiled; needs no numba, so that every node can ask."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Compilation(NamedTuple):
    """One function compiled for one signature."""

    name: str  # with its module
    own_s: float  # CPU time, without that of functions that it calls
    total_s: float
    depth: int  # 0: called from Python


class Compilations:
    """All compilations of this process. Kernels that are loaded from the cache are only passed to `on_load`."""

    def __init__(self) -> None:
        self.done: list[Compilation] = []
        self.on_done: Callable[[Compilation], None] = lambda compilation: None
        self.on_load: Callable[[str], None] = lambda name: None  # gets the name with its module
        self._open: list[tuple[float, float]] = []  # CPU time at the start, and CPU time of inner ones

    @property
    def cpu_s(self) -> float:
        """CPU time of all compilations [s]."""
        return sum(item.total_s for item in self.done if item.depth == 0)

    @property
    def depth(self) -> int:
        """Number of functions that are being compiled, one for another."""
        return len(self._open)

    def start(self) -> None:
        """Record that a compilation begins."""
        self._open.append((time.process_time(), 0.0))

    def end(self, name: str) -> None:
        """Record that the compilation that began last has ended; name: of the function."""
        began, inner_s = self._open.pop()
        total_s = time.process_time() - began
        if self._open:
            outer_began, outer_inner_s = self._open[-1]
            self._open[-1] = outer_began, outer_inner_s + total_s
        self.done.append(Compilation(name, total_s - inner_s, total_s, len(self._open)))
        self.on_done(self.done[-1])


COMPILATIONS = Compilations()
