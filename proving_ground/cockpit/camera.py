"""Camera poses. The vehicle stays at the page's origin and the world moves under it, which avoids jitter."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CHASE, ORBIT, ABOVE, FREE = "chase", "follow", "from above", "free"
MODES = (CHASE, ORBIT, ABOVE, FREE)
LOOK_AT = (0.0, 0.0, 1.0)
STARTS = {
    CHASE: (-11.0, 0.0, 5.0), ORBIT: (-9.0, -6.5, 4.5), ABOVE: (-0.1, 0.0, 60.0), FREE: (-16.0, -10.0, 8.0),
}  # fmt: skip
OBEYED_M = 0.3  # distance from its target at which a camera has arrived
TURN_TIME_S = 0.6  # time constant of the chase camera's heading


class Chase:
    """A heading that follows the vehicle's smoothly."""

    def __init__(self) -> None:
        self._heading: float | None = None
        self._before = 0.0

    def forget(self) -> None:
        """Jump behind the vehicle at the next call."""
        self._heading = None

    def heading(self, now: float, wanted: float) -> float:
        """The camera's heading [rad] for the vehicle's heading; now: seconds of a steady clock."""
        step, self._before = max(now - self._before, 0.0), now
        if self._heading is None:
            self._heading = wanted
        away = math.remainder(wanted - self._heading, 2.0 * math.pi)
        self._heading += away * (1.0 - math.exp(-step / TURN_TIME_S))
        return self._heading


def placed(mode: str, heading: float) -> tuple[Array, Array]:
    """Position and target [m] of a camera relative to the vehicle, in world axes, for a mode and a heading [rad]."""
    x, y, z = STARTS[mode]
    cos, sin = math.cos(heading), math.sin(heading)
    return np.array([cos * x - sin * y, sin * x + cos * y, z]), np.array(LOOK_AT)


class Zoom:
    """Distance of one browser's camera behind and above the vehicle [m].

    Reports of a browser count only once its camera has arrived: until then they are stale.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Reset to the initial distance."""
        self._behind, _, self._above = (abs(value) for value in STARTS[CHASE])
        self._has_obeyed = False

    def record(self, seen: Array) -> None:
        """Record a browser's camera position relative to the vehicle [m]."""
        behind, above = float(np.hypot(seen[0], seen[1])), float(seen[2])
        if self._has_obeyed:
            self._behind, self._above = behind, above
        else:
            self._has_obeyed = math.hypot(behind - self._behind, above - self._above) < OBEYED_M

    def chased(self, heading: float) -> Array:
        """Camera position behind a vehicle with that heading [rad], relative to the vehicle [m]."""
        return np.array([-math.cos(heading) * self._behind, -math.sin(heading) * self._behind, self._above])
