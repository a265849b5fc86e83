"""The obstacle map from LIDAR: scenes with known answers, seen by the real LIDAR with its noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import binary_dilation, minimum_filter
from scipy.spatial.transform import Rotation

from benchmark.town_runs import drive_by_lidar
from planner.drive_to_goal import DriveToGoal, Reason, Status
from planner.footprint import Footprint
from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, LocalGrid, Window
from planner.maps.lidar_source import LidarMapSettings, LidarSource
from planner.maps.local_map import LocalMap
from planner.maps.source import Extent
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from planner.settings import PlannerSettings
from planner.towns import town
from proving_ground.settings.nested import load_preset
from proving_ground.settings.share import share_file
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.lidar.targets import Target
from sensors.samples import LIDAR_POINT
from terrain.builders.urban import Urban
from terrain.elevation_map import ElevationMap
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.world import World, WorldPose
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.vehicle_choice import VehicleChoice

DEFAULT = PlannerSettings(max_curvature_1pm=0.14)
TRUCK = Footprint(front=3.9, rear=-0.65, half_width=1.07, wheelbase=3.3, half_track=0.91, centre_height=0.8)
HMMWV = VehicleChoice().parameters().equipment
UNIT = replace(load_preset(LidarSettings, "spinning_32").fitted("lidar", HMMWV), deskew=True)
FEW_POINTS = LidarMapSettings(least_points=1)  # for tests with single points
BY_SIGHT = LidarMapSettings(blind_m=0.01)  # drops are searched for, the blind area is left alone
TICK_S = 0.01
ZERO = (0.0, 0.0, 0.0)
Path = Callable[[float], Pose]  # base_link at a time
STANDING = Pose(0.0, 0.0)


def base_of(pose: Pose) -> BaseMotion:
    """base_link at a pose, computed independently of the map's code."""
    along = pose.slope_x * math.cos(pose.heading) + pose.slope_y * math.sin(pose.heading)
    flat = Rotation.from_euler("ZY", [pose.heading, -math.atan(along)])
    normal = np.array([-pose.slope_x, -pose.slope_y, 1.0])
    left = flat.apply([0.0, 1.0, 0.0])
    up = flat.apply([0.0, 0.0, 1.0])
    roll = math.atan2(-normal @ left, normal @ up)
    attitude = (flat * Rotation.from_euler("X", roll)).as_quat()
    return BaseMotion((pose.x, pose.y, pose.z), tuple(attitude.tolist()), ZERO, ZERO, ZERO, ZERO)


class Watcher:
    """A LIDAR on a path through a scene, and the map that it feeds."""

    def __init__(
        self,
        scene: Scene,
        unit: LidarSettings = UNIT,
        settings: LidarMapSettings | None = None,
        extent: Extent | None = None,
    ) -> None:
        self.scene, self.unit = scene, unit
        self.lidar = Lidar(unit, scene, seed=3)
        self.source = LidarSource(DEFAULT, TRUCK, unit.mounting(), extent, settings or LidarMapSettings(blind_m=0.0))
        self.ticks = 0

    def watch(
        self, seconds: float, path: Path = lambda _: STANDING, believed: Callable[[float, Pose], Pose] | None = None
    ) -> LocalGrid:
        """Go on along a path for a time; the map at its end. believed: the estimate for a true pose at a time."""
        for _ in range(round(seconds / TICK_S)):
            pose = path(self.ticks * TICK_S)
            for scan in self.lidar.update(round(1e9 * TICK_S) * self.ticks, base_of(pose)):
                stamp = 1e-9 * scan.time_ns
                later = None if self.unit.deskew else path(stamp + 0.1)
                pose = path(stamp) if believed is None else believed(stamp, path(stamp))
                assert self.source.see(stamp, scan.points, pose, later)
            self.ticks += 1
        return self.map_at(path(self.ticks * TICK_S))

    def map_at(self, pose: Pose) -> LocalGrid:
        return LocalMap(self.source, DEFAULT).update(self.ticks * TICK_S, pose)


def world_of(height: Callable[[np.ndarray, np.ndarray], object], obstacles: Obstacles | None = None) -> World:
    """A world of 80 m whose ground is a function of x and y."""
    positions = -30.03 + 0.1 * np.arange(800)
    x, y = np.meshgrid(positions, positions)
    heights = np.broadcast_to(height(x, y), x.shape).astype(np.float32)
    ground = ElevationMap(heights=heights, resolution=0.1, origin_x=positions[0], origin_y=positions[0])
    return World(name="test", ground=ground, obstacles=obstacles or Obstacles())


def ahead(speed: float = 4.0, x: float = 0.0, y: float = 0.0, heading: float = 0.0) -> Path:
    """Straight ahead on level ground."""
    return lambda time: Pose(
        x + speed * time * math.cos(heading), y + speed * time * math.sin(heading), heading=heading
    )


