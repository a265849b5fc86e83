"""Settings of an observer in a run; they are its node's parameters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from proving_ground.interfaces.frames import RENAMED_FRAMES, Frames
from proving_ground.interfaces.synchrony import sync_with
from proving_ground.settings import same_setting, setting
from sensors.encoders import EncoderSettings
from sensors.gps import GpsSettings, LocalFrame
from sensors.imu import ImuSettings
from sensors.mounting import Mount
from state_observer.kinds import OBSERVER_KINDS
from state_observer.vehicle.observer import BasicObserver
from state_observer.vehicle.settings import Known
from terrain.georeference import Datum
from terrain.surroundings import SiteSettings, Surroundings
from terrain.world_ground import JOURNAL
from vehicle_dynamics.equipment import Equipment
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.start import RENAMED_START, Origin, Start
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE, vehicle_file


@dataclass(frozen=True, kw_only=True)
class KnownGps:
    """Knowledge of the observer about the GPS receiver."""

    name: str = setting("gps", "Name of the sensor that the observer receives from", read_only=True)
    mount: Mount = field(default_factory=Mount)

    @staticmethod
    def of(name: str, settings: GpsSettings) -> KnownGps:
        """Create the knowledge from the name and the settings of a sensor."""
        return KnownGps(name=name, mount=settings.mount)


@dataclass(frozen=True, kw_only=True)
class KnownImu:
    """Knowledge of the observer about the IMU; larger values in the observer's file take precedence."""

    name: str = setting("imu", "Name of the sensor that the observer receives from", read_only=True)
    mount: Mount = field(default_factory=Mount)
    gyro_std_radps: float = setting(
        0.0, "Standard deviation of white noise on the IMU's angular velocity, per sample",
        unit="rad/s", minimum=0.0, maximum=10.0, read_only=True,
    )  # fmt: skip
    force_std_mps2: float = setting(
        0.0, "Standard deviation of white noise on the IMU's specific force, per sample",
        unit="m/s^2", minimum=0.0, maximum=100.0, read_only=True,
    )  # fmt: skip
    gyro_bias_std_radps: float = setting(
        0.0, "Standard deviation of the gyroscopes' bias at the start", unit="rad/s",
        minimum=0.0, maximum=10.0, read_only=True,
    )  # fmt: skip
    force_bias_std_mps2: float = setting(
        0.0, "Standard deviation of the accelerometers' bias at the start", unit="m/s^2",
        minimum=0.0, maximum=100.0, read_only=True,
    )  # fmt: skip

    @staticmethod
    def of(name: str, settings: ImuSettings) -> KnownImu:
        """Create the knowledge from the name and the settings of a sensor."""
        gyro, accel = settings.gyro_errors(), settings.accel_errors()
        return KnownImu(
            name=name,
            mount=settings.mount,
            gyro_std_radps=gyro.noise,
            force_std_mps2=accel.noise,
            gyro_bias_std_radps=gyro.constant_bias,
            force_bias_std_mps2=accel.constant_bias,
        )


@dataclass(frozen=True, kw_only=True)
class KnownEncoders:
    """Knowledge of the observer about the encoders."""

    name: str = setting("encoders", "Name of the sensor that the observer receives from", read_only=True)
    wheel_pulses: int = same_setting(EncoderSettings, "wheel_pulses")
    knows_direction: bool = same_setting(EncoderSettings, "knows_direction")
    full_brake_pressure_pa: float = same_setting(EncoderSettings, "full_brake_pressure_pa")

    @staticmethod
    def of(name: str, settings: EncoderSettings) -> KnownEncoders:
        """Create the knowledge from the name and the settings of a sensor."""
        return KnownEncoders(
            name=name,
            wheel_pulses=settings.wheel_pulses,
            knows_direction=settings.knows_direction,
            full_brake_pressure_pa=settings.full_brake_pressure_pa,
        )


