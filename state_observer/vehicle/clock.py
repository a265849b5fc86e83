"""Check stamps for consistency, keep the time of the samples, and find silent sensors.

A single inconsistent stamp is a stray and changes nothing. Two in a row that agree with each other are a time jump:
back, as in a looping bag or a simulation reset, or ahead, as after a gap.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.layout import KINDS

JUMP_NS = NS_PER_S  # farther back is a jump, not lateness; stamps that agree are no farther apart
GPS = KINDS.index("gps")
PERIODS = 3  # a sensor is silent after these; a stamp within these is not ahead
LEAST_SILENCE_S = 0.1  # allows for jitter on a busy machine
UNKNOWN_SILENCE_S = 1.0  # while the period is unknown
FIRST_WAIT_S = 2.0  # wait for the first sample of a sensor once others have arrived
NEWEST_SHARE = 0.1  # share of the newest sample in the mean period


class Line(Enum):
    """Classification of a stamp: in line with the stamps before, or why not."""

    IN = "in line"
    AHEAD = "ahead"  # to be held until its time comes
    BEHIND = "behind"  # far too old; maybe the first one after a jump
    WENT_BACK = "went back"  # the second one: discard everything before


class _Odd(NamedTuple):
    """A stamp out of line, kept until the next one shows whether time has jumped."""

    kind: int
    time_ns: int

    def agrees(self, kind: int, time_ns: int) -> bool:
        """Whether another stamp continues from this one; a repeated stamp does not."""
        apart = time_ns - self.time_ns
        return 0 < apart <= JUMP_NS if kind == self.kind else abs(apart) <= JUMP_NS


class SampleClock(Stateful):
    """Current time from the stamps of the samples; GPS stamps, which may be late, count only without other samples."""

    STATE = ("now_ns", "_first_ns", "_newest", "_arrived", "_period", "_ahead", "_behind", "_last_kind")

    def __init__(self, future_s: float) -> None:
        """future_s: how far [s] a stamp may be ahead of the present time; others are not in line."""
        self._future_ns = round(future_s * NS_PER_S)
        self.clear()

    def clear(self) -> None:
        """Accept a sample of any time next."""
        self.now_ns = 0  # newest known time
        self._first_ns = 0
        self._newest = [0] * len(KINDS)  # newest stamp in line, by kind
        self._arrived = [0] * len(KINDS)  # time of arrival of the newest sample, by kind
        self._period = [0.0] * len(KINDS)  # [s]
        self._ahead: _Odd | None = None
        self._behind: _Odd | None = None
        self._last_kind = GPS

    def judge(self, kind: int, time_ns: int, arrival_ns: int | None = None) -> Line:
        """Classify the stamp of a valid sample; arrival_ns if known. A stray does not change the time."""
        leads = kind != GPS or self._last_kind == GPS
        if self._is_behind(kind, time_ns, arrival_ns):
            before, self._behind = self._behind, _Odd(kind, time_ns) if leads else self._behind
            return Line.WENT_BACK if leads and before is not None and before.agrees(kind, time_ns) else Line.BEHIND
        now_ns = max(self.now_ns, arrival_ns if arrival_ns is not None else 0)
        if self._is_ahead(kind, time_ns, now_ns, arrival_ns is not None):
            before, self._ahead = self._ahead, _Odd(kind, time_ns) if leads else self._ahead
            goes_on = leads and arrival_ns is None and before is not None and before.agrees(kind, time_ns)
            if not goes_on:
                self.on_arrival(kind, arrival_ns)
                return Line.AHEAD
        self._go_on(kind, time_ns, arrival_ns, leads)
        return Line.IN

    def on_arrival(self, kind: int, arrival_ns: int | None = None) -> None:
        """Record the arrival of a sample, valid or not."""
        self.now_ns = max(self.now_ns, arrival_ns or 0)
        self._arrived[kind] = self.now_ns
        self._last_kind = kind

    def advance_to(self, time_ns: int) -> None:
        """Advance the clock to a time."""
        self.now_ns = max(self.now_ns, time_ns)

    def silence(self, kind: int, now_ns: int) -> str:
        """Warning about a sensor without recent samples; empty if it is active."""
        if not self._first_ns:
            return ""
        if not self._arrived[kind]:
            return "none has come" if now_ns - self._first_ns > FIRST_WAIT_S * NS_PER_S else ""
        period = self._period[kind]
        most = max(PERIODS * period, LEAST_SILENCE_S) if period else UNKNOWN_SILENCE_S
        return "silent" if now_ns - self._arrived[kind] > most * NS_PER_S else ""

    def _is_behind(self, kind: int, time_ns: int, arrival_ns: int | None) -> bool:
        is_back = arrival_ns is not None and arrival_ns <= self.now_ns - JUMP_NS
        return is_back or time_ns <= (self._newest[kind] or max(self._newest)) - JUMP_NS

    def _is_ahead(self, kind: int, time_ns: int, now_ns: int, is_now_known: bool) -> bool:
        leads = not is_now_known and (kind != GPS or self._last_kind == GPS)  # without a clock samples set the time
        usual = round(PERIODS * self._period[kind] * NS_PER_S) if leads else 0
        return bool(now_ns) and time_ns > now_ns + max(self._future_ns, usual)

    def _go_on(self, kind: int, time_ns: int, arrival_ns: int | None, leads: bool) -> None:
        if leads:
            self._ahead = self._behind = None
        passed = (time_ns - self._newest[kind]) / NS_PER_S if self._newest[kind] else 0.0
        if passed > 0.0:
            usual = self._period[kind]
            # A gap counts as two periods: an outage does not make a sensor slow.
            self._period[kind] = usual + NEWEST_SHARE * (min(passed, 2.0 * usual) - usual) if usual else passed
        self._newest[kind] = max(self._newest[kind], time_ns)
        self.now_ns = max(self.now_ns, time_ns if arrival_ns is None else arrival_ns)
        self._first_ns = self._first_ns or self.now_ns
        self.on_arrival(kind, arrival_ns)
