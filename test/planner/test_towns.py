"""The HMMWV drives itself through towns, in a closed loop with all its dynamics ([Cameron], scenario 1)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmark.town_runs import drive_on_truth
from planner.footprint import Footprint
from planner.maps.grid import OCCUPIED, Window
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from planner.towns import StepWatch, path_on_truth, town
from proving_ground.settings.share import share_file
from terrain.builders.urban import Urban
from terrain.elevation_map import ElevationMap
from terrain.obstacles import Cylinder, Obstacles
from terrain.world import World, WorldPose
from terrain.world_ground import WorldGround
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.pedals import Pedals

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)
SMALL_TOWN = Urban(blocks_x=2, blocks_y=1, block_m=40.0, posts=7)


@pytest.fixture(scope="module")
def hmmwv() -> Hmmwv:
    return Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


def obstacles_on_the_line(world: World) -> int:
    """Cells of obstacles on the straight line from start to goal."""
    assert world.goal is not None
    source, side = TerrainTruth(world, DEFAULT), DEFAULT.map_resolution_m
    left, right, low, high = source.extent()
    window = Window(
        math.floor(left / side),
        math.floor(low / side),
        math.ceil((right - left) / side),
        math.ceil((high - low) / side),
        side,
    )
    cells, heights = np.empty(window.shape, np.int8), np.empty(window.shape, np.float32)
    source.look(0.0, Pose(world.start.x, world.start.y), window, cells, heights)
    share = np.linspace(0.0, 1.0, 2000)
    x = world.start.x + share * (world.goal.x - world.start.x)
    y = world.start.y + share * (world.goal.y - world.start.y)
    return len(
        {window.cell(*position) for position in zip(x, y, strict=True) if cells[window.cell(*position)] == OCCUPIED}
    )


@pytest.mark.parametrize("model", ["hmmwv_chrono", "hmmwv"])
@pytest.mark.parametrize("seed", [1, 4])
def test_goal_is_reached_without_touching_post_or_kerb(hmmwv: Hmmwv, seed: int, model: str) -> None:
    world = town(seed, urban=SMALL_TOWN, closed_roads=0)
    cost, _ = path_on_truth(world, DEFAULT, Footprint.of(hmmwv.parameters, hmmwv.base_in_chassis))
    assert math.isfinite(cost)
    assert obstacles_on_the_line(world) > 0

    result = drive_on_truth(world, 120.0, model=model)

    assert result.reached, f"{result.status} {result.reason} after {result.time} s"
    assert result.collisions == 0
    assert result.kerb_strikes == 0
    assert result.top_speed <= 5.0


WOUND_UP = pytest.mark.xfail(
    strict=True,
    reason="5.37 m/s beyond the crest. The HMMWV as built climbs 40 % with a throttle of 0.98; 0.77 of it is the speed"
    " controller's integral, since it does not know the slope: at 5.0 m/s on the level the throttle is still 0.79."
    " (hmmwv_chrono climbs with 0.49.) The lags of the pedals add 0.05 m/s only.",
)


@pytest.mark.parametrize(
    ("model", "degrees"),
    [("hmmwv_chrono", -22.0), pytest.param("hmmwv", -22.0, marks=WOUND_UP), ("hmmwv_chrono", 15.0), ("hmmwv", 15.0)],
)
def test_speed_limit_holds_on_slopes_and_beyond_their_crests(model: str, degrees: float) -> None:
    # Level, then 20 m down (up where negative), then level again.
    positions = -50.0 + 0.2 * np.arange(501)
    heights = -math.tan(math.radians(degrees)) * np.clip(positions + 10.0, 0.0, 40.0)
    ground = ElevationMap(
        heights=np.broadcast_to(heights, (501, 501)).astype(np.float32), resolution=0.2, origin_x=-50.0, origin_y=-50.0
    )
    world = World(
        name="slope", ground=ground, start=WorldPose(x=-25.0, y=0.0, heading=0.0), goal=WorldPose(x=42.0, y=0.0)
    )

    result = drive_on_truth(world, 60.0, model=model)

    assert result.reached
    assert result.top_speed <= 5.0


def test_towns_are_the_same_each_time_and_differ_by_seed() -> None:
    first, again, other = (town(seed, urban=SMALL_TOWN, closed_roads=0) for seed in (1, 1, 2))

    assert first.obstacles.cylinders == again.obstacles.cylinders
    assert (first.start, first.goal) == (again.start, again.goal)
    assert first.obstacles.cylinders != other.obstacles.cylinders


def test_a_star_finds_no_path_to_a_goal_behind_posts(hmmwv: Hmmwv) -> None:
    world = town(1, urban=SMALL_TOWN, closed_roads=0)
    assert world.goal is not None
    angles = np.linspace(0.0, 2.0 * math.pi, 16, endpoint=False)
    fence = tuple(
        Cylinder(x=world.goal.x + 4.0 * math.cos(angle), y=world.goal.y + 4.0 * math.sin(angle), radius=0.3, height=1.0)
        for angle in angles
    )
    fenced = World(
        name="fenced", ground=world.ground, start=world.start, goal=world.goal, obstacles=Obstacles(cylinders=fence)
    )

    cost, path = path_on_truth(fenced, DEFAULT, Footprint.of(hmmwv.parameters, hmmwv.base_in_chassis))

    assert math.isinf(cost)
    assert len(path) == 0


def test_wheel_over_a_kerb_is_counted_once(hmmwv: Hmmwv) -> None:
    world = town(1, urban=SMALL_TOWN, closed_roads=0)
    ground = WorldGround.of(World(name="empty", ground=world.ground))
    watch = StepWatch(ground)
    kerb = 0.5 * SMALL_TOWN.road_m
    # Beside the kerb, then with the left wheels on it.
    for y in (0.0, kerb - 2.0, kerb - hmmwv.snapshot(hmmwv.start(ground), Pedals(), ground)["wheel_centre"][0, 1]):
        state = hmmwv.start(ground, x=22.0, y=0.0)
        state[1] += y
        seen = hmmwv.snapshot(state, Pedals(), ground)
        watch.look(seen)
        watch.look(seen)

    assert watch.count == 2  # front and rear
