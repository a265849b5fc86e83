"""Faults on the timeline of a run: what those of sensors and actuators share, and as words for parameters of nodes.

>>> @dataclass(frozen=True, kw_only=True)
... class Leak(TimedFault):
...     form: ClassVar[str] = "KIND START_S LENGTH_S [VALUE [PIPE]]"
...     where_field: ClassVar[str] = "pipe"
...     pipe: str = setting("", "Name of the leaking pipe")
>>> fault_from_words(Leak, "drip 10 5 2.0 left")
Leak(kind='drip', start_s=10.0, length_s=5.0, value=2.0, pipe='left')
>>> fault_words(_)
'drip 10.0 5.0 2.0 left'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from proving_ground.settings import SettingsError, build, setting
from proving_ground.settings.units import FOREVER_S

NO_FAULT_WORDS = "no fault is active"


@dataclass(frozen=True, kw_only=True)
class TimedFault:
    """A fault with its start and length; subclasses add what it affects, and the choices of `kind`."""

    form: ClassVar[str]  # as words
    where_field: ClassVar[str]  # name of the field that is the last of the words

    kind: str = setting(..., "Kind of the fault")
    start_s: float = setting(
        0.0, "Time at which the fault begins, since the start of the run", unit="s", minimum=0.0, maximum=FOREVER_S
    )
    length_s: float = setting(FOREVER_S, "Duration of the fault", unit="s", minimum=0.0, maximum=FOREVER_S)
    value: float = setting(0.0, "Size of the fault, as its kind defines it", minimum=-1e9, maximum=1e9)

    @property
    def where(self) -> str:
        """Name of what the fault affects; empty: all."""
        return str(getattr(self, self.where_field))

    def is_on(self, time_s: float) -> bool:
        """Whether the fault is active at a time since the start [s]."""
        return self.start_s <= time_s < self.start_s + self.length_s


Fault = TypeVar("Fault", bound=TimedFault)


def faults_at(faults: Iterable[Fault], time_s: float) -> tuple[Fault, ...]:
    """Faults active at a time since the start [s]."""
    return tuple(fault for fault in faults if fault.is_on(time_s))


def active_words(faults: Iterable[TimedFault]) -> str:
    """Active faults in one line, for diagnostics."""
    words = [f"{fault.kind} {fault.value:g} {fault.where}".strip() for fault in faults]
    return f"fault on purpose: {', '.join(words)}" if words else NO_FAULT_WORDS


def fault_words(fault: TimedFault) -> str:
    """Text that `fault_from_words` reads back exactly."""
    return f"{fault.kind} {fault.start_s!r} {fault.length_s!r} {fault.value!r} {fault.where}".strip()


def fault_from_words(fault_type: type[Fault], words: str) -> Fault:
    """Parse a fault; raises ValueError with one line."""
    kind, *rest = words.split() or [""]
    if not 2 <= len(rest) <= 4:
        raise ValueError(f"{words!r} is not a fault; write {fault_type.form}")
    try:
        start, length, value = (float(word) for word in [*rest[:3], "0"][:3])
        values = {"kind": kind, "start_s": start, "length_s": length, "value": value}
        return build(fault_type, {**values, fault_type.where_field: rest[3] if len(rest) == 4 else ""})
    except SettingsError as error:
        raise ValueError(f"{words!r}: {error}") from None
    except ValueError:
        raise ValueError(f"{words!r} has text in place of a number; write {fault_type.form}") from None


def scripted_faults(fault_type: type[Fault], script: Iterable[str]) -> tuple[Fault, ...]:
    """The faults of a node's parameter `fault_script`; raises ValueError that begins with its name."""
    try:
        return tuple(fault_from_words(fault_type, words) for words in script)
    except ValueError as error:
        raise ValueError(f"fault_script: {error}") from None
