"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from settings import SettingsError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside the file, then rename: whoever reads it sees the old content or the new, never a part."""
    target = path.resolve()  # through links: they stay
    part = target.parent / f".{target.name}.{os.getpid()}.part"
    data = content.encode() if isinstance(content, str) else content
    try:
        if target.exists() and not target.is_file():  # a device, a pipe; or a folder, which the system refuses
            target.write_bytes(data)
            return
        try:
            part.write_bytes(data)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be written: {error.strerror or error}") from error
