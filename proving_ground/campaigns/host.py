"""The host of a run: processor, versions, and a fingerprint of the code."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
import socket
from pathlib import Path

from proving_ground.kernels.imports import source, with_imports
from proving_ground.settings.share import share_directory

RUNS_IN = "proving_ground.campaigns.perform"
PACKAGES = ("proving_ground", "numpy", "scipy", "numba", "llvmlite")


@functools.cache
def cpu_model() -> str:
    """Processor model, as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration, IndexError):
        return platform.processor() or platform.machine()


@functools.cache
def versions() -> str:
    """Versions of Python and of the libraries that results depend on."""
    return ", ".join([f"python {platform.python_version()}", *(f"{name} {_version(name)}" for name in PACKAGES)])


@functools.cache
def code_fingerprint() -> str:
    """Hash of the sources and settings that runs depend on: machines with the same one compute with the same code."""
    digest = hashlib.sha256(versions().encode())
    config = share_directory() / "config"
    for name in sorted(with_imports(RUNS_IN)):
        digest.update(name.encode() + b"\0" + source(name))
    files = []
    for part in ("observers", "sensors", "soils.yaml"):
        found = [config / part] if part.endswith(".yaml") else (config / part).rglob("*.yaml")
        files += [(path.relative_to(config).as_posix(), path) for path in found]
    for name, path in sorted(files):
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def host_columns() -> dict[str, str]:
    """Columns of the table of results that describe this machine, by name."""
    return {
        "host.name": socket.gethostname(),
        "host.cpu": cpu_model(),
        "host.versions": versions(),
        "host.code": code_fingerprint(),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "?"
