"""Rays against shapes whose distances are known in closed form, near the world's origin and far from it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

from sensors.lidar.scene import Scene
from sensors.lidar.shapes import BUILDING, SOIL, TARGET, TREE
from sensors.lidar.targets import Target
from terrain.elevation_map import ElevationMap
from terrain.mesh import Mesh
from terrain.obstacles import Box, Cylinder, MeshObstacle, Obstacles
from terrain.world import World

Array = NDArray[np.float64]

EXACT = 1e-4  # [m], required accuracy
FAR = 150.0
FAR_BELOW = -1e4  # a plane that no ray of 150 m reaches
POSITIONS = pytest.mark.parametrize("position", [(0.0, 0.0), (1e5, -1e5)], ids=["near", "100 km away"])


def fan(count: int, azimuths: tuple[float, float], elevations: tuple[float, float]) -> Array:
    """Random unit directions within limits [deg]."""
    random = np.random.default_rng(5)
    azimuth, elevation = (np.radians(random.uniform(*limits, count)) for limits in (azimuths, elevations))
    flat = np.cos(elevation)
    return np.column_stack((flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)))


def tilted_world(position: tuple[float, float], slope_x: float, slope_y: float, resolution: float = 0.5) -> World:
    """A plane through `position` at height 0, 240 m wide, as a map of heights."""
    nodes = np.arange(-round(120 / resolution), round(120 / resolution) + 1) * resolution
    heights = (slope_x * nodes[None, :] + slope_y * nodes[:, None]).astype(np.float32)
    x, y = position
    return World(
        name="tilted",
        ground=ElevationMap(heights=heights, resolution=resolution, origin_x=x + nodes[0], origin_y=y + nodes[0]),
    )


@POSITIONS
def test_level_plane(position: tuple[float, float]) -> None:
    rays = fan(5000, (-180, 180), (-90, -1))

    found = Scene.flat(height=3.0).cast([*position, 5.0], rays, FAR)

    reached = -2.0 / rays[:, 2] <= FAR
    assert reached.sum() > 4000
    np.testing.assert_allclose(found.ranges[reached], -2.0 / rays[reached, 2], atol=EXACT)
    np.testing.assert_allclose(found.cosines[reached], -rays[reached, 2], atol=1e-6)
    assert np.isinf(found.ranges[~reached]).all()
    assert (found.materials[reached] == SOIL).all()


def test_upward_rays_hit_no_plane() -> None:
    assert np.isinf(Scene.flat().cast([0, 0, 2], fan(100, (-180, 180), (0, 90)), FAR).ranges).all()


@POSITIONS
@pytest.mark.parametrize("step", [1, None], ids=["whole map", "squares that follow"])
def test_tilted_ground(position: tuple[float, float], step: int | None) -> None:
    slope_x, slope_y = 0.08, -0.05
    world = tilted_world(position, slope_x, slope_y, resolution=0.5 if step else 0.2)
    rays = fan(20_000, (-180, 180), (-60, 2))

    found = Scene.of(world, step=step).cast([*position, 2.0], rays, 100.0)

    sinking = slope_x * rays[:, 0] + slope_y * rays[:, 1] - rays[:, 2]
    expected = np.where(sinking > 0.0, 2.0 / sinking, np.inf)
    reached = expected < 99.0
    np.testing.assert_allclose(found.ranges[reached], expected[reached], atol=EXACT)
    normal = math.sqrt(1.0 + slope_x**2 + slope_y**2)
    np.testing.assert_allclose(found.cosines[reached], sinking[reached] / normal, atol=1e-5)
    assert np.isinf(found.ranges[expected > 101.0]).all()


def test_ranges_are_as_exact_far_from_the_middle_of_a_large_map() -> None:
    slope = 0.3
    nodes = np.arange(-2000.0, 2001.0, 20.0)
    heights = np.broadcast_to(slope * nodes, (nodes.size, nodes.size)).astype(np.float32)
    world = World(
        name="large", ground=ElevationMap(heights=heights, resolution=20.0, origin_x=nodes[0], origin_y=nodes[0])
    )
    rays = fan(5000, (-180, 180), (-60, -8))
    sinking = slope * rays[:, 0] - rays[:, 2]
    rays, sinking = rays[sinking > 0.05], sinking[sinking > 0.05]

    found = Scene.of(world, step=1).cast([1801.23, -1803.7, slope * 1801.23 + 2.0], rays, FAR)

    # In float32 coordinates of 1800 m have steps of 0.1 mm; half a step is an error of up to 0.6 mm along these rays.
    np.testing.assert_allclose(found.ranges, 2.0 / sinking, atol=EXACT)


def test_beyond_its_edge_the_ground_continues_at_the_height_of_the_edge() -> None:
    world = tilted_world((0.0, 0.0), 0.05, 0.0)
    edge_height = 6.0

    for scene in (Scene.of(world, step=4), Scene.of(world)):
        found = scene.cast([115.0, 0.0, edge_height + 2.0], [[0.96, 0.0, -0.28]], FAR)
        scene.cast([140.0, 0.0, edge_height + 2.0], [[0.0, 0.0, -1.0]], FAR)
        np.testing.assert_allclose(found.ranges, 2.0 / 0.28, atol=EXACT)


@POSITIONS
def test_box(position: tuple[float, float]) -> None:
    x, y = position
    yaw = 0.3
    box = Box(x=x + 20.0, y=y, base=0.0, length=4.0, width=8.0, height=5.0, yaw=yaw)
    rays = fan(5000, (-25, 25), (-4, 15))

    found = Scene.flat(FAR_BELOW, obstacles=Obstacles(boxes=(box,))).cast([x, y, 2.0], rays, FAR)

    # In the box's axes, by the three pairs of faces.
    cosine, sine = math.cos(yaw), math.sin(yaw)
    rotated = rays @ np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    start = np.array([-20.0 * cosine, 20.0 * sine, 2.0 - 2.5])
    half = np.array([2.0, 4.0, 2.5])
    faces = np.sort(np.stack(((-half - start) / rotated, (half - start) / rotated)), axis=0)
    enter, leave = faces[0].max(axis=1), faces[1].min(axis=1)
    hit = leave - enter > 1e-3
    assert 500 < hit.sum() < 4500
    np.testing.assert_allclose(found.ranges[hit], enter[hit], atol=EXACT)
    assert np.isinf(found.ranges[enter - leave > 1e-3]).all()
    assert (found.materials[hit] == BUILDING).all()


@POSITIONS
def test_cylinder_is_round(position: tuple[float, float]) -> None:
    x, y = position
    radius = 0.5
    post = Cylinder(x=x + 15.0, y=y + 2.0, base=-1.0, radius=radius, height=30.0)
    rays = fan(20_000, (2, 13), (-3, 20))

    found = Scene.flat(FAR_BELOW, obstacles=Obstacles(cylinders=(post,))).cast([x, y, 2.0], rays, FAR)

    flat = np.hypot(rays[:, 0], rays[:, 1])
    ahead = (15.0 * rays[:, 0] + 2.0 * rays[:, 1]) / flat
    offset = np.abs(15.0 * rays[:, 1] - 2.0 * rays[:, 0]) / flat
    surely, never = offset < 0.99 * radius, offset > radius
    expected = (ahead - np.sqrt(np.maximum(radius**2 - offset**2, 0.0))) / flat
    assert surely.sum() > 3000
    np.testing.assert_allclose(found.ranges[surely], expected[surely], atol=EXACT)
    assert np.isinf(found.ranges[never]).all()
    assert (found.materials[surely] == TREE).all()
    facing = flat[surely] * np.sqrt(1.0 - (offset[surely] / radius) ** 2)
    np.testing.assert_allclose(found.cosines[surely], facing, atol=1e-4)


def test_cylinder_has_a_top() -> None:
    post = Cylinder(x=10.0, y=0.0, radius=0.5, height=1.0)
    slope = math.atan2(1.0, 9.52)  # just above the rim

    found = Scene.flat(obstacles=Obstacles(cylinders=(post,))).cast(
        [0.0, 0.0, 2.0], [[0.0, 0.0, -1.0], [math.cos(slope), 0.0, -math.sin(slope)]], FAR
    )

    np.testing.assert_allclose(found.ranges, [2.0, math.hypot(1.0, 9.52)], atol=EXACT)
    np.testing.assert_allclose(found.cosines[1], math.sin(slope), atol=1e-6)


@POSITIONS
def test_sphere_mesh(position: tuple[float, float]) -> None:
    x, y = position
    ball = trimesh.creation.icosphere(subdivisions=6, radius=0.5)
    shape = Mesh(np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int32))
    item = MeshObstacle(name="ball", shape=shape, x=x + 8.0, y=y, base=2.0)
    rays = fan(4000, (-5, 5), (-5, 5))

    found = Scene.flat(FAR_BELOW, obstacles=Obstacles(meshes=(item,))).cast([x, y, 2.0], rays, FAR)

    ahead = 8.0 * rays[:, 0]
    inside = 0.25 - (64.0 - ahead**2)
    steep = inside > 0.25 * 0.3  # at grazing angles even triangles of 9 mm differ from the sphere by more
    assert steep.sum() > 500
    np.testing.assert_allclose(found.ranges[steep], ahead[steep] - np.sqrt(inside[steep]), atol=EXACT)
    assert np.isinf(found.ranges[inside < -0.01]).all()


def test_the_nearer_shape_hides_the_one_behind() -> None:
    boxes = tuple(Box(x=x, y=0.0, length=1.0, width=1.0, height=4.0) for x in (30.0, 10.0, 20.0))

    found = Scene.flat(obstacles=Obstacles(boxes=boxes)).cast([0.0, 0.0, 2.0], [[1.0, 0.0, 0.0]], FAR)

    np.testing.assert_allclose(found.ranges, 9.5, atol=EXACT)


@POSITIONS
def test_moving_targets_are_seen_where_they_are_at_the_time_of_each_ray(position: tuple[float, float]) -> None:
    x, y = position
    car = Target(
        shape=Box(x=x + 20.0, y=y, length=4.0, width=2.0, height=1.5, yaw=math.pi / 2), velocity=(-10.0, 0.0, 0.0)
    )
    person = Target(shape=Cylinder(x=x, y=y + 12.0, radius=0.25, height=1.8), velocity=(0.0, 2.0, 0.0))
    scene = Scene.flat()
    scene.set_targets([car, person])
    origins, rays = np.array([[x, y, 1.0]] * 2), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])

    now = scene.trace(origins, rays, FAR)
    before = scene.trace(origins, rays, FAR, ages=np.array([-0.1, -0.1]))

    np.testing.assert_allclose(now.ranges, [19.0, 11.75], atol=EXACT)  # the car is rotated: its width is along x
    np.testing.assert_allclose(before.ranges, [20.0, 11.55], atol=EXACT)
    assert (now.materials == TARGET).all()
    scene.set_targets([])
    assert np.isinf(scene.trace(origins, rays, FAR).ranges).all()


def test_a_target_agrees_with_the_same_shape_as_an_obstacle() -> None:
    shapes = (
        Box(x=9.0, y=1.0, base=0.5, length=2.0, width=1.0, height=1.5, yaw=0.7),
        Cylinder(x=9.0, y=-2.0, base=0.2, radius=0.6, height=1.5),
    )
    standing = Scene.flat(FAR_BELOW, obstacles=Obstacles(boxes=shapes[:1], cylinders=shapes[1:]))
    moving = Scene.flat(FAR_BELOW)
    moving.set_targets([Target(shape=shape) for shape in shapes])
    rays = fan(20_000, (-25, 25), (-20, 10))

    a, b = standing.cast([0, 0, 2.5], rays, FAR), moving.cast([0, 0, 2.5], rays, FAR)

    both = np.isfinite(a.ranges) & np.isfinite(b.ranges)
    assert both.sum() > 1000
    assert (np.isfinite(a.ranges) != np.isfinite(b.ranges)).mean() < 1e-3  # the prism's outline
    np.testing.assert_allclose(a.ranges[both], b.ranges[both], atol=EXACT)
    np.testing.assert_allclose(a.cosines[both], b.cosines[both], atol=1e-4)


def test_a_wall_beside_an_antenna_blocks_half_its_sky() -> None:
    wall = Box(x=0.0, y=6.0, length=400.0, width=10.0, height=300.0)
    scene = Scene.flat(obstacles=Obstacles(boxes=(wall,)))
    sky = fan(4000, (-180, 180), (5, 85))

    blocked = scene.is_blocked([0.0, 0.0, 2.0], sky)

    reached = sky[:, 1] * 150.0 > 1.0  # nearer than 150 m
    np.testing.assert_array_equal(blocked[reached], True)
    assert not blocked[sky[:, 1] <= 0.0].any()


def test_a_world_and_its_scene_agree_about_obstacles() -> None:
    x = np.arange(-10.0, 10.1, 0.5)
    ground = ElevationMap(heights=np.zeros((41, 41), np.float32), resolution=0.5, origin_x=x[0], origin_y=x[0])
    items = Obstacles(
        boxes=(Box(x=4.0, y=4.0, length=2.2, width=3.3, height=2.0, yaw=0.4),),
        cylinders=(Cylinder(x=-4.0, y=-3.0, radius=1.1, height=3.0),),
    )
    world = World(name="yard", ground=ground, obstacles=items)
    over_x, over_y = (axis.ravel() + 0.013 for axis in np.meshgrid(x, x))

    found = Scene.of(world).cast(
        np.column_stack((over_x, over_y, np.full(over_x.size, 10.0))), np.tile([[0.0, 0.0, -1.0]], (over_x.size, 1)), 50
    )

    np.testing.assert_allclose(10.0 - found.ranges, world.top_at(over_x, over_y), atol=EXACT)


@pytest.mark.parametrize(
    ("origin", "direction", "words"),
    [
        ([0.0, 0.0, math.nan], [[1.0, 0.0, 0.0]], "finite"),
        ([0.0, 0.0, 1.0], [[math.inf, 0.0, 0.0]], "finite"),
        ([0.0, 0.0, 1.0], [[2.0, 0.0, 0.0]], "length 1"),
        ([[0.0, 0.0, 1.0]] * 2, [[1.0, 0.0, 0.0]] * 3, "one origin or n"),
    ],
)
def test_invalid_rays_are_rejected(origin: list[float], direction: list[list[float]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Scene.flat().cast(origin, direction, FAR)


def test_no_rays_hit_nothing() -> None:
    assert Scene.flat().cast([0.0, 0.0, 1.0], np.zeros((0, 3)), FAR).ranges.size == 0
