"""Where the camera stands. The vehicle is at the page's origin: the world moves under it, so that nothing trembles."""

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
OBEYED_M = 0.3  # so near to where it was sent, a camera has gone there
TURN_TIME_S = 0.6  # in which the chasing camera comes round


class Chase:
    """A heading that follows the vehicle's smoothly."""

    def __init__(self) -> None:
        self._heading: float | None = None
        self._before = 0.0

    def forget(self) -> None:
        """Be behind the vehicle at once."""
        self._heading = None

    def heading(self, now: float, wanted: float) -> float:
        """The camera's heading [rad] when the vehicle's is wanted; now: seconds of a steady clock."""
        step, self._before = max(now - self._before, 0.0), now
        if self._heading is None:
            self._heading = wanted
        away = math.remainder(wanted - self._heading, 2.0 * math.pi)
        self._heading += away * (1.0 - math.exp(-step / TURN_TIME_S))
        return self._heading


def placed(mode: str, heading: float) -> tuple[Array, Array]:
    """Place and aim [m] of a camera, seen from the vehicle with the world's axes."""
    x, y, z = STARTS[mode]
    cos, sin = math.cos(heading), math.sin(heading)
    return np.array([cos * x - sin * y, sin * x + cos * y, z]), np.array(LOOK_AT)


class Zoom:
    """How far behind and above the vehicle one browser's camera is [m].

    What a browser says counts only after it has gone where it was sent: before, it tells of older places.
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Where the chase begins."""
        self._behind, _, self._above = (abs(value) for value in STARTS[CHASE])
        self._has_obeyed = False

    def note(self, seen: Array) -> None:
        """A browser tells where its camera is, seen from the vehicle [m]."""
        behind, above = float(np.hypot(seen[0], seen[1])), float(seen[2])
        if self._has_obeyed:
            self._behind, self._above = behind, above
        else:
            self._has_obeyed = math.hypot(behind - self._behind, above - self._above) < OBEYED_M

    def chased(self, heading: float) -> Array:
        """The camera's place behind a vehicle with that heading [rad], from the vehicle [m]."""
        return np.array([-math.cos(heading) * self._behind, -math.sin(heading) * self._behind, self._above])
