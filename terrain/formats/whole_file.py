"""Large files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from terrain.limits import file_refusal


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write beside the target, which it replaces when all is written: readers never see a part."""
    target = path.resolve()  # through links: they stay
    part = target.parent / f".{target.name}.{os.getpid()}.part"
    try:
        try:
            with part.open("wb") as file:
                yield file
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise file_refusal(path, f"cannot be written: {error.strerror or error}") from error
