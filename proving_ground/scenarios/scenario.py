"""A scenario file: the one description of a run, for the lock-step runner, launches, campaigns and tests.

Every mistake is one line with file, line, key and what is allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path

import terrain.world
from planner.scripted import Circle, JTurn, LaneChange, Program, Script, SineSteer, SineSweep, Straight
from proving_ground.scenarios.autonomy import ToGoal
from proving_ground.scenarios.channels import CHANNELS, ESTIMATE_CHANNELS
from proving_ground.scenarios.observing import ObserverChoice
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.dates import date_ns
from proving_ground.settings.fields import close_name
from proving_ground.settings.nested import load_settings
from proving_ground.settings.one_of import one_of
from proving_ground.settings.share import share_directory
from sensors.lidar.moving import MovingTarget
from sensors.rig import SensorChoice, SensorFault, check_sensors
from terrain.ground import FlatGround, GroundModel
from terrain.world_ground import SoilPlane, WorldGround
from terrain.worlds import load_world
from vehicle_dynamics.choices import FIDELITIES
from vehicle_dynamics.driving.model import POWERTRAINS
from vehicle_dynamics.hmmwv import LONGEST_STEP_S, METHODS

VERSION = 1
LONGEST_S = 7200.0  # the history of a run is kept in memory, 80 MB for 1000 s
STATISTICS = ("minimum", "maximum", "mean", "rms", "end", "reference_rms", "reference_peak")


@dataclass(frozen=True, kw_only=True)
class Flat:
    """A plane of hard ground, level unless slopes say otherwise, with an optional bump across it."""

    friction: float = setting(0.8, "Friction coefficient of the road", minimum=0.1, maximum=1.5)
    slope_x: float = setting(0.0, "Rise over run along x", minimum=-2.0, maximum=2.0)
    slope_y: float = setting(0.0, "Rise over run along y", minimum=-2.0, maximum=2.0)
    bump_start_m: float = setting(0.0, "x where the bump begins", unit="m", minimum=-1e6, maximum=1e6)
    bump_length_m: float = setting(1.0, "Its length", unit="m", minimum=0.01, maximum=1e4)
    bump_height_m: float = setting(0.0, "Its height", unit="m", minimum=-2.0, maximum=2.0)

    def ground(self) -> GroundModel:
        """The ground that this describes."""
        return FlatGround(**{item.name: getattr(self, item.name) for item in fields(self)})


@dataclass(frozen=True, kw_only=True)
class SoilField:
    """A plane of one soil of config/soils.yaml."""

    soil: str = setting(..., "Name of the soil")
    slope_x: float = setting(0.0, "Rise over run along x", minimum=-2.0, maximum=2.0)
    slope_y: float = setting(0.0, "Rise over run along y", minimum=-2.0, maximum=2.0)

    def ground(self) -> GroundModel:
        """The ground that this describes."""
        return SoilPlane(self.soil, self.slope_x, self.slope_y)


@dataclass(frozen=True, kw_only=True)
class NamedWorld:
    """A world of config/worlds, or of a file of one's own."""

    name: str = setting(..., "Name in config/worlds, or a path to a YAML file relative to this one")

    def load(self, folder: Path) -> terrain.world.World:
        """The world itself; folder is where relative paths begin."""
        is_path = "/" in self.name or self.name.endswith((".yaml", ".yml"))
        return load_world(str(folder / self.name) if is_path else self.name)


@dataclass(frozen=True, kw_only=True)
class World:
    """Exactly one kind."""

    flat: Flat | None = None
    field: SoilField | None = None
    named: NamedWorld | None = None

    def __post_init__(self) -> None:
        one_of(self)

    def load(self, folder: Path = Path()) -> terrain.world.World | None:
        """The named world, if it is one; folder is where relative paths begin."""
        return self.named.load(folder) if self.named is not None else None

    def ground(self, world: terrain.world.World | None = None) -> GroundModel:
        """What the wheels meet; world: what `load` gave."""
        if world is not None:
            return WorldGround.of(world)
        ground: GroundModel = one_of(self)[1].ground()
        return ground


