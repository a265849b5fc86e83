"""Worlds as maps and shapes: cells where they belong, and shapes that are few and stay the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from proving_ground.settings import SettingsError
from terrain.elevation_map import ElevationMap
from terrain.map_messages import (
    FREE,
    MOST_TRIANGLES,
    OCCUPIED,
    UNKNOWN,
    MapSettings,
    Occupancy,
    occupancy,
    shapes,
    words_on_map,
)
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.world import World, WorldPose
from terrain.worlds import load_world


def ground(function: Any, resolution: float = 0.1, size: float = 20.0) -> ElevationMap:
    """Heights from a function of x and y, from -5 m on."""
    positions = -5.0 + np.arange(round(size / resolution) + 1) * resolution
    x, y = np.meshgrid(positions, positions)
    heights = np.asarray(function(x, y) + 0.0 * x, np.float32)
    return ElevationMap(heights=heights, resolution=resolution, origin_x=-5.0, origin_y=-5.0)


def level(**options: float) -> ElevationMap:
    return ground(lambda x, y: 0.0, **options)


def at(found: Occupancy, x: float, y: float) -> int:
    row, column = (int((position - origin) // found.resolution) for position, origin in ((y, found.y), (x, found.x)))
    return int(found.cells[row, column])


def test_map_is_aligned_with_the_world() -> None:
    found = occupancy(World(name="level", ground=level()), MapSettings())

    assert found.cells.shape == (40, 40)
    assert (found.x, found.y, found.resolution) == (-5.0, -5.0, 0.5)
    assert (found.cells == FREE).all()
    assert not found.is_cut


@pytest.mark.parametrize("resolution", [0.05, 0.1, 0.13, 0.25])
@pytest.mark.parametrize(("height", "state"), [(0.15, OCCUPIED), (-0.15, OCCUPIED), (0.08, FREE)])
def test_kerbs_are_occupied_and_low_edges_are_not(resolution: float, height: float, state: int) -> None:
    step = ground(lambda x, y: height * (x > 2.2), resolution)

    found = occupancy(World(name="kerb", ground=step), MapSettings())

    for y in (-4.9, 0.0, 4.0, 14.0):
        assert at(found, 2.2, y) == state
        assert at(found, 1.4, y) == at(found, 3.1, y) == FREE


@pytest.mark.parametrize("angle", [0.0, 0.6, math.pi / 2])
@pytest.mark.parametrize("resolution", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("slope_deg", "state"), [(28.0, FREE), (32.0, OCCUPIED)])
def test_slopes_count_by_their_steepness_whatever_their_direction(
    angle: float, resolution: float, slope_deg: float, state: int
) -> None:
    rise = math.tan(math.radians(slope_deg))
    plane = ground(lambda x, y: rise * (x * math.cos(angle) + y * math.sin(angle)), resolution)

    found = occupancy(World(name="slope", ground=plane), MapSettings())

    assert (found.cells[3:-6, 3:-6] == state).all()


def test_fine_roughness_is_not_a_slope() -> None:
    # 2 cm up and down within 5 cm is 22 degrees and more, but negligible for a wheel.
    rough = ground(lambda x, y: 0.02 * np.sin(2.0 * math.pi * x / 0.1 + 1.0), 0.025, 10.0)

    found = occupancy(World(name="rough", ground=rough), MapSettings(max_slope_deg=15.0))

    assert (found.cells == FREE).all()


def test_every_cell_that_an_obstacle_touches_is_occupied_and_few_others() -> None:
    things = Obstacles(
        boxes=(Box(x=3.0, y=2.0, length=4.0, width=1.0, height=3.0, yaw=0.5),),
        cylinders=(Cylinder(x=-2.0, y=-2.0, radius=0.05, height=1.0),),  # thin, on a corner of four cells
    )
    found = occupancy(World(name="things", ground=level(), obstacles=things), MapSettings())

    x, y = np.meshgrid(np.arange(-4.99, 15.0, 0.02), np.arange(-4.99, 15.0, 0.02))
    distance = things.distance(x, y)
    rows, columns = (((position + 5.0) // 0.5).astype(int) for position in (y, x))
    states = found.cells[rows, columns]
    assert (states[distance <= 0.0] == OCCUPIED).all()
    assert (states[distance > 0.5 * math.sqrt(2.0)] == FREE).all()


def test_obstacle_beyond_the_map_is_ignored() -> None:
    away = Obstacles(cylinders=(Cylinder(x=500.0, y=0.0, radius=1.0, height=1.0),))

    found = occupancy(World(name="away", ground=level(), obstacles=away), MapSettings())

    assert (found.cells == FREE).all()


@pytest.mark.parametrize("cell", [0.1, 0.5, 0.7])
def test_unsurveyed_ground_is_unknown_unless_occupied_by_an_obstacle(cell: float) -> None:
    surveyed = np.zeros((41, 41), bool)
    surveyed[:, :20] = True  # x up to 4.5 m
    post = Obstacles(cylinders=(Cylinder(x=10.0, y=10.0, radius=0.5, height=1.0),))
    world = World(name="half", ground=level(resolution=0.5), surveyed=surveyed, obstacles=post)

    found = occupancy(world, MapSettings(map_resolution_m=cell))

    assert at(found, 0.0, 0.0) == at(found, 4.4, 12.0) == FREE
    assert at(found, 6.0, 0.0) == at(found, 14.9, 14.9) == UNKNOWN
    assert at(found, 10.0, 10.0) == OCCUPIED


def test_map_of_a_large_world_is_cropped_around_the_start_and_reports_it() -> None:
    kerb = ground(lambda x, y: 0.15 * (x > 10.0), 0.1)
    world = World(name="large", ground=kerb, start=WorldPose(x=12.0, y=2.0))

    found = occupancy(world, MapSettings(map_size_m=6.0))

    assert found.cells.shape == (12, 12)
    assert (found.x, found.y) == pytest.approx((9.0, -1.0))
    assert at(found, 10.1, 0.0) == OCCUPIED
    assert found.is_cut
    assert "only the part around the start" in words_on_map(found)


def test_gigantic_maps_are_rejected_with_one_line() -> None:
    wide = ElevationMap(heights=np.zeros((2, 2), np.float32), resolution=500.0)

    with pytest.raises(SettingsError, match=r"map_resolution_m: 0.05 m makes 100 million cells of 500 x 500 m"):
        occupancy(World(name="wide", ground=wide), MapSettings(map_resolution_m=0.05))


@pytest.mark.parametrize("name", ["off_road", "urban", "kerb"])
def test_ground_is_drawn_with_few_triangles_that_reach_the_edges(name: str) -> None:
    world = load_world(name)

    soil = shapes(world)[0]

    assert soil.kind == "triangles"
    assert MOST_TRIANGLES / 4 < len(soil.order) / 3 <= MOST_TRIANGLES
    np.testing.assert_allclose(soil.points[:, 0].min(), world.ground.x_limits[0])
    np.testing.assert_allclose(soil.points[:, 1].max(), world.ground.y_limits[1])
    assert soil.colours.shape == soil.points.shape
    assert 0.0 <= soil.colours.min() <= soil.colours.max() <= 1.0


def test_every_obstacle_has_a_shape_with_a_stable_number() -> None:
    world = load_world("urban")

    drawn, again = shapes(world), shapes(load_world("urban"))

    names = [(shape.group, shape.number) for shape in drawn]
    assert len(set(names)) == len(names)
    assert names == [(shape.group, shape.number) for shape in again]
    kinds = [shape.kind for shape in drawn]
    assert kinds.count("cube") == len(world.obstacles.boxes)
    assert kinds.count("cylinder") == len(world.obstacles.cylinders)
    post = world.obstacles.cylinders[0]
    shape = next(shape for shape in drawn if shape.kind == "cylinder")
    assert shape.position == (post.x, post.y, post.base + 0.5 * post.height)
    assert shape.size == (2.0 * post.radius, 2.0 * post.radius, post.height)
    paint = drawn[-1]
    assert (paint.kind, len(paint.order)) == ("lines", 2 * len(world.markings))
