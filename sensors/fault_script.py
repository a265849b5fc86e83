"""Faults as words, for parameters of nodes: KIND START_S LENGTH_S [VALUE [CHANNEL]].

>>> fault_from_words("bias 10 5 2.0 east")
Fault(kind='bias', start_s=10.0, length_s=5.0, value=2.0, channel='east')
"""

from __future__ import annotations

from proving_ground.settings import SettingsError, build
from sensors.faults import Fault

FORM = "KIND START_S LENGTH_S [VALUE [CHANNEL]]"


def fault_words(fault: Fault) -> str:
    """Text that `fault_from_words` reads back exactly."""
    return f"{fault.kind} {fault.start_s!r} {fault.length_s!r} {fault.value!r} {fault.channel}".strip()


def fault_from_words(words: str) -> Fault:
    """Parse a fault; raises ValueError with one line."""
    kind, *rest = words.split() or [""]
    if not 2 <= len(rest) <= 4:
        raise ValueError(f"{words!r} is not a fault; write {FORM}")
    try:
        start, length, value = (float(word) for word in [*rest[:3], "0"][:3])
        values = {"kind": kind, "start_s": start, "length_s": length, "value": value}
        return build(Fault, {**values, "channel": rest[3] if len(rest) == 4 else ""})
    except SettingsError as error:
        raise ValueError(f"{words!r}: {error}") from None
    except ValueError:
        raise ValueError(f"{words!r} has text in place of a number; write {FORM}") from None
