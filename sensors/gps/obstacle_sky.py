"""Sky between boxes and cylinders, exact and without a mesh: for tests, and for flat worlds. Hills are not seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from terrain.obstacles import Obstacles

Array = NDArray[np.float64]
Span = tuple[Array, Array]  # distances along the rays of entering and leaving, rays x obstacles [m]


class ObstacleSky:
    """A SkyView of what stands in a world; meshes count as the boxes around them."""

    def __init__(self, obstacles: Obstacles) -> None:
        self._boxes, self._cylinders = obstacles.to_arrays()

    def is_blocked(self, origin: Array, directions: Array) -> NDArray[np.bool_]:
        """As SkyView has it; who is inside an obstacle sees nothing."""
        boxes = self._in_boxes(origin, directions)
        cylinders = self._in_cylinders(origin, directions)
        return np.asarray(_is_met(boxes) | _is_met(cylinders))

    def _in_boxes(self, origin: Array, directions: Array) -> list[Span]:
        x, y, base, length, width, height, cos, sin = self._boxes.T
        along, across = origin[0] - x, origin[1] - y
        east, north, up = directions.T[:, :, None]
        return [  # between three pairs of planes, in each box's own axes
            _between(cos * along + sin * across, cos * east + sin * north, -0.5 * length, 0.5 * length),
            _between(cos * across - sin * along, cos * north - sin * east, -0.5 * width, 0.5 * width),
            _between(np.full_like(base, origin[2]), up, base, base + height),
        ]

    def _in_cylinders(self, origin: Array, directions: Array) -> list[Span]:
        x, y, base, radius, height = self._cylinders.T
        east, north, up = directions.T[:, :, None]
        off_x, off_y = origin[0] - x, origin[1] - y
        # |offset + t direction|^2 = radius^2 in the plane: square t^2 + 2 half t + rest = 0
        square = np.maximum(east * east + north * north, 1e-18)  # straight up: in or out for good
        half, rest = east * off_x + north * off_y, off_x * off_x + off_y * off_y - radius * radius
        depth = np.sqrt(np.maximum(half * half - square * rest, 0.0))  # 0: passes by, a span of no length
        return [
            ((-half - depth) / square, (depth - half) / square),
            _between(np.full_like(base, origin[2]), up, base, base + height),
        ]


def _between(start: Array, speed: Array, low: Array, high: Array) -> Span:
    """Where rays that start there and move so are between two planes; along them: all the way, or only far off."""
    speed = np.where(np.abs(speed) < 1e-18, 1e-18, speed)
    first, second = (low - start) / speed, (high - start) / speed
    return np.minimum(first, second), np.maximum(first, second)


def _is_met(spans: list[Span]) -> NDArray[np.bool_]:
    """Which rays are, ahead of their start, within all spans of an obstacle at once."""
    enter = np.maximum.reduce([span[0] for span in spans])
    leave = np.minimum.reduce([span[1] for span in spans])
    return np.asarray(((enter < leave) & (leave > 0.0)).any(axis=1))
