"""Kinds of sensors. A new one is its settings, its model, its presets and a line here or in a package's metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.saving.stateful import Stateful
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
from sensors.lidar.targets import Target
from sensors.node_settings import SceneSettings, SensorNodeSettings
from sensors.publication import Announcement, Publication, Remark
from sensors.sensor import Sensor, SensorSettings
from terrain.obstacles import Obstacles
from terrain.ruts import clear_ruts, write_cells
from terrain.surroundings import Surroundings


class SeenWorld(Stateful):
    """The scene seen by the sensors of one process, with its moving targets."""

    STATE = ("scene",)

    def __init__(self, there: Surroundings, targets: tuple[MovingTarget, ...] = ()) -> None:
        self.there = there
        self.scene = Scene.of(there.world, there.ground) if there.world is not None else Scene.of_plane(there.ground)
        self._targets = targets
        self._spawned: list[Target] = []

    @staticmethod
    def of(there: Surroundings, sensors: Iterable[Any]) -> SeenWorld:
        """Seen world with the targets in the settings of a run's sensors, the same for all that have them."""
        targets = (settings.moving_targets() for settings in sensors if isinstance(settings, SceneSettings))
        return SeenWorld(there, next(targets, ()))

    @property
    def has_ruts(self) -> bool:
        """Whether wheels leave ruts in the ground."""
        return len(self.there.ground.kernel().ruts.keys) > 1

    def press(self, cells: NDArray[np.void]) -> None:
        """Set the depth of cells of the soil that the vehicle has pressed, in another process; records of RUT_CELL."""
        # Copies: a field of a single record is contiguous, and read-only as its message, another type for the kernel.
        columns, rows, depth = (np.array(cells[name]) for name in ("column", "row", "depth"))
        write_cells(self.there.ground.kernel().ruts, columns, rows, depth)

    def clear_ruts(self) -> None:
        """Forget all ruts."""
        clear_ruts(self.there.ground.kernel().ruts)
        self.scene.update_ruts()

    def move_to(self, time_s: float) -> None:
        """Move the targets to a time since the start of the run [s]."""
        if self._targets:
            moved = [target.target(time_s, self.there.height_at) for target in self._targets]
            self.scene.set_targets([*moved, *self._spawned])

    def set_spawned(self, spawned: Obstacles) -> None:
        """Show these boxes and cylinders as well, until others replace them."""
        self._spawned = [Target(shape=box) for box in spawned.boxes]
        self._spawned += [Target(shape=cylinder) for cylinder in spawned.cylinders]
        if not self._targets:
            self.scene.set_targets(self._spawned)


@dataclass(frozen=True)
class SensorKind:
    """A kind of sensor: how to make one, what it needs and what it publishes."""

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
    sees_ground: bool = False  # and so the ruts in it

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
        """Name of the tf frame of a sensor of this kind with this name."""
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
    sees_ground=True,
)
SENSOR_KINDS: Registry[SensorKind] = Registry("proving_ground.sensors", IMU, GPS, ENCODERS, LIDAR)
