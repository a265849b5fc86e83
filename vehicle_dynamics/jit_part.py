"""Kernels that only other kernels call."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from vehicle_dynamics.jit import kernel

Function = TypeVar("Function")


def part(function: Function) -> Function:
    """A kernel without an entry from Python; halves the compile time where arguments are tuples of many arrays."""
    dispatcher = cast(Any, kernel(cast(Any, function)))
    dispatcher.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    return cast(Function, dispatcher)
