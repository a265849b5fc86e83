"""Every compilation of a process is counted, with the time that is its own."""

from __future__ import annotations

import numpy as np
import pytest

from proving_ground.kernels.compilations import COMPILATIONS, Compilation, Compilations
from proving_ground.kernels.jit import kernel, part


@part
def inner(x: float) -> float:
    return x + 1.0


@kernel
def outer(x: float) -> float:
    return 2.0 * inner(x)


def test_time_of_an_inner_compilation_is_not_the_outer_ones_own() -> None:
    seen: list[Compilation] = []
    compilations = Compilations()
    compilations.on_done = seen.append

    compilations.start()
    compilations.start()
    compilations.end("inner")
    compilations.end("outer")

    first, second = compilations.done
    assert (first.name, first.depth, second.name, second.depth) == ("inner", 1, "outer", 0)
    assert second.own_s == pytest.approx(second.total_s - first.total_s)
    assert compilations.cpu_s == second.total_s
    assert seen == compilations.done


def test_kernel_is_counted_once_with_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for dispatcher in (outer, inner):
        monkeypatch.setattr(dispatcher, "_cache", type("Never", (), {"load_overload": _none, "save_overload": _none})())
    count = len(COMPILATIONS.done)

    assert outer(1.0) == outer(2.0) - 2.0 == 4.0
    assert outer(np.float64(1.0)) == 4.0

    names = [(item.name.rpartition(".")[2], item.depth) for item in COMPILATIONS.done[count:]]
    assert names == [("inner", 1), ("outer", 0)]


def _none(*arguments: object) -> None:
    return None
