"""Obstacle maps: what counts as an obstacle, and how far away it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import distance_transform_edt

from planner.connected import leads_out
from planner.grid_cost import BLOCKED, CHEAPEST
from planner.maps.distance import FAR, distance_field
from planner.maps.global_map import GlobalMap
from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, LocalGrid, Window
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from terrain.elevation_map import ElevationMap
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.world import World

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)


def world_of(height: object, obstacles: Obstacles | None = None, shift: float = 0.0) -> World:
    """A world of 60 m whose ground is a function of x and y; shift [m] moves its nodes off the map's cells."""
    positions = -30.0 + shift + 0.1 * np.arange(600)
    x, y = np.meshgrid(positions, positions)
    heights = np.broadcast_to(height(x, y), x.shape).astype(np.float32)  # type: ignore[operator]
    ground = ElevationMap(heights=heights, resolution=0.1, origin_x=positions[0], origin_y=positions[0])
    return World(name="test", ground=ground, obstacles=obstacles or Obstacles())


def seen(world: World, pose: Pose | None = None) -> LocalGrid:
    return LocalMap(TerrainTruth(world, DEFAULT), DEFAULT).update(0.0, pose or Pose(0.0, 0.0))


def state_at(grid: LocalGrid, x: float, y: float) -> int:
    return int(grid.cells[grid.window.cell(x, y)])


@given(
    share=st.sampled_from([0.0, 0.02, 0.2, 0.5, 1.0]),
    seed=st.integers(0, 2**31),
    rows=st.integers(1, 30),
    columns=st.integers(1, 30),
)
@settings(max_examples=60, deadline=None)
def test_distance_field_agrees_with_brute_force(share: float, seed: int, rows: int, columns: int) -> None:
    cells = np.where(np.random.default_rng(seed).random((rows, columns)) < share, OCCUPIED, FREE).astype(np.int8)
    found = np.empty(cells.shape, np.float32)

    distance_field(cells, OCCUPIED, 0.2, found)

    occupied = np.argwhere(cells == OCCUPIED)
    here = np.argwhere(np.ones_like(cells, bool)).reshape(rows, columns, 1, 2)
    truth = np.sqrt(((here - occupied) ** 2).sum(axis=-1)).min(axis=-1, initial=FAR)
    np.testing.assert_allclose(found, 0.2 * truth, rtol=1e-6)


def test_distance_field_agrees_with_scipy_on_a_large_grid() -> None:
    cells = np.where(np.random.default_rng(1).random((240, 200)) < 0.003, OCCUPIED, UNKNOWN).astype(np.int8)
    found = np.empty(cells.shape, np.float32)

    distance_field(cells, OCCUPIED, 1.0, found)

    np.testing.assert_allclose(found, distance_transform_edt(cells != OCCUPIED), rtol=1e-6)


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.05, 0.08])
@pytest.mark.parametrize("angle_deg", [0.0, 90.0, 30.0, 45.0])
def test_kerb_is_seen_all_along_whatever_its_direction(shift: float, angle_deg: float) -> None:
    cosine, sine = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    grid = seen(world_of(lambda x, y: 0.15 * (x * cosine + y * sine > 5.0), shift=shift))

    # Nothing can get through: every path across has an obstacle within two cells of the edge.
    for across in np.arange(-15.0, 15.0, 0.1):
        across = [
            state_at(grid, along * cosine - across * sine, along * sine + across * cosine)
            for along in np.arange(4.6, 5.4, 0.05)
        ]
        assert OCCUPIED in across
    assert state_at(grid, 3.0 * cosine, 3.0 * sine) == FREE
    assert state_at(grid, 8.0 * cosine, 8.0 * sine) == FREE  # the pavement is no obstacle, its edge is


@pytest.mark.parametrize("slope_deg", [3.0, 10.0, 20.0])
def test_gentle_slope_is_free_from_its_foot_and_from_its_middle(slope_deg: float) -> None:
    rise = math.tan(math.radians(slope_deg))
    world = world_of(lambda x, y: rise * np.maximum(x - 3.0, 0.0))

    from_foot = seen(world, Pose(0.0, 0.0))
    from_slope = seen(world, Pose(5.0, 0.0, 2.0 * rise, slope_x=rise))

    assert (from_foot.cells == FREE).all()
    assert (from_slope.cells == FREE).all()


