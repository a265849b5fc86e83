"""Location of config/ and launch/: beside the rooms in a checkout, under share/proving_ground when installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from proving_ground.settings.errors import SettingsError

PACKAGE = "proving_ground"


def share_directory() -> Path:
    """The folder that holds config/ and launch/."""
    for folder in _candidates():
        if (folder / "config").is_dir() and (folder / "package.xml").is_file():
            return folder
    tried = ", ".join(str(folder) for folder in _candidates())
    raise SettingsError(f"the config folder of {PACKAGE} is not installed; looked in {tried}")


def share_file(relative: str) -> Path:
    """A file below the share directory; raises SettingsError with the choices beside it if it is not there."""
    root = share_directory().resolve()
    path = (root / relative).resolve()
    if not path.is_relative_to(root):
        raise SettingsError(f"{relative}: leaves the share directory")
    if not path.is_file():
        names = sorted(item.stem for item in path.parent.glob(f"*{path.suffix}")) if path.parent.is_dir() else []
        raise SettingsError(f"{relative}: no such file; available: {', '.join(names) or 'none'}")
    return path


def _candidates() -> list[Path]:
    checkout = Path(__file__).resolve().parents[2]
    prefixes = [*os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep), sys.prefix]
    return [checkout, *(Path(prefix) / "share" / PACKAGE for prefix in prefixes if prefix)]
