"""Marks in the folder of compiled kernels: all that a file's run needs was compiled, from the present sources."""

from __future__ import annotations

import hashlib
from pathlib import Path

from proving_ground.kernels.imports import ROOT
from proving_ground.kernels.jit import kernels_folder, sources_digest


def is_compiled(file: Path) -> bool:
    """Whether the file has a mark in this checkout; False after any change of it, of our sources or of numba."""
    return _mark(file).exists()


def set_compiled(file: Path) -> None:
    """Mark a scenario file as compiled; nothing happens where nothing can be written."""
    mark = _mark(file)
    try:
        mark.touch()
    except OSError:
        return


def _mark(file: Path) -> Path:
    # numba keeps compiled code by path and time of the source files.
    checkout = f"{ROOT} {Path(__file__).stat().st_mtime_ns}"
    digest = hashlib.sha256(file.read_bytes() + f"{checkout} {sources_digest()}".encode())
    return kernels_folder() / f"compiled-{digest.hexdigest()[:16]}"
