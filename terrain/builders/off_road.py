"""Open country: fractal hills with rough ground, patches of soils, and trees ([Cameron], off-road environments)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from proving_ground.settings import setting
from terrain.builders.fractal import fractal_field, scattered
from terrain.elevation_map import ElevationMap, Heights, Soils
from terrain.limits import check_grid_size
from terrain.obstacles import Cylinder, Obstacles
from terrain.world import Site, World, WorldPose

CLEAR_OF_TREES_M = 8.0  # around start and goal
START_SHARE = 0.4  # of the size, from the middle towards a corner


@dataclass(frozen=True, kw_only=True)
class OffRoad:
    """Hills, trees and patches of soil."""

    size_m: float = setting(300.0, "Side length of the square map", unit="m", minimum=40.0, maximum=5000.0)
    resolution_m: float = setting(0.25, "Distance of the map's nodes", unit="m", minimum=0.02, maximum=10.0)
    hills_m: float = setting(3.0, "Standard deviation of the hills' height", unit="m", minimum=0.0, maximum=500.0)
    hill_length_m: float = setting(120.0, "Wave length of the longest hills", unit="m", minimum=5.0, maximum=5000.0)
    hill_hurst: float = setting(0.9, "Smoothness of the hills, 1 is smooth", minimum=0.05, maximum=1.0)
    rough_m: float = setting(0.03, "Standard deviation of rough ground", unit="m", minimum=0.0, maximum=1.0)
    rough_length_m: float = setting(6.0, "Longest wave length of rough ground", unit="m", minimum=0.2, maximum=100.0)
    steepest_deg: float = setting(
        22.0, "Steepest slope of the hills, which are lowered if need be", unit="deg", minimum=1.0, maximum=60.0
    )
    soils: tuple[str, ...] = setting(
        ("sandy_loam", "dry_sand", "clay"), "Names of the soils; the first is the common one"
    )
    soil_shares: tuple[float, ...] = setting(
        (0.6, 0.25, 0.15), "Share of the ground that each soil has", minimum=0.0, maximum=1.0
    )
    patch_length_m: float = setting(80.0, "Size of patches of soil", unit="m", minimum=2.0, maximum=5000.0)
    trees: int = setting(150, "Number of trees", minimum=0, maximum=20_000)
    tree_spacing_m: float = setting(5.0, "Least distance of two trees", unit="m", minimum=0.5, maximum=100.0)
    thinnest_m: float = setting(0.08, "Radius of the thinnest trunk", unit="m", minimum=0.02, maximum=2.0)
    thickest_m: float = setting(0.35, "Radius of the thickest trunk", unit="m", minimum=0.02, maximum=2.0)

    def __post_init__(self) -> None:
        if len(self.soils) != len(self.soil_shares) or not 1 <= len(self.soils) <= 200:
            raise ValueError(f"soil_shares: must be as many as soils ({len(self.soils)}), got {len(self.soil_shares)}")
        if abs(sum(self.soil_shares) - 1.0) > 1e-6:
            raise ValueError(f"soil_shares: must add up to 1, got {sum(self.soil_shares):g}")
        if self.thickest_m < self.thinnest_m:
            raise ValueError(f"thickest_m: must not be below thinnest_m ({self.thinnest_m:g}), got {self.thickest_m:g}")

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        count = round(self.size_m / self.resolution_m) + 1
        check_grid_size(count, count)
        origin = -0.5 * (count - 1) * self.resolution_m
        ground = ElevationMap(
            heights=self._heights(site.random, (count, count)),
            resolution=self.resolution_m,
            origin_x=origin,
            origin_y=origin,
            soils=self._soils(site.random, (count, count)),
            soil_names=self.soils,
        )
        reach = START_SHARE * self.size_m
        start, goal = (
            WorldPose(x=-reach, y=-reach, heading=math.pi / 4.0),
            WorldPose(x=reach, y=reach, heading=math.pi / 4.0),
        )
        return World(
            name=site.name, ground=ground, obstacles=self._trees(site.random, ground, (start, goal)),
            start=start, goal=goal,
        )  # fmt: skip

    def _heights(self, random: np.random.Generator, shape: tuple[int, int]) -> Heights:
        step = self.resolution_m
        longest = min(self.hill_length_m, self.size_m)
        shortest = min(max(self.rough_length_m, 0.15 * longest), longest)
        hills = self.hills_m * fractal_field(
            random, shape, step, longest=longest, shortest=shortest, hurst=self.hill_hurst
        )
        gradient = np.hypot(*np.gradient(hills, step)).max()
        limit = math.tan(math.radians(self.steepest_deg))
        hills *= min(1.0, limit / gradient) if gradient > 0.0 else 1.0
        rough = self.rough_m * fractal_field(
            random, shape, step, longest=self.rough_length_m, shortest=2.0 * step, hurst=0.7
        )
        return (hills + rough).astype(np.float32)

    def _soils(self, random: np.random.Generator, shape: tuple[int, int]) -> Soils:
        """Each soil but the first covers its share where its own random field is highest; later ones lie on top."""
        numbers = np.zeros(shape, np.uint8)
        longest = min(self.patch_length_m, self.size_m)
        for number in range(1, len(self.soils)):
            field = fractal_field(random, shape, self.resolution_m, longest=longest, shortest=0.1 * longest, hurst=0.8)
            free = numbers == 0
            share = self.soil_shares[number] * numbers.size / max(int(free.sum()), 1)
            if share > 0.0:
                numbers[free & (field >= np.quantile(field[free], max(1.0 - share, 0.0)))] = number
        return numbers

    def _trees(self, random: np.random.Generator, ground: ElevationMap, clear: tuple[WorldPose, ...]) -> Obstacles:
        """Trees in groups, with some alone, at a distance from the edge, start and goal."""
        size = self.size_m
        low = np.array([ground.x_limits[0], ground.y_limits[0]]) + 1.0
        groups = fractal_field(random, (128, 128), size / 128, longest=0.4 * size, shortest=0.05 * size, hurst=0.6)
        weight = np.clip(0.15 + 0.6 * groups, 0.03, 1.0)
        positions = scattered(random, self.trees, low, -low, self.tree_spacing_m, weight)
        radii = np.exp(random.uniform(np.log(self.thinnest_m), np.log(self.thickest_m), len(positions)))
        heights = ground.height_at(positions[:, 0], positions[:, 1])
        trees = []
        for (x, y), radius, base in zip(positions.tolist(), radii.tolist(), heights.tolist(), strict=True):
            if all(math.hypot(x - position.x, y - position.y) > CLEAR_OF_TREES_M for position in clear):
                # Rooted, so that no gap shows under the trunk on a slope.
                trees.append(Cylinder(x=x, y=y, base=base - 0.5, radius=radius, height=3.5 + 25.0 * radius))
        return Obstacles(cylinders=tuple(trees))
