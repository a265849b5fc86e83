"""Settings of a sensor in a run beyond its own; they are parameters of its node."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from proving_ground.interfaces.faults import scripted_faults
from proving_ground.interfaces.frames import RENAMED_FRAMES, Frames
from proving_ground.interfaces.synchrony import sync_with
from proving_ground.settings import setting
from proving_ground.settings.dates import date_ns
from proving_ground.settings.nested import settings_from_text
from proving_ground.settings.units import LARGEST_SEED
from sensors.faults import Fault
from sensors.lidar.moving import MovingTarget
from sensors.sensor import SensorSettings
from terrain.surroundings import SiteSettings
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE


@dataclass(frozen=True, kw_only=True)
class SensorNodeSettings(SensorSettings):
    """Random numbers, frames and scripted faults of a sensor."""

    renamed: ClassVar[dict[str, str]] = RENAMED_FRAMES

    seed: int = setting(
        0,
        "Seed of the random errors of this sensor, which also depend on its name",
        minimum=0,
        maximum=LARGEST_SEED,
        read_only=True,
    )
    vehicle: str = setting(
        DEFAULT_VEHICLE,
        "Name of a vehicle in config/vehicles, or a path; gives the sensor's position if `mount` is empty",
        read_only=True,
    )
    frame: str = setting(
        "",
        "Name of the sensor's tf frame; empty: NAME_link, where NAME is the node's name; encoders: inclinometer_link",
        read_only=True,
    )
    frames: Frames = field(default_factory=Frames)
    fault_script: tuple[str, ...] = setting(
        (),
        "Faults during the run, each 'KIND START_S LENGTH_S [VALUE [CHANNEL]]', as 'bias 10 5 0.2 gyro_z'",
        read_only=True,
    )
    sync_with: tuple[str, ...] = sync_with()
    start_date: str = setting(
        "",
        "Date from which times in fault_script count, ISO 8601; empty: stamp of the first ground truth received",
        read_only=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.frame.startswith("/"):
            raise ValueError(f"frame: must not begin with '/', got {self.frame!r}")
        if self.start_date:
            date_ns("start_date", self.start_date)
        self.scripted()

    def scripted(self) -> tuple[Fault, ...]:
        """The faults of fault_script; raises ValueError for an invalid one."""
        faults = scripted_faults(Fault, self.fault_script)
        try:
            for fault in faults:
                fault.mask(self.channels)
        except ValueError as error:
            raise ValueError(f"fault_script: {error}") from None
        return faults


@dataclass(frozen=True, kw_only=True)
class SceneSettings(SiteSettings):
    """Surroundings of a sensor that needs the scene."""

    targets: tuple[str, ...] = setting(
        (),
        "Moving objects that the sensor sees, each as YAML text like an item of `targets` in a scenario file",
        read_only=True,
    )

    def moving_targets(self) -> tuple[MovingTarget, ...]:
        """Moving targets; raises ValueError for invalid text."""
        return tuple(settings_from_text(text, MovingTarget, "targets") for text in self.targets)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.moving_targets()
