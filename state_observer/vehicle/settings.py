"""Settings of the vehicle's observers, from config/observers/vehicle*.yaml. Units in the names; angles in radians."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from proving_ground.settings import same_setting, setting
from proving_ground.settings.named_files import named_or_path
from sensors.encoders import EncoderSettings
from terrain.georeference import Datum


def _std(default: float, words: str, unit: str) -> Any:
    return setting(default, words, unit=unit, minimum=1e-9, maximum=1e6)


def _psd(default: float, words: str, unit: str) -> Any:
    return setting(default, words, unit=unit, minimum=0.0, maximum=1e6)


def _position(words: str, default: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Any:
    return setting(default, words, unit="m", minimum=-10.0, maximum=10.0)


@dataclass(frozen=True, kw_only=True)
class Mounts:
    """Mounts of the sensors in base_link."""

    gps_xyz_m: tuple[float, float, float] = _position("Position of the GPS antenna in base_link")
    imu_xyz_m: tuple[float, float, float] = _position("Position of the IMU in base_link")
    imu_rpy_deg: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Roll, pitch, yaw of the IMU in base_link", unit="deg", minimum=-180.0, maximum=180.0
    )


@dataclass(frozen=True, kw_only=True)
class SensorNoise:
    """Measurement noise: for samples without variances, and beyond what a sensor can know."""

    gps_std_m: float = _std(1.263, "Standard deviation of the GPS position, east and north each", "m")
    gps_up_std_m: float = _std(2.551, "Standard deviation of the GPS height", "m")
    gps_velocity_std_mps: float = _std(0.05, "Standard deviation of the GPS velocity, each axis", "m/s")
    course_std: float = _std(0.02, "Standard deviation of the course used as yaw, in addition to velocity noise", "rad")
    gyro_std_radps: float = _std(0.003, "Standard deviation of the angular rate", "rad/s")
    force_std_mps2: float = _std(
        0.15, "Standard deviation of the specific force: noise, and vibration that the model misses", "m/s^2"
    )
    input_std_mps2: float = _std(
        0.02, "Standard deviation of the longitudinal acceleration by noise of pedals and engine speed", "m/s^2"
    )
    wheel_pulses: int = same_setting(EncoderSettings, "wheel_pulses")
    wheel_std: float = _std(0.02, "Standard deviation of the wheel angle, beyond the width of a pulse", "rad")


@dataclass(frozen=True, kw_only=True)
class Gates:
    """Gates on innovations, in standard deviations of a normal distribution."""

    gps_sigma: float = setting(
        5.0, "Gate of GPS position and velocity, in standard deviations", minimum=2.0, maximum=100.0
    )
    imu_sigma: float = setting(
        6.0, "Gate of gyroscopes and accelerometers, in standard deviations", minimum=2.0, maximum=100.0
    )
    wheel_sigma: float = setting(4.0, "Gate of each wheel angle, in standard deviations", minimum=2.0, maximum=100.0)
    reset_after_s: float = setting(
        7.0, "Time of disagreement after which the position is reset to the GPS", unit="s", minimum=0.5, maximum=600.0
    )
    course_above_mps: float = setting(
        0.5, "Speed below which a GPS course is not used", unit="m/s", minimum=0.0, maximum=10.0
    )
    wheel_limit_mps2: float = setting(
        12.0,
        "Change of wheel speed above which a wheel counts as slipping or locked",
        unit="m/s^2",
        minimum=1.0,
        maximum=1e3,
    )


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Treatment of late, early and missing samples."""

    buffer_s: float = setting(0.6, "Age beyond which late samples are dropped", unit="s", minimum=0.0, maximum=5.0)
    future_s: float = setting(
        0.1, "Lead of a stamp beyond which a sample is held until its time", unit="s", minimum=0.0, maximum=10.0
    )
    hold_s: float = setting(
        1.0, "Longest time a sample stamped in the future is held", unit="s", minimum=0.0, maximum=10.0
    )
    gap_s: float = setting(
        1.0, "Time without any sample after which the filter starts again", unit="s", minimum=0.1, maximum=60.0
    )
    dead_reckoning_after_s: float = setting(
        1.0, "Time without a GPS fix after which the status is dead reckoning", unit="s", minimum=0.1, maximum=60.0
    )
    invalid_after_s: float = setting(
        5.0, "Time without a GPS fix after which the status is invalid", unit="s", minimum=0.1, maximum=600.0
    )


@dataclass(frozen=True, kw_only=True)
class Start:
    """Initialisation of the observer's pose ([Sanjurjo] Section 5.5)."""

    heading_std: float = setting(
        0.08,
        "Largest standard deviation of the heading at which the filter starts",
        unit="rad",
        minimum=1e-3,
        maximum=1.0,
    )
    baseline_m: float = setting(
        3.0, "Least distance between two fixes that give a heading", unit="m", minimum=0.1, maximum=1e3
    )
    gyro_bias_std_radps: float = _std(0.01, "Standard deviation of the gyroscopes' bias at the start", "rad/s")
    force_bias_std_mps2: float = _std(0.1, "Standard deviation of the accelerometers' bias at the start", "m/s^2")
    aligned_std: float = setting(
        0.05, "Standard deviation of the yaw below which it counts as aligned", unit="rad", minimum=1e-3, maximum=1.0
    )


