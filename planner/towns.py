"""Seeded towns to drive through ([Cameron], scenario 1), the best path through them, and detection of kerb strikes."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.a_star import shortest
from planner.footprint import Footprint
from planner.global_planner import BESIDE_M, NEAR_GOAL
from planner.grid_cost import METRE_COST, NO_PATH
from planner.maps.global_map import map_of
from planner.maps.grid import LocalGrid, Window
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from proving_ground.kernels.jit import kernel
from terrain.builders.urban import Urban
from terrain.ground import Ground, GroundModel, height_at
from terrain.obstacles import Cylinder
from terrain.world import Site, World, WorldPose
from vehicle_dynamics.driving.snapshot import SnapshotRecord
from vehicle_dynamics.motion import heading

Array = NDArray[np.float64]

TOWN = Urban(blocks_x=4, blocks_y=4, block_m=65.0, posts=40)
CLOSED_ROADS = 3  # barred by a row of posts
BAR_SPACING_M = 1.6
LINE_SPACING_M = 12.0  # of posts on the straight line to the goal, where that is road
POST_RADIUS_M = 0.3
CLEAR_M = 15.0  # around start and goal
STRIKE_M = 0.1  # ground height difference within a wheel's contact that counts as a kerb strike
CONTACT_LENGTH_M, CONTACT_WIDTH_M = 0.3, 0.3  # of a tyre, where the ground is checked


def town(seed: int, *, urban: Urban = TOWN, closed_roads: int = CLOSED_ROADS) -> World:
    """A town with posts in every street and on the straight line to the goal, and some closed streets."""
    random = np.random.default_rng(seed)
    world = urban.build(Site(f"town_{seed}", random, Path()))
    start, goal = _ends(urban, random)
    posts = [post for post in world.obstacles.cylinders if _is_clear_of(post.x, post.y, start, goal)]
    posts += _bars(urban, random, closed_roads, start, goal)
    posts += _on_the_line(world, start, goal)
    obstacles = replace(world.obstacles, cylinders=tuple(posts))
    return replace(world, obstacles=obstacles, start=start, goal=goal)


def _ends(urban: Urban, random: np.random.Generator) -> tuple[WorldPose, WorldPose]:
    """Start and goal in opposite corners of the town, in the right lane; the start heads for a crossing or away."""
    lane = 0.5 * urban.lane_m if urban.lanes > 1 else 0.0
    width, depth = urban.blocks_x * urban.pitch_m, urban.blocks_y * urban.pitch_m
    at_right, at_top = random.random(2) < 0.5
    x = width - random.uniform(15.0, 40.0) if at_right else random.uniform(15.0, 40.0)
    y = depth if at_top else 0.0
    is_eastward = random.random() < 0.5
    start = WorldPose(
        x=float(x), y=float(y - lane if is_eastward else y + lane), heading=0.0 if is_eastward else math.pi
    )
    goal_x = random.uniform(15.0, 40.0) if at_right else width - random.uniform(15.0, 40.0)
    goal = WorldPose(x=float(goal_x), y=float((0.0 if at_top else depth) - lane))
    return start, goal


def _is_clear_of(x: float, y: float, *positions: WorldPose) -> bool:
    return all(math.hypot(x - position.x, y - position.y) > CLEAR_M for position in positions)


def _bars(urban: Urban, random: np.random.Generator, count: int, start: WorldPose, goal: WorldPose) -> list[Cylinder]:
    """Rows of posts across streets inside the town; the outer ring of roads stays open."""
    posts: list[Cylinder] = []
    for number in range(count):
        along = (random.integers(0, urban.blocks_x) + random.uniform(0.3, 0.7)) * urban.pitch_m
        road = random.integers(1, urban.blocks_y) * urban.pitch_m
        row = np.arange(-0.5 * urban.road_m + 0.8, 0.5 * urban.road_m - 0.7, BAR_SPACING_M)
        for across in row:
            x, y = (along, road + across) if number % 2 else (road + across, along)
            if _is_clear_of(x, y, start, goal):
                posts.append(Cylinder(x=float(x), y=float(y), radius=POST_RADIUS_M, height=1.1))
    return posts


def _on_the_line(world: World, start: WorldPose, goal: WorldPose) -> list[Cylinder]:
    length = math.hypot(goal.x - start.x, goal.y - start.y)
    posts = []
    for along in np.arange(CLEAR_M + 1.0, length - CLEAR_M, LINE_SPACING_M):
        x, y = (a + (b - a) * along / length for a, b in ((start.x, goal.x), (start.y, goal.y)))
        around = world.ground.height_at(
            x + np.array([-1.0, 0.0, 1.0, 0.0, 0.0]), y + np.array([0.0, 0.0, 0.0, 1.0, -1.0])
        )
        if around.max() < 0.01:
            posts.append(Cylinder(x=x, y=y, radius=POST_RADIUS_M, height=1.1))
    return posts


def path_on_truth(world: World, settings: PlannerSettings, footprint: Footprint) -> tuple[float, Array]:
    """Cost [m] and points (n x 2 [m]) of A*'s path from start to goal on the true map; infinite if blocked."""
    if world.goal is None:
        raise ValueError(f"world {world.name}: has no goal")
    source, side = TerrainTruth(world, settings), settings.map_resolution_m
    left, right, low, high = source.extent()
    column, row = math.floor(left / side), math.floor(low / side)
    window = Window(column, row, math.ceil(right / side) - column, math.ceil(high / side) - row, side)
    cells, heights = np.empty(window.shape, np.int8), np.empty(window.shape, np.float32)
    ground = float(world.ground.height_at(world.start.x, world.start.y))
    source.look(0.0, Pose(world.start.x, world.start.y, ground), window, cells, heights)
    whole = map_of(LocalGrid(window, cells, heights, np.zeros((1, 1), np.float32), 0.0), settings, footprint.half_width)
    start = whole.nearest_open(world.start.x, world.start.y, BESIDE_M)
    goal = whole.nearest_open(world.goal.x, world.goal.y, NEAR_GOAL * settings.arrival_m)
    if start is None or goal is None:
        return math.inf, np.zeros((0, 2))
    cost, cells_of_path = shortest(whole.costs, start, goal)
    if cost == NO_PATH:
        return math.inf, np.zeros((0, 2))
    return cost * whole.resolution / METRE_COST, whole.middles(np.array(cells_of_path))


