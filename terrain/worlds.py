"""World files: the definition of a world in YAML. Those of the suite are in config/worlds.

Every error is one line with file, line, key and what is allowed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from proving_ground.settings import SettingsError, as_parameters, setting
from proving_ground.settings.named_files import named_file, named_files
from proving_ground.settings.nested import load_settings
from proving_ground.settings.one_of import one_of
from proving_ground.settings.units import FAR_M, LARGEST_SEED
from terrain.builders.courses import HalfRound, SideSlope, Trench, VDitch
from terrain.builders.measured import Fault, MapFile, SurveyFile, file_beside
from terrain.builders.off_road import OffRoad
from terrain.builders.pads import Bump, Pad, Ramp, Step, Washboard
from terrain.builders.road_file import RoadFile
from terrain.builders.rough_road import RandomRoad, RmsCourse
from terrain.builders.urban import Urban
from terrain.elevation_map import ElevationMap
from terrain.formats.mesh_files import load_mesh
from terrain.georeference import Datum, Georeference
from terrain.obstacles import Box, Cylinder, MeshObstacle, Obstacles
from terrain.soils_file import split_soil
from terrain.world import Site, World, WorldPose
from terrain.world_checks import check_world

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Build:
    """Section `build` of a world file: exactly one kind of builder."""

    flat: Pad | None = None
    bump: Bump | None = None
    step: Step | None = None
    ramp: Ramp | None = None
    washboard: Washboard | None = None
    half_round: HalfRound | None = None
    v_ditch: VDitch | None = None
    trench: Trench | None = None
    side_slope: SideSlope | None = None
    rms_course: RmsCourse | None = None
    iso_8608: RandomRoad | None = None
    crg: RoadFile | None = None
    urban: Urban | None = None
    off_road: OffRoad | None = None
    survey: SurveyFile | None = None
    file: MapFile | None = None
    fault: Fault | None = None

    def __post_init__(self) -> None:
        self.chosen()

    def chosen(self) -> Any:
        """The settings of the builder that is given."""
        return one_of(self)[1]


@dataclass(frozen=True, kw_only=True)
class PoseSettings:
    """Pose of a start or goal."""

    x_m: float = setting(..., "Position along x in the world frame", unit="m", minimum=-FAR_M, maximum=FAR_M)
    y_m: float = setting(..., "Position along y in the world frame", unit="m", minimum=-FAR_M, maximum=FAR_M)
    heading_deg: float = setting(
        0.0, "Heading of the vehicle, counter-clockwise from x of the world", unit="deg", minimum=-360.0, maximum=360.0
    )

    def position(self) -> WorldPose:
        """The pose, with heading in radians."""
        return WorldPose(x=self.x_m, y=self.y_m, heading=math.radians(self.heading_deg))


@dataclass(frozen=True, kw_only=True)
class BoxSettings:
    """A box on the ground."""

    x_m: float = setting(..., "Position of the box's centre along x", unit="m", minimum=-FAR_M, maximum=FAR_M)
    y_m: float = setting(..., "Position of the box's centre along y", unit="m", minimum=-FAR_M, maximum=FAR_M)
    length_m: float = setting(..., "Length along the box's own x", unit="m", minimum=0.01, maximum=10_000.0)
    width_m: float = setting(..., "Width along the box's own y", unit="m", minimum=0.01, maximum=10_000.0)
    height_m: float = setting(..., "Height of the box above its underside", unit="m", minimum=0.01, maximum=10_000.0)
    yaw_deg: float = setting(0.0, "Yaw of the box, from x to the left", unit="deg", minimum=-360.0, maximum=360.0)
    lift_m: float = setting(
        0.0, "Height of the box's underside above the ground", unit="m", minimum=-1000.0, maximum=1000.0
    )


@dataclass(frozen=True, kw_only=True)
class CylinderSettings:
    """A post on the ground."""

    x_m: float = setting(..., "Position of the cylinder's axis along x", unit="m", minimum=-FAR_M, maximum=FAR_M)
    y_m: float = setting(..., "Position of the cylinder's axis along y", unit="m", minimum=-FAR_M, maximum=FAR_M)
    radius_m: float = setting(..., "Radius of the cylinder", unit="m", minimum=0.01, maximum=1000.0)
    height_m: float = setting(
        ..., "Height of the cylinder above its underside", unit="m", minimum=0.01, maximum=10_000.0
    )
    lift_m: float = setting(
        0.0, "Height of the cylinder's underside above the ground", unit="m", minimum=-1000.0, maximum=1000.0
    )


@dataclass(frozen=True, kw_only=True)
class MeshSettings:
    """A mesh on the ground."""

    file: str = setting(..., "Name of a file beside this one: .obj, .ply or .stl")
    x_m: float = setting(..., "Position of the mesh's origin along x", unit="m", minimum=-FAR_M, maximum=FAR_M)
    y_m: float = setting(..., "Position of the mesh's origin along y", unit="m", minimum=-FAR_M, maximum=FAR_M)
    yaw_deg: float = setting(0.0, "Yaw of the mesh, from x to the left", unit="deg", minimum=-360.0, maximum=360.0)
    lift_m: float = setting(
        0.0, "Height of the mesh's origin above the ground", unit="m", minimum=-1000.0, maximum=1000.0
    )


@dataclass(frozen=True, kw_only=True)
class WorldFile:
    """Contents of a world file."""

    version: int = setting(..., "Version of this file's format", minimum=VERSION, maximum=VERSION)
    description: str = setting(..., "Description for human readers")
    build: Build
    seed: int = setting(0, "Seed of all random numbers", minimum=0, maximum=LARGEST_SEED)
    start: PoseSettings | None = None
    goal: PoseSettings | None = None
    origin: Datum | None = None
    boxes: tuple[BoxSettings, ...] = ()
    cylinders: tuple[CylinderSettings, ...] = ()
    meshes: tuple[MeshSettings, ...] = field(default=())


def load_world_file(path: Path) -> WorldFile:
    """Read and check, without building; raises SettingsError with file, line, key and what is allowed."""
    return load_settings(path, WorldFile)


def build_world(path: Path, settings: WorldFile | None = None) -> World:
    """The world of a file: the same to the bit each time. Raises SettingsError with one line.

    settings: in place of the file's own, for variations of it.
    """
    settings = settings or load_world_file(path)
    folder = path.resolve().parent  # the folder of the file itself, if its name is a link, as colcon makes them
    try:
        site = Site(path.stem, np.random.default_rng(settings.seed), folder)
        built: World = settings.build.chosen().build(site)
        world = _completed(built, settings, folder)
    except SettingsError:
        raise
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from None
    try:
        check_world(world)
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from None
    return world


def load_world(name: str) -> World:
    """The world of a name in config/worlds or of a path to a YAML file."""
    return build_world(world_file(name))


def files_beside(path: Path, settings: WorldFile) -> dict[str, Path]:
    """Files that a world's settings name, by name: map or survey, meshes, soils. Raises SettingsError."""
    builder = settings.build.chosen()
    soils = (name for key, value in as_parameters(builder).items() for name in _soils_in(key, value))
    meshes = (item.file for item in settings.meshes)
    names = [getattr(builder, "file", ""), *meshes, *(split_soil(soil)[0] for soil in soils)]
    return {name: _file_beside(path, name) for name in filter(None, names)}