def test_steep_slope_is_an_obstacle() -> None:
    grid = seen(world_of(lambda x, y: 0.7 * np.maximum(x - 3.0, 0.0)))

    assert state_at(grid, 6.0, 0.0) == OCCUPIED
    assert state_at(grid, 1.0, 0.0) == FREE


def test_house_is_an_obstacle_with_all_its_roof_and_a_thin_pole_is_not_missed() -> None:
    obstacles = Obstacles(
        boxes=(Box(x=10.0, y=0.0, length=8.0, width=8.0, height=5.0, yaw=0.3),),
        cylinders=(Cylinder(x=-5.03, y=3.07, radius=0.02, height=1.0),),
    )
    grid = seen(world_of(lambda x, y: 0.0, obstacles))

    assert state_at(grid, 10.0, 0.0) == OCCUPIED
    assert OCCUPIED in [state_at(grid, -5.03 + dx, 3.07 + dy) for dx in (-0.1, 0.1) for dy in (-0.1, 0.1)]
    assert state_at(grid, -5.0, 5.0) == FREE


def test_beyond_the_edge_of_the_world_all_is_obstacle() -> None:
    grid = seen(world_of(lambda x, y: 0.0), Pose(25.0, 0.0))

    assert state_at(grid, 35.0, 0.0) == OCCUPIED
    assert state_at(grid, 29.0, 0.0) == FREE


def test_unsurveyed_ground_is_unknown() -> None:
    world = world_of(lambda x, y: 0.0)
    surveyed = np.ones(world.ground.shape, bool)
    surveyed[:, 350:] = False  # x from 5 m on
    grid = seen(World(name="test", ground=world.ground, surveyed=surveyed))

    assert state_at(grid, 10.0, 0.0) == UNKNOWN
    assert state_at(grid, 0.0, 0.0) == FREE


def test_rolling_map_shows_the_same_cells_wherever_the_vehicle_is() -> None:
    world = world_of(
        lambda x, y: 0.15 * (x > 5.0), Obstacles(cylinders=(Cylinder(x=2.0, y=2.0, radius=0.3, height=1.0),))
    )

    here, there = seen(world, Pose(0.0, 0.0)), seen(world, Pose(3.33, -2.71))

    for x, y in np.random.default_rng(3).uniform(-15.0, 15.0, (500, 2)):
        assert state_at(here, x, y) == state_at(there, x, y)


@pytest.mark.parametrize("claimed", [0.0, 5.0, 12.0])
def test_height_of_a_pose_does_not_matter(claimed: float) -> None:
    """An observer with a cheap GPS is metres off, and its odometry begins at 0 on any hill."""
    world = world_of(lambda x, y: 7.0 + 0.1 * x + 0.15 * (x > 5.0))

    right, wrong = (seen(world, Pose(0.0, 0.0, z, slope_x=0.1)) for z in (7.0, claimed))

    np.testing.assert_array_equal(right.cells, wrong.cells)
    assert state_at(right, 5.0, 0.0) == OCCUPIED
    assert state_at(right, 3.0, 0.0) == FREE


def local_grid(cells: np.ndarray, row: int = 0, column: int = 0) -> LocalGrid:
    window = Window(column, row, cells.shape[1], cells.shape[0], 0.2)
    return LocalGrid(
        window, cells.astype(np.int8), np.zeros(cells.shape, np.float32), np.zeros((1, 1), np.float32), 0.0
    )


def test_global_map_keeps_what_the_rolling_map_has_left_behind() -> None:
    whole = GlobalMap(DEFAULT, 1.0, Extent())
    whole.grow_to(0.0, 40.0, 0.0, 40.0)
    cells = np.full((100, 100), FREE)
    cells[50, 50] = OCCUPIED

    first = whole.add(local_grid(cells))
    again = whole.add(local_grid(cells))
    elsewhere = whole.add(local_grid(np.full((100, 100), FREE), row=100, column=100))

    assert len(first) > 0
    assert len(again) == len(elsewhere) == 0
    assert whole.state_at(10.1, 10.1) == OCCUPIED
    assert whole.state_at(30.0, 30.0) == FREE
    assert whole.state_at(5.0, 35.0) == UNKNOWN