def part_of(values: np.ndarray, grid: LocalGrid, left: float, right: float, low: float, high: float) -> np.ndarray:
    """Values of a map in a rectangle [m]."""
    row, column = grid.window.cell(left, low)
    last_row, last_column = grid.window.cell(right, high)
    return values[row : last_row + 1, column : last_column + 1]


def part(grid: LocalGrid, left: float, right: float, low: float, high: float) -> np.ndarray:
    """Cells of a rectangle [m]."""
    return part_of(grid.cells, grid, left, right, low, high)


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
@pytest.mark.parametrize("turn_deg", [0.0, 45.0, 90.0])
def test_gentle_slope_is_free_for_a_vehicle_on_it(rise: float, turn_deg: float) -> None:
    slope_x, slope_y = rise * math.cos(math.radians(turn_deg)), rise * math.sin(math.radians(turn_deg))
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


def points_at(positions: Iterable[tuple[float, float, float]]) -> np.ndarray:
    points = np.zeros(len(list(positions)), LIDAR_POINT)
    points["x"], points["y"], points["z"] = np.array(list(positions)).T
    return points


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


@pytest.mark.parametrize("value", [math.nan, math.inf, 0.0, 500.0])
def test_map_ages_while_the_lidar_is_blind_whatever_it_sends(value: float) -> None:
    source = LidarSource(
        DEFAULT, TRUCK, UNIT.mounting(), TerrainTruth(world_of(lambda x, y: 0.0 * x), DEFAULT).extent()
    )
    lidar = Lidar(UNIT, Scene.flat(), seed=3)
    lidar.update(0, base_of(STANDING))
    sound = next(scan for tick in range(1, 12) for scan in lidar.update(tick * 10_000_000, base_of(STANDING))).points
    blind = np.zeros(2048, LIDAR_POINT)
    for axis in "xyz":
        blind[axis] = value
    core = DriveToGoal(DEFAULT, TRUCK, source)
    core.set_goal(40.0, 0.0)

    assert source.see(0.0, sound, STANDING)
    assert core.update(0.0, STANDING, 0.0).status is Status.DRIVING
    for tick in range(1, 8):
        assert not source.see(0.1 * tick, blind, STANDING)
        progress = core.update(0.1 * tick, STANDING, 0.0)

    assert progress.status is Status.EMERGENCY
    assert progress.reason is Reason.OLD_MAP
    assert source.rejected_scans == 7


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_points_that_are_not_finite_are_rejected_and_counted(bad: float) -> None:
    source = LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS)
    positions = [(8.0, 0.0, -2.0), (bad, 0.0, -2.0), (8.0, bad, -2.0), (8.0, 0.5, bad)]

    assert source.see(0.0, points_at(positions), STANDING)

    grid = LocalMap(source, DEFAULT).update(0.0, STANDING)
    assert source.rejected_points == 3
    assert (part(grid, 9.9, 10.1, -0.1, 0.1) == FREE).any()
    assert not np.isinf(grid.heights).any()


def test_scan_with_an_invalid_pose_or_without_returns_is_rejected_and_the_map_ages() -> None:
    source = LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS)
    points = points_at([(8.0, 0.0, -2.0)])
    assert source.see(1.0, points, STANDING)

    assert not source.see(2.0, points, Pose(math.nan, 0.0))
    assert not source.see(2.0, points, Pose(1e300, 0.0))
    assert not source.see(math.nan, points, STANDING)
    assert not source.see(2.0, points[:0], STANDING)
    assert not source.see(2.0, points, STANDING, later=STANDING, sweep=0.0)

    assert source.rejected_scans == 5
    assert LocalMap(source, DEFAULT).update(2.0, STANDING).stamp == 1.0


def test_late_scan_is_rejected_and_time_that_goes_back_resets() -> None:
    source = LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS)
    assert source.see(10.0, points_at([(8.0, 5.0, -2.0)]), STANDING)

    assert not source.see(9.8, points_at([(8.0, 3.0, -2.0)]), STANDING)
    assert source.see(3.0, points_at([(9.0, -3.0, -2.0)]), STANDING)

    grid = LocalMap(source, DEFAULT).update(3.0, STANDING)
    assert grid.stamp == 3.0
    assert (part(grid, 9.9, 10.1, 2.0, 6.0) == UNKNOWN).all()


def test_points_of_another_layout_are_converted_or_rejected_by_name() -> None:
    source = LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS)
    wide = np.zeros(1, [("time", "f8"), ("x", "f8"), ("y", "f8"), ("z", "f8"), ("ring", "u1")])
    wide["x"], wide["z"] = 8.0, -2.0
    assert source.see(0.0, wide, STANDING)

    with pytest.raises(ValueError, match="missing ring time"):
        source.see(1.0, np.zeros(1, [("x", "f4"), ("y", "f4"), ("z", "f4")]), STANDING)


