"""Check of a file to open as a map: a regular file, not a pipe without a writer."""

from __future__ import annotations

import stat
from pathlib import Path

from terrain.limits import file_error


def check_is_file(path: Path) -> None:
    """Raise SettingsError with one line unless the path is a regular file; opening a pipe would block for ever."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        raise file_error(path, getattr(error, "strerror", None) or error) from None
    if not stat.S_ISREG(mode):
        raise file_error(path, f"is {'a folder' if stat.S_ISDIR(mode) else 'a pipe or device'}, not a file")
