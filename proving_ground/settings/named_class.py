"""Classes by name: those of the suite from a list, those of users as module:Class.

>>> named_class("box", {"ordered": "collections:OrderedDict"}, "ordered").__name__
'OrderedDict'
>>> named_class("box", {"ordered": "collections:OrderedDict"}, "collections:Counter").__name__
'Counter'
>>> named_class("box", {"ordered": "collections:OrderedDict"}, "odered")
Traceback (most recent call last):
proving_ground.settings.errors.SettingsError: box: unknown; did you mean ordered? Known: ordered; or your own as \
module:Class, got 'odered'
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from inspect import isabstract
from typing import Any

from proving_ground.settings.errors import SettingsError
from proving_ground.settings.fields import close_name


def named_class(what: str, known: Mapping[str, str], name: str, base: type = object) -> Any:
    """The class of a name in known, which maps names to module:Class, or of module:Class itself.

    Raises SettingsError with one line that begins with `what` if there is no such subclass of the base.
    """
    module, colon, class_name = known.get(name, name).partition(":")
    if not colon:
        raise SettingsError(f"{what}: {close_name(name, known)}; or your own as module:Class, got {name!r}")
    try:
        found = getattr(importlib.import_module(module), class_name)
    except Exception as error:  # whatever a user's module does when it is imported
        raise SettingsError(f"{what}: {name} cannot be imported: {type(error).__name__}: {error}") from error
    if not isinstance(found, type):
        raise SettingsError(f"{what}: {name} must be a class, got {type(found).__name__}")
    if not issubclass(found, base):
        raise SettingsError(f"{what}: {name} must be a subclass of {base.__module__}.{base.__name__}")
    if isabstract(found):
        missing = sorted(getattr(found, "__abstractmethods__", ()))
        raise SettingsError(f"{what}: {name} must define {', '.join(missing)}")
    return found