@dataclass(frozen=True, kw_only=True)
class ObserverNodeSettings(SiteSettings):
    """Choice of observer, its sensors and its frames."""

    renamed: ClassVar[dict[str, str]] = {
        **RENAMED_FRAMES,
        **RENAMED_START,
        "gps_xyz_m": "gps.mount.xyz_m",
        "imu_xyz_m": "imu.mount.xyz_m",
        "imu_rpy_deg": "imu.mount.rpy_deg",
        **{name: f"imu.{name}" for name in (
            "gyro_std_radps", "force_std_mps2", "gyro_bias_std_radps", "force_bias_std_mps2",
        )},
        **{name: f"encoders.{name}" for name in ("wheel_pulses", "knows_direction", "full_brake_pressure_pa")},
    }  # fmt: skip

    kind: str = setting(
        "vehicle",
        "Kind of observer: vehicle (errorEKF around a vehicle model), ins (strapdown INS), or a registered kind",
        read_only=True,
    )
    observer_file: str = setting(
        "", "YAML file of the observer's settings; empty: the default of its kind in config/observers", read_only=True
    )
    vehicle: str = setting(
        DEFAULT_VEHICLE,
        "Name of a vehicle in config/vehicles, or a path; gives the positions of sensors whose `mount.xyz_m` is empty, "
        "and the observer's vehicle model unless observer_file names another",
        read_only=True,
    )
    knows_start: bool = setting(
        False, "Initialise at the pose given by `start`, as if it were received on /initialpose", read_only=True
    )
    start: Start = field(default_factory=lambda: Start(at_world=True))
    rate_hz: float = setting(
        100.0, "Estimates published per simulated second", unit="Hz", minimum=1.0, maximum=250.0, read_only=True
    )
    tf_rate_hz: float = setting(
        50.0,
        "Messages on tf per simulated second; 0 switches them off",
        unit="Hz",
        minimum=0.0,
        maximum=250.0,
        read_only=True,
    )
    gps: KnownGps = field(default_factory=KnownGps)
    imu: KnownImu = field(default_factory=KnownImu)
    encoders: KnownEncoders = field(default_factory=KnownEncoders)
    frames: Frames = field(default_factory=Frames)
    sync_with: tuple[str, ...] = sync_with()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in OBSERVER_KINDS:
            raise ValueError(f"kind: must be one of {', '.join(OBSERVER_KINDS)}, got {self.kind!r}")

    @property
    def sensor_names(self) -> tuple[str, ...]:
        """Names of the sensors that the observer receives from."""
        return self.gps.name, self.imu.name, self.encoders.name

    @property
    def tf_every(self) -> int:
        """Estimates per message on tf; 0: no messages."""
        return max(round(self.rate_hz / self.tf_rate_hz), 1) if self.tf_rate_hz else 0

    def fitted(self, equipment: Equipment) -> ObserverNodeSettings:
        """Settings with empty mounts filled in from the vehicle's file."""
        gps, imu = (
            known.mount.fitted(equipment.position(kind)) for kind, known in (("gps", self.gps), ("imu", self.imu))
        )
        return replace(self, gps=replace(self.gps, mount=gps), imu=replace(self.imu, mount=imu))

    def known(self, frame: LocalFrame) -> Known:
        """Knowledge of the run about sensors and location, for the observer's settings."""
        return Known(
            gps_xyz_m=self.gps.mount.position,
            imu_xyz_m=self.imu.mount.position,
            imu_rpy_deg=self.imu.mount.rpy_deg,
            gyro_std_radps=self.imu.gyro_std_radps,
            force_std_mps2=self.imu.force_std_mps2,
            gyro_bias_std_radps=self.imu.gyro_bias_std_radps,
            force_bias_std_mps2=self.imu.force_bias_std_mps2,
            wheel_pulses=self.encoders.wheel_pulses,
            knows_direction=self.encoders.knows_direction,
            full_brake_pressure_pa=self.encoders.full_brake_pressure_pa,
            datum=Datum(**frame.origin._asdict()),
            vehicle=self.vehicle,
        )

    def origin(self, there: Surroundings) -> Origin | None:
        """Start pose, if the observer may know it."""
        return self.start.origin(there.world) if self.knows_start else None


def make_observer(settings: ObserverNodeSettings, there: Surroundings) -> BasicObserver:
    """The observer of a run, for its node and for lock-step; its model has a ground of its own to leave ruts in."""
    kind = OBSERVER_KINDS[settings.kind]
    loaded = kind.load(Path(settings.observer_file) if settings.observer_file else None)
    if not (settings.gps.mount.xyz_m and settings.imu.mount.xyz_m):  # skip reading the file: it costs campaigns time
        settings = settings.fitted(VehicleParameters.from_yaml(vehicle_file(settings.vehicle)).equipment)
    known = settings.known(LocalFrame(there.georeference))
    return kind.make(loaded.informed(known), there.fresh_ground(JOURNAL))
