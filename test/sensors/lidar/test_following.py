"""Squares of ground that follow a vehicle over large maps, and ruts that appear while it drives."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from numpy.typing import NDArray

import sensors.lidar.surface
from sensors.lidar.levels import CELLS, KEPT, PIECE_FACES
from sensors.lidar.scene import Scene
from terrain.elevation_map import ElevationMap
from terrain.mesh import Mesh
from terrain.obstacles import Cylinder, MeshObstacle, Obstacles
from terrain.ruts import press, rut_depth
from terrain.world import World
from terrain.world_ground import SoilPlane, WorldGround

Array = NDArray[np.float64]

EXACT = 1e-4  # [m]


def rough_world(nodes: int = 1201, resolution: float = 0.25, obstacles: Obstacles | None = None) -> World:
    """Hills and roughness, in sums of waves that do not repeat on the map."""
    at = np.arange(nodes) * resolution
    x, y = at[None, :], at[:, None]
    heights = 2.0 * np.sin(x / 17.0) * np.cos(y / 23.0) + 0.15 * np.sin(x * 1.7 + y) + 0.08 * np.cos(2.9 * y - x)
    ground = ElevationMap(heights=heights.astype(np.float32), resolution=resolution)
    return World(name="rough", ground=ground, obstacles=obstacles or Obstacles())


def circle(count: int, elevation_deg: float) -> Array:
    azimuth = np.linspace(-np.pi, np.pi, count, endpoint=False)
    flat, up = np.cos(np.radians(elevation_deg)), np.sin(np.radians(elevation_deg))
    return np.column_stack((flat * np.cos(azimuth), flat * np.sin(azimuth), np.full(count, up)))


def test_near_the_vehicle_squares_agree_with_the_whole_map() -> None:
    world = rough_world(nodes=601)  # too many for one level
    whole, following = Scene.of(world, step=1), Scene.of(world)
    origin = [75.0, 75.0, float(world.ground.height_at(75.0, 75.0)) + 2.0]
    rays = np.concatenate([circle(720, elevation) for elevation in (-60.0, -30.0, -15.0, -10.0)])

    expected, found = whole.cast(origin, rays, 150.0), following.cast(origin, rays, 150.0)

    near = expected.ranges < 16.0
    assert near.mean() > 0.7
    np.testing.assert_allclose(found.ranges[near], expected.ranges[near], atol=EXACT)


def test_no_ray_slips_through_between_squares() -> None:
    world = rough_world()
    scene = Scene.of(world)
    random = np.random.default_rng(1)

    for x, y in random.uniform(100.0, 200.0, (6, 2)):
        origin = [x, y, float(world.ground.height_at(x, y)) + 30.0]
        rays = np.concatenate([circle(3000, elevation) for elevation in random.uniform(-85.0, -25.0, 10)])
        found = scene.cast(origin, rays, 150.0)
        assert np.isfinite(found.ranges).all()
        # Coarse cells cut corners off the ground, but only slightly.
        where = origin + rays * found.ranges[:, None].astype(float)
        assert np.abs(where[:, 2] - world.ground.height_at(where[:, 0], where[:, 1])).max() < 0.5


def test_squares_follow_a_vehicle_across_a_map_of_4_km_with_bounded_memory() -> None:
    slope = 0.02
    nodes = np.arange(4001, dtype=np.float32)
    heights = np.broadcast_to(slope * nodes, (4001, 4001))
    trees = Obstacles(
        cylinders=tuple(Cylinder(x=x, y=2000.0, base=0.0, radius=0.3, height=200.0) for x in (2300.0, 3100.0))
    )
    world = World(name="big", ground=ElevationMap(heights=heights, resolution=1.0), obstacles=trees)
    scene = Scene.of(world, reach_m=150.0)
    rays = np.concatenate([circle(36, elevation) for elevation in (-40.0, -10.0, -3.0)])
    step = 5.0  # [m] per call: faster than any vehicle at 100 Hz
    most = 0

    for x in np.arange(2400.0, 3000.0, step):
        scene.follow(float(x), 2000.0, 100.0 * step, 0.0)
        most = max(most, scene.triangles)
        if x % 50.0 == 0.0:
            found = scene.trace(np.array([[x, 2000.0, slope * x + 3.0]]), rays, 150.0)
            sinking = slope * rays[:, 0] - rays[:, 2]
            np.testing.assert_allclose(found.ranges, 3.0 / sinking, atol=1e-3)  # heights of 80 m in float32

    assert most < KEPT * (3 * 2 * CELLS**2 + 1000)  # three levels and two trees
    ahead = scene.trace(np.array([[3000.0, 2000.0, 70.0]]), np.array([[1.0, 0.0, 0.0]]), 150.0)
    np.testing.assert_allclose(ahead.ranges, 99.7, atol=EXACT)


def test_a_tick_builds_one_small_piece_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    world = rough_world()
    scene = Scene.of(world)
    scene.follow(100.0, 150.0)
    pieces: list[int] = []
    build = sensors.lidar.surface.TriangleMesh
    monkeypatch.setattr(
        sensors.lidar.surface, "TriangleMesh", lambda *given: (pieces.append(len(given[2])), build(*given))[1]
    )

    for tick in range(500):  # 5 s at 10 m/s
        before = len(pieces)
        scene.follow(100.0 + 0.1 * tick, 150.0, 10.0, 0.0)
        assert len(pieces) - before <= 1

    assert len(pieces) > 20
    assert max(pieces) <= 1.2 * PIECE_FACES


def test_a_large_mesh_is_seen_from_every_square_and_never_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ball = trimesh.creation.icosphere(subdivisions=5, radius=3.0)
    shape = Mesh(np.asarray(ball.vertices, float), np.asarray(ball.faces, np.int32))
    rock = MeshObstacle(name="rock", shape=shape, x=200.0, y=150.0, base=20.0)
    scene = Scene.of(rough_world(obstacles=Obstacles(meshes=(rock,))))
    pieces: list[int] = []
    build = sensors.lidar.surface.TriangleMesh
    monkeypatch.setattr(
        sensors.lidar.surface, "TriangleMesh", lambda *given: (pieces.append(len(given[2])), build(*given))[1]
    )

    for x in (190.0, 150.0, 100.0):
        found = scene.cast([x, 150.0, 20.0], [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0]], 150.0)
        np.testing.assert_allclose(found.ranges[0], 200.0 - x - 3.0, atol=1e-3)
        assert found.ranges[1] < 25.0

    assert max(pieces) <= 1.2 * PIECE_FACES < len(shape.faces)


def test_a_relocated_vehicle_sees_its_new_surroundings() -> None:
    world = rough_world()
    scene = Scene.of(world)
    for x, y in ((50.0, 50.0), (250.0, 200.0), (60.0, 240.0)):
        scene.follow(x, y)
        height = float(world.ground.height_at(x, y))
        found = scene.trace(np.array([[x, y, height + 2.0]]), np.array([[0.0, 0.0, -1.0]]), 150.0)
        np.testing.assert_allclose(found.ranges, 2.0, atol=EXACT)


def test_results_do_not_depend_on_the_path_there() -> None:
    world = rough_world()
    rays = np.concatenate([circle(360, elevation) for elevation in (-20.0, -4.0)])
    straight, detour = Scene.of(world), Scene.of(world)

    for x, y in ((111.0, 140.0), (60.0, 60.0), (140.0, 210.0), (101.0, 149.0)):
        for _ in range(7):
            detour.follow(x, y, 15.0, -8.0)

    for origin in ([100.0, 150.0, 5.0], [112.5, 150.0, 5.0], [99.0, 150.0, 5.0]):
        expected = straight.cast(origin, rays, 100.0)
        found = detour.cast(origin, rays, 100.0)
        assert found.ranges.tobytes() == expected.ranges.tobytes()
        assert found.cosines.tobytes() == expected.cosines.tobytes()


def test_the_same_drive_gives_the_same_results_to_the_bit() -> None:
    world = rough_world()
    rays = circle(360, -8.0)

    def drive() -> list[bytes]:
        scene, seen = Scene.of(world), []
        for tick in range(120):
            x = 100.0 + 0.2 * tick
            scene.follow(x, 150.0, 20.0, 0.0)
            seen.append(scene.trace(np.array([[x, 150.0, 5.0]]), rays, 100.0).ranges.tobytes())
        return seen

    assert drive() == drive()


def pressed(ground: WorldGround, depth: float) -> None:
    """A track of 2 m x 0.8 m along x from x = 10, y = -0.4."""
    for x in np.arange(10.05, 12.0, 0.1):
        for y in np.arange(-0.35, 0.4, 0.1):
            press(ground.kernel().ruts, float(x), float(y), depth)


def sand_world() -> World:
    heights = np.full((201, 201), 1.0, np.float32)
    return World(
        name="sand",
        ground=ElevationMap(heights=heights, resolution=0.5, origin_x=-50.0, origin_y=-50.0, soil_names=("dry_sand",)),
    )


@pytest.mark.parametrize("kind", ["map", "plane"])
def test_a_rut_is_seen_after_an_update(kind: str) -> None:
    depth = 0.12
    if kind == "map":
        world = sand_world()
        ground = WorldGround.of(world)
        scene, top = Scene.of(world, ground), 1.0
    else:
        ground = SoilPlane("dry_sand")
        scene, top = Scene.flat(ground=ground), 0.0
    built = scene.surfaces()
    slant = np.array([0.8, 0.0, -0.6])
    # Down on its middle; slanting to its floor; beside it; slanting to its far wall.
    origins = [
        [11.0, 0.0, top + 2.0],
        [11.0 - 0.8 / 0.6 * 2.12, 0.0, top + 2.0],
        [11.0, 3.0, top + 2.0],
        [9.0, 0.0, top + 0.2],
    ]
    rays = [[0.0, 0.0, -1.0], slant, [0.0, 0.0, -1.0], [0.99949988, 0.0, -0.0316228]]
    rays[3] = np.array(rays[3]) / np.linalg.norm(rays[3])
    scene.cast(origins, rays, 100.0)

    pressed(ground, depth)
    unnoted = scene.cast(origins, rays, 100.0).ranges
    scene.update_ruts()
    found = scene.cast(origins, rays, 100.0)

    np.testing.assert_allclose(unnoted[:3], [2.0, 2.0 / 0.6, 2.0], atol=EXACT)
    np.testing.assert_allclose(found.ranges[:3], [2.0 + depth, (2.0 + depth) / 0.6, 2.0], atol=EXACT)
    # Without the rut this ray would hit the ground at 6.3 m, which is at x = 15.3: it never reaches the rut.
    np.testing.assert_allclose(found.ranges[3], unnoted[3], atol=EXACT)
    assert scene.surfaces() == built, "nothing was rebuilt"


@pytest.mark.parametrize("position", [(0.75, 0.75), (-0.05, 0.05), (123.45, -80.05)])
def test_a_compacted_cell_has_the_depth_that_wheels_meet(position: tuple[float, float]) -> None:
    ground = SoilPlane("dry_sand")
    ruts = ground.kernel().ruts
    press(ruts, *position, 0.2)
    scene = Scene.flat(ground=ground)
    x, y = (axis.ravel() for axis in np.meshgrid(*(at + np.linspace(-0.2, 0.2, 41) for at in position)))

    found = scene.cast(np.column_stack((x, y, np.ones(x.size))), np.tile([[0.0, 0.0, -1.0]], (x.size, 1)), 10.0)

    depth = [rut_depth(ruts, float(a), float(b)) for a, b in zip(x, y, strict=True)]
    assert max(depth) > 0.19
    np.testing.assert_allclose(found.ranges - 1.0, depth, atol=2e-4)  # shallower than 0.1 mm is no rut


def test_a_grazing_ray_hits_the_far_wall_of_a_rut() -> None:
    ground = SoilPlane("dry_sand")
    scene = Scene.flat(ground=ground)
    pressed(ground, 0.3)
    scene.update_ruts()
    sinking = 0.1
    ray = np.array([1.0, 0.0, -sinking]) / np.hypot(1.0, sinking)

    found = scene.cast([10.0, 0.0, 0.1], ray, 100.0)  # reaches the ground at x = 11, would reach the floor at x = 14

    x = 10.0 + found.ranges[0] * ray[0]
    # The wall rises from the middle of the last pressed cell (11.95) to that of the next (12.05).
    assert 11.95 < x < 12.05
    assert found.cosines[0] > 0.9


def test_cleared_ruts_are_gone() -> None:
    ground = SoilPlane("dry_sand")
    scene = Scene.flat(ground=ground)
    pressed(ground, 0.1)
    scene.update_ruts()
    ground.reset()
    scene.update_ruts()

    np.testing.assert_allclose(scene.cast([11.0, 0.0, 2.0], [[0.0, 0.0, -1.0]], 100.0).ranges, 2.0, atol=EXACT)
