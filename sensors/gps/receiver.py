"""GPS receiver: fixes of its antenna with consistent covariance, and no fix without enough sky."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.samples import COURSE_SPEED
from proving_ground.saving.stateful import Stateful
from proving_ground.settings.units import NS_PER_S
from sensors.errors import ErrorModel, ErrorParameters
from sensors.faults import Fault
from sensors.gps.geodesy import LocalFrame
from sensors.gps.settings import GpsSettings
from sensors.gps.sky import Dilution, SkyView, constellation, dilution
from sensors.mounting import require_motion
from sensors.samples import GpsSample
from sensors.sensor import Sensor
from terrain.georeference import Georeference
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]

NO_FIX_VARIANCE = 1e8  # [m^2, m^2/s^2]: finite, but too large to be used
LEAST_VARIANCE = 1e-12  # [m^2, m^2/s^2]: zero would mean unknown
NO_FIX_HDOP = 99.9  # as receivers report it, with one digit as in our GGA
_PERFECT = np.zeros(3)


class Gps(Sensor[GpsSettings, GpsSample]):
    """Call `update` at each tick of the truth, in order.

    Errors and covariance are along the world's axes. The local axes at the antenna differ from them by its distance
    from the origin over the Earth's radius, a milliradian at 6 km.
    """

    STATE = ("_position_errors", "_velocity_errors", "_lock", "_last_fix")

    def __init__(
        self,
        settings: GpsSettings,
        *,
        georeference: Georeference | None = None,
        seed: int = 0,
        name: str = "gps",
        faults: Iterable[Fault] = (),
        start_ns: int = 0,
        sky: SkyView | None = None,
    ) -> None:
        """georeference: of the world's origin, see LocalFrame; sky: what hides satellites, for settings with needs_sky.

        For the others see Sensor. Raises ValueError if the settings need a sky and there is none.
        """
        if settings.needs_sky and sky is None:
            raise ValueError("needs_sky: there is no world to hide satellites")
        self.frame = LocalFrame(georeference)
        self._sky = sky
        self._position_errors = ErrorModel(settings.position_errors(), 3, seed, name, "position")
        self._velocity_errors = ErrorModel(ErrorParameters(noise=1.0), 3, seed, name, "velocity")
        self._lock = _Lock()
        self._last_fix = self.frame.origin
        super().__init__(settings, seed=seed, name=name, faults=faults, start_ns=start_ns)

    def change(self, settings: GpsSettings) -> None:
        """Apply changed settings while running."""
        super().change(settings)
        self._position_errors.parameters = settings.position_errors()
        self._satellites = constellation(settings.satellites, settings.sky_mask_deg)
        open_sky = dilution(self._satellites)
        assert open_sky is not None, "ensured by the settings"
        self._open_sky = open_sky
        self._position_std = np.array([settings.horizontal_std_m, settings.horizontal_std_m, settings.vertical_std_m])

    def reset(self) -> None:
        """Return to the initial state, random generators included."""
        super().reset()
        self._position_errors.reset()
        self._velocity_errors.reset()
        self._lock.reset()
        self._last_fix = self.frame.origin

    def update(self, time_ns: int, base: BaseMotion) -> list[GpsSample]:
        """Samples that arrive at this instant for a motion of base_link; times must not go back without a reset.

        Raises ValueError for a motion that is not finite.
        """
        require_motion(base)
        if self.is_due(time_ns):
            self.send(time_ns, self._sample(time_ns, base))
        return self.arrived(time_ns)

    def _sample(self, time_ns: int, base: BaseMotion) -> GpsSample:
        antenna = self.mounting.motion(base)  # [Sanjurjo] Eqs. 5.45 and 5.49
        # Drawn with and without a fix, so that an outage does not change later errors.
        errors = self._position_errors.apply(time_ns, _PERFECT), self._velocity_errors.apply(time_ns, _PERFECT)
        seen, count = self._seen(antenna.position)
        if not self._lock.is_held(time_ns, seen is not None, self.settings.reacquisition_s) or seen is None:
            return self._without_fix(time_ns, count)
        worse = seen.axes / self._open_sky.axes
        position_std, velocity_std = worse * self._position_std, worse * self.settings.velocity_std_mps
        measured = antenna.position + position_std * errors[0], antenna.velocity + velocity_std * errors[1]
        reading = self.distorted(time_ns, np.concatenate(measured))
        position = self.frame.geodetic(*reading[:3].tolist())
        if math.isfinite(position.latitude_deg + position.longitude_deg + position.altitude_m):
            self._last_fix = position
        east, north, _ = reading[3:].tolist()
        speed = math.hypot(east, north)
        return GpsSample(
            time_ns,
            self.settings.quality,
            *position,
            np.maximum(position_std**2, LEAST_VARIANCE),
            reading[3:],
            np.maximum(velocity_std**2, LEAST_VARIANCE),
            speed,
            math.atan2(east, north) % math.tau if speed >= COURSE_SPEED else None,
            count,
            seen.hdop,
        )

    def _seen(self, antenna: Array) -> tuple[Dilution | None, int]:
        """Geometry of the visible satellites, None if it gives no fix, and their number."""
        if self.settings.quality == 0:
            return None, 0
        if not self.settings.needs_sky or self._sky is None:
            return self._open_sky, self._open_sky.satellites
        blocked = self._sky.is_blocked(antenna, self._satellites)
        count = len(blocked) - int(np.count_nonzero(blocked))
        if count == len(blocked):
            return self._open_sky, count
        seen = dilution(self._satellites[~blocked])
        return (None if seen is None or seen.pdop > self.settings.highest_pdop else seen), count

    def _without_fix(self, time_ns: int, satellites: int) -> GpsSample:
        unknown = np.full(3, NO_FIX_VARIANCE)
        return GpsSample(
            time_ns, 0, *self._last_fix, unknown, np.zeros(3), unknown.copy(), 0.0, None, satellites, NO_FIX_HDOP
        )


class _Lock(Stateful):
    """Whether there is a fix: lost at once, regained after satellites were visible for a while; held at the start."""

    STATE = ("_is_held", "_clear_since_ns")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._is_held = True
        self._clear_since_ns: int | None = None

    def is_held(self, time_ns: int, is_clear: bool, reacquisition_s: float) -> bool:
        if not is_clear:
            self._is_held, self._clear_since_ns = False, None
        elif not self._is_held:
            if self._clear_since_ns is None:
                self._clear_since_ns = time_ns
            self._is_held = time_ns - self._clear_since_ns >= reacquisition_s * NS_PER_S
        return self._is_held
