"""Height integrated from the vehicle's motion: maps need height differences, and GPS heights are poor."""

from __future__ import annotations

from proving_ground.saving.stateful import Stateful
from vehicle_dynamics.base_motion import BaseMotion

LONGEST_S = 1.0  # longest gap between motions that is integrated over


class MotionHeight(Stateful):
    """Height of base_link, integrated from its climb rate: it never jumps, as heights of an estimate do.

    It starts at the height of the first motion; the heights of later motions are not used.
    """

    STATE = ("_before", "_height")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Restart with the next motion."""
        self._before: tuple[int, float] | None = None  # time [ns], rate of climb [m/s]
        self._height = 0.0

    def after(self, time_ns: int, motion: BaseMotion) -> float:
        """Height of base_link [m] at a time."""
        climb = _climb(motion)
        if self._before is None:
            self._height = motion.position[2]
        else:
            before_ns, before = self._before
            passed = min(max((time_ns - before_ns) * 1e-9, 0.0), LONGEST_S)
            self._height += 0.5 * (before + climb) * passed
        self._before = (time_ns, climb)
        return self._height


def _climb(motion: BaseMotion) -> float:
    """Vertical velocity of base_link in the world [m/s]."""
    x, y, z, w = motion.attitude
    ahead, left, up = motion.velocity
    return 2.0 * (x * z - y * w) * ahead + 2.0 * (y * z + x * w) * left + (1.0 - 2.0 * (x * x + y * y)) * up
