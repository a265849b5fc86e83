"""Functions that only kernels call, compiled to code that is linked into these kernels, not to machine code.

numba makes machine code of every function, although that of a part never runs: each kernel contains its parts. Without,
the vehicle compiles in four fifths of the time.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import require_global_compiler_lock

ENVIRONMENT = "_ZN08NumbaEnv"  # how names of numba's environments begin: one pointer for each function


class LinkedLibrary(JITCodeLibrary):
    """Optimised code of a part for other libraries; its machine code has the environments alone, which numba sets."""

    _final_module: Any

    def finalize(self) -> None:
        """Link and optimise, as numba's own library does."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
        self._get_module_for_linking()  # kept, also in the cache
        self._final_module = self._environments()
        self._finalize_final_module()

    def _environments(self) -> Any:
        names = [item.name for item in self._final_module.global_variables if item.name.startswith(ENVIRONMENT)]
        lines = [f'@"{name}" = common global i8* null' for name in names]
        return llvm.parse_assembly("\n".join([str(self._codegen._create_empty_module(self.name)), *lines]))


class LinkedCompiler(Compiler):
    """numba's compiler, which makes a LinkedLibrary."""

    def define_pipelines(self) -> Any:
        """See numba.core.compiler.CompilerBase."""
        library = LinkedLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        self.state.library = library
        return super().define_pipelines()
