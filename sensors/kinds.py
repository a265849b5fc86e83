"""Kinds of sensors. A new one is its settings, its model, its presets and a line here or in a package's metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from proving_ground.settings.registry import Registry
from sensors import publications
from sensors.encoders import Encoders, EncoderSettings
from sensors.gps.receiver import Gps
from sensors.gps.settings import GpsSettings
from sensors.imu import Imu, ImuSettings
from sensors.lidar.lidar import Lidar
from sensors.lidar.moving import MovingTarget
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.node_settings import SceneSettings, SensorNodeSettings
from sensors.publication import Announcement, Publication, Remark
from sensors.sensor import Sensor, SensorSettings
from terrain.surroundings import Surroundings


class SeenWorld:
    """The scene seen by the sensors of one process, with its moving targets."""

    def __init__(self, there: Surroundings, targets: tuple[MovingTarget, ...] = ()) -> None:
        self.there = there
        self.scene = Scene.of(there.world, there.ground) if there.world is not None else Scene.of_plane(there.ground)
        self._targets = targets

    def move_to(self, time_s: float) -> None:
        """Move the targets to a time since the start of the run [s]."""
        if self._targets:
            self.scene.set_targets([target.target(time_s, self.there.height_at) for target in self._targets])


@dataclass(frozen=True)
class SensorKind:
    """How to make a kind of sensor, and its inputs."""

    name: str
    settings: type[SensorSettings]
    make: Callable[..., Sensor[Any, Any]]  # (settings, seen, *, seed, name, faults, start_ns); seen may be None
    frame: str  # default frame, of a sensor named after its kind
    usual_preset: str
    looks_around: bool = False  # needs the scene, or its location on Earth
    publishes: tuple[Publication, ...] = ()
    announces: tuple[Announcement, ...] = ()
    remark: Callable[[Any], Remark] | None = None  # health from a sample
    sends_large_messages: bool = False
    needs_accel: bool = False  # the truth's acceleration
    needs_drive: bool = False  # the truth's wheels, pedals and engine

    @cached_property
    def node_settings(self) -> Any:
        """Settings class of this kind in a run; its fields are the node's parameters."""
        bases = (self.settings, SensorNodeSettings, *((SceneSettings,) if self.looks_around else ()))

        def check(this: Any) -> None:
            super(made, this).__post_init__()  # type: ignore[misc]
            if isinstance(this, SceneSettings):
                SceneSettings.__post_init__(this)

        name = self.settings.__name__.replace("Settings", "NodeSettings")
        made: Any = dataclass(frozen=True, kw_only=True)(type(name, bases, {"__post_init__": check}))
        return made

    def frame_of(self, sensor: str) -> str:
        """Frame of a sensor with this name."""
        return self.frame if sensor == self.name else f"{sensor}_link"


IMU = SensorKind(
    name="imu",
    settings=ImuSettings,
    make=lambda settings, seen, **common: Imu(settings, **common),
    frame="imu_link",
    usual_preset="industrial_mems",
    publishes=publications.IMU,
    remark=publications.imu_remark,
    needs_accel=True,
)
GPS = SensorKind(
    name="gps",
    settings=GpsSettings,
    make=lambda settings, seen, **common: Gps(
        settings, georeference=seen.there.georeference, sky=seen.scene if settings.needs_sky else None, **common
    ),
    frame="gps_link",
    usual_preset="low_cost",
    publishes=publications.GPS,
    announces=(publications.DATUM,),
    remark=publications.gps_remark,
    looks_around=True,
)
ENCODERS = SensorKind(
    name="encoders",
    settings=EncoderSettings,
    make=lambda settings, seen, **common: Encoders(settings, **common),
    frame="inclinometer_link",
    usual_preset="hall_40",
    publishes=publications.ENCODERS,
    needs_accel=True,
    needs_drive=True,
)
LIDAR = SensorKind(
    name="lidar",
    settings=LidarSettings,
    make=lambda settings, seen, **common: Lidar(settings, seen.scene, **common),
    frame="lidar_link",
    usual_preset="spinning_16",
    publishes=publications.LIDAR,
    sends_large_messages=True,
    looks_around=True,
)
SENSOR_KINDS: Registry[SensorKind] = Registry("proving_ground.sensors", IMU, GPS, ENCODERS, LIDAR)
