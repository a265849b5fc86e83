"""Python.h for the interface build, fetched without root where the -dev package is not installed."""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

from environment.errors import CommandError, SetupError
from environment.runner import Runner


def python_include_dirs(folder: Path, runner: Runner) -> list[Path]:
    """Include directories that hold Python.h; below folder if they had to be fetched."""
    installed = Path(sysconfig.get_path("include"))
    if (installed / "Python.h").is_file():
        return [installed]
    if not _include_dirs(folder):
        _fetch(folder, runner)
    return _include_dirs(folder)


def _include_dirs(folder: Path) -> list[Path]:
    include = folder / "usr" / "include"
    headers = include / f"python{_version()}"
    # Debian's pyconfig.h includes <MULTIARCH/pythonX.Y/pyconfig.h>, hence the parent as well.
    return [headers, include] if (headers / "Python.h").is_file() else []


def _fetch(folder: Path, runner: Runner) -> None:
    package = f"libpython{_version()}-dev"
    remedy = SetupError(
        f"Python.h of Python {_version()} is not installed and {package} could not be fetched",
        f"sudo apt install python3-dev   (python{_version()}-dev if that is not the system's default)",
        runner.log,
    )
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise remedy
    download, unpacked = folder.with_name(f"{folder.name}.download"), folder.with_name(f"{folder.name}.new")
    for path in (download, unpacked, folder):
        shutil.rmtree(path, ignore_errors=True)
    download.mkdir(parents=True)
    try:
        runner.run(["apt-get", "download", package], folder=download)
        for archive in download.glob("*.deb"):
            runner.run(["dpkg-deb", "--extract", archive, unpacked])
        unpacked.rename(folder)
    except (CommandError, OSError) as error:
        raise remedy from error
    finally:
        shutil.rmtree(download, ignore_errors=True)
    if not _include_dirs(folder):
        raise remedy


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
