"""Log time of a message: by the machine's clock, or by the latest simulated time."""

from __future__ import annotations

import bisect
from collections import deque

KEPT = 200  # ticks of /clock: two seconds of ours


class SimulatedTime:
    """Maps times of arrival by the machine's clock to simulated time, as published on /clock at that moment.

    >>> time = SimulatedTime()
    >>> time.at(5) is None
    True
    >>> time.tick(10, 100), time.tick(20, 200)
    (False, False)
    >>> time.at(5), time.at(15), time.at(25)
    (100, 100, 200)
    """

    def __init__(self) -> None:
        self._arrivals: deque[int] = deque(maxlen=KEPT)
        self._times: deque[int] = deque(maxlen=KEPT)

    def tick(self, arrival_ns: int, time_ns: int) -> bool:
        """Process a message of /clock; True when time has gone back."""
        if self._arrivals and arrival_ns < self._arrivals[-1]:  # the machine's clock was set back
            self._arrivals.clear()
            self._times.clear()
        has_gone_back = bool(self._times) and time_ns < self._times[-1]
        self._arrivals.append(arrival_ns)
        self._times.append(time_ns)
        return has_gone_back

    def at(self, arrival_ns: int) -> int | None:
        """Simulated time [ns] at an arrival; before the first tick that of the first, None without any tick."""
        if not self._times:
            return None
        return self._times[max(bisect.bisect_right(self._arrivals, arrival_ns) - 1, 0)]
