"""Publishing of an idle driver: it repeats a stop for a while, then leaves the topic to others."""

from __future__ import annotations

import math

STOP_REPEAT_S = 0.5  # a stop is repeated this long, so that one lost message cannot leave the vehicle driving


class IdleGate:
    """Decides whether a command is published. Times are seconds of one steady clock."""

    def __init__(self) -> None:
        self._stopped_at = -math.inf  # as if long idle: a driver that starts must not stop another's vehicle
        self._was_stop = True

    def is_open(self, now: float, is_stop: bool, idle_output: str, others_publish: bool) -> bool:
        """Whether to publish now; idle_output is 'always', 'never' or 'auto' (only while nobody else publishes)."""
        if is_stop and not self._was_stop:
            self._stopped_at = now
        self._was_stop = is_stop
        if not is_stop or now - self._stopped_at <= STOP_REPEAT_S:
            return True
        return idle_output == "always" or (idle_output == "auto" and not others_publish)