Settings = TypeVar("Settings", bound="ObserverSettings")


class Known(NamedTuple):
    """Knowledge of a run about the sensors and its location; mounts in base_link."""

    gps_xyz_m: tuple[float, float, float]
    imu_xyz_m: tuple[float, float, float]
    imu_rpy_deg: tuple[float, float, float]
    gyro_std_radps: float
    force_std_mps2: float
    gyro_bias_std_radps: float
    force_bias_std_mps2: float
    wheel_pulses: int
    knows_direction: bool
    full_brake_pressure_pa: float
    datum: Datum
    vehicle: str  # of the run: name in config/vehicles, or a path

    def mounts(self) -> Mounts:
        """The known mounts in the form of the observer's settings."""
        return Mounts(gps_xyz_m=self.gps_xyz_m, imu_xyz_m=self.imu_xyz_m, imu_rpy_deg=self.imu_rpy_deg)


@dataclass(frozen=True, kw_only=True)
class ObserverSettings:
    """Settings of all observers."""

    mounts: Mounts = field(default_factory=Mounts)
    sensors: SensorNoise = field(default_factory=SensorNoise)
    gates: Gates = field(default_factory=Gates)
    timing: Timing = field(default_factory=Timing)
    start: Start = field(default_factory=Start)
    datum: Datum | None = None

    def found_from(self: Settings, folder: Path) -> Settings:
        """Settings with paths resolved relative to the folder of their file."""
        return self

    def informed(self: Settings, known: Known) -> Settings:
        """Settings completed with what the run knows; the larger noise counts."""
        noise = replace(
            self.sensors,
            gyro_std_radps=max(self.sensors.gyro_std_radps, known.gyro_std_radps),
            force_std_mps2=max(self.sensors.force_std_mps2, known.force_std_mps2),
        )
        start = replace(
            self.start,
            gyro_bias_std_radps=max(self.start.gyro_bias_std_radps, known.gyro_bias_std_radps),
            force_bias_std_mps2=max(self.start.force_bias_std_mps2, known.force_bias_std_mps2),
        )
        settings = replace(self, mounts=known.mounts(), sensors=noise, start=start, datum=known.datum)
        return settings.measured_by(known.wheel_pulses, known.knows_direction, known.full_brake_pressure_pa)

    def measured_by(
        self: Settings, wheel_pulses: int, knows_direction: bool, full_brake_pressure_pa: float
    ) -> Settings:
        """Settings for encoders with these pulses per revolution, sense of direction and brake pressure [Pa]."""
        return replace(self, sensors=replace(self.sensors, wheel_pulses=wheel_pulses))


@dataclass(frozen=True, kw_only=True)
class ModelNoise:
    """PSD of the process noise ([Sanjurjo] Eq. 3.126), tuned by state_observer.vehicle.tuning."""

    along_mps2: float = _psd(0.01, "PSD of the longitudinal acceleration noise", "m^2/s^3")
    across_mps2: float = _psd(0.01, "PSD of the lateral acceleration noise", "m^2/s^3")
    up_mps2: float = _psd(0.01, "PSD of the vertical acceleration noise", "m^2/s^3")
    yaw_radps2: float = _psd(0.002, "PSD of the yaw acceleration noise", "rad^2/s^3")
    tilt_radps2: float = _psd(0.002, "PSD of the roll and pitch acceleration noise", "rad^2/s^3")
    wheel_radps2: float = _psd(0.05, "PSD of the wheels' angular acceleration noise", "rad^2/s^3")
    disturbance_mps3: float = _psd(0.2, "PSD that drives the acceleration that the model misses", "m^2/s^5")
    disturbance_time_s: float = setting(
        1.0, "Correlation time of the acceleration that the model misses", unit="s", minimum=0.01, maximum=1e3
    )
    yaw_disturbance_radps3: float = _psd(
        1e-3, "PSD that drives the yaw acceleration that the model misses, as an offset of its steering", "rad^2/s^5"
    )
    yaw_disturbance_time_s: float = setting(
        2.0, "Correlation time of the yaw acceleration that the model misses", unit="s", minimum=0.01, maximum=1e3
    )
    gyro_bias_radps2: float = _psd(1e-9, "PSD of the gyroscope bias's random walk", "rad^2/s^3")
    force_bias_mps3: float = _psd(1e-7, "PSD of the accelerometer bias's random walk", "m^2/s^5")
    ground_mps: float = _psd(1e-4, "PSD of the random walk of the ground's height", "m^2/s")
    drift_m: float = _psd(
        2e-5, "PSD of the position's random walk over distance, each axis: slip and radius of wheels", "m^2/m"
    )
    drift_yaw: float = _psd(1e-6, "PSD of the yaw's random walk over turning: scale of the gyroscopes", "rad^2/rad")


