"""A scenario file: the one description of a run, for the lock-step runner, launches, campaigns and tests.

Every mistake is one line with file, line, key and what is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, make_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import terrain.world
from planner.kinds import DRIVER_KINDS, DriverKind
from planner.to_goal import ToGoal
from proving_ground.scenarios.channels import CHANNELS, ESTIMATE_CHANNELS
from proving_ground.scenarios.choices import ObserverChoice
from proving_ground.settings import as_parameters, build, setting
from proving_ground.settings.fields import close_name
from proving_ground.settings.named_files import named_file, named_files, named_or_path
from proving_ground.settings.nested import load_settings
from proving_ground.settings.one_of import one_of
from proving_ground.settings.units import FOREVER_S, LARGEST_SEED, LONGEST_RUN_S
from sensors.lidar.moving import MovingTarget
from sensors.rig import SensorChoice, SensorFault, check_sensors
from terrain.ground import FlatGround
from terrain.soils_file import soil_found_from
from terrain.surroundings import GroundSettings, SiteSettings
from terrain.world_ground import SoilField
from terrain.worlds import load_world
from vehicle_dynamics.conditions import MULTIBODY_ONLY, ConditionChange
from vehicle_dynamics.control.actuators import ActuatorFault
from vehicle_dynamics.control.levers import LeverSettings
from vehicle_dynamics.start import Start
from vehicle_dynamics.vehicle_choice import VehicleChoice

VERSION = 1
STATISTICS = ("minimum", "maximum", "mean", "rms", "end", "reference_rms", "reference_peak")


@dataclass(frozen=True, kw_only=True)
class NamedWorld:
    """A world of config/worlds, or of a user's file."""

    name: str = setting(..., "Name of a world in config/worlds, or a path to a YAML file relative to this one")


@dataclass(frozen=True, kw_only=True)
class World:
    """Section `world` of a scenario: a plane, a field of soil, or a named world; exactly one."""

    flat: FlatGround | None = None
    field: SoilField | None = None
    named: NamedWorld | None = None

    def __post_init__(self) -> None:
        one_of(self)

    def load(self) -> terrain.world.World | None:
        """The named world, built; None for a plane or a field of soil. Raises SettingsError."""
        return load_world(self.named.name) if self.named is not None else None

    def site(self) -> SiteSettings:
        """The world in the settings of parts."""
        if self.named is not None:
            return SiteSettings(world=self.named.name)
        if self.field is not None:
            ground = GroundSettings(soil=self.field.soil, slope_x=self.field.slope_x, slope_y=self.field.slope_y)
            return SiteSettings(ground=ground)
        return SiteSettings(ground=build(GroundSettings, as_parameters(self.flat)))


class _Driver:
    """Section `driver`: at most one kind; without one an outside stack or a person drives, over ROS."""

    to_goal: ToGoal | None

    def __post_init__(self) -> None:
        if self.is_given:
            one_of(self)

    @property
    def is_given(self) -> bool:
        """Whether the scenario has a driver of its own."""
        return any(getattr(self, item.name) is not None for item in fields(self))  # type: ignore[arg-type]

    @property
    def kind(self) -> DriverKind | None:
        """Kind of the scenario's own driver, if it has one."""
        return DRIVER_KINDS[one_of(self)[0]] if self.is_given else None


