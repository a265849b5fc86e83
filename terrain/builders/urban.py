"""A town: blocks with raised kerbs between straight roads, houses, small parks, cylinders in the road ([Cameron]).

Roads run along x at y = 0 and at every further multiple of block and road; likewise along y. Driving is on the right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from proving_ground.settings import setting
from terrain.elevation_map import HARD, Array, ElevationMap
from terrain.limits import check_grid_size
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.world import Site, World, WorldPose

MARGIN_M = 8.0  # of map beyond the outermost roads
DASH_M, GAP_M = 3.0, 6.0  # of lane marks
CLEAR_OF_POSTS_M = 20.0  # around start and goal


@dataclass(frozen=True, kw_only=True)
class Urban:
    """A town: blocks of houses between roads on a rectangular grid."""

    blocks_x: int = setting(3, "Number of blocks along x", minimum=1, maximum=50)
    blocks_y: int = setting(3, "Number of blocks along y", minimum=1, maximum=50)
    block_m: float = setting(65.0, "Side length of a block, kerb to kerb", unit="m", minimum=20.0, maximum=500.0)
    lanes: int = setting(2, "Number of lanes of each road", minimum=1, maximum=8)
    lane_m: float = setting(4.0, "Width of a lane", unit="m", minimum=2.0, maximum=8.0)
    corner_m: float = setting(6.0, "Radius of the kerb at crossings", unit="m", minimum=0.0, maximum=50.0)
    kerb_m: float = setting(0.15, "Height of kerbs", unit="m", minimum=0.0, maximum=1.0)
    pavement_m: float = setting(4.0, "Width of pavements", unit="m", minimum=1.0, maximum=50.0)
    parks: float = setting(0.15, "Share of plots with trees instead of a house", minimum=0.0, maximum=1.0)
    lowest_m: float = setting(6.0, "Height of the lowest house", unit="m", minimum=2.0, maximum=500.0)
    highest_m: float = setting(28.0, "Height of the highest house", unit="m", minimum=2.0, maximum=500.0)
    posts: int = setting(12, "Number of cylinders that stand in the road", minimum=0, maximum=10_000)
    post_radius_m: float = setting(
        0.3, "Radius of the cylinders that stand in the road", unit="m", minimum=0.02, maximum=1.5
    )
    resolution_m: float = setting(0.1, "Distance of the map's nodes", unit="m", minimum=0.02, maximum=1.0)
    road_soil: str = setting(HARD, "Name of the roads' soil")
    block_soil: str = setting(HARD, "Name of the blocks' soil")

    def __post_init__(self) -> None:
        if self.highest_m < self.lowest_m:
            raise ValueError(f"highest_m: must not be below lowest_m ({self.lowest_m:g}), got {self.highest_m:g}")
        if 2.0 * max(self.corner_m, self.pavement_m + 2.0) > self.block_m:
            raise ValueError(f"block_m: too small for its corners and pavements, got {self.block_m:g}")

    @property
    def road_m(self) -> float:
        """Width of a road, all lanes [m]."""
        return self.lanes * self.lane_m

    @property
    def pitch_m(self) -> float:
        """Distance between the centre lines of neighbouring roads."""
        return self.block_m + self.road_m

    def build(self, site: Site) -> World:
        """The world that these settings describe."""
        x, y = (self._nodes(count) for count in (self.blocks_x, self.blocks_y))
        check_grid_size(len(y), len(x))
        heights = np.empty((len(y), len(x)), np.float32)
        on_block = np.zeros((len(y), len(x)), np.uint8)
        for row in range(len(y)):
            into = self._into_block(x, y[row])
            on_block[row] = into > 1e-6  # not 0: rounding would notch a kerb that runs along nodes
            heights[row] = self.kerb_m * on_block[row]
        two_soils = self.block_soil != self.road_soil
        ground = ElevationMap(
            heights=heights,
            resolution=self.resolution_m,
            origin_x=float(x[0]),
            origin_y=float(y[0]),
            soils=on_block if two_soils else None,
            soil_names=(self.road_soil, self.block_soil) if two_soils else (self.road_soil,),
        )
        lane = 0.5 * self.lane_m if self.lanes > 1 else 0.0
        start = WorldPose(x=0.5 * self.road_m + self.corner_m, y=-lane)
        last_x, last_y = self.blocks_x * self.pitch_m, self.blocks_y * self.pitch_m
        goal = WorldPose(x=last_x + lane, y=last_y - self.corner_m, heading=np.pi / 2)
        obstacles = self._plots(site.random) + self._posts(site.random, start, goal)
        return World(
            name=site.name, ground=ground, obstacles=obstacles, start=start, goal=goal, markings=self._markings()
        )

    def _nodes(self, blocks: int) -> Array:
        reach = 0.5 * self.road_m + MARGIN_M
        count = round((blocks * self.pitch_m + 2.0 * reach) / self.resolution_m) + 1
        return np.asarray(-reach + np.arange(count) * self.resolution_m, np.float64)

    def _into_block(self, x: Array, y: float) -> Array:
        """Distance [m] of points into the nearest block, negative on roads: blocks have rounded corners."""
        half = 0.5 * self.block_m - self.corner_m
        beyond_x, beyond_y = (np.abs(np.mod(position, self.pitch_m) - 0.5 * self.pitch_m) - half for position in (x, y))
        outside = np.hypot(np.maximum(beyond_x, 0.0), np.maximum(beyond_y, 0.0))
        return np.asarray(self.corner_m - outside - np.minimum(np.maximum(beyond_x, beyond_y), 0.0))

    def _plots(self, random: np.random.Generator) -> Obstacles:
        """Each block is cut into plots of some 20 m, with a house or trees on each."""
        found = Obstacles()
        inner = self.block_m - 2.0 * self.pavement_m
        for block in np.ndindex(self.blocks_x, self.blocks_y):
            left, low = (0.5 * self.road_m + self.pavement_m + number * self.pitch_m for number in block)
            cuts_x, cuts_y = (_cuts(random, inner) for _ in "xy")
            for i, j in np.ndindex(len(cuts_x) - 1, len(cuts_y) - 1):
                size = np.array([cuts_x[i + 1] - cuts_x[i], cuts_y[j + 1] - cuts_y[j]])
                centre = np.array([left + cuts_x[i], low + cuts_y[j]]) + 0.5 * size
                is_park = random.random() < self.parks
                found += self._trees(random, centre, size) if is_park else self._house(random, centre, size)
        return found

    def _house(self, random: np.random.Generator, centre: Array, size: Array) -> Obstacles:
        length, width = size * random.uniform(0.65, 0.95, 2)
        height = random.uniform(self.lowest_m, self.highest_m)
        box = Box(
            x=float(centre[0]), y=float(centre[1]), base=0.0,
            length=float(length), width=float(width), height=float(height + self.kerb_m),
        )  # fmt: skip
        return Obstacles(boxes=(box,))

    def _trees(self, random: np.random.Generator, centre: Array, size: Array) -> Obstacles:
        trees = []
        for _ in range(random.integers(3, 7)):
            x, y = centre + (random.random(2) - 0.5) * 0.8 * size
            radius, height = random.uniform(0.15, 0.3), random.uniform(4.0, 9.0)
            trees.append(Cylinder(x=float(x), y=float(y), base=self.kerb_m, radius=float(radius), height=float(height)))
        return Obstacles(cylinders=tuple(trees))

    def _posts(self, random: np.random.Generator, start: WorldPose, goal: WorldPose) -> Obstacles:
        """Posts in the middle of a lane between two crossings, never two within a block's length of the same road."""
        along_x = [(block, road, True) for block in range(self.blocks_x) for road in range(self.blocks_y + 1)]
        along_y = [(block, road, False) for block in range(self.blocks_y) for road in range(self.blocks_x + 1)]
        stretches = along_x + along_y
        posts: list[Cylinder] = []
        for number in random.permutation(len(stretches)):
            block, road, is_along_x = stretches[number]
            share, lane = random.uniform(0.25, 0.75), int(random.integers(self.lanes))
            along = (block + share) * self.pitch_m
            across = road * self.pitch_m + (lane + 0.5) * self.lane_m - 0.5 * self.road_m
            x, y = (along, across) if is_along_x else (across, along)
            height = float(random.uniform(0.9, 1.4))
            near = min(np.hypot(x - position.x, y - position.y) for position in (start, goal))
            if near > CLEAR_OF_POSTS_M and len(posts) < self.posts:
                posts.append(Cylinder(x=float(x), y=float(y), radius=self.post_radius_m, height=height))
        return Obstacles(cylinders=tuple(posts))

    def _markings(self) -> Array:
        """Dashes between the lanes, from crossing to crossing."""
        dashes = []
        for is_along_x, blocks, roads in ((True, self.blocks_x, self.blocks_y), (False, self.blocks_y, self.blocks_x)):
            for block, road, lane in np.ndindex(blocks, roads + 1, self.lanes - 1):
                first = block * self.pitch_m + 0.5 * self.road_m + self.corner_m
                last = (block + 1) * self.pitch_m - 0.5 * self.road_m - self.corner_m
                across = road * self.pitch_m + (lane + 1) * self.lane_m - 0.5 * self.road_m
                for begin in np.arange(first, last - DASH_M, DASH_M + GAP_M):
                    ends = (begin, across, begin + DASH_M, across)
                    dashes.append(ends if is_along_x else (ends[1], ends[0], ends[3], ends[2]))
        return np.array(dashes, float).reshape(-1, 4)


def _cuts(random: np.random.Generator, length: float) -> Array:
    """Positions at which a side of a block is cut into plots."""
    count = max(round(length / 20.0), 1)
    inner = (np.arange(1, count) + random.uniform(-0.2, 0.2, count - 1)) * length / count
    return np.concatenate([[0.0], inner, [length]])
