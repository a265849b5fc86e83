"""Parameters of the observer's node."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from proving_ground.settings import setting
from proving_ground.settings.dates import date_ns
from sensors.encoders import EncoderSettings
from sensors.gps import GpsSettings, LocalFrame
from sensors.imu import ImuSettings
from state_observer.vehicle.settings import Datum, Mounts
from terrain.flat_ground_settings import FlatGroundSettings
from terrain.world import World

KINDS = ("vehicle", "ins")
DEFAULT_GPS, DEFAULT_IMU, DEFAULT_ENCODERS = GpsSettings(), ImuSettings(), EncoderSettings()


class StartPlace(NamedTuple):
    """Of base_link."""

    x: float  # [m]
    y: float
    heading: float  # [rad]
    speed: float  # [m/s]

    def rolled(self, seconds: float) -> StartPlace:
        """Where one is who began to roll there so long ago."""
        way = self.speed * seconds
        return self._replace(x=self.x + way * math.cos(self.heading), y=self.y + way * math.sin(self.heading))


def _place(default: tuple[float, float, float], words: str) -> Any:
    return setting(default, words, unit="m", minimum=-10.0, maximum=10.0, read_only=True)


@dataclass(frozen=True, kw_only=True)
class ObserverNodeSettings(FlatGroundSettings):
    """Which observer, of which sensors, in which frames."""

    kind: str = setting(
        "vehicle", "errorEKF around the vehicle's model, or a strapdown INS", choices=KINDS, read_only=True
    )
    observer_file: str = setting("", "YAML file of its settings; none: that of config/observers", read_only=True)
    world: str = setting(
        "",
        "Name in config/worlds, or a path: ground under the model, and where on Earth; none: flat",
        read_only=True,
    )
    knows_start: bool = setting(False, "Begins where the vehicle starts, as if /initialpose said so", read_only=True)
    start_at_world: bool = setting(
        True, "Unless another place or heading than 0 is given, that is the world's start", read_only=True
    )
    start_x_m: float = setting(0.0, "Of base_link", unit="m", minimum=-1e7, maximum=1e7, read_only=True)
    start_y_m: float = setting(0.0, "Of base_link", unit="m", minimum=-1e7, maximum=1e7, read_only=True)
    start_heading_deg: float = setting(
        0.0, "From x to the left", unit="deg", minimum=-360.0, maximum=360.0, read_only=True
    )
    start_speed_mps: float = setting(0.0, "Rolling ahead", unit="m/s", minimum=-10.0, maximum=40.0, read_only=True)
    start_date: str = setting("", "When it starts to roll, as the vehicle's; none: not known to 0.1 s", read_only=True)
    rate_hz: float = setting(
        100.0, "Estimates per simulated second", unit="Hz", minimum=1.0, maximum=250.0, read_only=True
    )
    tf_rate_hz: float = setting(
        50.0, "Messages on tf; 0 for none", unit="Hz", minimum=0.0, maximum=250.0, read_only=True
    )
    gps_xyz_m: tuple[float, float, float] = _place(DEFAULT_GPS.mount_xyz_m, "Antenna in base_link")
    imu_xyz_m: tuple[float, float, float] = _place(DEFAULT_IMU.mount_xyz_m, "IMU in base_link")
    imu_rpy_deg: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Roll, pitch, yaw of the IMU", unit="deg", minimum=-180.0, maximum=180.0, read_only=True
    )
    wheel_pulses: int = setting(
        DEFAULT_ENCODERS.wheel_pulses, "Counted edges per turn of a wheel", minimum=1, maximum=1_000_000, read_only=True
    )
    knows_direction: bool = setting(DEFAULT_ENCODERS.knows_direction, "Backward pulses count down", read_only=True)
    full_brake_pressure_pa: float = setting(
        DEFAULT_ENCODERS.full_brake_pressure_pa, "At full pedal", unit="Pa", minimum=1e3, maximum=1e9, read_only=True
    )
    gyro_std_radps: float = setting(
        0.0, "White noise of a sample, if it is more than the observer's file says", unit="rad/s",
        minimum=0.0, maximum=10.0, read_only=True,
    )  # fmt: skip
    force_std_mps2: float = setting(
        0.0, "White noise of a sample, if it is more than the observer's file says", unit="m/s^2",
        minimum=0.0, maximum=100.0, read_only=True,
    )  # fmt: skip
    gyro_bias_std_radps: float = setting(
        0.0, "Of the bias when it is switched on, if it is more than the observer's file says", unit="rad/s",
        minimum=0.0, maximum=10.0, read_only=True,
    )  # fmt: skip
    force_bias_std_mps2: float = setting(
        0.0, "Of the bias when it is switched on, if it is more than the observer's file says", unit="m/s^2",
        minimum=0.0, maximum=100.0, read_only=True,
    )  # fmt: skip
    frame_prefix: str = setting("", "Before every frame name, as in 'truck_1/'", read_only=True)
    map_frame: str = setting("map", "Name of the world's frame", read_only=True)
    odom_frame: str = setting("odom", "Name of the frame without jumps", read_only=True)

    def __post_init__(self) -> None:
        self.refuse_beside(self.world)
        if self.start_date:
            date_ns("start_date", self.start_date)

    def complete(self, settings: Any, frame: LocalFrame) -> Any:
        """Settings of an observer with what the node knows of sensors and place."""
        mounts = Mounts(gps_xyz_m=self.gps_xyz_m, imu_xyz_m=self.imu_xyz_m, imu_rpy_deg=self.imu_rpy_deg)
        noise = replace(
            settings.sensors,
            wheel_pulses=float(self.wheel_pulses),
            gyro_std_radps=max(settings.sensors.gyro_std_radps, self.gyro_std_radps),
            force_std_mps2=max(settings.sensors.force_std_mps2, self.force_std_mps2),
        )
        start = replace(
            settings.start,
            gyro_bias_std_radps=max(settings.start.gyro_bias_std_radps, self.gyro_bias_std_radps),
            force_bias_std_mps2=max(settings.start.force_bias_std_mps2, self.force_bias_std_mps2),
        )
        return replace(settings, mounts=mounts, sensors=noise, start=start, datum=Datum(**frame.origin._asdict()))

    def start(self, world: World | None) -> StartPlace | None:
        """Where it begins, if it may know."""
        if not self.knows_start:
            return None
        x, y, heading = self.start_x_m, self.start_y_m, math.radians(self.start_heading_deg)
        if world is not None and self.start_at_world and (x, y, heading) == (0.0, 0.0, 0.0):
            x, y, heading = world.start.x, world.start.y, world.start.heading
        return StartPlace(x, y, heading, self.start_speed_mps)
