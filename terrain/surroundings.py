"""The world, or the plane, that a part of a run is in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from proving_ground.settings import setting
from terrain.georeference import Georeference
from terrain.ground import FlatGround, GroundModel, height_at
from terrain.world import World
from terrain.world_ground import SoilPlane, WorldGround
from terrain.worlds import load_world


@dataclass(frozen=True, kw_only=True)
class GroundSettings(FlatGround):
    """A plane of hard ground or of one soil."""

    soil: str = setting(
        "",
        "Name of a soil in config/soils.yaml, or FILE.yaml:NAME; empty: hard ground with a friction coefficient",
        read_only=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.soil and (self.bump_height_m, self.friction) != (FlatGround().bump_height_m, FlatGround().friction):
            raise ValueError(f"soil: {self.soil} has neither a bump nor a friction coefficient; leave both out")

    def model(self, journal: int = 0) -> GroundModel:
        """The ground model, see SoilPlane; raises SettingsError for an unknown soil."""
        return SoilPlane(self.soil, self.slope_x, self.slope_y, journal) if self.soil else self


@dataclass(frozen=True, kw_only=True)
class SiteSettings:
    """The world, or the plane, that a part of a run is in."""

    renamed: ClassVar[dict[str, str]] = {
        name: f"ground.{name}"
        for name in ("friction", "slope_x", "slope_y", "bump_start_m", "bump_length_m", "bump_height_m")
    }

    world: str = setting(
        "",
        "Name of a world in config/worlds, or a path to a YAML file; empty: the plane that `ground` describes",
        read_only=True,
    )
    ground: GroundSettings = field(default_factory=GroundSettings)

    def __post_init__(self) -> None:
        if self.world and self.ground != GroundSettings():
            raise ValueError(f"world: {self.world} has its own ground; leave `ground` as it is")


class Surroundings:
    """World and ground of one process, built once and shared by all parts in it."""

    def __init__(self, site: SiteSettings, world: World | None = None) -> None:
        """world: replaces the one that the site names. Raises SettingsError with one line."""
        self._site = site
        self.world = world or (load_world(site.world) if site.world else None)
        self.ground = self.fresh_ground()  # the vehicle leaves its ruts in it

    def fresh_ground(self, journal: int = 0) -> GroundModel:
        """The same ground without ruts, for a model that leaves its own; journal: changes that can be undone."""
        if self.world is not None:
            return WorldGround.of(self.world, journal)
        return self._site.ground.model(journal)

    @property
    def georeference(self) -> Georeference | None:
        """Position of the world's origin on Earth, if known."""
        return self.world.georeference if self.world is not None else None

    def height_at(self, x: float, y: float) -> float:
        """z of the ground [m] at a position [m]."""
        return float(height_at(self.ground.kernel(), x, y))
