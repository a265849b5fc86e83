"""How this project compiles its kernels: one decorator, so that all agree.

Division by zero gives infinity or NaN as in numpy (checked at a module's border), which keeps branches out of loops.
Without fastmath, because it breaks NaN checks and bit-equal replay. Compiled code is cached on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile the function with numba on its first call."""
    return cast(Function, numba.njit(cache=True, error_model="numpy")(function))
