"""Places of the world on Earth: east-north-up (ENU) <-> Earth-centred (ECEF) <-> latitude, longitude, altitude.

WGS-84 throughout. The world's x, y, z are east, north and up in the plane that touches the ellipsoid's parallel at the
world's origin (seed 001, Eqs. 5.1-5.3). Arrays go through pymap3d; one fix at a time has a way of its own, because
pymap3d takes 0.2 ms for it.

>>> frame = LocalFrame(Georeference(latitude_deg=43.3, longitude_deg=-8.4))
>>> place = frame.geodetic(0.0, 1000.0, 0.0)
>>> round(place.latitude_deg, 6), round(place.longitude_deg, 6), round(place.altitude_m, 3)
(43.309001, -8.4, 0.079)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain.georeference import Georeference

Array = NDArray[np.float64]

SEMI_MAJOR = 6_378_137.0  # a [m], seed 001 Table 5.2
# The table's head says (a - b)/b; this number is (a - b)/a, as the table's own a and b tell.
FLATTENING = 1.0 / 298.257223563
SEMI_MINOR = SEMI_MAJOR * (1.0 - FLATTENING)  # b [m]
_FIRST = FLATTENING * (2.0 - FLATTENING)  # e^2 = 1 - b^2/a^2
_SECOND = _FIRST / (1.0 - _FIRST)  # e'^2 = a^2/b^2 - 1
_BOWRING_STEPS = 2  # one is enough on the ground; the second holds it to rounding far above

_LONGEST_NAME = 40  # characters of a coordinate system that a remark repeats


class Geodetic(NamedTuple):
    """A place on Earth."""

    latitude_deg: float
    longitude_deg: float  # -180 to 180
    altitude_m: float  # above the ellipsoid


# Of worlds that lie nowhere: where the receiver of seed 001 wrote its example of a GGA sentence, near A Coruna.
DEFAULT_DATUM = Geodetic(43.4936, -8.2478, 0.0)


class LocalFrame:
    """The world's axes on Earth."""

    def __init__(self, where: Georeference | None = None) -> None:
        """where: of the world's origin; without latitude and longitude it is DEFAULT_DATUM, and `remark` says so."""
        from pymap3d import enu2uvw, geodetic2ecef  # slow to import

        self.remark = _remark(where)  # for a log; empty: none
        self.origin = _datum(where)
        self._origin = tuple(float(value) for value in geodetic2ecef(*self.origin))
        axes = np.array(enu2uvw(*np.eye(3), *self.origin[:2]))  # transpose of Psi, Eq. 5.3
        self._rows = tuple(tuple(row) for row in axes.tolist())

    def geodetic(self, east: float, north: float, up: float) -> Geodetic:
        """Of one place of the world [m], fast; NaN in, NaN out."""
        x, y, z = (
            start + row[0] * east + row[1] * north + row[2] * up
            for start, row in zip(self._origin, self._rows, strict=True)
        )
        return _geodetic_from_ecef(x, y, z)

    def geodetic_from_enu(self, places: ArrayLike) -> Array:
        """Latitude [deg], longitude [deg] and altitude [m] of places of the world [m]: both n x 3."""
        from pymap3d import enu2geodetic

        return np.stack(enu2geodetic(*np.asarray(places, float).T, *self.origin), axis=-1)

    def enu_from_geodetic(self, places: ArrayLike) -> Array:
        """East, north and up [m] of latitudes [deg], longitudes [deg] and altitudes [m]: both n x 3."""
        from pymap3d import geodetic2enu

        return np.stack(geodetic2enu(*np.asarray(places, float).T, *self.origin), axis=-1)

    def ecef_from_enu(self, places: ArrayLike) -> Array:
        """Earth-centred coordinates [m] of places of the world [m]: both n x 3."""
        from pymap3d import enu2ecef

        return np.stack(enu2ecef(*np.asarray(places, float).T, *self.origin), axis=-1)

    def enu_from_ecef(self, places: ArrayLike) -> Array:
        """East, north and up [m] of Earth-centred coordinates [m]: both n x 3."""
        from pymap3d import ecef2enu

        return np.stack(ecef2enu(*np.asarray(places, float).T, *self.origin), axis=-1)


def _geodetic_from_ecef(x: float, y: float, z: float) -> Geodetic:
    """Bowring (1976, Survey Review 23), by his parametric latitude; the altitude's form holds at poles and equator."""
    radius = math.hypot(x, y)
    parametric = math.atan2(SEMI_MAJOR * z, SEMI_MINOR * radius)
    for _ in range(_BOWRING_STEPS):
        rise = z + _SECOND * SEMI_MINOR * math.sin(parametric) ** 3
        latitude = math.atan2(rise, radius - _FIRST * SEMI_MAJOR * math.cos(parametric) ** 3)
        parametric = math.atan2(SEMI_MINOR * math.sin(latitude), SEMI_MAJOR * math.cos(latitude))
    sin = math.sin(latitude)
    altitude = radius * math.cos(latitude) + z * sin - SEMI_MAJOR * math.sqrt(1.0 - _FIRST * sin * sin)
    return Geodetic(math.degrees(latitude), math.degrees(math.atan2(y, x)), altitude)


def _datum(where: Georeference | None) -> Geodetic:
    if where is None:
        return DEFAULT_DATUM
    if where.latitude_deg is None or where.longitude_deg is None:
        return DEFAULT_DATUM._replace(altitude_m=where.altitude_m)
    return Geodetic(where.latitude_deg, where.longitude_deg, where.altitude_m)


def _remark(where: Georeference | None) -> str:
    if where is not None and where.latitude_deg is not None:
        return ""
    datum = f"{DEFAULT_DATUM.latitude_deg} N, {DEFAULT_DATUM.longitude_deg} E"
    if where is None or not where.crs:
        return f"the world has no place on Earth; its origin is taken to be at {datum}"
    name = where.crs if len(where.crs) <= _LONGEST_NAME else where.crs[:_LONGEST_NAME] + "..."
    return f"the world has coordinates of {name} but no latitude and longitude; its origin is taken to be at {datum}"
