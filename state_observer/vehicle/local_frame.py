"""East, north and up of one fix at a time (WGS-84, seed 001 Eqs. 5.1-5.3), without the cost of array libraries."""

from __future__ import annotations

import math

from sensors.gps.geodesy import FLATTENING, SEMI_MAJOR
from state_observer.vehicle.settings import Datum

_FIRST = FLATTENING * (2.0 - FLATTENING)  # e^2


class Frame:
    """The world's axes on Earth; without a datum the first place asked for is the origin."""

    def __init__(self, datum: Datum | None = None) -> None:
        self.is_given = datum is not None
        self._origin: tuple[float, float, float] | None = None
        if datum is not None:
            self._put(datum.latitude_deg, datum.longitude_deg, datum.altitude_m)

    @property
    def is_placed(self) -> bool:
        """Whether there is an origin."""
        return self._origin is not None

    def enu(self, latitude_deg: float, longitude_deg: float, altitude_m: float) -> tuple[float, float, float]:
        """Metres from the origin."""
        if self._origin is None:
            self._put(latitude_deg, longitude_deg, altitude_m)
        assert self._origin is not None
        x, y, z = (a - b for a, b in zip(_ecef(latitude_deg, longitude_deg, altitude_m), self._origin, strict=True))
        out = self._sin_lon * y + self._cos_lon * x
        return (
            self._cos_lon * y - self._sin_lon * x,
            self._cos_lat * z - self._sin_lat * out,
            self._sin_lat * z + self._cos_lat * out,
        )

    def _put(self, latitude_deg: float, longitude_deg: float, altitude_m: float) -> None:
        self._origin = _ecef(latitude_deg, longitude_deg, altitude_m)
        latitude, longitude = math.radians(latitude_deg), math.radians(longitude_deg)
        self._sin_lat, self._cos_lat = math.sin(latitude), math.cos(latitude)
        self._sin_lon, self._cos_lon = math.sin(longitude), math.cos(longitude)


def _ecef(latitude_deg: float, longitude_deg: float, altitude_m: float) -> tuple[float, float, float]:
    latitude, longitude = math.radians(latitude_deg), math.radians(longitude_deg)
    sine, cosine = math.sin(latitude), math.cos(latitude)
    radius = SEMI_MAJOR / math.sqrt(1.0 - _FIRST * sine * sine)
    around = (radius + altitude_m) * cosine
    return around * math.cos(longitude), around * math.sin(longitude), (radius * (1.0 - _FIRST) + altitude_m) * sine
