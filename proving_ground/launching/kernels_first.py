"""Kernels of a launch are compiled before its nodes start, by one process, with a line for each part."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from proving_ground.kernels.marks import is_compiled
from proving_ground.launching.fork_server import end_with_parent


def compile_first(scenario: Path) -> None:
    """Compile the kernels of a scenario file that are missing.

    If that fails, nodes compile for themselves, or say why they cannot.
    """
    if not is_compiled(scenario):
        command = [sys.executable, "-m", "proving_ground", "kernels", str(scenario)]
        subprocess.run(command, check=False, preexec_fn=lambda: end_with_parent(signal.SIGTERM))
