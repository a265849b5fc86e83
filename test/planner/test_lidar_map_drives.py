"""The obstacle map from LIDAR in towns and before drops: compared with the terrain, and driven by."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import binary_dilation, minimum_filter

from benchmark.town_runs import drive_by_lidar
from lidar_watcher import BY_SIGHT, DEFAULT, TICK_S, TRUCK, UNIT, Watcher, ahead, world_of
from planner.maps.grid import OCCUPIED, LocalGrid
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.towns import town
from sensors.lidar.scene import Scene
from terrain.builders.urban import Urban
from terrain.world import WorldPose


class Agreement:
    """LIDAR against terrain truth on a street, within 15 m ahead of the bumper and 8 m to both sides.

    An obstacle cell is found when a seen one is at most one cell off; an obstacle seen on the road is false when the
    nearest true one is further off than that.
    """

    def __init__(self) -> None:
        self.true = self.found = self.road = self.false = 0

    def add(self, seen: LocalGrid, truth: LocalGrid, pose: Pose, extent: Extent) -> None:
        rows, columns = np.indices(seen.cells.shape)
        x = (columns + seen.window.column + 0.5) * seen.window.resolution
        y = (rows + seen.window.row + 0.5) * seen.window.resolution
        # The world's edge is given, not seen.
        inside = (x > extent.left) & (x < extent.right) & (y > extent.low) & (y < extent.high)
        cosine, sine = math.cos(pose.heading), math.sin(pose.heading)
        along, across = (
            cosine * (x - pose.x) + sine * (y - pose.y),
            cosine * (y - pose.y) - sine * (x - pose.x),
        )
        near = inside & (along > TRUCK.front) & (along < TRUCK.front + 15.0) & (np.abs(across) < 8.0)
        true, occupied = truth.cells == OCCUPIED, seen.cells == OCCUPIED
        road = ~true & (np.nan_to_num(truth.heights, nan=1.0) < 0.05)
        # What bounds the road towards the LIDAR: insides and backs of things are not visible.
        away = np.hypot(along - UNIT.mount.xyz_m[0], across)
        facing = minimum_filter(np.where(road, away, np.inf), 3) < away
        edge = near & true & facing
        self.true += int(edge.sum())
        self.found += int((edge & binary_dilation(occupied, np.ones((3, 3)))).sum())
        self.road += int((near & road).sum())
        self.false += int((near & road & occupied & ~binary_dilation(true, np.ones((3, 3)))).sum())


def test_kerbs_and_posts_of_a_town_are_found_and_its_roads_are_free() -> None:
    agreement = Agreement()
    for seed in (0, 3):
        world = town(seed)
        start = world.start
        path = ahead(4.0, start.x, start.y, start.heading)
        source = TerrainTruth(world, DEFAULT)
        watcher = Watcher(Scene.of(world), settings=BY_SIGHT, extent=source.extent())
        truth = LocalMap(source, DEFAULT)
        watcher.watch(2.5, path)  # 10 m, out of the blind area
        for _ in range(10):
            grid = watcher.watch(0.5, path)
            pose = path(watcher.ticks * TICK_S)
            agreement.add(grid, truth.update(0.0, pose), pose, source.extent())

    found, false = agreement.found / agreement.true, agreement.false / agreement.road
    assert agreement.true > 2000
    assert found >= 0.95, f"{found:.4f} of {agreement.true} found"
    assert false <= 0.005, f"{false:.5f} of {agreement.road} road cells are false obstacles"


def test_goal_in_a_town_is_reached_by_lidar_without_touching_post_or_kerb() -> None:
    world = town(4, urban=Urban(blocks_x=2, blocks_y=1, block_m=40.0, posts=7), closed_roads=0)

    result = drive_by_lidar(world, 120.0)

    assert result.reached, f"{result.status} {result.reason} after {result.time} s"
    assert result.collisions == 0
    assert result.kerb_strikes == 0
    assert result.top_speed <= 5.0


@pytest.mark.parametrize("drop", [0.15, 0.5, 2.0])
def test_vehicle_stops_before_ground_that_falls_away(drop: float) -> None:
    edge = 8.0
    world = world_of(lambda x, y: -drop * (x > edge))
    world = replace(world, start=WorldPose(x=-14.0, y=0.0, heading=0.0), goal=WorldPose(x=30.0, y=0.0))

    result = drive_by_lidar(world, 9.0)

    assert not result.reached
    assert result.kerb_strikes == 0
    assert result.collisions == 0
    front_wheels = result.track[:, 0] + TRUCK.wheelbase * np.cos(result.track[:, 2])
    assert front_wheels.max() < edge - 0.3  # a wheel stands on 0.3 m
    assert result.track[:, 0].max() > 0.0  # it did come close
