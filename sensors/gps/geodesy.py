"""Location of a world on Earth; the conversions are in proving_ground.interfaces.geodesy."""

from __future__ import annotations

from proving_ground.interfaces.geodesy import Geodetic, TangentPlane
from terrain.georeference import Georeference

_LONGEST_NAME = 40  # characters of a coordinate system's name in a remark

# For worlds without a location: that of [Sanjurjo]'s example of a GGA sentence, near A Coruna.
DEFAULT_DATUM = Geodetic(43.4936, -8.2478, 0.0)


class LocalFrame(TangentPlane):
    """Tangent plane at the world's origin on Earth, with the world's axes: east, north, up."""

    def __init__(self, where: Georeference | None = None) -> None:
        """where: location of the origin; without latitude and longitude DEFAULT_DATUM, and `remark` says so."""
        self.remark = _remark(where)  # for a log; may be empty
        super().__init__(_datum(where))


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
        return f"the world has no location on Earth; its origin is assumed at {datum}"
    name = where.crs if len(where.crs) <= _LONGEST_NAME else where.crs[:_LONGEST_NAME] + "..."
    return f"the world has coordinates of {name} but no latitude and longitude; its origin is assumed at {datum}"
