"""East, north, up of single fixes from an origin, by default the first fix."""

from __future__ import annotations

from proving_ground.interfaces.geodesy import Geodetic, TangentPlane
from state_observer.vehicle.settings import Datum


class Frame:
    """The world's axes on Earth; without a datum the first converted position is the origin."""

    def __init__(self, datum: Datum | None = None) -> None:
        self.is_given = datum is not None
        self._plane: TangentPlane | None = None
        if datum is not None:
            self._plane = TangentPlane(Geodetic(datum.latitude_deg, datum.longitude_deg, datum.altitude_m))

    @property
    def is_placed(self) -> bool:
        """Whether there is an origin."""
        return self._plane is not None

    def enu(self, latitude_deg: float, longitude_deg: float, altitude_m: float) -> tuple[float, float, float]:
        """Metres from the origin."""
        if self._plane is None:
            self._plane = TangentPlane(Geodetic(latitude_deg, longitude_deg, altitude_m))
        return self._plane.enu(latitude_deg, longitude_deg, altitude_m)
