"""Satellites, their geometry, and what hides them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from sensors.gps.sky import SkyView, constellation, dilution
from sensors.lidar.scene import Scene
from terrain.obstacles import Box, Cylinder, Obstacles

Array = NDArray[np.float64]
EYE = np.array([0.0, 0.0, 2.0])


def sky_between(obstacles: Obstacles) -> SkyView:
    """Sky view by ray casting; the ground is far below."""
    return Scene.flat(-1e4, obstacles=obstacles)


def direction(azimuth_deg: float, elevation_deg: float) -> Array:
    azimuth, elevation = math.radians(azimuth_deg), math.radians(elevation_deg)
    level = math.cos(elevation)
    return np.array([level * math.sin(azimuth), level * math.cos(azimuth), math.sin(elevation)])


def test_satellites_are_distributed_over_the_sky_above_the_mask() -> None:
    everything, above = constellation(40), constellation(40, 30.0)

    assert_allclose(np.linalg.norm(everything, axis=1), 1.0)
    assert len(everything) == 40
    assert len(above) == 20  # half of a hemisphere is above 30 degrees
    assert (above[:, 2] >= 0.5).all()
    assert np.abs(everything[:, :2].mean(axis=0)).max() < 0.05


def test_dilution_of_one_satellite_above_and_three_around() -> None:
    # By hand: sums of squares 3/2, 3/2 and, with the clock, the inverse of [[1, 1], [1, 4]].
    around = [direction(azimuth, 0.0) for azimuth in (0.0, 120.0, 240.0)]
    found = dilution(np.array([direction(0.0, 90.0), *around]))

    assert found is not None
    assert_allclose(found.axes, [math.sqrt(2.0 / 3.0), math.sqrt(2.0 / 3.0), math.sqrt(4.0 / 3.0)])
    assert found.hdop == pytest.approx(math.sqrt(4.0 / 3.0))
    assert found.pdop == pytest.approx(math.sqrt(8.0 / 3.0))


def test_dilution_is_the_standard_deviation_of_positions_from_noisy_ranges() -> None:
    satellites = constellation(9, 10.0)
    random = np.random.default_rng(5)
    count = 20_000
    rows = np.column_stack((-satellites, np.ones(len(satellites))))

    errors = np.linalg.lstsq(rows, random.normal(size=(len(rows), count)), rcond=None)[0]

    found = dilution(satellites)
    assert found is not None
    # Relative deviation of an estimated standard deviation is 1/sqrt(2 n); four of these.
    assert_allclose(errors[:3].std(axis=1), found.axes, rtol=4.0 / math.sqrt(2.0 * count))


@settings(derandomize=True, deadline=None)
@given(lost=st.sets(st.integers(0, 11), max_size=8))
def test_losing_satellites_never_helps(lost: set[int]) -> None:
    satellites = constellation(12)
    whole, rest = dilution(satellites), dilution(np.delete(satellites, list(lost), axis=0))

    assert whole is not None
    assert rest is None or (rest.axes >= whole.axes * (1.0 - 1e-12)).all()


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_three_satellites_give_no_position(count: int) -> None:
    assert dilution(constellation(count + 1)[:count]) is None


@pytest.mark.parametrize("elevation", [0.0, 7.0, 20.0, 40.0, 77.0])
@pytest.mark.parametrize("step", [19, 30, 45, 90])
def test_a_ring_of_satellites_gives_no_position(step: int, elevation: float) -> None:
    # Height and clock cannot be distinguished.
    assert dilution(np.array([direction(azimuth, elevation) for azimuth in range(0, 360, step)])) is None


@pytest.mark.parametrize(("elevation", "is_hidden"), [(0.0, True), (44.9, True), (45.1, False), (90.0, False)])
@pytest.mark.parametrize("side", ["box", "rotated box", "cylinder"])
def test_a_wall_hides_everything_below_its_edge(side: str, elevation: float, is_hidden: bool) -> None:
    # Its face is 10 m east of the eye and its top 10 m above it.
    obstacles = {
        "box": Obstacles(boxes=(Box(x=10.5, y=0.0, length=1.0, width=100.0, height=12.0),)),
        "rotated box": Obstacles(boxes=(Box(x=10.5, y=0.0, length=100.0, width=1.0, height=12.0, yaw=math.pi / 2),)),
        "cylinder": Obstacles(cylinders=(Cylinder(x=13.0, y=0.0, radius=3.0, height=12.0),)),
    }[side]

    blocked = sky_between(obstacles).is_blocked(EYE, np.array([direction(90.0, elevation)]))

    assert blocked.tolist() == [is_hidden]


def test_obstacles_behind_below_or_above_the_ray_hide_nothing() -> None:
    behind = Box(x=-10.0, y=0.0, length=1.0, width=100.0, height=12.0)
    low = Box(x=10.0, y=0.0, length=1.0, width=100.0, height=1.9)
    bridge = Box(x=10.0, y=0.0, base=8.0, length=1.0, width=100.0, height=1.0)

    sky = sky_between(Obstacles(boxes=(behind, low, bridge)))

    assert sky.is_blocked(EYE, np.array([direction(90.0, 5.0), direction(90.0, 80.0)])).tolist() == [False, False]
    assert sky.is_blocked(EYE, np.array([direction(90.0, 33.0)])).tolist() == [True]


def test_an_empty_world_hides_nothing_and_the_inside_of_a_house_everything() -> None:
    satellites = constellation(14)
    house = Obstacles(boxes=(Box(x=0.0, y=0.0, length=10.0, width=10.0, height=10.0),))
    silo = Obstacles(cylinders=(Cylinder(x=0.0, y=0.0, radius=5.0, height=10.0),))

    assert not sky_between(Obstacles()).is_blocked(EYE, satellites).any()
    assert sky_between(house).is_blocked(EYE, satellites).all()
    assert sky_between(silo).is_blocked(EYE, satellites).all()


def test_rays_are_hidden_where_small_steps_along_them_run_into_something() -> None:
    random = np.random.default_rng(3)
    size = {"length": 8.0, "width": 5.0}
    boxes = [
        Box(x=x, y=y, base=base, height=6.0, yaw=yaw, **size)
        for x, y, base, yaw in random.uniform((-30, -30, -2, -3), (30, 30, 6, 3), (10, 4)).tolist()
    ]
    posts = [
        Cylinder(x=x, y=y, base=base, radius=2.0, height=9.0)
        for x, y, base in random.uniform((-30, -30, -2), (30, 30, 4), (10, 3)).tolist()
    ]
    rays = random.normal(size=(400, 3))
    rays /= np.linalg.norm(rays, axis=1)[:, None]
    steps = EYE + np.arange(0.0, 60.0, 0.02)[:, None, None] * rays  # small compared with the obstacles

    hidden = np.zeros(len(rays), bool)
    for item in (*boxes, *posts):
        alone = Obstacles(boxes=(item,)) if isinstance(item, Box) else Obstacles(cylinders=(item,))
        inside = alone.distance(steps[..., 0], steps[..., 1]) <= 0.0
        hidden |= (inside & (steps[..., 2] >= item.base) & (steps[..., 2] <= item.base + item.height)).any(axis=0)

    found = sky_between(Obstacles(boxes=tuple(boxes), cylinders=tuple(posts))).is_blocked(EYE, rays)
    assert 50 < hidden.sum() < 350
    assert (found != hidden).sum() <= 1  # a ray that cuts an edge by less than a step
