"""Satellites above the receiver, their visibility, and the dilution of precision of their geometry."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEWEST_SATELLITES = 4  # for three coordinates and the clock
_GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
_SINGULAR = 1e-9  # smallest usable eigenvalue of the geometry


class SkyView(Protocol):
    """Obstruction of the sky at a position."""

    def is_blocked(self, origin: Array, directions: Array) -> NDArray[np.bool_]:
        """Whether the ray from origin (world [m], 3) hits anything, for each direction (world, unit, n x 3): n."""
        ...


class Dilution(NamedTuple):
    """Dilution of precision: standard deviation of a coordinate over that of one range."""

    satellites: int
    axes: Array  # east, north, up

    @property
    def hdop(self) -> float:
        """Horizontal dilution of precision."""
        return math.hypot(self.axes[0], self.axes[1])

    @property
    def pdop(self) -> float:
        """Position dilution of precision."""
        return math.hypot(*self.axes)


def constellation(count: int, mask_deg: float = 0.0) -> Array:
    """Directions (east, north, up, unit, n x 3) of those of `count` satellites above a mask, highest first.

    Distributed evenly over the hemisphere along a spiral, and fixed: GPS satellites move by half a degree a minute.
    """
    up = 1.0 - (np.arange(count) + 0.5) / count
    azimuth = _GOLDEN_ANGLE * np.arange(count)  # from north, clockwise
    level = np.sqrt(1.0 - up * up)
    directions = np.stack((level * np.sin(azimuth), level * np.cos(azimuth), up), axis=-1)
    return np.asarray(directions[up >= math.sin(math.radians(mask_deg))])


def dilution(directions: Array) -> Dilution | None:
    """Dilution of satellites in these directions; None if they do not determine a position.

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
