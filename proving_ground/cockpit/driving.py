"""Driving from the page: held buttons become speed and yaw rate; releasing them stops the vehicle."""

from __future__ import annotations

import math

from planner.drive_command import DriveCommand, SlewedMotion
from proving_ground.cockpit.settings import CockpitSettings

PAD_HOLD_S = 0.35  # a held button of the page reports ten times a second
KEY_HOLD_S = 0.7  # a held key repeats only after half a second
REPEAT_STOP_S = 0.5  # a stop is repeated for this long; then the topic is free for others
DIRECTIONS = ("ahead", "back", "left", "right")


class DrivePad:
    """Four directions, each held or not. Times are seconds of one steady clock."""

    def __init__(self) -> None:
        self.is_on = False
        self._held_until = dict.fromkeys(DIRECTIONS, -math.inf)
        self._motion = SlewedMotion()
        self._off_at = -math.inf

    def switch(self, is_on: bool, now: float) -> None:
        """Begin (is_on) or end driving from the page, which stops the vehicle; now: seconds of a steady clock."""
        if self.is_on and not is_on:
            self._off_at = now
        self.is_on = is_on
        self.release()

    def hold(self, direction: str, now: float, seconds: float = PAD_HOLD_S) -> None:
        """A direction is held, for a moment unless repeated; opposites cancel."""
        if direction in self._held_until:
            self._held_until[direction] = max(self._held_until[direction], now + seconds)

    def release(self) -> None:
        """Release all directions."""
        self._held_until = dict.fromkeys(DIRECTIONS, -math.inf)

    def command(self, now: float, settings: CockpitSettings) -> DriveCommand | None:
        """Command to publish now; None when nobody drives from the page."""
        limits = settings.driver()
        if not self.is_on:
            if now - self._off_at <= REPEAT_STOP_S:
                return self._motion.stop(now, "released on the page", limits)
            return None
        ahead, back, left, right = (now <= self._held_until[name] for name in DIRECTIONS)
        speed = settings.max_speed_mps * ahead - settings.max_reverse_mps * back
        self._motion.follow(now, speed, float(left) - float(right), limits)
        return self._motion.command(limits, throttle=0.0, brake=0.0)
