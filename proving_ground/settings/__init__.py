"""Validated settings: declared once as frozen dataclasses, read from YAML with errors that name file and line."""

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import (
    Declaration,
    as_parameters,
    build,
    changed_parameters,
    declarations,
    same_setting,
    setting,
)

__all__ = [
    "Declaration",
    "SettingsError",
    "as_parameters",
    "build",
    "changed_parameters",
    "declarations",
    "same_setting",
    "setting",
]
