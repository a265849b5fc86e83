"""Files given by a name in a folder of config/ or by a path."""

from __future__ import annotations

from pathlib import Path

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.share import share_directory

ENDINGS = (".yaml", ".yml")


def is_path(text: str) -> bool:
    """Whether a text is a path to a YAML file and not a name.

    >>> is_path("hmmwv"), is_path("mine.yaml"), is_path("cars/mine")
    (False, True, True)
    """
    return "/" in text or text.endswith(ENDINGS)


def named_or_path(text: str, folder: Path) -> str:
    """A name unchanged; a path made absolute, relative to the folder of the file that contains it."""
    return str((folder / text).resolve()) if is_path(text) else text


def named_files(kind: str) -> dict[str, Path]:
    """The YAML files of a folder below config/, by name."""
    return {path.stem: path for path in sorted((share_directory() / "config" / kind).glob("*.yaml"))}


def named_file(kind: str, text: str, what: str) -> Path:
    """The file of a name in the folder config/KIND, or of a path; raises SettingsError with the known names."""
    if is_path(text):
        return Path(text)
    known = named_files(kind)
    if text not in known:
        raise SettingsError(f"{what} {text}: {close_name(text, known)}; or give a path to a YAML file")
    return known[text]
