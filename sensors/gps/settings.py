"""Settings of a GPS receiver; presets are in config/sensors/gps/."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from proving_ground.settings import setting
from sensors.errors import ErrorParameters
from sensors.gps.sky import FEWEST_SATELLITES, constellation, dilution
from sensors.sensor import SensorSettings, rate

QUALITIES = {0: "no fix", 1: "autonomous", 2: "differential", 4: "RTK fixed", 5: "RTK float"}  # [Sanjurjo], Table 5.3


@dataclass(frozen=True, kw_only=True)
class GpsSettings(SensorSettings):
    """Errors are those under open sky; buildings degrade them with the satellites' geometry."""

    presets: ClassVar[str] = "sensors/gps"
    channels: ClassVar[Sequence[str]] = (
        "east", "north", "up", "velocity_east", "velocity_north", "velocity_up",
    )  # fmt: skip

    rate_hz: float = rate(5.0, 100.0)
    quality: int = setting(
        1, "Fix quality as in NMEA GGA: 1 autonomous, 2 differential, 4 RTK fixed, 5 RTK float; 0: never a fix",
        minimum=0, maximum=5,
    )  # fmt: skip
    horizontal_std_m: float = setting(
        1.263, "Standard deviation of the position error, east and north each", unit="m", minimum=0.0, maximum=1000.0
    )
    vertical_std_m: float = setting(
        2.551, "Standard deviation of the height error", unit="m", minimum=0.0, maximum=1000.0
    )
    velocity_std_mps: float = setting(
        0.05, "Standard deviation of each axis of the Doppler velocity", unit="m/s", minimum=0.0, maximum=100.0
    )
    correlated_share: float = setting(
        0.0,
        "Share of the position error's variance that is correlated in time (Gauss-Markov), the rest is white noise",
        minimum=0.0,
        maximum=1.0,
    )
    correlation_time_s: float = setting(
        30.0, "Correlation time of the time-correlated part of the position error",
        unit="s", minimum=0.1, maximum=1e5,
    )  # fmt: skip
    satellites: int = setting(14, "Number of satellites above the horizon", minimum=FEWEST_SATELLITES, maximum=60)
    sky_mask_deg: float = setting(
        10.0, "Elevation above the horizon below which satellites are not used", unit="deg", minimum=0.0, maximum=60.0
    )
    highest_pdop: float = setting(
        25.0, "Dilution of precision (PDOP) above which there is no fix", minimum=1.0, maximum=1000.0
    )
    needs_sky: bool = setting(
        False, "Whether buildings and hills of the world hide satellites; false: open sky", read_only=True
    )
    reacquisition_s: float = setting(
        1.0, "Time from seeing enough satellites again to the next fix", unit="s", minimum=0.0, maximum=600.0
    )
    geoid_separation_m: float = setting(
        53.0, "Height of the geoid above the WGS 84 ellipsoid, for NMEA GGA sentences",
        unit="m", minimum=-120.0, maximum=120.0,
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quality not in QUALITIES:
            raise ValueError(f"quality: must be one of {', '.join(map(str, QUALITIES))}, got {self.quality}")
        open_sky = dilution(constellation(self.satellites, self.sky_mask_deg))
        if open_sky is None or open_sky.pdop > self.highest_pdop:
            raise ValueError(
                f"sky_mask_deg: {self.sky_mask_deg:g} leaves too few of {self.satellites} satellites for any fix"
            )

    def position_errors(self) -> ErrorParameters:
        """Errors as multiples of each axis's standard deviation: the variances of white and slow part sum to 1."""
        return ErrorParameters(
            noise=math.sqrt(1.0 - self.correlated_share),
            drifting_bias=math.sqrt(self.correlated_share),
            drift_time_s=self.correlation_time_s,
        )
