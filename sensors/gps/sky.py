"""Satellites above the receiver, which of them it sees, and what their geometry does to its errors."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEWEST_SATELLITES = 4  # for three coordinates and the clock
_GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
_SINGULAR = 1e-9  # smallest eigenvalue of the geometry that still counts


class SkyView(Protocol):
    """What stands between a place and the sky."""

    def is_blocked(self, origin: Array, directions: Array) -> NDArray[np.bool_]:
        """Whether the ray from origin (world [m], 3) meets anything, for each direction (world, unit, n x 3): n."""
        ...


class Dilution(NamedTuple):
    """Dilution of precision: standard deviation of a coordinate over that of one range."""

    satellites: int
    axes: Array  # east, north, up

    @property
    def hdop(self) -> float:
        """Of the place in the plane."""
        return math.hypot(self.axes[0], self.axes[1])

    @property
    def pdop(self) -> float:
        """Of the place in space."""
        return math.hypot(*self.axes)


def constellation(count: int, mask_deg: float = 0.0) -> Array:
    """Directions (east, north, up, unit, n x 3) of those of `count` satellites that are above a mask, highest first.

    Spread evenly over the hemisphere along a spiral, and standing still: GPS satellites move by half a degree a minute.
    """
    up = 1.0 - (np.arange(count) + 0.5) / count
    azimuth = _GOLDEN_ANGLE * np.arange(count)  # from north, clockwise
    level = np.sqrt(1.0 - up * up)
    directions = np.stack((level * np.sin(azimuth), level * np.cos(azimuth), up), axis=-1)
    return np.asarray(directions[up >= math.sin(math.radians(mask_deg))])


def dilution(directions: Array) -> Dilution | None:
    """Of the satellites in these directions; None when they do not give a place.

    Square roots of the diagonal of (G^T G)^-1, where the rows of G are (direction, 1): ranges of equal accuracy and an
    unknown clock (Kaplan and Hegarty, Understanding GPS, section on dilution of precision).
    """
    if len(directions) < FEWEST_SATELLITES:
        return None
    rows = np.column_stack((directions, np.ones(len(directions))))
    values, vectors = np.linalg.eigh(rows.T @ rows)
    if values[0] < _SINGULAR:
        return None
    return Dilution(len(directions), np.sqrt((vectors[:3] ** 2 / values).sum(axis=1)))
