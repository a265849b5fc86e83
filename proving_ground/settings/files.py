"""Files that are written atomically."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from proving_ground.settings.errors import SettingsError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, renamed to its name when complete: readers see the old content or the new.

    Pipes and devices are written to directly. Raises SettingsError with one line.
    """
    try:
        target = path.resolve()  # follow links, which stay
        if target.exists() and not target.is_file():  # or a folder, which the system rejects
            with target.open("wb") as file:
                yield file
            return
        part = target.parent / f".{target.name}.{os.getpid()}.part"
        try:
            with part.open("wb") as file:
                yield file
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a whole file at once, as whole_file does."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)
