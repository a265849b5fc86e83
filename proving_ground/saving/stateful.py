"""Parts of a run whose state can be saved: each class names what changes while it runs.

>>> class Counter(Stateful):
...     STATE = ("count",)
...     def __init__(self) -> None:
...         self.count = 0
>>> counter, other = Counter(), Counter()
>>> counter.count = 3
>>> other.restore_state(counter.saved_state())
>>> other.count
3
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from proving_ground.settings import SettingsError


class SavedPart(NamedTuple):
    """State of a part inside that of another."""

    kind: type[Stateful]
    state: dict[str, Any]


class Stateful:
    """A part of a run. Restored into an equal part, its state makes it go on to the bit.

    Whatever is not in STATE must follow from the settings, or be overwritten before it is used.
    """

    STATE: ClassVar[tuple[str, ...]] = ()  # attributes that change while it runs; those of base classes are added
    FIXED: ClassVar[tuple[str, ...]] = ()  # those of them that settings fix: arrays in shape and type, others in value

    @classmethod
    def state_names(cls) -> tuple[str, ...]:
        """STATE of the class and its bases, without repetition."""
        names = (name for base in reversed(cls.__mro__) for name in vars(base).get("STATE", ()))
        return tuple(dict.fromkeys(names))

    def saved_state(self) -> dict[str, Any]:
        """The state by name. It shares memory with the part: encode it before the part goes on."""
        return {name: getattr(self, name) for name in self.state_names()}

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """Take over a saved state. keep_random: random streams stay the part's own, as for another seed.

        Raises SettingsError if it is that of another class.
        """
        state = self.checked_state(state)
        for name in self.state_names():
            setattr(self, name, restored(getattr(self, name, None), state[name], keep_random))

    def checked_state(self, state: dict[str, Any]) -> dict[str, Any]:
        """The state; raises SettingsError unless it has the names of this part."""
        differing = set(state) ^ set(self.state_names())
        if differing:
            names = ", ".join(sorted(differing))
            raise SettingsError(f"checkpoint: does not fit: the state of {type(self).__name__} differs in {names}")
        for name in self.FIXED:
            own, saved = _form(getattr(self, name)), _form(state[name])
            if own != saved:
                raise SettingsError(
                    f"checkpoint: does not fit: {name.lstrip('_')} of {type(self).__name__} must be {own}, got {saved}"
                )
        return state


def _form(value: Any) -> Any:
    return (value.shape, str(value.dtype)) if isinstance(value, np.ndarray) else value


def restored(present: Any, saved: Any, keep_random: bool = False) -> Any:
    """The saved value, in place of the present one; parts that exist are restored and stay."""
    if isinstance(saved, Stateful):  # not encoded yet
        saved = SavedPart(type(saved), saved.saved_state())
    if isinstance(saved, SavedPart):
        part = present if type(present) is saved.kind else saved.kind.__new__(saved.kind)
        part.restore_state(saved.state, keep_random=keep_random)
        return part
    if isinstance(saved, np.random.Generator) and keep_random and isinstance(present, np.random.Generator):
        return present
    if isinstance(saved, dict):
        own = present if isinstance(present, dict) else {}
        changed = {key: restored(own.get(key), value, keep_random) for key, value in saved.items()}
        return changed if type(saved) is dict else type(saved)(changed)
    if isinstance(saved, tuple) and hasattr(saved, "_fields"):
        own_items = present if type(present) is type(saved) else (None,) * len(saved)
        return type(saved)(*(restored(a, b, keep_random) for a, b in zip(own_items, saved, strict=True)))
    return saved
