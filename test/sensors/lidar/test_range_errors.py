"""Errors of the LIDAR's ranges: noise, bias, steps, lost returns, and intensity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ideal_lidar import driven, ideal, ring_around, standing, times_and_azimuths
from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from terrain.obstacles import Box, Cylinder, Obstacles


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
