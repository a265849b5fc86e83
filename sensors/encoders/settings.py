"""Settings of the encoders; presets are in config/sensors/encoders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings import setting
from sensors.errors import ErrorParameters
from sensors.sensor import SensorSettings, gravity, rate


def amount(default: float, words: str, unit: str, highest: float) -> float:
    """A setting that must not be negative."""
    value: float = setting(default, words, unit=unit, minimum=0.0, maximum=highest)
    return value


@dataclass(frozen=True, kw_only=True)
class EncoderSettings(SensorSettings):
    """Noises and offsets are standard deviations; offsets are drawn once. The defaults are those of `hall_40`.

    The mount is that of the inclinometers.
    """

    presets: ClassVar[str] = "sensors/encoders"
    channels: ClassVar[tuple[str, ...]] = (
        *(f"{name}_{corner}" for name in ("wheel_angle", "wheel_rate", "torque") for corner in CORNERS),
        "steering", "throttle", "brake_pressure", "engine_speed", "tilt_x", "tilt_y",
    )  # fmt: skip

    rate_hz: float = rate(100.0)
    gravity_mps2: float = gravity()

    wheel_pulses: int = setting(
        40,
        "Edges that the encoder counts per revolution of a wheel, quadrature included",
        minimum=1,
        maximum=1_000_000,
        read_only=True,
    )
    knows_direction: bool = setting(
        False,
        "Whether wheel encoders sense direction and count down in reverse; false: they always count up",
        read_only=True,
    )
    pulse_hysteresis: float = setting(
        0.1, "Rotation backwards that the encoder ignores before it counts down, as a share of a pulse",
        minimum=0.0, maximum=0.4, read_only=True,
    )  # fmt: skip
    pulse_jitter: float = setting(
        0.01, "Standard deviation of the position of each pulse on the wheel, as a share of the pulse spacing",
        minimum=0.0, maximum=0.1,
    )  # fmt: skip
    stopped_after_s: float = setting(
        0.5, "Time without a pulse after which the published wheel or engine speed is 0",
        unit="s", minimum=0.01, maximum=100.0, read_only=True,
    )  # fmt: skip
    engine_pulses: int = setting(
        36, "Edges that the encoder counts per revolution of the engine", minimum=1, maximum=1_000_000, read_only=True
    )

    steering_resolution_deg: float = amount(
        0.044, "Resolution of the measured Pitman arm angle; 0: no rounding", "deg", 90.0
    )
    steering_noise_deg: float = amount(
        0.02, "Standard deviation of white noise on the measured Pitman arm angle", "deg", 90.0
    )
    steering_offset_deg: float = amount(
        0.1, "Standard deviation of the constant offset of the measured Pitman arm angle", "deg", 90.0
    )
    wheel_torque_noise_nm: float = amount(10.0, "Standard deviation of the wheel torque's white noise", "N m", 1e5)
    wheel_torque_offset_nm: float = amount(5.0, "Standard deviation of the wheel torque's constant offset", "N m", 1e5)
    wheel_torque_resolution_nm: float = amount(1.0, "Resolution of the wheel torque; 0: no rounding", "N m", 1e5)
    wheel_torque_range_nm: float = amount(
        10000.0, "Largest wheel torque that can be measured, beyond which it saturates; 0: no limit", "N m", 1e6
    )
    throttle_noise: float = amount(
        0.002, "Standard deviation of white noise on the throttle position, where 1 is full throttle", "", 1.0
    )
    throttle_resolution: float = amount(
        0.001, "Resolution of the throttle position, where 1 is full throttle; 0: no rounding", "", 1.0
    )
    full_brake_pressure_pa: float = setting(
        1e7, "Pressure in the brake line at full brake pedal", unit="Pa", minimum=1e3, maximum=1e9, read_only=True
    )
    brake_pressure_noise_pa: float = amount(2e4, "Standard deviation of the brake pressure's white noise", "Pa", 1e8)
    brake_pressure_resolution_pa: float = amount(5e3, "Resolution of the brake pressure; 0: no rounding", "Pa", 1e8)
    tilt_noise_deg: float = amount(
        0.05, "Standard deviation of white noise on the roll and pitch of the inclinometers", "deg", 90.0
    )
    tilt_offset_deg: float = amount(
        0.2, "Standard deviation of the constant offset of the inclinometers' roll and pitch", "deg", 90.0
    )
    tilt_resolution_deg: float = amount(
        0.01, "Resolution of the inclinometers' roll and pitch; 0: no rounding", "deg", 90.0
    )
    tilt_smoothing_s: float = amount(
        0.3, "Time constant of the inclinometers' first-order low-pass filter; 0: no filter", "s", 100.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0.0 < self.wheel_torque_range_nm < self.wheel_torque_resolution_nm:
            raise ValueError(
                f"wheel_torque_resolution_nm: must not be above the range ({self.wheel_torque_range_nm:g}), "
                f"got {self.wheel_torque_resolution_nm:g}"
            )

    def errors(self) -> dict[str, ErrorParameters]:
        """Error models by kind of reading: wheel torque [N m], steering [rad], throttle, brake [Pa], tilt [rad]."""
        return {
            "torque": ErrorParameters(
                noise=self.wheel_torque_noise_nm,
                constant_bias=self.wheel_torque_offset_nm,
                resolution=self.wheel_torque_resolution_nm,
                limit=self.wheel_torque_range_nm or math.inf,
            ),
            "steering": ErrorParameters(
                noise=math.radians(self.steering_noise_deg),
                constant_bias=math.radians(self.steering_offset_deg),
                resolution=math.radians(self.steering_resolution_deg),
            ),
            "throttle": ErrorParameters(noise=self.throttle_noise, resolution=self.throttle_resolution),
            "brake_pressure": ErrorParameters(
                noise=self.brake_pressure_noise_pa, resolution=self.brake_pressure_resolution_pa
            ),
            "tilt": ErrorParameters(
                noise=math.radians(self.tilt_noise_deg),
                constant_bias=math.radians(self.tilt_offset_deg),
                resolution=math.radians(self.tilt_resolution_deg),
            ),
        }
