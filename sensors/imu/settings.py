"""Settings of the IMU in the units of data sheets; presets are in config/sensors/imu."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from proving_ground.settings import setting
from sensors.allan import drift_of_instability
from sensors.errors import ErrorParameters
from sensors.sensor import SensorSettings, gravity, rate

STANDARD_GRAVITY = 9.80665  # the unit g of data sheets [m/s^2]
DPS = math.radians(1.0)  # degrees per second [rad/s]
DPH = DPS / 3600.0  # degrees per hour [rad/s]
UG = 1e-6 * STANDARD_GRAVITY  # [m/s^2]
PER_ROOT_HOUR = 1.0 / 60.0  # [1/sqrt(s)]
PPM = 1e-6


def deviation(default: float, words: str, unit: str, highest: float) -> float:
    """A setting of a standard deviation."""
    value: float = setting(default, words, unit=unit, minimum=0.0, maximum=highest)
    return value


@dataclass(frozen=True, kw_only=True)
class ImuSettings(SensorSettings):
    """Standard deviations of each axis unless described otherwise; the defaults are those of industrial_mems.

    Noise densities are N of IEEE Std 952 (Allan deviation at 1 s; 1/60 of the angle random walk in deg/sqrt(h)), for a
    bandwidth of half the rate: one sample has a standard deviation of density * sqrt(rate). Bias instabilities are the
    flat part of the Allan deviation.
    """

    presets: ClassVar[str] = "sensors/imu"
    channels: ClassVar[tuple[str, ...]] = (
        "gyro_x", "gyro_y", "gyro_z", "accel_x", "accel_y", "accel_z",
        "attitude_x", "attitude_y", "attitude_z", "attitude_w",
    )  # fmt: skip

    rate_hz: float = rate(100.0)
    gravity_mps2: float = gravity()

    gyro_noise_density_dps_per_rthz: float = deviation(
        0.005, "White noise density of the gyroscopes", "deg/s/sqrt(Hz)", 10.0
    )
    gyro_bias_instability_dph: float = deviation(
        8.0, "Bias instability of the gyroscopes: the flat part of the Allan deviation", "deg/h", 1e5
    )
    gyro_bias_correlation_s: float = setting(
        200.0, "Correlation time of the gyroscope bias", unit="s", minimum=0.1, maximum=1e5
    )
    gyro_random_walk_dph_per_rth: float = deviation(4.0, "Rate random walk of the gyroscopes", "deg/h/sqrt(h)", 1e5)
    gyro_constant_bias_dps: float = deviation(0.1, "Standard deviation of the gyroscopes' turn-on bias", "deg/s", 100.0)
    gyro_scale_ppm: float = deviation(1000.0, "Standard deviation of the gyroscopes' scale factor error", "ppm", 1e5)
    gyro_misalignment_mrad: float = deviation(
        0.5, "Standard deviation of the misalignment between any two gyroscope axes", "mrad", 100.0
    )
    gyro_resolution_dps: float = deviation(0.0001, "Resolution of the gyroscopes; 0: no rounding", "deg/s", 10.0)
    gyro_range_dps: float = deviation(
        450.0,
        "Largest angular velocity the gyroscopes can measure, beyond which they saturate; 0: no limit",
        "deg/s",
        1e5,
    )

    accel_noise_density_ug_per_rthz: float = deviation(
        60.0, "White noise density of the accelerometers", "ug/sqrt(Hz)", 1e5
    )
    accel_bias_instability_ug: float = deviation(
        40.0, "Bias instability of the accelerometers: the flat part of the Allan deviation", "ug", 1e6
    )
    accel_bias_correlation_s: float = setting(
        200.0, "Correlation time of the accelerometer bias", unit="s", minimum=0.1, maximum=1e5
    )
    accel_random_walk_ug_per_rth: float = deviation(20.0, "Random walk of the accelerometer bias", "ug/sqrt(h)", 1e6)
    accel_constant_bias_mg: float = deviation(3.0, "Standard deviation of the accelerometers' turn-on bias", "mg", 1e3)
    accel_scale_ppm: float = deviation(
        1000.0, "Standard deviation of the accelerometers' scale factor error", "ppm", 1e5
    )
    accel_misalignment_mrad: float = deviation(
        0.5, "Standard deviation of the misalignment between any two accelerometer axes", "mrad", 100.0
    )
    accel_resolution_mg: float = deviation(0.01, "Resolution of the accelerometers; 0: no rounding", "mg", 100.0)
    accel_range_g: float = deviation(
        8.0, "Largest specific force the accelerometers can measure, beyond which they saturate; 0: no limit", "g", 1e4
    )

    has_attitude: bool = setting(
        False, "Whether the IMU estimates its own orientation and publishes it on imu/data", read_only=True
    )
    attitude_std_deg: float = deviation(
        0.5, "Standard deviation of roll and pitch in the published orientation", "deg", 45.0
    )
    heading_std_deg: float = deviation(
        2.0, "Standard deviation of the heading in the published orientation", "deg", 180.0
    )
    attitude_correlation_s: float = setting(
        10.0, "Correlation time of the errors of the published orientation", unit="s", minimum=0.01, maximum=1e5
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for kind, name in (("gyro", "dps"), ("accel", "mg")):
            largest = self.gyro_range_dps if kind == "gyro" else 1e3 * self.accel_range_g
            step = getattr(self, f"{kind}_resolution_{name}")
            if 0.0 < largest < step:
                raise ValueError(f"{kind}_resolution_{name}: must not be above the range ({largest:g}), got {step:g}")

    def gyro_errors(self) -> ErrorParameters:
        """Errors of the gyroscopes in rad/s."""
        return ErrorParameters(
            noise=self.gyro_noise_density_dps_per_rthz * DPS * math.sqrt(self.rate_hz),
            constant_bias=self.gyro_constant_bias_dps * DPS,
            drifting_bias=drift_of_instability(self.gyro_bias_instability_dph * DPH),
            drift_time_s=self.gyro_bias_correlation_s,
            random_walk=self.gyro_random_walk_dph_per_rth * DPH * PER_ROOT_HOUR,
            scale=self.gyro_scale_ppm * PPM,
            misalignment=1e-3 * self.gyro_misalignment_mrad,
            resolution=self.gyro_resolution_dps * DPS,
            limit=self.gyro_range_dps * DPS or math.inf,
        )

    def accel_errors(self) -> ErrorParameters:
        """Errors of the accelerometers in m/s^2."""
        return ErrorParameters(
            noise=self.accel_noise_density_ug_per_rthz * UG * math.sqrt(self.rate_hz),
            constant_bias=1e3 * self.accel_constant_bias_mg * UG,
            drifting_bias=drift_of_instability(self.accel_bias_instability_ug * UG),
            drift_time_s=self.accel_bias_correlation_s,
            random_walk=self.accel_random_walk_ug_per_rth * UG * PER_ROOT_HOUR,
            scale=self.accel_scale_ppm * PPM,
            misalignment=1e-3 * self.accel_misalignment_mrad,
            resolution=1e3 * self.accel_resolution_mg * UG,
            limit=self.accel_range_g * STANDARD_GRAVITY or math.inf,
        )

    def attitude_errors(self) -> tuple[ErrorParameters, ErrorParameters]:
        """Errors of roll and pitch, and of heading [rad]: correlated as a filter's errors are, not white."""
        tilt, heading = (math.radians(value) for value in (self.attitude_std_deg, self.heading_std_deg))
        return (
            ErrorParameters(drifting_bias=tilt, drift_time_s=self.attitude_correlation_s),
            ErrorParameters(drifting_bias=heading, drift_time_s=self.attitude_correlation_s),
        )
