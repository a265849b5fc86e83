"""Ground of a world for the vehicle: its map, its soils, and the ruts that wheels leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import setting
from terrain.elevation_map import ElevationMap
from terrain.ground import LEVEL, Ground, Plane, grid_of, no_grid
from terrain.obstacle_contact import Obstacles, no_obstacles
from terrain.obstacle_ground import with_obstacles
from terrain.ruts import Ruts, clear_ruts, fresh_ruts, no_ruts
from terrain.soil import SOFT, SOIL
from terrain.soil_law import SoilLaw
from terrain.soils_file import soil_table
from terrain.world import World

RUT_CELLS = 2**18  # of 0.1 m: 8 km of one wheel's track, 3 MB
RUT_CELL_M = 0.1
JOURNAL = 2**16  # changes of ruts that a model with a history can take back: several seconds of four wheels, 1.3 MB


class WorldGround:
    """A map with soils by name; implements ground.GroundModel. Only its ruts change."""

    def __init__(self, elevation: ElevationMap, obstacles: Obstacles | None = None, journal: int = 0) -> None:
        """journal: number of latest changes of ruts that can be undone; 0: none.

        Raises SettingsError for a soil that config/soils.yaml does not have.
        """
        grid = grid_of(elevation.heights, elevation.soils, elevation.origin_x, elevation.origin_y, elevation.resolution)
        soils = soil_table(elevation.soil_names)
        bare = Ground(LEVEL, grid, soils, _ruts_for(soils, journal), no_obstacles())
        self._kernel = with_obstacles(bare, obstacles or no_obstacles())
        self.elevation: ElevationMap | None = elevation

    @staticmethod
    def of(world: World, journal: int = 0) -> WorldGround:
        """Ground of a world with its obstacles."""
        return WorldGround(world.ground, Obstacles(*world.obstacles.solid_arrays()), journal)

    def kernel(self) -> Ground:
        """The ground in the form that kernels use."""
        return self._kernel

    def reset(self) -> None:
        """Clear all ruts."""
        clear_ruts(self._kernel.ruts)


@dataclass(frozen=True, kw_only=True)
class SoilField:
    """Settings of a plane of one soil, section `field` of a scenario's world."""

    soil: str = setting(..., "Name of a soil in config/soils.yaml, or FILE.yaml:NAME with a path relative to this file")
    slope_x: float = setting(
        0.0, "Slope of the ground along x of the world, as rise over run", minimum=-2.0, maximum=2.0
    )
    slope_y: float = setting(
        0.0, "Slope of the ground along y of the world, as rise over run", minimum=-2.0, maximum=2.0
    )


class SoilPlane(WorldGround):
    """The ground of a plane of one soil."""

    def __init__(self, soil: str | SoilLaw, slope_x: float = 0.0, slope_y: float = 0.0, journal: int = 0) -> None:
        """soil: its name, or its settings. Slopes are rise over run; journal: latest changes of ruts to undo."""
        plane = Plane(float(slope_x), float(slope_y), 0.0, 1.0, 0.0)
        if not np.isfinite([slope_x, slope_y]).all():
            raise ValueError(f"slopes: must be finite, got {slope_x} and {slope_y}")
        soils = soil_table([soil]) if isinstance(soil, str) else np.array([soil.record()], dtype=SOIL)
        self._kernel = Ground(plane, no_grid(), soils, _ruts_for(soils, journal), no_obstacles())
        self.elevation = None


def _ruts_for(soils: NDArray[np.void], journal: int) -> Ruts:
    """A rut table if any soil yields."""
    return fresh_ruts(RUT_CELLS, RUT_CELL_M, journal) if (soils["kind"] == SOFT).any() else no_ruts()
