"""Position of a replay, as its node reports it in /diagnostics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ReplayState:
    """Position, rate and state of a replay: reported once a second, and extrapolated in between."""

    position_s: float  # since the bag's start
    length_s: float
    rate: float  # bag time over real time
    is_paused: bool
    seen_at: float  # [s] of a steady clock

    def position_at(self, now: float) -> float:
        """Seconds since the bag's start; now: of the same steady clock."""
        gone_s = 0.0 if self.is_paused else max(now - self.seen_at, 0.0) * self.rate
        return min(self.position_s + gone_s, self.length_s)

    def words(self, now: float) -> str:
        """
        >>> ReplayState(12.34, 60.0, 2.0, True, 0.0).words(5.0)
        '12.3 of 60.0 s, paused'
        """
        return f"{self.position_at(now):.1f} of {self.length_s:.1f} s, {'paused' if self.is_paused else 'playing'}"


def replay_state(figures: Mapping[str, str], now: float) -> ReplayState:
    """State from the values in a replayer's diagnostics; raises ValueError for impossible ones."""
    try:
        position, length, rate = (float(figures[name]) for name in ("position_s", "length_s", "rate"))
    except KeyError as error:
        raise ValueError(f"a replay without {error.args[0]}") from None
    if not (math.isfinite(length) and 0.0 <= position <= length and 0.0 < rate < math.inf):
        raise ValueError(f"a replay at {position} of {length} s, rate {rate}")
    return ReplayState(position, length, rate, figures.get("paused") == "true", now)
