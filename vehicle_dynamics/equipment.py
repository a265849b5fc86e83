"""Equipment of a vehicle, and what drivers and sensors must know of it; needs no kernel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proving_ground.settings import SettingsError, setting
from proving_ground.settings.nested import load_section


@dataclass(frozen=True, kw_only=True)
class SensorMount:
    """Mount of a kind of sensor on this vehicle, unless a scenario overrides it."""

    sensor: str = setting(..., "Kind of sensor: imu, gps, encoders, lidar or a kind of your own")
    xyz_m: tuple[float, float, float] = setting(
        ..., "Position in base_link: forward, left, up", unit="m", minimum=-10.0, maximum=10.0
    )
    rpy_deg: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "Roll, pitch and yaw of the sensor's axes in base_link",
        unit="deg", minimum=-180.0, maximum=180.0,
    )  # fmt: skip
    frame: str = setting("", "Name of the sensor's frame; empty: SENSOR_link")

    @property
    def frame_name(self) -> str:
        """Name of the frame in the URDF."""
        return self.frame or f"{self.sensor}_link"


@dataclass(frozen=True, kw_only=True)
class Equipment:
    """Mounts of sensors, outline and largest curvature: what sensors and drivers must know of a vehicle."""

    sensors: tuple[SensorMount, ...] = ()
    body_boxes_m: tuple[float, ...] = setting(
        (), "Body in base_link that a LIDAR may see, each box x y z of its least and of its largest corner",
        unit="m", minimum=-100.0, maximum=100.0,
    )  # fmt: skip
    planned_curvature_1pm: float = setting(
        0.0, "Sharpest curvature that planners use", unit="1/m", minimum=0.0, maximum=1.0
    )
    planned_curvature_rate_1pms: float = setting(
        0.0, "Fastest change of the curvature that planners use; 0: any", unit="1/(m s)", minimum=0.0, maximum=10.0
    )

    understeer_s2pm2: float = setting(
        0.0,
        "Understeer that drivers allow for: growth of the steering over that of the path, per squared speed",
        unit="s^2/m^2",
        minimum=-0.01,
        maximum=0.1,
    )

    def curvature(self, wanted: float) -> float:
        """Largest curvature [1/m] for a driver: the wanted one, or the vehicle's if that is 0.

        Raises SettingsError if both are 0.
        """
        if not (wanted or self.planned_curvature_1pm):
            raise SettingsError(
                "max_curvature_1pm: give one, because the vehicle's file has no equipment.planned_curvature_1pm"
            )
        return wanted or self.planned_curvature_1pm

    def curvature_rate(self, wanted: float) -> float:
        """Fastest change of curvature [1/(m s)] for a driver: the wanted one, or the vehicle's if that is slower."""
        return min(wanted, self.planned_curvature_rate_1pms or wanted)

    def position(self, sensor: str) -> SensorMount | None:
        """Mount of a kind of sensor, if the vehicle has one for it."""
        return next((item for item in self.sensors if item.sensor == sensor), None)

    @staticmethod
    def from_yaml(path: Path) -> Equipment:
        """The `equipment` of a vehicle's file; the rest of it is ignored."""
        return load_section(path, "equipment", Equipment)