def world_files() -> dict[str, Path]:
    """The worlds in config/worlds by name."""
    return named_files("worlds")


def world_file(name: str) -> Path:
    """The file of a world given by its name in config/worlds or by a path to a YAML file."""
    return named_file("worlds", name, "world")


def _completed(world: World, settings: WorldFile, folder: Path) -> World:
    """Add what the file gives besides its builder."""
    ground = replace(world.ground, soil_names=tuple(_soil_beside(folder, name) for name in world.soil_names))
    if settings.origin is not None:
        origin = settings.origin
        where = replace(
            ground.georeference or Georeference(),
            latitude_deg=origin.latitude_deg,
            longitude_deg=origin.longitude_deg,
            altitude_m=origin.altitude_m,
        )
        ground = replace(ground, georeference=where)
    return replace(
        world,
        ground=ground,
        obstacles=world.obstacles + _obstacles(settings, ground, folder),
        start=settings.start.position() if settings.start else world.start,
        goal=settings.goal.position() if settings.goal else world.goal,
    )


def _soils_in(key: str, value: Any) -> tuple[str, ...]:
    """Names of soils in a builder's setting."""
    if not key.endswith(("soil", "soils")):
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _file_beside(path: Path, name: str) -> Path:
    try:
        return file_beside(path.resolve().parent, name)
    except ValueError as error:
        raise SettingsError(f"{path}: {error}") from None


def _soil_beside(folder: Path, name: str) -> str:
    """A soil's name with the path of its file, in the folder or below, if it has its own."""
    file, soil = split_soil(name)
    return f"{file_beside(folder, file)}:{soil}" if file else name


def _obstacles(settings: WorldFile, ground: ElevationMap, folder: Path) -> Obstacles:
    def base(item: BoxSettings | CylinderSettings | MeshSettings) -> float:
        return float(ground.height_at(item.x_m, item.y_m)) + item.lift_m

    boxes = (
        Box(
            x=item.x_m, y=item.y_m, base=base(item), length=item.length_m, width=item.width_m, height=item.height_m,
            yaw=math.radians(item.yaw_deg),
        )
        for item in settings.boxes
    )  # fmt: skip
    cylinders = (
        Cylinder(x=item.x_m, y=item.y_m, base=base(item), radius=item.radius_m, height=item.height_m)
        for item in settings.cylinders
    )
    meshes = (
        MeshObstacle(
            name=item.file, shape=load_mesh(file_beside(folder, item.file)), x=item.x_m, y=item.y_m, base=base(item),
            yaw=math.radians(item.yaw_deg),
        )
        for item in settings.meshes
    )  # fmt: skip
    return Obstacles(boxes=tuple(boxes), cylinders=tuple(cylinders), meshes=tuple(meshes))
