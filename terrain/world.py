"""A world: ground, soils, obstacles, start and goal."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain.elevation_map import Array, ElevationMap
from terrain.georeference import Georeference
from terrain.mesh import Mesh, joined
from terrain.obstacles import Obstacles


@dataclass(frozen=True, kw_only=True)
class WorldPose:
    """Position [m] and heading [rad, from x towards y] in a world."""

    x: float
    y: float
    heading: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """World that vehicle, sensors and planner drive on, sense and avoid."""

    name: str
    ground: ElevationMap
    obstacles: Obstacles = field(default_factory=Obstacles)
    start: WorldPose = field(default_factory=lambda: WorldPose(x=0.0, y=0.0))
    goal: WorldPose | None = None
    markings: Array = field(default_factory=lambda: np.zeros((0, 4)))  # painted lines from x, y to x, y [m]
    surveyed: NDArray[np.bool_] | None = None  # nodes whose height was measured; None: all
    remarks: tuple[str, ...] = ()  # what its files have and it has not

    @property
    def soil_names(self) -> tuple[str, ...]:
        """Soil names in the order of the ground's soil indices."""
        return self.ground.soil_names

    @property
    def georeference(self) -> Georeference | None:
        """Position of the world's origin on Earth, if known."""
        return self.ground.georeference

    def top_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """z [m] of the highest surface at points [m], ground or obstacle: what ROAMS' planner queries ([Cameron])."""
        return np.maximum(self.ground.height_at(x, y), self.obstacles.top_at(x, y))

    def mesh(self, step: int = 1) -> Mesh:
        """Ground and obstacles as triangles, for ray casting."""
        return joined((self.ground.triangle_mesh(step), self.obstacles.mesh()))


@dataclass(frozen=True)
class Site:
    """Inputs of a builder besides its own settings."""

    name: str
    random: np.random.Generator
    folder: Path  # that must hold all files that a world names
