"""Dates in settings: the first instant of a simulation, so that stamps are not from 1970."""

from __future__ import annotations

import datetime

from proving_ground.settings.units import NS_PER_S

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def date_ns(name: str, text: str) -> int:
    """Nanoseconds since 1970 of an ISO date with time zone; raises ValueError, naming the setting, for any other text.

    >>> date_ns("date", "1970-01-02T00:00:00Z")
    86400000000000
    """
    try:
        date = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(f"{name}: must be like 2026-01-01T00:00:00Z, got {text!r}") from None
    if date.tzinfo is None:
        raise ValueError(f"{name}: must have a time zone, as in {text}Z")
    if not 1970 <= date.astimezone(datetime.timezone.utc).year <= 2037:
        raise ValueError(f"{name}: must be from 1970 to 2037, got {text}")
    since = date - EPOCH
    return (since.days * 86400 + since.seconds) * NS_PER_S + since.microseconds * 1000
