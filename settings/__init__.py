"""Validated settings: declared once as frozen dataclasses, read from YAML with errors that name file and line."""

from settings.errors import SettingsError
from settings.fields import Declaration, build, declarations, setting

__all__ = ["Declaration", "SettingsError", "build", "declarations", "setting"]