def test_unknown_cells_do_not_overwrite_and_free_ones_do() -> None:
    whole = GlobalMap(DEFAULT, 1.0, Extent())
    whole.grow_to(0.0, 20.0, 0.0, 20.0)
    cells = np.full((100, 100), FREE)
    cells[50, 50] = OCCUPIED
    whole.add(local_grid(cells))

    whole.add(local_grid(np.full((100, 100), UNKNOWN)))
    assert whole.state_at(10.1, 10.1) == OCCUPIED

    changed = whole.add(local_grid(np.full((100, 100), FREE)))
    assert whole.state_at(10.1, 10.1) == FREE
    assert len(changed) > 0
    assert (whole.costs == whole.costs.min()).all()


@given(seed=st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_costs_kept_up_to_date_are_those_of_a_fresh_map(seed: int) -> None:
    random = np.random.default_rng(seed)
    patched = GlobalMap(DEFAULT, 1.0, Extent())
    patched.grow_to(0.0, 40.0, 0.0, 40.0)
    for _ in range(6):
        row, column = (2 * random.integers(0, 60, 2)).tolist()
        cells = np.where(random.random((80, 80)) < 0.002, OCCUPIED, FREE)
        patched.add(local_grid(cells, row, column))
        if random.random() < 0.3:
            patched.grow_to(-10.0, 50.0, 0.0, 45.0)

    fresh = GlobalMap(DEFAULT, 1.0, Extent())
    w = patched.window
    fresh.grow_to(w.x, w.x + w.columns * 0.4, w.y, w.y + w.rows * 0.4)
    assert fresh.window == w
    coarse = np.repeat(np.repeat(patched.cells, 2, axis=0), 2, axis=1)
    fresh.add(local_grid(coarse, w.row * 2, w.column * 2))

    np.testing.assert_array_equal(patched.costs, fresh.costs)
    assert (patched.costs[patched.cells == OCCUPIED] == BLOCKED).all()


def test_global_map_growth_is_bounded() -> None:
    whole = GlobalMap(DEFAULT, 1.0, Extent())
    whole.grow_to(0.0, 40.0, 0.0, 40.0)

    with pytest.raises(ValueError, match="million cells"):
        whole.grow_to(0.0, 1e6, 0.0, 1e6)
    assert whole.window.shape == (100, 100)


def test_map_that_gets_too_large_doubles_its_cells_and_keeps_what_it_knows() -> None:
    whole = GlobalMap(DEFAULT, 1.0, Extent())
    whole.grow_to(-10.0, 40.0, 3.0, 40.0)
    cells = np.full((100, 100), FREE)
    cells[50, 50] = OCCUPIED
    whole.add(local_grid(cells, row=20))

    grown = whole.grow_to(-700.0, 700.0, -700.0, 700.0)

    assert grown is not None
    assert grown.is_coarser
    assert whole.resolution == pytest.approx(0.8)
    assert whole.state_at(10.1, 14.1) == OCCUPIED
    assert whole.state_at(2.0, 14.1) == FREE
    assert whole.state_at(-300.0, 0.0) == UNKNOWN
    assert whole.costs[whole.window.cell(10.1, 14.1)] == BLOCKED
    assert whole.costs[whole.window.cell(2.0, 14.1)] != BLOCKED
    assert len(whole.add(local_grid(cells, row=20))) == 0


def test_path_out_of_a_map_is_found_where_there_is_one() -> None:
    costs = np.full((30, 40), CHEAPEST, np.int32)
    costs[10, 10:21] = costs[20, 10:21] = costs[10:21, 10] = costs[10:21, 20] = BLOCKED
    everywhere, nowhere, right = (True,) * 4, (False,) * 4, (False, True, False, False)

    assert leads_out(costs, 5, 5, everywhere)
    assert leads_out(costs, 5, 5, right)
    assert not leads_out(costs, 5, 5, nowhere)
    assert not leads_out(costs, 15, 15, everywhere)
    costs[:, 30] = BLOCKED
    assert not leads_out(costs, 5, 5, right)