@dataclass(frozen=True, kw_only=True)
class VehicleObserverSettings(ObserverSettings):
    """Settings of the errorEKF."""

    vehicle: str = setting(
        "", "Name of the model's vehicle in config/vehicles, or a path; empty: that of the run, or the default"
    )
    powertrain: str = setting("converter", "Kind of the model's powertrain", choices=("converter", "map"))
    step_s: float = setting(0.004, "Time between two estimates", unit="s", minimum=0.0005, maximum=0.01)
    model_step_s: float = setting(0.002, "Longest step of the model", unit="s", minimum=0.0002, maximum=0.004)
    full_brake_pa: float = same_setting(EncoderSettings, "full_brake_pressure_pa", read_only=False)
    wheels_know_direction: bool = same_setting(EncoderSettings, "knows_direction", read_only=False)
    noise: ModelNoise = field(default_factory=ModelNoise)
    estimates_biases: bool = setting(True, "Whether biases of gyroscopes and accelerometers are estimated")
    estimates_disturbance: bool = setting(
        True, "Whether the acceleration that the model misses is estimated ([Sanjurjo] Section 6.2)"
    )
    knows_ground: bool = setting(False, "Whether the height of the ground is known exactly")
    full_position_jacobian: bool = setting(
        True, "Whether GPS positions use the Jacobian of Eq. 5.46, else that of Eq. 5.47"
    )
    heading_from: str = setting(
        "velocity", "Part of a GPS sample that gives the yaw: velocity or course", choices=("velocity", "course")
    )
    heave_hz: float = setting(
        ..., "Natural frequency of the chassis in heave, on springs and tyres", unit="Hz", minimum=0.1, maximum=10.0
    )
    pitch_hz: float = setting(..., "Natural frequency of the chassis in pitch", unit="Hz", minimum=0.1, maximum=10.0)
    roll_hz: float = setting(..., "Natural frequency of the chassis in roll", unit="Hz", minimum=0.1, maximum=10.0)
    damping: float = setting(..., "Damping ratio of heave, pitch and roll", minimum=0.0, maximum=2.0)
    force_error: float = setting(0.1, "Relative uncertainty of tyre forces and loads", minimum=0.0, maximum=1.0)

    def found_from(self, folder: Path) -> VehicleObserverSettings:
        """Settings with paths, the vehicle's included, resolved relative to the folder of their file."""
        return replace(self, vehicle=named_or_path(self.vehicle, folder))

    def informed(self, known: Known) -> VehicleObserverSettings:
        """Settings completed with what the run knows; also the run's vehicle, unless the settings name one."""
        return replace(super().informed(known), vehicle=self.vehicle or known.vehicle)

    def measured_by(
        self, wheel_pulses: int, knows_direction: bool, full_brake_pressure_pa: float
    ) -> VehicleObserverSettings:
        """Settings for encoders with these properties; the errorEKF uses all three."""
        settings = super().measured_by(wheel_pulses, knows_direction, full_brake_pressure_pa)
        return replace(settings, full_brake_pa=full_brake_pressure_pa, wheels_know_direction=knows_direction)


@dataclass(frozen=True, kw_only=True)
class InsNoise:
    """PSD of the INS's errors."""

    gyro_radps: float = _psd(1e-6, "PSD of the angular rate's noise", "rad^2/s")
    force_mps2: float = _psd(1e-3, "PSD of the specific force's noise", "m^2/s^3")
    gyro_bias_radps2: float = _psd(1e-9, "PSD of the gyroscope bias's random walk", "rad^2/s^3")
    force_bias_mps3: float = _psd(1e-6, "PSD of the accelerometer bias's random walk", "m^2/s^5")


@dataclass(frozen=True, kw_only=True)
class InsSettings(ObserverSettings):
    """Settings of the strapdown INS."""

    noise: InsNoise = field(default_factory=InsNoise)
    uses_wheels: bool = setting(True, "Whether the rear wheels' speed is used, and that they do not slide sideways")
    vehicle: str = setting("hmmwv", "Name of the vehicle in config/vehicles, or a path; gives wheelbase and wheels")
    wheel_radius_m: float = setting(
        0.0, "Rolling radius of the wheels; 0: that of the vehicle's file", unit="m", minimum=0.0, maximum=2.0
    )
    wheel_speed_std_mps: float = _std(0.1, "Standard deviation of the rear axle's speed from its wheels", "m/s")
    side_speed_std_mps: float = _std(0.1, "Standard deviation of the rear axle's speed sideways and upwards", "m/s")
    step_s: float = setting(0.004, "Time between two estimates", unit="s", minimum=0.0005, maximum=0.01)

    def found_from(self, folder: Path) -> InsSettings:
        """Settings with paths, the vehicle's included, resolved relative to the folder of their file."""
        return replace(self, vehicle=named_or_path(self.vehicle, folder))
