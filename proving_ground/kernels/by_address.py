"""Kernels that are called by their address, so that a caller need not be compiled again for a new one.

A soil law or a filter from anywhere is compiled by itself; its address is a number in a record or an argument. The
caller, which takes half a minute to compile, knows only what goes in and what comes out. An address holds in the
process that made it, and in those forked from it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numba
from numba.core import cgutils
from numba.core.errors import NumbaError, TypingError
from numba.extending import intrinsic


class Calling:
    """What goes in and what comes out of the kernels of one kind, given by examples.

    Without arguments a call passes on what it is given, for which the kernel must have been compiled.
    """

    def __init__(self, result: Any, arguments: Sequence[Any] = ()) -> None:
        self.result = numba.typeof(result)
        self.arguments = tuple(numba.typeof(example) for example in arguments)

    def address(self, kernel: Any, *arguments: Any) -> int:
        """Address of a kernel, compiled now for examples of its arguments, or for those of the kind.

        Raises TypeError with one line where it cannot be compiled or returns something else.
        """
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
        taken = tuple(numba.typeof(example) for example in arguments) or self.arguments
        try:
            kernel.compile(taken)
        except (NumbaError, KeyError) as error:  # KeyError: a record without such a field
            why = str(error).splitlines()
            raise TypeError(
                f"{name}: cannot be compiled: {type(error).__name__}: {why[min(1, len(why) - 1)]}"
            ) from error
        compiled = kernel.overloads[taken]
        if compiled.signature.return_type != self.result:
            raise TypeError(f"{name}: must return {self.result}, got {compiled.signature.return_type}")
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))

    def caller(self) -> Callable[..., Any]:
        """For use in kernels: call(address, arguments), the latter as a tuple."""
        declared, result = self.arguments, self.result

        def call(context: Any, address: Any, given: Any) -> Any:
            arguments = tuple(given)
            if declared and arguments != declared:
                raise TypingError(f"kernel by address: takes {declared}, got {arguments}")
            return result(address, given), _code(arguments, result)

        return cast(Callable[..., Any], intrinsic(call))


def _code(arguments: tuple[Any, ...], result: Any) -> Callable[..., Any]:
    """Generator of the call, in numba's own calling convention; an exception goes on to the caller."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, given = values
        convention = context.call_conv
        callee = builder.inttoptr(address, convention.get_function_type(result, arguments).as_pointer())
        parts = cgutils.unpack_tuple(builder, given)
        status, out = convention.call_function(builder, callee, result, arguments, parts)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return out

    return generate
