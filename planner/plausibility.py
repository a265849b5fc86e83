"""Plausibility of motion: a frozen pose, wheels that spin without progress, and overspeed downhill."""

from __future__ import annotations

import math

from planner.pose import Pose
from proving_ground.saving.stateful import Stateful

MOVING_MPS = 0.5  # above this reported speed the pose must change
SAME_POSITION_M = 0.01
FROZEN_AFTER_S = 0.5
FROZEN_FOR_S = 2.0  # at least: once stopped, the vehicle stands, and its pose cannot be checked

COMMANDED_MPS = 0.3  # commanded above this and moving below the next: stuck
CRAWLS_MPS = 0.15
STUCK_AFTER_S = 4.0  # standing this long while commanded
MOST_ATTEMPTS = 3

TRIM_RATE = 1.5  # growth of the trim, per second and m/s of excess
TRIM_DEAD_MPS = 0.05
MOST_TRIM_MPS = 2.5
TRIM_DECAY_S = 1.5  # decay time once the excess is gone
BAND = (1 / 6, 5 / 6)  # shares of the reserve, from the top speed down, between which the command falls to 0


class FrozenPose(Stateful):
    """Detects poses that stay within a centimetre for half a second while the speed is above 0.5 m/s."""

    STATE = ("_position", "_since", "_until")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset to the initial state."""
        self._position: Pose | None = None
        self._since = math.inf
        self._until = -math.inf

    def is_frozen(self, time: float, pose: Pose, speed: float) -> bool:
        """Check the pose and the speed [m/s] of a time [s]."""
        position = self._position
        has_moved = position is None or math.dist(pose[:3], position[:3]) > SAME_POSITION_M
        if has_moved:
            self._until = -math.inf
        if has_moved or abs(speed) < MOVING_MPS:
            self._position, self._since = pose, time
        if time - self._since > FROZEN_AFTER_S:
            self._until = time + FROZEN_FOR_S
        return time < self._until


class StuckWatch(Stateful):
    """Compares commanded with actual speed: wheels that spin in mud, a body stuck on a rock, a brake that holds."""

    STATE = ("_since", "attempts")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Reset to the initial state."""
        self._since = math.inf
        self.attempts = 0  # to get free, since the last progress

    def record(self, time: float, commanded: float, speed: float) -> None:
        """Record the commanded and the actual speed [m/s]."""
        is_in_vain = abs(commanded) > COMMANDED_MPS and abs(speed) < CRAWLS_MPS
        self._since = min(self._since, time) if is_in_vain else math.inf

    def on_progress(self) -> None:
        """Reset the attempts: the vehicle is nearer to its goal than ever."""
        self.attempts = 0

    def is_stuck(self, time: float) -> bool:
        """Whether the vehicle is stuck; counts the attempt and restarts the timer for the next one."""
        if time - self._since < STUCK_AFTER_S:
            return False
        self.attempts += 1
        self._since = math.inf
        return True


class SpeedTrim(Stateful):
    """Lowers the command by the overspeed of the vehicle: speed control leaves an error downhill, and beyond a crest it
    still pushes as it did uphill. Close to the highest allowed speed the command goes to 0, which closes the throttle.
    """

    STATE = ("_trim",)

    def __init__(self, fastest: float, reserve: float) -> None:
        """fastest [m/s]: highest allowed speed; reserve [m/s]: margin of commands below it."""
        self._most, self._band = fastest - BAND[0] * reserve, max((BAND[1] - BAND[0]) * reserve, 1e-3)
        self.reset()

    def reset(self) -> None:
        """Reset to the initial state."""
        self._trim = 0.0  # [m/s]

    def trimmed(self, commanded: float, speed: float, step: float) -> float:
        """Speed to command [m/s] instead of `commanded`, at a speed [m/s]; step [s] since the last call."""
        if not speed * commanded > 0.0:
            self._trim = 0.0
            return commanded
        excess = abs(speed) - abs(commanded)
        if excess > TRIM_DEAD_MPS:
            self._trim = min(self._trim + TRIM_RATE * excess * step, MOST_TRIM_MPS)
        else:
            self._trim *= math.exp(-step / TRIM_DECAY_S)
        share = min(max((self._most - abs(speed)) / self._band, 0.0), 1.0)
        return math.copysign(share * max(abs(commanded) - self._trim, 0.0), commanded)
