"""Settings of the encoders; ready-made ones are in config/sensors/encoders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from proving_ground.interfaces.joints import CORNERS
from proving_ground.settings import setting
from sensors.errors import ErrorParameters
from sensors.sensor import SensorSettings, rate


def amount(default: float, words: str, unit: str, highest: float) -> float:
    """The setting of something that is not negative."""
    value: float = setting(default, words, unit=unit, minimum=0.0, maximum=highest)
    return value


@dataclass(frozen=True, kw_only=True)
class EncoderSettings(SensorSettings):
    """Noises and offsets are standard deviations; offsets are drawn once. The defaults are those of `seed`.

    The mount is that of the inclinometers.
    """

    presets: ClassVar[str] = "sensors/encoders"
    channels: ClassVar[tuple[str, ...]] = (
        *(f"{name}_{corner}" for name in ("wheel_angle", "wheel_rate", "torque") for corner in CORNERS),
        "steering", "throttle", "brake_pressure", "engine_speed", "tilt_x", "tilt_y",
    )  # fmt: skip

    rate_hz: float = rate(100.0)
    gravity_mps2: float = setting(
        9.81, "Of the place, as the vehicle has it", unit="m/s^2", minimum=0.0, maximum=30.0, read_only=True
    )

    wheel_pulses: int = setting(40, "Counted edges per turn of a wheel", minimum=1, maximum=1_000_000, read_only=True)
    knows_direction: bool = setting(
        False, "Whether backward pulses count down; else all count up, as in [Sanjurjo]", read_only=True
    )
    pulse_hysteresis: float = setting(
        0.1, "How far back, as a share of a pulse, until one counts as backward", minimum=0.0, maximum=0.4,
        read_only=True,
    )  # fmt: skip
    pulse_jitter: float = setting(0.01, "Deviation of an edge's place, as a share of a pulse", minimum=0.0, maximum=0.1)
    stopped_after_s: float = setting(
        0.5, "Without a pulse for so long a rate is 0", unit="s", minimum=0.01, maximum=100.0, read_only=True
    )
    engine_pulses: int = setting(
        36, "Counted edges per turn of the engine", minimum=1, maximum=1_000_000, read_only=True
    )

    steering_resolution_deg: float = amount(0.044, "Step of the Pitman angle, 0: none", "deg", 90.0)
    steering_noise_deg: float = amount(0.02, "White noise", "deg", 90.0)
    steering_offset_deg: float = amount(0.1, "Of the middle", "deg", 90.0)
    wheel_torque_noise_nm: float = amount(10.0, "White noise", "N m", 1e5)
    wheel_torque_offset_nm: float = amount(5.0, "Of zero", "N m", 1e5)
    wheel_torque_resolution_nm: float = amount(1.0, "Step of the reading, 0: none", "N m", 1e5)
    wheel_torque_range_nm: float = amount(10000.0, "Largest reading, 0: no limit", "N m", 1e6)
    throttle_noise: float = amount(0.002, "White noise of the pedal, 1 is full", "", 1.0)
    throttle_resolution: float = amount(0.001, "Step of the reading, 0: none", "", 1.0)
    full_brake_pressure_pa: float = setting(
        1e7, "In the brake line at full pedal", unit="Pa", minimum=1e3, maximum=1e9, read_only=True
    )
    brake_pressure_noise_pa: float = amount(2e4, "White noise", "Pa", 1e8)
    brake_pressure_resolution_pa: float = amount(5e3, "Step of the reading, 0: none", "Pa", 1e8)
    tilt_noise_deg: float = amount(0.05, "White noise of the inclinometers", "deg", 90.0)
    tilt_offset_deg: float = amount(0.2, "Of level", "deg", 90.0)
    tilt_resolution_deg: float = amount(0.01, "Step of the reading, 0: none", "deg", 90.0)
    tilt_smoothing_s: float = amount(0.3, "Time constant of their low-pass, 0: none", "s", 100.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0.0 < self.wheel_torque_range_nm < self.wheel_torque_resolution_nm:
            raise ValueError(
                f"wheel_torque_resolution_nm: must not be above the range ({self.wheel_torque_range_nm:g}), "
                f"got {self.wheel_torque_resolution_nm:g}"
            )

    def errors(self) -> dict[str, ErrorParameters]:
        """Of each kind of reading, in its unit: N m, rad, share, Pa, rad."""
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
