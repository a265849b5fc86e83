"""Which stamps are in line with those before, how late it is by the samples, and which sensors are silent.

One stamp that is out of line is a stray and changes nothing. Two in a row that agree with one another are a jump of
time: back, as a bag's loop or a simulation's reset, or ahead, as after a gap.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from proving_ground.settings.units import NS_PER_S
from state_observer.vehicle.layout import KINDS

JUMP_NS = NS_PER_S  # so far back is no lateness; stamps that agree are no farther apart
GPS = KINDS.index("gps")
PERIODS = 3  # so many without a sample are silence, and no stray ahead
LEAST_SILENCE_S = 0.1  # what a busy machine makes of a period
UNKNOWN_SILENCE_S = 1.0  # while the period is not known
FIRST_WAIT_S = 2.0  # for the first sample of a sensor, when others have come
FORGETS = 0.1  # share of the newest sample in the mean period


class Line(Enum):
    """Where a stamp lies."""

    IN = "in line"
    AHEAD = "ahead"  # to be held until time comes there
    BEHIND = "behind"  # far too old; maybe the first one after a jump
    WENT_BACK = "went back"  # the second one: all before is void


class _Odd(NamedTuple):
    """A stamp out of line."""

    kind: int
    time_ns: int

    def agrees(self, kind: int, time_ns: int) -> bool:
        """Whether another goes on from it; the same one again does not."""
        apart = time_ns - self.time_ns
        return 0 < apart <= JUMP_NS if kind == self.kind else abs(apart) <= JUMP_NS


class SampleClock:
    """Time as the samples tell it; the GPS, which may be late, tells it only while nothing else comes."""

    def __init__(self, future_s: float) -> None:
        """future_s: stamps that are farther ahead are not in line."""
        self._future_ns = round(future_s * NS_PER_S)
        self.clear()

    def clear(self) -> None:
        """Any time may come next."""
        self.now_ns = 0  # newest time that is known of
        self._first_ns = 0
        self._newest = [0] * len(KINDS)  # stamps in line
        self._heard = [0] * len(KINDS)  # how late it was when the newest sample came
        self._period = [0.0] * len(KINDS)  # [s]
        self._ahead: _Odd | None = None
        self._behind: _Odd | None = None
        self._last_kind = GPS

    def judge(self, kind: int, time_ns: int, arrival_ns: int | None = None) -> Line:
        """Of a good sample, and when it came, if that is known. A stray changes nothing but what is said of it."""
        leads = kind != GPS or self._last_kind == GPS
        if self._is_behind(kind, time_ns, arrival_ns):
            before, self._behind = self._behind, _Odd(kind, time_ns) if leads else self._behind
            return Line.WENT_BACK if leads and before is not None and before.agrees(kind, time_ns) else Line.BEHIND
        now_ns = max(self.now_ns, arrival_ns if arrival_ns is not None else 0)
        if self._is_ahead(kind, time_ns, now_ns, arrival_ns is not None):
            before, self._ahead = self._ahead, _Odd(kind, time_ns) if leads else self._ahead
            goes_on = leads and arrival_ns is None and before is not None and before.agrees(kind, time_ns)
            if not goes_on:
                self.hear(kind, arrival_ns)
                return Line.AHEAD
        self._go_on(kind, time_ns, arrival_ns, leads)
        return Line.IN

    def hear(self, kind: int, arrival_ns: int | None = None) -> None:
        """A sample came, good or bad."""
        self.now_ns = max(self.now_ns, arrival_ns or 0)
        self._heard[kind] = self.now_ns
        self._last_kind = kind

    def advance_to(self, time_ns: int) -> None:
        """It is as late as that."""
        self.now_ns = max(self.now_ns, time_ns)

    def silence(self, kind: int, now_ns: int) -> str:
        """What there is to say of a sensor that is not heard at a time; empty: it is."""
        if not self._first_ns:
            return ""
        if not self._heard[kind]:
            return "none has come" if now_ns - self._first_ns > FIRST_WAIT_S * NS_PER_S else ""
        period = self._period[kind]
        most = max(PERIODS * period, LEAST_SILENCE_S) if period else UNKNOWN_SILENCE_S
        return "silent" if now_ns - self._heard[kind] > most * NS_PER_S else ""

    def _is_behind(self, kind: int, time_ns: int, arrival_ns: int | None) -> bool:
        is_back = arrival_ns is not None and arrival_ns <= self.now_ns - JUMP_NS
        return is_back or time_ns <= (self._newest[kind] or max(self._newest)) - JUMP_NS

    def _is_ahead(self, kind: int, time_ns: int, now_ns: int, is_now_known: bool) -> bool:
        leads = not is_now_known and (kind != GPS or self._last_kind == GPS)  # without a clock samples tell the time
        usual = round(PERIODS * self._period[kind] * NS_PER_S) if leads else 0
        return bool(now_ns) and time_ns > now_ns + max(self._future_ns, usual)

    def _go_on(self, kind: int, time_ns: int, arrival_ns: int | None, leads: bool) -> None:
        if leads:
            self._ahead = self._behind = None
        passed = (time_ns - self._newest[kind]) / NS_PER_S if self._newest[kind] else 0.0
        if passed > 0.0:
            usual = self._period[kind]
            # A gap counts as two periods: an outage does not make a sensor slow.
            self._period[kind] = usual + FORGETS * (min(passed, 2.0 * usual) - usual) if usual else passed
        self._newest[kind] = max(self._newest[kind], time_ns)
        self.now_ns = max(self.now_ns, time_ns if arrival_ns is None else arrival_ns)
        self._first_ns = self._first_ns or self.now_ns
        self.hear(kind, arrival_ns)
