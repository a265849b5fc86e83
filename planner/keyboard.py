"""Keyboard to drive command. A terminal reports key presses only, so a key counts as held while it repeats."""

from __future__ import annotations

import math
from dataclasses import dataclass

from planner.drive_command import DriveCommand, DriverSettings, SlewedMotion, clamp
from proving_ground.settings import setting

HELP = "w/s forward/back   a/d left/right   e/c faster/slower   space stop   q quit"

FORWARD, BACKWARD, LEFT, RIGHT = "w", "s", "a", "d"
FASTER, SLOWER, STOP, QUIT = "e", "c", " ", "q"
ARROWS = {"\x1b[A": FORWARD, "\x1b[B": BACKWARD, "\x1b[D": LEFT, "\x1b[C": RIGHT}
SPEED_FACTOR = 1.25


@dataclass(frozen=True, kw_only=True)
class KeyboardSettings(DriverSettings):
    """Speeds and pedals that keys command, and how long a key counts as held."""

    hold_s: float = setting(
        0.6, "Time that a key counts as held after a press, because terminals repeat keys only after a pause",
        unit="s", minimum=0.1, maximum=2.0,
    )  # fmt: skip
    max_speed_mps: float = setting(
        2.0, "Commanded speed of a held key at the start; the keys e and c raise and lower it",
        unit="m/s", minimum=0.1, maximum=40.0, read_only=True,
    )  # fmt: skip
    top_speed_mps: float = setting(
        10.0, "Speed up to which the key e can raise the commanded speed", unit="m/s", minimum=0.1, maximum=40.0
    )
    pedal: float = setting(
        0.4, "Throttle or brake position, 0 to 1, of a held key; only with output: pedals", minimum=0.0, maximum=1.0
    )

    def __post_init__(self) -> None:
        if self.top_speed_mps < self.max_speed_mps:
            raise ValueError(
                f"top_speed_mps: must be at least max_speed_mps ({self.max_speed_mps:g}), got {self.top_speed_mps:g}"
            )


class KeyboardDriver:
    """Turns key presses into commands. Times are seconds of one steady clock, passed in."""

    def __init__(self, settings: KeyboardSettings) -> None:
        self.settings = settings
        self.top_speed = settings.max_speed_mps
        self._held_until: dict[str, float] = {}
        self._motion = SlewedMotion()

    def press(self, now: float, key: str) -> None:
        """Handle one key press (or repeat); unknown keys are ignored."""
        key = ARROWS.get(key, key.lower())
        if key in (FORWARD, BACKWARD, LEFT, RIGHT):
            opposite = {FORWARD: BACKWARD, BACKWARD: FORWARD, LEFT: RIGHT, RIGHT: LEFT}[key]
            self._held_until.pop(opposite, None)
            self._held_until[key] = now + self.settings.hold_s
            if key in (LEFT, RIGHT):  # a terminal repeats the last key only: w, held before a, is still held
                for other in (FORWARD, BACKWARD):
                    if self._held(now, other):
                        self._held_until[other] = now + self.settings.hold_s
        elif key == STOP:
            self._held_until.clear()
            self._motion.stop(now, "space pressed", self.settings)
        elif key in (FASTER, SLOWER):
            factor = SPEED_FACTOR if key == FASTER else 1.0 / SPEED_FACTOR
            self.top_speed = clamp(self.top_speed * factor, 0.1, self.settings.top_speed_mps)

    def command(self, now: float) -> DriveCommand:
        """The command for this instant: top speed while w or s is held; steering straightens while driving on."""
        drive = self._held(now, FORWARD) - self._held(now, BACKWARD)
        steer = self._held(now, LEFT) - self._held(now, RIGHT)
        is_resting = self._motion.speed == 0.0 or self.settings.output == "pedals"
        if drive == 0 and steer == 0 and is_resting:
            return self.stop_command(now, "no key held")
        top_speed = min(self.top_speed, self.settings.top_speed_mps)
        self._motion.follow(now, drive * top_speed, steer, self.settings)
        throttle = self.settings.pedal if drive > 0 else 0.0
        brake = 0.0 if drive > 0 else self.settings.pedal if drive < 0 else self.settings.stop_brake
        return self._motion.command(self.settings, throttle, brake)

    def stop_command(self, now: float, reason: str) -> DriveCommand:
        """Stop, for a reason given by the caller."""
        return self._motion.stop(now, reason, self.settings)

    def _held(self, now: float, key: str) -> int:
        return int(self._held_until.get(key, -math.inf) > now)