def test_window_of_another_resolution_is_rejected() -> None:
    source = LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS)
    window = Window.around(0.0, 0.0, 10.0, 0.5)

    with pytest.raises(ValueError, match=r"0\.2 m, got 0\.5"):
        source.look(0.0, STANDING, window, np.zeros(window.shape, np.int8), np.zeros(window.shape, np.float32))


def test_own_body_seen_by_the_lidar_is_not_an_obstacle() -> None:
    grid = Watcher(Scene.flat(), unit=replace(UNIT, own_body="seen")).watch(0.5)

    assert OCCUPIED not in grid.cells


def test_turning_vehicle_deskews_its_scans_by_two_poses() -> None:
    posts = tuple(
        Cylinder(x=10.0 * math.cos(angle), y=10.0 * math.sin(angle), radius=0.1, height=1.5)
        for angle in np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False)
    )
    scene = Scene.flat(obstacles=Obstacles(cylinders=posts))

    def turning(time: float) -> Pose:
        return Pose(0.0, 0.0, heading=math.remainder(1.5 * time, 2.0 * math.pi))

    grid = Watcher(scene, unit=replace(UNIT, deskew=False)).watch(2.0, turning)
    crooked = Watcher(scene)  # treats skewed scans as deskewed
    crooked.lidar = Lidar(replace(UNIT, deskew=False), scene, seed=3)

    rows, columns = np.nonzero(grid.cells == OCCUPIED)
    x, y = (columns + grid.window.column + 0.5) * 0.2, (rows + grid.window.row + 0.5) * 0.2
    away = np.min([np.hypot(x - post.x, y - post.y) for post in posts], axis=0)
    assert away.max() < 0.5
    for post in posts:
        assert np.hypot(x - post.x, y - post.y).min() < 0.2
    # Without deskewing, the same scan is off by up to 1.5 m: the test could fail.
    skew = crooked.watch(2.0, turning)
    rows, columns = np.nonzero(skew.cells == OCCUPIED)
    x, y = (columns + skew.window.column + 0.5) * 0.2, (rows + skew.window.row + 0.5) * 0.2
    assert np.min([np.hypot(x - post.x, y - post.y) for post in posts], axis=0).max() > 0.8


def test_drifting_height_and_tilt_of_the_pose_neither_make_nor_hide_steps() -> None:
    def believed(time: float, true: Pose) -> Pose:
        tilt = math.radians(0.3) * math.sin(2.0 * time)
        return true._replace(z=true.z + 0.08 * time, slope_x=true.slope_x + tilt, slope_y=true.slope_y - tilt)

    grid = Watcher(Scene.of(world_of(lambda x, y: 0.15 * (y > 3.0)))).watch(4.0, ahead(3.0), believed)

    for x in np.arange(14.0, 25.0, 0.2):  # the vehicle is at x = 12
        assert OCCUPIED in part(grid, x - 0.2, x + 0.2, 2.5, 3.5)
    assert (part(grid, 12.0, 27.0, -5.0, 2.4) == OCCUPIED).mean() < 0.002


def test_true_poses_are_left_as_they_are() -> None:
    watcher = Watcher(Scene.of(world_of(lambda x, y: 0.15 * (y > 3.0))))

    grid = watcher.watch(3.0, ahead())

    # Only range noise of 0.02 m at beams of 18 degrees and less: the map's heights are the world's.
    assert np.nanmedian(part_of(grid.heights, grid, 14.0, 22.0, -4.0, 2.0)) == pytest.approx(0.0, abs=0.02)


def test_map_far_from_the_origin_and_late_in_time_is_the_same() -> None:
    things = Obstacles(cylinders=(Cylinder(x=14.0, y=0.0, radius=0.3, height=1.2),))
    lidar = Lidar(UNIT, Scene.flat(obstacles=things), seed=3)
    lidar.update(0, base_of(STANDING))
    scan = next(scan for tick in range(1, 12) for scan in lidar.update(tick * 10_000_000, base_of(STANDING)))
    here, there = (LidarSource(DEFAULT, TRUCK, UNIT.mounting(), map_settings=FEW_POINTS) for _ in range(2))
    shift = 400_000.0  # a whole number of cells

    here.see(0.0, scan.points, STANDING)
    there.see(1.7e9, scan.points, Pose(shift, -shift))

    near = LocalMap(here, DEFAULT).update(0.0, STANDING)
    far = LocalMap(there, DEFAULT).update(1.7e9, Pose(shift, -shift))
    assert (near.cells != far.cells).mean() < 0.001  # rounding at the edges of cells


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


@pytest.fixture(scope="module")
def hmmwv() -> Hmmwv:
    return Hmmwv.from_yaml(share_file("config/vehicles/hmmwv.yaml"))


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
