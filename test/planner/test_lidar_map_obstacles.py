"""The obstacle map from LIDAR: things on the ground, unseen cells, and what is kept or forgotten."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lidar_watcher import DEFAULT, FEW_POINTS, STANDING, TRUCK, UNIT, Watcher, ahead, part, world_of
from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, LocalGrid
from planner.maps.lidar_source import LidarMapSettings, LidarSource
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.pose import Pose
from sensors.lidar.scene import Scene
from sensors.lidar.targets import Target
from terrain.obstacles import Box, Cylinder, Obstacles


def test_post_and_box_are_obstacles_and_what_they_hide_is_unknown() -> None:
    things = Obstacles(
        boxes=(Box(x=14.0, y=4.0, length=1.0, width=2.0, height=0.5),),
        cylinders=(Cylinder(x=14.0, y=0.0, radius=0.3, height=1.2),),
    )

    grid = Watcher(Scene.flat(obstacles=things)).watch(1.0)

    assert OCCUPIED in part(grid, 13.6, 14.0, -0.2, 0.2)
    assert (part(grid, 13.5, 13.5, 3.3, 4.7) == OCCUPIED).all()
    assert (part(grid, 14.6, 15.6, -0.1, 0.1) == UNKNOWN).all()
    assert OCCUPIED not in part(grid, 8.0, 13.0, -6.0, 8.0)


@pytest.mark.parametrize("height", [1.0, 0.25])
def test_removed_obstacle_is_cleared(height: float) -> None:
    scene = Scene.flat()
    watcher = Watcher(scene)
    scene.set_targets([Target(shape=Box(x=12.0, y=0.0, length=1.0, width=1.0, height=height))])
    there = watcher.watch(1.0)
    assert OCCUPIED in part(there, 11.4, 12.0, -0.4, 0.4)

    scene.set_targets([])
    gone = watcher.watch(3.0)

    assert OCCUPIED not in gone.cells


def test_new_obstacle_is_seen_at_once_even_where_the_vehicle_has_been() -> None:
    scene = Scene.flat()
    watcher = Watcher(scene)
    backwards = ahead(-4.0, x=20.0)
    watcher.watch(3.0, backwards)
    scene.set_targets([Target(shape=Box(x=18.0, y=0.0, length=0.5, width=1.0, height=1.0))])

    grid = watcher.watch(0.25, lambda _: Pose(8.0, 0.0))

    assert OCCUPIED in part(grid, 17.6, 18.2, -0.4, 0.4)


def test_overhang_at_three_metres_is_free_and_at_two_metres_an_obstacle() -> None:
    high, low = (
        Watcher(
            Scene.flat(obstacles=Obstacles(boxes=(Box(x=14.0, y=0.0, base=base, length=3.0, width=8.0, height=1.0),)))
        ).watch(2.0, ahead(2.0))
        for base in (3.0, 1.5)
    )

    assert OCCUPIED not in high.cells
    assert OCCUPIED in part(low, 12.3, 12.7, -1.0, 1.0)


def test_cells_that_no_ray_hit_are_unknown_but_free_under_the_wheels() -> None:
    grid = Watcher(Scene.flat()).watch(0.5)

    assert (part(grid, 0.0, 3.2, -0.8, 0.8) == FREE).all()
    assert (part(grid, 0.0, 3.2, 2.0, 4.0) == UNKNOWN).all()
    assert np.isnan(grid.heights[grid.cells == UNKNOWN]).all()
    assert not np.isinf(grid.heights).any()


def test_what_was_seen_ahead_is_kept_beside_the_vehicle() -> None:
    world = world_of(lambda x, y: 0.15 * (y > 2.5))

    grid = Watcher(Scene.of(world)).watch(5.0, ahead())  # to x = 20

    for x in np.arange(16.0, 24.0, 0.2):
        assert OCCUPIED in part(grid, x, x, 2.2, 2.9)


def test_unseen_cells_close_to_the_vehicle_block_it_except_in_the_start_strip() -> None:
    grid = Watcher(Scene.flat(), settings=LidarMapSettings(blind_m=2.5, start_room_m=8.0)).watch(0.5)

    assert (part(grid, 0.5, 3.5, 2.5, 3.3) == OCCUPIED).all()
    assert (part(grid, -1.9, -1.5, -1.0, 1.0) == OCCUPIED).all()
    assert OCCUPIED not in part(grid, -0.4, 12.0, -1.4, 1.4)
    assert (part(grid, 0.5, 3.5, 5.0, 6.0) == UNKNOWN).all()


def test_old_evidence_is_dropped_but_not_close_to_the_vehicle() -> None:
    things = Obstacles(cylinders=(Cylinder(x=14.0, y=0.0, radius=0.3, height=1.2),))
    watcher = Watcher(Scene.flat(obstacles=things), settings=LidarMapSettings(blind_m=0.0, forget_s=10.0))
    watcher.watch(0.5)

    def seen_after(seconds: float, x: float) -> LocalGrid:
        return LocalMap(watcher.source, DEFAULT).update(seconds, Pose(x, 0.0))

    assert OCCUPIED in seen_after(9.0, -8.0).cells
    assert (seen_after(11.0, -8.0).cells != OCCUPIED).all()
    assert OCCUPIED in seen_after(11.0, 5.0).cells


def test_no_data_is_unknown_and_infinitely_old() -> None:
    source = LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS)

    grid = LocalMap(source, DEFAULT).update(5.0, STANDING)

    assert (grid.cells == UNKNOWN).all()
    assert grid.stamp == -math.inf


def test_beyond_the_extent_all_is_obstacle() -> None:
    grid = Watcher(Scene.flat(), extent=Extent(-50.0, 15.0, -50.0, 50.0)).watch(0.3)

    assert (part(grid, 15.3, 20.0, -5.0, 5.0) == OCCUPIED).all()
    assert OCCUPIED not in part(grid, 0.0, 14.9, -5.0, 5.0)


def test_own_body_seen_by_the_lidar_is_not_an_obstacle() -> None:
    grid = Watcher(Scene.flat(), unit=replace(UNIT, own_body="seen")).watch(0.5)

    assert OCCUPIED not in grid.cells