class StepWatch:
    """Counts wheels that begin to climb or fall over a step."""

    def __init__(self, ground: GroundModel) -> None:
        self._ground = ground.kernel()
        self._was: NDArray[np.bool_] = np.zeros(4, bool)
        self.count = 0

    def look(self, seen: SnapshotRecord) -> None:
        """Count wheels that have just struck a step, at one instant of a drive."""
        at_x, at_y, _ = seen["position"].tolist()
        rises = np.empty(4)
        _rises(self._ground, at_x, at_y, heading(seen), seen["wheel_centre"], seen["steer_angle"], rises)
        on_step = rises >= STRIKE_M
        self.count += int((on_step & ~self._was).sum())
        self._was = on_step


@kernel
def _rises(ground: Ground, x: float, y: float, heading: float, centres: Array, steer_angles: Array, out: Array) -> None:
    """Difference between the highest and the lowest ground [m] under each tyre's contact."""
    cosine, sine = math.cos(heading), math.sin(heading)
    for wheel in range(4):
        middle_x = x + cosine * centres[wheel, 0] - sine * centres[wheel, 1]
        middle_y = y + sine * centres[wheel, 0] + cosine * centres[wheel, 1]
        along, across = math.cos(heading + steer_angles[wheel]), math.sin(heading + steer_angles[wheel])
        low, high = np.inf, -np.inf
        for i in range(-2, 3):
            for j in range(-2, 3):
                ahead, left = 0.25 * i * CONTACT_LENGTH_M, 0.25 * j * CONTACT_WIDTH_M
                here = height_at(
                    ground, middle_x + along * ahead - across * left, middle_y + across * ahead + along * left
                )
                low, high = min(low, here), max(high, here)
        out[wheel] = high - low
