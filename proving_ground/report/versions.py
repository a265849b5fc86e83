"""Versions of the software that made a run."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

from proving_ground.settings import SettingsError
from proving_ground.settings.share import share_directory

PACKAGES = ("proving_ground", "numpy", "numba", "scipy", "matplotlib")
CPU_INFO = Path("/proc/cpuinfo")
PATIENCE_S = 5.0


def versions() -> dict[str, str]:
    """Versions of the suite, its libraries, Python and the machine; the commit, if this is a checkout."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    commit = _commit()
    if commit:
        found["commit"] = commit
    cores = f", {os.cpu_count()} cores" if os.cpu_count() else ""
    system = f"{platform.system()} {platform.machine()}"
    return {**found, "Python": platform.python_version(), "system": system, "processor": _processor() + cores}


def _commit() -> str:
    """Commit of the checkout that this runs from, with -dirty where files differ; empty if it is not a checkout."""
    try:
        root = share_directory()
        if not (root / ".git").exists():
            return ""
        command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        asked = subprocess.run(
            command,
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},  # read-only
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, SettingsError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _processor() -> str:
    try:
        for line in CPU_INFO.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    except (OSError, UnicodeDecodeError):
        pass
    return platform.processor() or platform.machine()
