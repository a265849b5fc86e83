"""Position of a map on Earth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from proving_ground.interfaces.geodesy import Geodetic, TangentPlane
from proving_ground.settings import setting


@dataclass(frozen=True, kw_only=True)
class Datum:
    """Position of the world's origin (x = y = z = 0) on Earth, as a world's or observer's file gives it."""

    latitude_deg: float = setting(
        ..., "Latitude of the world's origin, north positive", unit="deg", minimum=-90.0, maximum=90.0
    )
    longitude_deg: float = setting(
        ..., "Longitude of the world's origin, east positive", unit="deg", minimum=-180.0, maximum=360.0
    )
    altitude_m: float = setting(
        0.0, "Altitude of the world's origin above the ellipsoid", unit="m", minimum=-1e4, maximum=1e5
    )


@dataclass(frozen=True, kw_only=True)
class Georeference:
    """Position of the world's origin (x = y = z = 0): in degrees, in metres of a coordinate system, or both.

    A point (x, y, z) of the world has the coordinates (easting_m + x, northing_m + y) in the system `crs`, such as
    EPSG:32629, and the height altitude_m + z.
    """

    latitude_deg: float | None = None
    longitude_deg: float | None = None
    altitude_m: float = 0.0
    crs: str = ""
    easting_m: float = 0.0
    northing_m: float = 0.0

    def __post_init__(self) -> None:
        if (self.latitude_deg is None) != (self.longitude_deg is None):
            raise ValueError("georeference: give both latitude_deg and longitude_deg, or neither")
        if self.latitude_deg is not None and not -90.0 <= self.latitude_deg <= 90.0:
            raise ValueError(f"latitude_deg: must be from -90 to 90, got {self.latitude_deg:g}")
        if self.longitude_deg is not None and not -180.0 <= self.longitude_deg <= 360.0:
            raise ValueError(f"longitude_deg: must be from -180 to 360, got {self.longitude_deg:g}")
        for name in ("altitude_m", "easting_m", "northing_m"):
            if not math.isfinite(getattr(self, name)):
                raise ValueError(f"{name}: must be finite, got {getattr(self, name)}")
        if len(self.crs) > 10_000 or not self.crs.isprintable():
            raise ValueError("crs: must be printable text of at most 10000 characters")

    def moved(self, x: float, y: float, z: float) -> Georeference:
        """The georeference of a world that was shifted by x (east), y (north) and z (up) [m]."""
        changes: dict[str, Any] = {"altitude_m": self.altitude_m - z}
        if self.latitude_deg is not None and (x or y):
            origin = Geodetic(self.latitude_deg, self.longitude_deg or 0.0, self.altitude_m)
            latitude, longitude, _ = TangentPlane(origin).geodetic(-x, -y, 0.0)
            changes |= {"latitude_deg": latitude, "longitude_deg": longitude}
        return replace(self, easting_m=self.easting_m - x, northing_m=self.northing_m - y, **changes)
