"""Kernels called by their address, so that a new one does not recompile the caller.

A soil law from any package is compiled by itself; the addresses of its kernels are numbers in a record. The caller,
which takes half a minute to compile, knows only the signature. A call costs a few nanoseconds more than one that is
inlined. An address is valid in the process that made it, and in those forked from it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numba
from numba.core import cgutils
from numba.core.errors import NumbaError, TypingError
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

from proving_ground.kernels import jit
from proving_ground.kernels.linked import LinkedCompiler


class Calling:
    """Signature of the kernels of one kind, which take two arguments; given by examples."""

    def __init__(self, first: Any, second: Any, result: Any) -> None:
        self.arguments = numba.typeof(first), numba.typeof(second)
        self.result = numba.typeof(result)

    def address(self, kernel: Any, first: Any = None) -> int:
        """Address of a kernel, compiled now; first: example of its own record, of the same size as the kind's.

        Raises TypeError with one line where it cannot be compiled or returns something else.
        """
        if kernel._compiler.pipeline_class is LinkedCompiler:  # has no machine code of its own
            kernel = _alone(kernel)
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__name__}"
        taken = self.arguments if first is None else (numba.typeof(first), self.arguments[1])
        try:
            kernel.compile(taken)
        except (NumbaError, KeyError) as error:  # KeyError: a record without such a field
            why = str(error).splitlines()
            raise TypeError(
                f"{name}: cannot be compiled: {type(error).__name__}: {why[min(1, len(why) - 1)]}"
            ) from error
        compiled = kernel.overloads[taken]
        returned = unliteral(compiled.signature.return_type)
        if returned != self.result:
            raise TypeError(f"{name}: must return {self.result}, got {returned}")
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))

    def caller(self) -> Callable[..., Any]:
        """A function for kernels: call(address, first, second)."""

        def call(context: Any, address: Any, first: Any, second: Any) -> Any:
            if (first, second) != self.arguments:
                raise TypingError(f"kernel by address: takes {self.arguments}, got {(first, second)}")
            return self.result(address, first, second), _generate

        return cast(Callable[..., Any], intrinsic(call))


@functools.cache
def _alone(part: Any) -> Any:
    """A part as a kernel; kept, because its address is valid as long as it lives."""
    return jit.kernel(part.py_func)


def _generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Code of the call, in numba's own calling convention; exceptions propagate to the caller."""
    convention, arguments = context.call_conv, signature.args[1:]
    kind = convention.get_function_type(signature.return_type, arguments)
    callee = builder.inttoptr(values[0], kind.as_pointer())
    status, result = convention.call_function(builder, callee, signature.return_type, arguments, values[1:])
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result
