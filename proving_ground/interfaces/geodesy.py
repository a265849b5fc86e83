"""Positions of a world on Earth: east-north-up (ENU) <-> Earth-centred (ECEF) <-> latitude, longitude, altitude.

WGS-84 throughout. A world's x, y, z are east, north and up in the plane that touches the ellipsoid's parallel at its
origin ([Sanjurjo] Eqs. 5.1-5.3). One position at a time takes microseconds; arrays of positions are supported likewise.

>>> plane = TangentPlane(Geodetic(43.3, -8.4, 0.0))
>>> north = plane.geodetic(0.0, 1000.0, 0.0)
>>> round(north.latitude_deg, 6), round(north.longitude_deg, 6), round(north.altitude_m, 3)
(43.309001, -8.4, 0.079)
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

SEMI_MAJOR = 6_378_137.0  # a [m], [Sanjurjo] Table 5.2
# The table's head says (a - b)/b; this number is (a - b)/a, as the table's own a and b show.
FLATTENING = 1.0 / 298.257223563
SEMI_MINOR = SEMI_MAJOR * (1.0 - FLATTENING)  # b [m]
_FIRST = FLATTENING * (2.0 - FLATTENING)  # e^2 = 1 - b^2/a^2
_SECOND = _FIRST / (1.0 - _FIRST)  # e'^2 = a^2/b^2 - 1
_BOWRING_STEPS = 2  # one is enough on the ground; the second keeps it to rounding far above

_NUMPY: Any = SimpleNamespace(
    sin=np.sin, cos=np.cos, sqrt=np.sqrt, hypot=np.hypot, atan2=np.arctan2, radians=np.radians, degrees=np.degrees
)  # for arrays, where `math` is for floats


class Geodetic(NamedTuple):
    """A position on Earth: latitude, longitude and height above the WGS 84 ellipsoid."""

    latitude_deg: float
    longitude_deg: float  # -180 to 180
    altitude_m: float  # above the ellipsoid


class TangentPlane:
    """East, north and up at an origin."""

    def __init__(self, origin: Geodetic) -> None:
        self.origin = origin
        self._origin = _ecef(math, *origin)
        latitude, longitude = math.radians(origin.latitude_deg), math.radians(origin.longitude_deg)
        self._sin_lat, self._cos_lat = sin_lat, cos_lat = math.sin(latitude), math.cos(latitude)
        self._sin_lon, self._cos_lon = sin_lon, cos_lon = math.sin(longitude), math.cos(longitude)
        self._rows = (  # transpose of Psi, Eq. 5.3
            (-sin_lon, -sin_lat * cos_lon, cos_lat * cos_lon),
            (cos_lon, -sin_lat * sin_lon, cos_lat * sin_lon),
            (0.0, cos_lat, sin_lat),
        )

    def enu(self, latitude_deg: float, longitude_deg: float, altitude_m: float) -> tuple[float, float, float]:
        """East, north and up [m] of one position on Earth."""
        east, north, up = self._from_ecef(*_ecef(math, latitude_deg, longitude_deg, altitude_m))
        return east, north, up

    def geodetic(self, east: float, north: float, up: float) -> Geodetic:
        """Latitude, longitude and altitude of one position of the world [m]; NaN in, NaN out."""
        return Geodetic(*_geodetic(math, *self._to_ecef(east, north, up)))

    def enu_from_geodetic(self, positions: ArrayLike) -> Array:
        """East, north and up [m] of latitudes [deg], longitudes [deg] and altitudes [m]: both n x 3."""
        return _rows(self._from_ecef(*_ecef(_NUMPY, *_columns(positions))))

    def geodetic_from_enu(self, positions: ArrayLike) -> Array:
        """Latitude [deg], longitude [deg] and altitude [m] of positions of the world [m]: both n x 3."""
        return _rows(_geodetic(_NUMPY, *self._to_ecef(*_columns(positions))))

    def ecef_from_enu(self, positions: ArrayLike) -> Array:
        """Earth-centred coordinates [m] of positions of the world [m]: both n x 3."""
        return _rows(self._to_ecef(*_columns(positions)))

    def enu_from_ecef(self, positions: ArrayLike) -> Array:
        """East, north and up [m] of Earth-centred coordinates [m]: both n x 3."""
        return _rows(self._from_ecef(*_columns(positions)))

    def _to_ecef(self, east: Any, north: Any, up: Any) -> Any:
        return tuple(
            start + row[0] * east + row[1] * north + row[2] * up
            for start, row in zip(self._origin, self._rows, strict=True)
        )

    def _from_ecef(self, x: Any, y: Any, z: Any) -> Any:
        x, y, z = (a - b for a, b in zip((x, y, z), self._origin, strict=True))
        out = self._sin_lon * y + self._cos_lon * x
        return (
            self._cos_lon * y - self._sin_lon * x,
            self._cos_lat * z - self._sin_lat * out,
            self._sin_lat * z + self._cos_lat * out,
        )


def _ecef(lib: Any, latitude_deg: Any, longitude_deg: Any, altitude_m: Any) -> Any:
    latitude, longitude = lib.radians(latitude_deg), lib.radians(longitude_deg)
    sine, cosine = lib.sin(latitude), lib.cos(latitude)
    radius = SEMI_MAJOR / lib.sqrt(1.0 - _FIRST * sine * sine)
    around = (radius + altitude_m) * cosine
    return around * lib.cos(longitude), around * lib.sin(longitude), (radius * (1.0 - _FIRST) + altitude_m) * sine


def _geodetic(lib: Any, x: Any, y: Any, z: Any) -> Any:
    """Bowring (1976, Survey Review 23), by his parametric latitude; the altitude's form holds at poles and equator."""
    radius = lib.hypot(x, y)
    parametric = lib.atan2(SEMI_MAJOR * z, SEMI_MINOR * radius)
    for _ in range(_BOWRING_STEPS):
        rise = z + _SECOND * SEMI_MINOR * lib.sin(parametric) ** 3
        latitude = lib.atan2(rise, radius - _FIRST * SEMI_MAJOR * lib.cos(parametric) ** 3)
        parametric = lib.atan2(SEMI_MINOR * lib.sin(latitude), SEMI_MAJOR * lib.cos(latitude))
    sine = lib.sin(latitude)
    altitude = radius * lib.cos(latitude) + z * sine - SEMI_MAJOR * lib.sqrt(1.0 - _FIRST * sine * sine)
    return lib.degrees(latitude), lib.degrees(lib.atan2(y, x)), altitude


def _columns(positions: ArrayLike) -> Any:
    return np.asarray(positions, float).T


def _rows(columns: Any) -> Array:
    found: Array = np.stack(columns, axis=-1)
    return found
