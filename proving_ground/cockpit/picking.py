"""Intersection of a ray with the ground: a click in the picture becomes a position in the world."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
HeightAt = Callable[[Array, Array], Array]

FAR_M = 1500.0
STEPS = 3000
HALVINGS = 30


def ray_on_ground(origin: ArrayLike, direction: ArrayLike, height_at: HeightAt, far: float = FAR_M) -> Array | None:
    """The first point [m] where a ray goes below the ground; None if it does not, or the ray is invalid.

    height_at: z [m] of the ground at arrays of x and y [m].
    """
    start, direction = np.asarray(origin, float), np.asarray(direction, float)
    length = float(np.linalg.norm(direction))
    if not (np.isfinite(start).all() and np.isfinite(length) and length > 0.0):
        return None
    direction = direction / length

    def above(distance: Array) -> Array:
        positions = start + distance[:, None] * direction
        return np.asarray(positions[:, 2] - height_at(positions[:, 0], positions[:, 1]))

    distances = np.linspace(0.0, far, STEPS + 1)
    gaps = above(distances)
    below = np.flatnonzero(~(gaps > 0.0))
    if not len(below) or below[0] == 0 or not np.isfinite(gaps[below[0]]):
        return None
    low, high = distances[below[0] - 1], distances[below[0]]
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if above(np.array([middle]))[0] > 0.0:
            low = middle
        else:
            high = middle
    return np.asarray(start + high * direction)
