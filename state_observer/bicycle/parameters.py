"""Parameters of the roll angle example, from config/observers/bicycle.yaml."""

from __future__ import annotations

from dataclasses import dataclass

from proving_ground.settings import setting
from proving_ground.settings.nested import load_settings
from proving_ground.settings.share import share_file


@dataclass(frozen=True, kw_only=True)
class RollFilterParameters:
    """Tuning of the Kalman filter for the roll angle."""

    roll_noise: float = setting(..., "PSD of the roll rate's error", unit="rad^2/s", minimum=0.0, maximum=1.0)
    bias_noise: float = setting(..., "PSD of the bias's random walk", unit="rad^2/s^3", minimum=0.0, maximum=1.0)
    measurement_std_rad: float = setting(
        ..., "Standard deviation of a roll measurement", unit="rad", minimum=1e-4, maximum=3.0
    )
    sharpness: float = setting(..., "Sharpness C of the weight in Eq. 3.32", unit="1/rad^2", minimum=0.0, maximum=1e4)


@dataclass(frozen=True, kw_only=True)
class BicycleParameters:
    """Parameters of a simulated ride, of its sensors and of the roll filter."""

    step_s: float = setting(..., "Time between samples", unit="s", minimum=1e-4, maximum=0.1)
    gravity_mps2: float = setting(
        ..., "Magnitude of the gravitational acceleration", unit="m/s^2", minimum=0.1, maximum=100.0
    )
    gyro_noise_radps: float = setting(..., "Noise of a gyroscope sample", unit="rad/s", minimum=0.0, maximum=1.0)
    gyro_bias_radps: tuple[float, float, float] = setting(
        ..., "Bias of the gyroscopes about x, y, z", unit="rad/s", minimum=-1.0, maximum=1.0
    )
    speed_noise_mps: float = setting(..., "Noise of a speed sample", unit="m/s", minimum=0.0, maximum=5.0)
    pitch_noise_rad: float = setting(
        ..., "Standard deviation of the pitch by roughness of the road", unit="rad", minimum=0.0, maximum=0.1
    )
    mass_height_m: float = setting(..., "Height of the centre of mass", unit="m", minimum=0.1, maximum=3.0)
    filter: RollFilterParameters


def load_bicycle() -> BicycleParameters:
    """Parameters from config/observers/bicycle.yaml."""
    return load_settings(share_file("config/observers/bicycle.yaml"), BicycleParameters)