@dataclass(frozen=True, kw_only=True)
class VehicleChoice:
    """Which vehicle, and how well it is modelled."""

    model: str = setting("hmmwv", "Name in config/vehicles, or a path to a YAML file")
    fidelity: str = setting("multibody", "Bodies and tyres, or a kinematic single track", choices=FIDELITIES)
    powertrain: str = setting("converter", "Engine with torque converter, or torque map", choices=POWERTRAINS)
    integrator: str = setting("euler", "Semi-implicit Euler, or Runge-Kutta of fourth order", choices=tuple(METHODS))
    step_s: float = setting(0.001, "Time step", unit="s", minimum=1e-5, maximum=LONGEST_STEP_S)

    def __post_init__(self) -> None:
        steps = 0.01 / self.step_s
        if abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"step_s: must fit into 0.01 s a whole number of times, got {self.step_s:g}")


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where and when the run begins; the vehicle starts in balance."""

    x_m: float = setting(0.0, "Of base_link", unit="m", minimum=-1e6, maximum=1e6)
    y_m: float = setting(0.0, "Of base_link", unit="m", minimum=-1e6, maximum=1e6)
    heading_deg: float = setting(0.0, "From x to the left", unit="deg", minimum=-360.0, maximum=360.0)
    speed_mps: float = setting(0.0, "Rolling ahead", unit="m/s", minimum=-10.0, maximum=40.0)
    gear: int = setting(0, "Gear engaged; 0 picks one by speed", minimum=0, maximum=12)
    date: str = setting("2026-01-01T00:00:00Z", "Date and time of the first instant, with time zone")

    def __post_init__(self) -> None:
        self.time_ns()

    def time_ns(self) -> int:
        """The date as nanoseconds since 1970."""
        return date_ns("date", self.date)


@dataclass(frozen=True, kw_only=True)
class Driver:
    """Exactly one kind."""

    straight: Straight | None = None
    lane_change: LaneChange | None = None
    sine_steer: SineSteer | None = None
    j_turn: JTurn | None = None
    circle: Circle | None = None
    sine_sweep: SineSweep | None = None
    program: Program | None = None
    to_goal: ToGoal | None = None

    def __post_init__(self) -> None:
        one_of(self)

    def script(self) -> Script:
        """What a scripted driver does."""
        script: Script = one_of(self)[1]
        return script


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """What a run must show to pass: a statistic of a channel within bounds."""

    channel: str = setting(..., "Name of a recorded channel")
    statistic: str = setting(..., "What is taken of it", choices=STATISTICS)
    from_s: float = setting(0.0, "Part of the run that counts", unit="s", minimum=0.0, maximum=1e6)
    to_s: float = setting(1e6, "Its end", unit="s", minimum=0.0, maximum=1e6)
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
    """One run."""

    version: int = setting(..., "Of this file's form", minimum=VERSION, maximum=VERSION)
    description: str = setting(..., "For people")
    world: World
    vehicle: VehicleChoice = field(default_factory=VehicleChoice)
    start: Start = field(default_factory=Start)
    driver: Driver
    duration_s: float = setting(..., "Length of the run", unit="s", minimum=0.01, maximum=LONGEST_S)
    seed: int = setting(0, "Of all random numbers", minimum=0, maximum=2**31 - 1)
    sensors: tuple[SensorChoice, ...] = ()
    faults: tuple[SensorFault, ...] = ()
    targets: tuple[MovingTarget, ...] = ()
    observer: ObserverChoice | None = None
    reference: str = setting("", "CSV file beside this one whose columns are channels, to compare with")
    criteria: tuple[Criterion, ...] = ()

    def __post_init__(self) -> None:
        check_sensors(self.sensors, self.faults)
        if not self.reference and any(item.statistic.startswith("reference") for item in self.criteria):
            raise ValueError("criteria: one compares with a reference, but `reference` names none")
        for item in self.criteria:
            if item.channel in ESTIMATE_CHANNELS and self.observer is None:
                raise ValueError(f"criteria: {item.channel} needs an observer")
            if item.channel in ESTIMATE_CHANNELS and item.statistic.startswith("reference"):
                raise ValueError(f"criteria: no reference has {item.channel}")


def load_scenario(path: Path) -> Scenario:
    """Read and check; raises SettingsError with file, line, key and what is allowed."""
    return load_settings(path, Scenario)


def scenario_files() -> dict[str, Path]:
    """The scenarios in config/scenarios by name."""
    return {path.stem: path for path in sorted((share_directory() / "config/scenarios").glob("*.yaml"))}


def scenario_file(name: str) -> Path:
    """The file of a scenario given by its name in config/scenarios or by a path to a YAML file."""
    if "/" in name or name.endswith((".yaml", ".yml")):
        return Path(name)
    known = scenario_files()
    if name not in known:
        raise SettingsError(f"scenario {name}: {close_name(name, known)}; or give a path to a YAML file")
    return known[name]