if TYPE_CHECKING:

    class Driver(_Driver):
        """A field for each kind of driver."""

        def __init__(self, **chosen: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...

else:
    Driver = make_dataclass(
        "Driver",
        [(name, kind.settings | None, None) for name, kind in DRIVER_KINDS.items()],
        bases=(_Driver,),
        frozen=True,
        kw_only=True,
    )
    Driver.__module__ = __name__  # to be pickled


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """Condition of passing: a statistic of a channel within bounds."""

    channel: str = setting(..., "Name of a recorded channel")
    statistic: str = setting(..., "Statistic taken of the channel", choices=STATISTICS)
    from_s: float = setting(0.0, "Start of the part of the run that counts", unit="s", minimum=0.0, maximum=FOREVER_S)
    to_s: float = setting(FOREVER_S, "End of the part of the run that counts", unit="s", minimum=0.0, maximum=FOREVER_S)
    at_least: float = setting(-1e12, "Least value that passes", minimum=-1e12, maximum=1e12)
    at_most: float = setting(1e12, "Largest value that passes", minimum=-1e12, maximum=1e12)

    def __post_init__(self) -> None:
        known = (*CHANNELS, *ESTIMATE_CHANNELS)
        if self.channel not in known:
            raise ValueError(f"channel {self.channel}: {close_name(self.channel, known)}")
        if self.from_s > self.to_s:
            raise ValueError(f"to_s: must not be before from_s ({self.from_s:g}), got {self.to_s:g}")
        if self.at_least > self.at_most:
            raise ValueError(f"at_most: must not be below at_least ({self.at_least:g}), got {self.at_most:g}")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Contents of a scenario file: one run."""

    version: int = setting(..., "Version of this file's format", minimum=VERSION, maximum=VERSION)
    description: str = setting(..., "Description for human readers")
    world: World
    vehicle: VehicleChoice = field(default_factory=VehicleChoice)
    start: Start = field(default_factory=Start)
    levers: LeverSettings = field(default_factory=LeverSettings)
    driver: Driver = field(default_factory=Driver)
    duration_s: float = setting(..., "Duration of the run", unit="s", minimum=0.01, maximum=LONGEST_RUN_S)
    seed: int = setting(0, "Seed of all random numbers", minimum=0, maximum=LARGEST_SEED)
    sensors: tuple[SensorChoice, ...] = ()
    faults: tuple[SensorFault | ActuatorFault, ...] = ()
    changes: tuple[ConditionChange, ...] = ()
    targets: tuple[MovingTarget, ...] = ()
    observer: ObserverChoice | None = None
    reference: str = setting("", "CSV file beside this one whose columns are channels, to compare with")
    criteria: tuple[Criterion, ...] = ()

    def __post_init__(self) -> None:
        check_sensors(self.sensors, self.sensor_faults)
        if self.changes and self.vehicle.fidelity == "single_track":
            raise ValueError(f"changes: {MULTIBODY_ONLY}")
        if not self.reference and any(item.statistic.startswith("reference") for item in self.criteria):
            raise ValueError("criteria: one compares with a reference, but `reference` is not given")
        for item in self.criteria:
            if item.channel in ESTIMATE_CHANNELS and self.observer is None:
                raise ValueError(f"criteria: {item.channel} needs an observer")
            if item.channel in ESTIMATE_CHANNELS and item.statistic.startswith("reference"):
                raise ValueError(f"criteria: no reference has {item.channel}")

    @property
    def sensor_faults(self) -> tuple[SensorFault, ...]:
        """The faults of sensors among `faults`."""
        return tuple(fault for fault in self.faults if isinstance(fault, SensorFault))

    @property
    def actuator_faults(self) -> tuple[ActuatorFault, ...]:
        """The faults of actuators among `faults`."""
        return tuple(fault for fault in self.faults if isinstance(fault, ActuatorFault))

    def found_from(self, folder: Path) -> Scenario:
        """The scenario with paths resolved relative to a folder; nothing else resolves them."""
        world, observer = self.world, self.observer
        if world.named is not None:
            world = World(named=NamedWorld(name=named_or_path(world.named.name, folder)))
        elif world.field is not None:
            world = World(field=replace(world.field, soil=soil_found_from(world.field.soil, folder)))
        if observer is not None and observer.settings:
            observer = replace(observer, settings=str((folder / observer.settings).resolve()))
        vehicle = replace(self.vehicle, model=named_or_path(self.vehicle.model, folder))
        reference = str((folder / self.reference).resolve()) if self.reference else ""
        return replace(self, world=world, vehicle=vehicle, observer=observer, reference=reference)


def load_scenario(path: Path) -> Scenario:
    """Read, check and resolve its paths; raises SettingsError with file, line, key and what is allowed."""
    return load_settings(path, Scenario).found_from(path.resolve().parent)


def scenario_files() -> dict[str, Path]:
    """The scenarios in config/scenarios by name."""
    return named_files("scenarios")


def scenario_file(name: str) -> Path:
    """The file of a scenario given by its name in config/scenarios or by a path to a YAML file."""
    return named_file("scenarios", name, "scenario")
