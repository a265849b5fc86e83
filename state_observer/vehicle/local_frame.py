"""East, north, up of single fixes from an origin, by default the first fix."""

from __future__ import annotations

from typing import Any

from proving_ground.interfaces.geodesy import Geodetic, TangentPlane
from proving_ground.saving.stateful import Stateful
from terrain.georeference import Datum


class Frame(Stateful):
    """The world's axes on Earth; without a datum the first converted position is the origin."""

    STATE = ("_origin",)

    def __init__(self, datum: Datum | None = None) -> None:
        self.is_given = datum is not None
        self._place(None)
        if datum is not None:
            self._place(Geodetic(datum.latitude_deg, datum.longitude_deg, datum.altitude_m))

    def _place(self, origin: Geodetic | None) -> None:
        self._origin = origin
        self._plane = TangentPlane(origin) if origin is not None else None

    def restore_state(self, state: dict[str, Any], *, keep_random: bool = False) -> None:
        """Restore as Stateful does; the tangent plane is computed from its origin."""
        super().restore_state(state, keep_random=keep_random)
        self._place(self._origin)

    @property
    def is_placed(self) -> bool:
        """Whether the origin on Earth is known yet."""
        return self._plane is not None

    def enu(self, latitude_deg: float, longitude_deg: float, altitude_m: float) -> tuple[float, float, float]:
        """East, north and up [m] of a geodetic position from the datum."""
        if self._plane is None:
            self._place(Geodetic(latitude_deg, longitude_deg, altitude_m))
        assert self._plane is not None
        return self._plane.enu(latitude_deg, longitude_deg, altitude_m)
