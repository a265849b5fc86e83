"""The LIDAR as a sensor: sweeps while moving, errors, faults, and output."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sensors.faults import Fault
from sensors.lidar.beams import beams_of, directions
from sensors.lidar.lidar import Lidar
from sensors.lidar.planar import planar_scan
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.lidar.targets import Target
from sensors.mounting import Mount
from sensors.samples import LidarScan
from terrain.obstacles import Box, Cylinder, Obstacles
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]
Path = Callable[[float], tuple[tuple[float, float, float], float]]  # position and heading at a time

EXACT = 1e-4  # [m]
TICK_NS = 10_000_000
PERIOD_NS = 100_000_000
START_NS = 1_700_000_000_000_000_000
ZERO = (0.0, 0.0, 0.0)
IDEAL: dict[str, Any] = {
    "range_noise_m": 0.0,
    "weak_signal": 0.0,
    "own_body": "absent",
    "mount": Mount(xyz_m=ZERO),
    "columns": 360,
    "elevations_deg": (-10.0, 0.0, 5.0),
    "min_range_m": 0.5,
    "max_range_m": 100.0,
}
NO_GROUND = -1e4


def ideal(**other: Any) -> LidarSettings:
    return LidarSettings(**(IDEAL | other))


def at(x: float = 0.0, y: float = 0.0, z: float = 2.0, heading: float = 0.0) -> BaseMotion:
    return BaseMotion((x, y, z), (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading)), ZERO, ZERO, ZERO, ZERO)


def standing(_: float) -> tuple[tuple[float, float, float], float]:
    return (0.0, 0.0, 2.0), 0.0


def driven(lidar: Lidar, path: Path, duration_s: float = 0.2, tick_ns: int = TICK_NS) -> list[LidarScan]:
    """All scans of a drive."""
    scans = []
    for time_ns in range(0, round(duration_s * 1e9) + 1, tick_ns):
        position, heading = path(time_ns * 1e-9)
        scans += lidar.update(START_NS + time_ns, at(*position, heading))
    return scans


def wall_at(x: float) -> Scene:
    """An infinite wall across the x axis, and nothing else."""
    wall = Box(x=x + 1.0, y=0.0, base=-500.0, length=2.0, width=4000.0, height=1000.0)
    return Scene.flat(NO_GROUND, obstacles=Obstacles(boxes=(wall,)))


def ring_around(radius: float) -> Scene:
    """Walls all around: a square with each side `radius` away."""
    long, off = 2.0 + 2.0 * radius, radius + 1.0
    ends = [Box(x=x, y=0.0, base=-200.0, length=2.0, width=long, height=400.0) for x in (off, -off)]
    sides = [Box(x=0.0, y=y, base=-200.0, length=long, width=2.0, height=400.0) for y in (off, -off)]
    return Scene.flat(NO_GROUND, obstacles=Obstacles(boxes=(*ends, *sides)))


def times_and_azimuths(settings: LidarSettings) -> tuple[Array, Array]:
    columns = np.arange(settings.columns)
    return columns * 0.1 / settings.columns, 2.0 * np.pi * columns / settings.columns - np.pi


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
    turned = np.angle(np.exp(1j * (np.arctan2(points["y"], points["x"]) - times_and_azimuths(settings)[1][column])))
    np.testing.assert_allclose(turned, 0.0, atol=1e-5)
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


def test_noise_has_the_configured_deviation_and_no_mean() -> None:
    sigma = 0.03
    settings = ideal(range_noise_m=sigma, elevations_deg=tuple(np.linspace(-10.0, 10.0, 16)))
    truth = driven(Lidar(ideal(elevations_deg=settings.elevations_deg), ring_around(30.0)), standing)[0].ranges

    scans = driven(Lidar(settings, ring_around(30.0), seed=3), standing, 0.6)[:5]

    errors = np.concatenate([(scan.ranges - truth).ravel() for scan in scans]).astype(float)
    count = errors.size  # 28,800
    # 99.9 % bounds: 3.29 standard errors of mean and deviation.
    assert abs(errors.mean()) < 3.29 * sigma / math.sqrt(count)
    assert abs(errors.std() / sigma - 1.0) < 3.29 / math.sqrt(2 * count)
    lag = np.corrcoef(errors[:-1], errors[1:])[0, 1]
    assert abs(lag) < 3.29 / math.sqrt(count)


def test_beams_have_a_constant_error_each() -> None:
    settings = ideal(range_bias_m=0.05, elevations_deg=tuple(np.linspace(-20.0, 20.0, 200)), columns=36)
    truth = driven(Lidar(ideal(elevations_deg=settings.elevations_deg, columns=36), ring_around(30.0)), standing)[0]

    one, two = driven(Lidar(settings, ring_around(30.0), seed=3), standing, 0.4)[:2]

    errors = one.ranges - truth.ranges
    assert np.ptp(errors, axis=1).max() < 1e-4, "the same for all columns"
    np.testing.assert_array_equal(one.ranges, two.ranges)
    assert abs(errors[:, 0].std() / 0.05 - 1.0) < 3.29 / math.sqrt(2 * 200)  # 99.9 %


def test_ranges_come_in_steps() -> None:
    scan = driven(Lidar(ideal(range_resolution_m=0.1, range_noise_m=0.02), ring_around(30.0)), standing)[0]
    np.testing.assert_allclose(scan.ranges * 10.0, np.round(scan.ranges * 10.0), atol=1e-3)


def test_weak_returns_are_lost_as_often_as_the_signal_says() -> None:
    settings = ideal(weak_signal=0.8, max_range_m=60.0, building_reflectivity=0.4, elevations_deg=(0.0, 30.0))
    scans = driven(Lidar(settings, ring_around(30.0), seed=8), standing, 4.1)[:40]

    azimuth = times_and_azimuths(settings)[1]
    facing = np.maximum(np.abs(np.cos(azimuth)), np.abs(np.sin(azimuth)))
    for ring, elevation in enumerate(np.radians(settings.elevations_deg)):
        cosine = facing * np.cos(elevation)
        distance = 30.0 / cosine
        lost = np.exp(-0.4 * cosine * (60.0 / distance) ** 2 / 0.8)
        seen = np.sum([np.isinf(scan.ranges[ring]) for scan in scans])
        # 99.9 % of a sum of Bernoulli draws.
        deviation = math.sqrt(40 * float((lost * (1.0 - lost)).sum()))
        assert abs(seen - 40 * lost.sum()) < 3.29 * deviation
        assert 0.1 < lost.mean() < 0.6


def test_far_and_grazing_ground_is_lost_more_often_than_near_ground() -> None:
    settings = ideal(elevations_deg=(-30.0, -5.0, -1.5), weak_signal=0.05, max_range_m=100.0)
    scans = driven(Lidar(settings, Scene.flat(), seed=1), standing, 1.1)
    lost = np.mean([np.isinf(scan.ranges).mean(axis=1) for scan in scans], axis=0)
    assert lost[0] < 0.001
    assert lost[0] <= lost[1] < lost[2] < 1.0
    assert lost[2] > 0.2


def test_intensity_falls_with_incidence_and_distance_and_depends_on_the_material() -> None:
    tree = Cylinder(x=0.0, y=10.0, base=-5.0, radius=0.5, height=20.0)
    near = Box(x=10.0, y=0.0, base=-5.0, length=2.0, width=40.0, height=20.0)
    far = Box(x=-41.0, y=0.0, base=-50.0, length=2.0, width=4.0, height=100.0)
    scene = Scene.flat(0.0, obstacles=Obstacles(boxes=(near, far), cylinders=(tree,)))
    settings = ideal(full_intensity_m=20.0, elevations_deg=(-30.0, 0.0))

    scan = driven(Lidar(settings, scene), standing)[0]

    raster = np.zeros(scan.ranges.shape)
    column = np.round(scan.points["time"] * settings.columns / 0.1).astype(int)
    raster[scan.points["ring"], column] = scan.points["intensity"]
    assert raster[1, 180] == pytest.approx(255 * 0.5, rel=1e-5)  # a wall ahead, 9 m
    assert raster[1, 225] == pytest.approx(255 * 0.5 * math.sqrt(0.5), rel=1e-5)  # the same at 45 degrees
    assert raster[1, 0] == pytest.approx(255 * 0.5 * (20.0 / 40.0) ** 2, rel=1e-5)  # a wall 40 m behind
    assert raster[1, 270] == pytest.approx(255 * 0.35, rel=1e-4)  # the tree
    assert raster[0, 180 + 90 - 45] == pytest.approx(255 * 0.25 * 0.5, rel=1e-5)  # ground at 60 degrees from its normal


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


NOISY = ideal(range_noise_m=0.02, weak_signal=0.3)


def noisy_scans(faults: Iterable[Fault] = (), name: str = "lidar", seed: int = 5) -> list[LidarScan]:
    lidar = Lidar(NOISY, ring_around(30.0), seed=seed, name=name, faults=faults, start_ns=START_NS)
    return driven(lidar, standing, 1.05)


def test_the_same_seed_gives_the_same_scans_to_the_bit_and_another_does_not() -> None:
    one, two, other = noisy_scans(), noisy_scans(), noisy_scans(seed=6)
    assert [scan.points.tobytes() for scan in one] == [scan.points.tobytes() for scan in two]
    assert one[0].ranges.tobytes() != other[0].ranges.tobytes()
    assert one[0].ranges.tobytes() != noisy_scans(name="lidar_rear")[0].ranges.tobytes()
    assert one[0].ranges.tobytes() != one[1].ranges.tobytes()


def test_reset_repeats_the_same_scans() -> None:
    lidar = Lidar(NOISY, ring_around(30.0), seed=5)
    before = driven(lidar, standing, 0.35)
    lidar.reset()
    after = driven(lidar, standing, 0.35)
    assert [scan.points.tobytes() for scan in before] == [scan.points.tobytes() for scan in after]


def test_another_sensor_in_the_same_scene_changes_nothing() -> None:
    scene = ring_around(30.0)
    one, other = Lidar(NOISY, scene, seed=5), Lidar(NOISY, scene, seed=5, name="lidar_rear")
    scans: list[LidarScan] = []
    for tick in range(106):
        other.update(START_NS + tick * TICK_NS, at())
        scans += one.update(START_NS + tick * TICK_NS, at())
    assert [scan.points.tobytes() for scan in scans] == [scan.points.tobytes() for scan in noisy_scans()]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind="nan", start_s=0.25, length_s=0.3),
        Fault(kind="bias", start_s=0.25, length_s=0.3, value=1.0),
        Fault(kind="noise", start_s=0.25, length_s=0.3, value=1.0),
        Fault(kind="freeze", start_s=0.25, length_s=0.3),
        Fault(kind="outage", start_s=0.25, length_s=0.3),
        Fault(kind="scale", start_s=0.25, length_s=0.3, value=0.0),
    ],
    ids=lambda fault: fault.kind,
)
def test_faults_affect_the_scans_of_their_time_and_no_others_to_the_bit(fault: Fault) -> None:
    sound = {scan.time_ns: scan for scan in noisy_scans()}
    broken = {scan.time_ns: scan for scan in noisy_scans([fault])}

    hit = [time_ns for time_ns in sound if fault.is_on((time_ns - START_NS) * 1e-9)]
    assert [round((time_ns - START_NS) * 1e-9, 3) for time_ns in hit] == [0.3, 0.4, 0.5]
    for time_ns in set(sound) - set(hit):
        assert broken[time_ns].points.tobytes() == sound[time_ns].points.tobytes()
    if fault.kind == "outage":
        assert not set(hit) & set(broken)
        return
    before = sound[START_NS + 2 * PERIOD_NS]
    for time_ns in hit:
        scan, true = broken[time_ns], sound[time_ns]
        assert len(scan.points) == np.isfinite(scan.ranges).sum()
        returned = np.isfinite(true.ranges)
        if fault.kind == "nan":
            assert np.isnan(scan.ranges).all()
        elif fault.kind == "bias":
            np.testing.assert_allclose(scan.ranges[returned], true.ranges[returned] + 1.0, atol=1e-5)
        elif fault.kind == "noise":
            # 99.9 % interval of a deviation from about 1000 samples.
            deviation = (scan.ranges[returned] - true.ranges[returned]).std()
            assert abs(deviation - 1.0) < 3.29 / math.sqrt(2 * returned.sum())
        elif fault.kind == "freeze":
            assert scan.ranges.tobytes() == before.ranges.tobytes()
            assert scan.points.tobytes() == before.points.tobytes(), "intensities too"
        else:
            assert (scan.ranges[returned] == -np.inf).all(), "0 m is too near"
            assert (scan.ranges[~returned] == np.inf).all(), "rays without return stay without"


@pytest.mark.parametrize("deskew", [False, True])
def test_a_frozen_scanner_repeats_its_cloud_whatever_the_vehicle_does(deskew: bool) -> None:
    settings = ideal(deskew=deskew, range_noise_m=0.02, weak_signal=0.3)
    freeze = Fault(kind="freeze", start_s=0.2)
    lidar = Lidar(settings, wall_at(50.0), faults=[freeze], start_ns=START_NS)

    scans = driven(lidar, lambda t: ((30.0 * t * t, 0.0, 2.0), 2.0 * t * t), 0.65)

    assert len({scan.time_ns for scan in scans}) == len(scans) == 6
    assert scans[0].points.tobytes() != scans[1].points.tobytes()
    assert {scan.points.tobytes() for scan in scans[2:]} == {scans[1].points.tobytes()}
    assert {scan.ranges.tobytes() for scan in scans[2:]} == {scans[1].ranges.tobytes()}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.0, -1.0])
def test_rays_without_return_stay_without_when_ranges_are_scaled(value: float) -> None:
    lidar = Lidar(ideal(), wall_at(50.0), faults=[Fault(kind="scale", value=value)], start_ns=START_NS)
    scan = driven(lidar, standing)[0]

    assert set(np.unique(scan.ranges)) == {-np.inf, np.inf}
    assert len(scan.points) == 0


def test_a_delayed_scan_keeps_its_stamp() -> None:
    lidar = Lidar(NOISY, ring_around(30.0), faults=[Fault(kind="delay", value=0.05)], start_ns=START_NS)
    arrivals = {}
    for tick in range(40):
        for scan in lidar.update(START_NS + tick * TICK_NS, at()):
            arrivals[scan.time_ns - START_NS] = tick * TICK_NS
    assert arrivals == {0: 150_000_000, PERIOD_NS: 250_000_000, 2 * PERIOD_NS: 350_000_000}


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_truth_that_is_not_finite_is_rejected_without_effect(bad: float) -> None:
    def scans(with_bad: bool) -> list[bytes]:
        lidar = Lidar(NOISY, ring_around(30.0), seed=5)
        found = []
        for tick in range(30):
            if with_bad and tick % 7 == 0:
                broken = at(x=bad) if tick else at()._replace(attitude=(bad, 0.0, 0.0, 1.0))
                with pytest.raises(ValueError, match=r"base motion: \w+ must be finite"):
                    lidar.update(START_NS + tick * TICK_NS - 1, broken)
            found += lidar.update(START_NS + tick * TICK_NS, at(x=0.1 * tick))
        return [scan.points.tobytes() for scan in found]

    assert scans(with_bad=True) == scans(with_bad=False)


@pytest.mark.parametrize("jump_ns", [-5_000_000_000, 3_600_000_000_000], ids=["back", "ahead"])
def test_sweeps_restart_after_a_jump_in_time(jump_ns: int) -> None:
    lidar = Lidar(ideal(), ring_around(30.0))
    for tick in range(15):
        lidar.update(START_NS + tick * TICK_NS, at())
    scans: list[LidarScan] = []
    for tick in range(15, 40):
        scans += lidar.update(START_NS + jump_ns + tick * TICK_NS, at())
    assert [scan.time_ns - START_NS - jump_ns for scan in scans] == [2 * PERIOD_NS]
    assert np.isfinite(scans[0].ranges).all()


def test_settings_can_change_while_running() -> None:
    lidar = Lidar(ideal(), ring_around(30.0))
    before = driven(lidar, standing, 0.1)
    lidar.change(ideal(max_range_m=32.0, fault="bias", fault_value=1.0))
    after = [scan for tick in range(11, 31) for scan in lidar.update(START_NS + tick * TICK_NS, at())]
    assert np.isfinite(before[0].ranges[1]).all()
    level = after[-1].ranges[1]
    assert np.isinf(level[45])  # a corner of the square, 42 m away
    assert level[180] == pytest.approx(31.0, abs=EXACT)
