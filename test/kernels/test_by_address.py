"""Kernels by address: those of one kind, called by kernels that were compiled before them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from proving_ground.kernels.by_address import Calling
from proving_ground.kernels.jit import kernel, part


class Pair(NamedTuple):
    left: float
    right: float


KIND = Calling(0.0, np.zeros(1), Pair(0.0, 0.0))
call = KIND.caller()


@kernel
def total(address: int, x: float, array: Any) -> float:
    found = call(address, x, array)
    return found.left + found.right


@kernel
def doubled(x: float, array: Any) -> Pair:
    array[0] = x
    return Pair(x, x)


@part
def squared(x: float, array: Any) -> Pair:
    return Pair(x * x, array[0])


@kernel
def rejecting(x: float, array: Any) -> Pair:
    if x > 1.0:
        raise ValueError("x: must be at most 1")
    return Pair(x, 0.0)


@kernel
def single(x: float, array: Any) -> float:
    return x


@kernel
def wrong_arguments(address: int) -> float:
    return call(address, 1, np.zeros(1)).left


def test_one_compiled_caller_calls_kernels_compiled_later() -> None:
    array = np.zeros(1)

    assert total(KIND.address(doubled), 3.0, array) == 6.0
    assert total(KIND.address(squared), 4.0, array) == 19.0
    assert len(total.signatures) == 1


def test_an_exception_of_the_kernel_reaches_the_caller() -> None:
    assert total(KIND.address(rejecting), 1.0, np.zeros(1)) == 1.0
    with pytest.raises(ValueError, match="must be at most 1"):
        total(KIND.address(rejecting), 2.0, np.zeros(1))


def test_a_kernel_with_another_result_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"test_by_address.single: must return .*Pair"):
        KIND.address(single)


def test_a_caller_with_other_arguments_is_rejected() -> None:
    with pytest.raises(TypingError, match="kernel by address: takes"):
        wrong_arguments(0)


def test_kernels_of_the_next_process_come_from_the_disk(tmp_path: Path) -> None:
    program = (
        "from terrain.bekker import Bekker\nfrom terrain.soils_file import load_soils\n"
        "sand = load_soils()['dry_sand'].soft\n"
        "print(repr(sand.pressure(0.05, 0.3)), sum(Bekker.bearing_kernel.stats.cache_hits.values()))\n"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    (first, compiled), (second, loaded) = (run.stdout.split() for run in runs)

    assert first == second
    assert (compiled, loaded) == ("0", "1")
