"""The obstacle map from LIDAR: scans that are rejected, and poses that turn, drift or are far away."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from lidar_watcher import DEFAULT, FEW_POINTS, STANDING, TRUCK, UNIT, Watcher, ahead, base_of, part, part_of, world_of
from planner.drive_to_goal import DriveToGoal, Reason, Status
from planner.maps.grid import FREE, OCCUPIED, UNKNOWN, Window
from planner.maps.lidar_source import LidarSource
from planner.maps.local_map import LocalMap
from planner.maps.terrain_truth import TerrainTruth
from planner.pose import Pose
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.samples import LIDAR_POINT
from terrain.obstacles import Cylinder, Obstacles


def points_at(positions: Iterable[tuple[float, float, float]]) -> np.ndarray:
    points = np.zeros(len(list(positions)), LIDAR_POINT)
    points["x"], points["y"], points["z"] = np.array(list(positions)).T
    return points


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
