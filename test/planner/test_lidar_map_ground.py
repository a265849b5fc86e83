"""The obstacle map from LIDAR: kerbs, slopes, crests and drops of the ground."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lidar_watcher import BY_SIGHT, Watcher, ahead, part, world_of
from planner.maps.grid import FREE, OCCUPIED, UNKNOWN
from planner.maps.lidar_source import LidarMapSettings
from planner.pose import Pose
from sensors.lidar.scene import Scene
from terrain.obstacles import Box, Obstacles


@pytest.mark.parametrize("angle_deg", [90.0, 60.0, 20.0])
def test_kerb_ahead_is_seen_all_along_from_a_few_metres(angle_deg: float) -> None:
    along, across = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    world = world_of(lambda x, y: 0.15 * ((x - 14.0) * across - y * along > 0.0))

    # Rings are 1.7 m apart there: only on approach do they sweep over all of it. The bumper ends 5 m before it.
    grid = Watcher(Scene.of(world)).watch(2.5, ahead(4.0, x=-5.0))

    for distance in np.arange(-3.0, 3.0, 0.2):
        x, y = 14.0 + distance * along, distance * across
        assert OCCUPIED in part(grid, x - 0.3, x + 0.3, y - 0.3, y + 0.3), f"no kerb at {x:.1f}, {y:.1f}"
    assert OCCUPIED not in part(grid, 5.0, 9.0, -1.0, 1.0)


def test_kerb_beside_the_road_is_seen_on_the_way_and_road_and_pavement_are_free() -> None:
    grid = Watcher(Scene.of(world_of(lambda x, y: 0.15 * (y > 3.0)))).watch(3.0, ahead())

    for x in np.arange(14.0, 27.0, 0.2):  # the vehicle is at x = 12
        assert OCCUPIED in part(grid, x, x, 2.5, 3.5)
    assert OCCUPIED not in part(grid, 14.0, 27.0, -5.0, 2.4)
    assert OCCUPIED not in part(grid, 14.0, 27.0, 3.6, 6.0)
    assert (part(grid, 14.0, 27.0, -2.0, 2.4) == FREE).mean() > 0.98


@pytest.mark.parametrize("rise", [0.1, 0.2])
@pytest.mark.parametrize("direction_deg", [0.0, 45.0, 90.0])
def test_gentle_slope_is_free_for_a_vehicle_on_it(rise: float, direction_deg: float) -> None:
    slope_x, slope_y = rise * math.cos(math.radians(direction_deg)), rise * math.sin(math.radians(direction_deg))
    watcher = Watcher(Scene.flat(slope_x=slope_x, slope_y=slope_y))

    grid = watcher.watch(
        2.0, lambda time: Pose(4.0 * time, 0.0, slope_x * 4.0 * time, slope_x=slope_x, slope_y=slope_y)
    )

    assert OCCUPIED not in grid.cells
    assert (part(grid, 16.0, 22.0, -4.0, 4.0) == FREE).mean() > 0.85
    row, column = grid.window.cell(18.0, 0.1)
    around = grid.heights[row, column - 5 : column + 5]  # some fall between rings
    assert np.nanmean(around) == pytest.approx(18.0 * slope_x + 0.1 * slope_y, abs=0.08)


def test_gentle_slope_is_free_from_its_foot_and_a_steep_one_is_an_obstacle() -> None:
    gentle, steep = (
        Watcher(Scene.of(world_of(lambda x, y, rise=rise: rise * np.maximum(x - 10.0, 0.0)))).watch(1.0)
        for rise in (0.2, 1.0)
    )

    assert OCCUPIED not in gentle.cells
    assert (part(steep, 10.4, 12.0, -1.0, 1.0) == OCCUPIED).mean() > 0.5


def test_kerb_on_a_slope_is_seen() -> None:
    world = world_of(lambda x, y: 0.2 * x + 0.15 * (y > 3.0))

    grid = Watcher(Scene.of(world)).watch(2.0, lambda time: Pose(4.0 * time, 0.0, 0.8 * time, slope_x=0.2))

    for x in np.arange(14.0, 20.0, 0.2):  # a gap of one cell between rings lets nothing through
        assert OCCUPIED in part(grid, x - 0.2, x + 0.2, 2.5, 3.5)
    assert OCCUPIED not in part(grid, 10.0, 20.0, -4.0, 2.4)


def test_crest_hides_what_is_behind_and_is_itself_free() -> None:
    # Up with 20 %, round over 4 m, down again; a wall stands 8 m behind the crest.
    def height(x: object, y: object = 0.0) -> np.ndarray:
        off = np.abs(np.asarray(x) - 16.0)
        return np.where(off < 2.0, 3.0 - 0.05 * off**2, 3.2 - 0.2 * off)

    world = world_of(height)
    wall = Box(x=24.0, y=0.0, base=float(height(24.0)), length=0.4, width=8.0, height=1.0)
    scene = Scene.of(replace(world, obstacles=Obstacles(boxes=(wall,))))
    watcher = Watcher(scene)

    def path(time: float) -> Pose:
        x = 4.0 * time
        rise = float(height(x + 0.5) - height(x - 0.5))
        return Pose(x, 0.0, float(height(x)), slope_x=rise)

    before = watcher.watch(0.5, path)
    assert OCCUPIED not in part(before, 2.0, 30.0, -3.0, 3.0)
    assert (part(before, 19.0, 22.0, -2.0, 2.0) == UNKNOWN).all()

    after = watcher.watch(3.0, path)  # on the crest
    assert OCCUPIED not in part(after, 4.0, 23.0, -3.0, 3.0)
    assert OCCUPIED in part(after, 23.6, 24.4, -1.0, 1.0)


@pytest.mark.parametrize("drop", [0.15, 0.3])
@pytest.mark.parametrize("speed", [2.0, 4.0])
def test_kerb_that_leads_down_is_seen_beyond_its_own_shadow(drop: float, speed: float) -> None:
    world = world_of(lambda x, y: -drop * (x > 14.0))

    # The bumper ends 3 m before it.
    grid = Watcher(Scene.of(world), settings=BY_SIGHT).watch(12.0 / speed, ahead(speed, x=-5.0))

    for y in np.arange(-3.0, 3.0, 0.2):
        assert OCCUPIED in part(grid, 13.6, 15.0, y - 0.2, y + 0.2), f"no edge at y = {y:.1f}"
    assert OCCUPIED not in part(grid, 5.0, 13.4, -3.0, 3.0)


@pytest.mark.parametrize("fall", [0.1, 0.2, 0.3])
def test_slope_down_behind_a_crest_is_not_a_drop(fall: float) -> None:
    world = world_of(lambda x, y: -fall * np.maximum(x - 14.0, 0.0))
    watcher, without = (Watcher(Scene.of(world), settings=item) for item in (BY_SIGHT, LidarMapSettings(blind_m=0.0)))

    for _ in range(6):
        grid, other = (item.watch(0.5, ahead(4.0, x=-2.0)) for item in (watcher, without))
        found, others = (part(item, 12.0, 24.0, -4.0, 4.0) == OCCUPIED for item in (grid, other))
        assert not (found & ~others).any()
