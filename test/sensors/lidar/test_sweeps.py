"""Sweeps of the LIDAR: rays in time and direction, moving vehicles and targets, own body, output."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ideal_lidar import (
    EXACT,
    NO_GROUND,
    PERIOD_NS,
    START_NS,
    TICK_NS,
    ZERO,
    at,
    driven,
    ideal,
    ring_around,
    standing,
    times_and_azimuths,
    wall_at,
)
from sensors.lidar.beams import beams_of, directions
from sensors.lidar.lidar import Lidar
from sensors.lidar.planar import planar_scan
from sensors.lidar.scene import Scene
from sensors.lidar.targets import Target
from sensors.mounting import Mount
from sensors.samples import LidarScan
from terrain.obstacles import Box, Obstacles


def test_driving_at_a_wall_shortens_ranges_as_the_sweep_goes_on() -> None:
    settings, speed = ideal(), 20.0
    lidar = Lidar(settings, wall_at(50.0))

    scan = driven(lidar, lambda t: ((speed * t, 0.0, 2.0), 0.0))[0]

    time, azimuth = times_and_azimuths(settings)
    expected = (50.0 - speed * time) / np.cos(azimuth)
    seen = (np.cos(azimuth) > 0.0) & (expected < 99.0)
    assert seen.sum() > 100
    np.testing.assert_allclose(scan.ranges[1][seen], expected[seen], atol=EXACT)


def test_yaw_rate_changes_the_angle_covered_by_a_sweep() -> None:
    settings, rate = ideal(mount=Mount(xyz_m=(2.0, 0.5, 0.0))), 1.5
    lidar = Lidar(settings, wall_at(50.0))

    scan = driven(lidar, lambda t: (ZERO, rate * t))[0]

    time, azimuth = times_and_azimuths(settings)
    heading = rate * time
    x = 2.0 * np.cos(heading) - 0.5 * np.sin(heading)
    expected = (50.0 - x) / np.cos(azimuth + heading)
    seen = (np.cos(azimuth + heading) > 0.0) & (expected < 99.0)
    assert seen.sum() > 100
    np.testing.assert_allclose(scan.ranges[1][seen], expected[seen], atol=EXACT)


def test_deskewed_points_of_a_wall_lie_on_it() -> None:
    speed, rate = 15.0, 1.0

    def path(t: float) -> tuple[tuple[float, float, float], float]:
        return (speed * t, 3.0 * t, 2.0), 0.4 + rate * t

    skewed, straight = (
        driven(Lidar(ideal(deskew=deskew), wall_at(50.0)), path, 0.3)[1].points for deskew in (False, True)
    )

    # In the sensor's frame at the stamp, which is 0.1 s after the start.
    heading, distance = 0.4 + rate * 0.1, 50.0 - speed * 0.1
    off = [np.cos(heading) * scan["x"] - np.sin(heading) * scan["y"] - distance for scan in (skewed, straight)]
    np.testing.assert_allclose(off[1], 0.0, atol=EXACT)
    assert np.abs(off[0]).max() > 0.5
    assert len(skewed) == len(straight) > 300


def test_points_have_ring_and_time_and_lie_along_their_beam() -> None:
    settings = ideal()
    scan = driven(Lidar(settings, ring_around(30.0)), standing)[0]
    points = scan.points

    distance = np.sqrt(points["x"] ** 2 + points["y"] ** 2 + points["z"] ** 2)
    elevation = np.arcsin(points["z"] / distance)
    np.testing.assert_allclose(elevation, np.radians(settings.elevations_deg)[points["ring"]], atol=1e-5)
    column = np.round(points["time"] / (0.1 / settings.columns)).astype(int)
    rotation = np.angle(np.exp(1j * (np.arctan2(points["y"], points["x"]) - times_and_azimuths(settings)[1][column])))
    np.testing.assert_allclose(rotation, 0.0, atol=1e-5)
    np.testing.assert_allclose(distance, scan.ranges[points["ring"], column], rtol=1e-6)
    assert scan.time_ns % PERIOD_NS == 0
    assert (np.diff(points["time"]) >= 0.0).all()


def test_a_sweep_covers_all_directions_once_without_gap_or_overlap() -> None:
    settings = ideal(columns=997)  # does not divide the period in nanoseconds
    scans = driven(Lidar(settings, ring_around(30.0)), standing, 0.4)
    first, second = scans[:2]

    assert np.isfinite(first.ranges).all(), "no column was left out"
    azimuth = np.arctan2(first.points["y"], first.points["x"])[first.points["ring"] == 1]
    gaps = np.diff(np.sort(azimuth))
    np.testing.assert_allclose([*gaps, 2.0 * np.pi + azimuth.min() - azimuth.max()], 2.0 * np.pi / 997, atol=1e-5)
    assert second.time_ns - first.time_ns == PERIOD_NS
    rays = directions(beams_of(settings)).reshape(-1, 3)
    assert len(np.unique(rays.round(9), axis=0)) == len(rays)


def test_the_rate_of_the_truth_does_not_matter_for_a_vehicle_at_rest() -> None:
    settings = ideal(range_noise_m=0.02, weak_signal=0.5)
    ticks = (1_000_000, TICK_NS, 25_000_000, PERIOD_NS)

    scans = [driven(Lidar(settings, ring_around(30.0)), standing, 0.3, tick)[0] for tick in ticks]

    assert len({scan.ranges.tobytes() for scan in scans}) == 1
    assert len({scan.points.tobytes() for scan in scans}) == 1


def test_ranges_too_near_too_far_or_without_return() -> None:
    near = Box(x=0.6, y=0.0, length=1.0, width=0.5, height=10.0)  # its face is 0.1 m away
    far = Box(x=-60.0, y=0.0, length=1.0, width=30.0, height=40.0)
    scene = Scene.flat(NO_GROUND, obstacles=Obstacles(boxes=(near, far)))

    scan = driven(Lidar(ideal(max_range_m=50.0), scene), standing)[0]

    level = scan.ranges[1]
    assert level[180] == -np.inf  # ahead
    assert level[0] == np.inf  # behind, at 59.5 m
    assert level[90] == np.inf  # at the right: no obstacle
    assert not np.isfinite(scan.ranges).any() or (scan.ranges[np.isfinite(scan.ranges)] <= 50.0).all()
    assert len(scan.points) == np.isfinite(scan.ranges).sum()


def test_moving_targets_are_seen_at_the_time_of_each_column() -> None:
    settings, speed = ideal(columns=720), 30.0
    scene = Scene.flat(NO_GROUND)
    lidar = Lidar(settings, scene)
    scans: list[LidarScan] = []

    for tick in range(22):
        now = tick * TICK_NS * 1e-9
        # A wide wall that approaches.
        wall = Box(x=41.0 - speed * now, y=0.0, base=-50.0, length=2.0, width=500.0, height=100.0)
        scene.set_targets([Target(shape=wall, velocity=(-speed, 0.0, 0.0))])
        scans += lidar.update(START_NS + tick * TICK_NS, at())

    time, azimuth = times_and_azimuths(settings)
    expected = (40.0 - speed * time) / np.cos(azimuth)
    seen = (np.cos(azimuth) > 0.0) & (expected < 99.0)
    np.testing.assert_allclose(scans[0].ranges[1][seen], expected[seen], atol=EXACT)


@pytest.mark.parametrize("own_body", ["removed", "seen", "absent"])
def test_own_body(own_body: str) -> None:
    hood = (1.0, -1.0, -2.0, 3.0, 1.0, -0.2)
    settings = ideal(own_body=own_body, body_boxes_m=hood)

    scan = driven(Lidar(settings, ring_around(30.0)), standing)[0]

    low_ahead, low_behind = scan.ranges[0][180], scan.ranges[0][0]
    meets = 0.2 / math.sin(math.radians(10.0))  # the hood's top
    expected = {"removed": math.nan, "seen": meets, "absent": 30.0 / math.cos(math.radians(10.0))}[own_body]
    np.testing.assert_allclose(low_ahead, expected, atol=EXACT)
    np.testing.assert_allclose(low_behind, 30.0 / math.cos(math.radians(10.0)), atol=EXACT)
    assert np.isfinite(scan.ranges[1:]).all()
    assert len(scan.points) == np.isfinite(scan.ranges).sum()


def test_own_body_rotates_with_a_tilted_mount() -> None:
    front = (1.0, -1.0, -1.0, 3.0, 1.0, 1.0)
    settings = ideal(own_body="seen", body_boxes_m=front, mount=Mount(xyz_m=ZERO, rpy_deg=(0.0, 0.0, 90.0)))

    beams = beams_of(settings)

    level = beams.own_body[:, 1]
    assert level[90] == pytest.approx(1.0)  # its right is the vehicle's front
    assert math.isinf(level[180])


def test_a_scan_arrives_after_its_last_ray_and_the_latency() -> None:
    for latency, arrives in ((0.0, PERIOD_NS), (0.035, PERIOD_NS + 40_000_000)):
        lidar = Lidar(ideal(latency_s=latency), ring_around(30.0))
        for tick in range(40):
            scans = lidar.update(START_NS + tick * TICK_NS, at())
            if scans:
                break
        assert tick * TICK_NS == arrives
        assert scans[0].time_ns == START_NS


def test_a_sweep_begins_at_a_whole_period_whenever_the_sensor_is_switched_on() -> None:
    lidar = Lidar(ideal(), ring_around(30.0))
    scans: list[LidarScan] = []
    for tick in range(30):
        scans += lidar.update(START_NS + 33_000_000 + tick * TICK_NS, at())
    assert [scan.time_ns - START_NS for scan in scans] == [PERIOD_NS, 2 * PERIOD_NS]


def test_flash_measures_all_rays_at_one_instant() -> None:
    settings = ideal(kind="flash", rows=8, columns=32, horizontal_fov_deg=90.0, vertical_fov_deg=30.0)
    scan = driven(Lidar(settings, wall_at(50.0)), lambda t: ((200.0 * t, 0.0, 2.0), 2.0 * t), 0.25, 30_000_000)[1]

    # The stamp falls between two truths.
    assert scan.time_ns == START_NS + PERIOD_NS
    azimuth, elevation = np.meshgrid(settings.azimuths(), settings.elevations())
    assert scan.ranges.shape == azimuth.shape == (8, 32)
    expected = (50.0 - 20.0) / (np.cos(azimuth + 0.2) * np.cos(elevation))
    np.testing.assert_allclose(scan.ranges, expected, atol=EXACT)
    assert (scan.points["time"] == 0.0).all()
    np.testing.assert_allclose([azimuth.min(), azimuth.max()], np.radians([-45.0 + 45 / 32, 45.0 - 45 / 32]))


def test_planar_scan_is_the_ring_nearest_to_level() -> None:
    settings = ideal(elevations_deg=(-10.0, 1.0, 5.0))
    scan = driven(Lidar(settings, ring_around(30.0)), standing)[0]

    planar = planar_scan(scan, settings)

    azimuth = planar.angle_min + planar.angle_increment * np.arange(settings.columns)
    facing = np.maximum(np.abs(np.cos(azimuth)), np.abs(np.sin(azimuth)))
    np.testing.assert_allclose(planar.ranges, 30.0 / facing, atol=EXACT)
    assert planar.angle_max == pytest.approx(azimuth[-1])
    assert planar.time_increment * settings.columns == pytest.approx(planar.scan_time) == pytest.approx(0.1)
    assert planar.time_ns == scan.time_ns
    assert planar.range_min < planar.ranges.min() <= planar.ranges.max() < planar.range_max
