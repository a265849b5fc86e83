"""Point clouds to elevation grids."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from terrain.point_cloud import CloudSettings, cloud_to_grid


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 0.1 * x - 0.05 * y + 2.0


def scan(count: int, noise: float, seed: int = 3) -> np.ndarray:
    """Points on a slope, 20 x 10 m from (-4, 6), measured with noise [m]."""
    random = np.random.default_rng(seed)
    x, y = random.uniform(-4.0, 16.0, count), random.uniform(6.0, 16.0, count)
    return np.column_stack((x, y, slope(x, y) + random.normal(0.0, noise, count)))


def test_a_dense_scan_recovers_the_ground() -> None:
    grid = cloud_to_grid(scan(20_000, noise=0.02), CloudSettings(resolution_m=0.5))

    assert grid.heights.shape == (20, 40)
    assert (grid.origin_x, grid.origin_y) == (-3.75, 6.25)  # the centre of the first cell
    x = grid.origin_x + np.arange(40) * 0.5
    y = grid.origin_y + np.arange(20)[:, None] * 0.5
    # 25 points of 2 cm and the cell's own slope: the median is good to a centimetre or two.
    assert_allclose(grid.heights, slope(x, y), atol=0.035)


def test_outliers_above_and_below_are_ignored() -> None:
    cloud = scan(20_000, noise=0.02)
    leaves = scan(3_000, noise=0.3, seed=4) + np.array([0.0, 0.0, 4.0])
    echoes = scan(300, noise=0.5, seed=5)[:80] - np.array([0.0, 0.0, 6.0])

    clean = cloud_to_grid(cloud)
    with_outliers = cloud_to_grid(np.concatenate([cloud, leaves, echoes]))

    assert_allclose(with_outliers.heights, clean.heights, atol=0.05)


def test_unseen_cells_stay_unknown_until_filled_on_request() -> None:
    cloud = scan(20_000, noise=0.0)
    shadow = np.hypot(cloud[:, 0] - 5.0, cloud[:, 1] - 11.0) < 2.0
    cloud = cloud[~shadow]

    grid = cloud_to_grid(cloud)

    assert 30 < grid.unknown_count < 60
    with pytest.raises(ValueError, match="heights are unknown, the first at x"):
        grid.to_map()
    filled = grid.to_map(fill_gaps=True)
    assert_allclose(filled.height_at(5.0, 11.0), slope(np.array(5.0), np.array(11.0)), atol=0.3)
    assert 0 < grid.filled(reach=0.6).unknown_count < grid.unknown_count  # and only within the reach


def test_cells_with_too_few_points_stay_unknown() -> None:
    cloud = np.array([[0.1, 0.1, 1.0], [0.2, 0.1, 1.0], [1.1, 1.1, 2.0]])

    grid = cloud_to_grid(cloud, CloudSettings(resolution_m=1.0, least_points=2, strays=0))

    assert grid.heights[0, 0] == 1.0
    assert grid.unknown_count == 3


def test_the_order_of_points_does_not_matter() -> None:
    cloud = scan(2_000, noise=0.2)

    first = cloud_to_grid(cloud)
    again = cloud_to_grid(cloud[::-1])

    assert first.heights.tobytes() == again.heights.tobytes()


def test_points_that_are_not_finite_are_ignored() -> None:
    bad = [[np.nan, 0.0, 0.0], [0.0, np.inf, 0.0], [0.0, 0.0, -np.inf], [1e30, 0.0, 0.0]]
    cloud = scan(500, noise=0.0)

    assert_allclose(cloud_to_grid(np.concatenate([bad, cloud])).heights, cloud_to_grid(cloud).heights)


def test_points_may_be_a_list_of_integers() -> None:
    corners = [[0, 0, 1], [1, 0, 2], [0, 1, 3], [1, 1, 4]]

    assert_allclose(cloud_to_grid(corners, CloudSettings(resolution_m=1.0)).heights, [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([], "points: must be n x 3, got 0"),
        (1.0, "points: must be n x 3, got one value"),
        ([[0.0, 0.0, 0.0], [1.0]], "points: must be n x 3 numbers"),
        ([["a", "b", "c"]], "points: must be numbers, got <U1"),
        (np.zeros((4, 3), complex), "points: must be numbers, got complex128"),
        (np.zeros((0, 3)), "none of 0 is finite"),
        (np.full((4, 3), np.nan), "none of 4 is finite"),
        (np.zeros((5, 2)), "points: must be n x 3, got 5 x 2"),
        (np.array([[0.0, 0.0, 0.0], [1e6, 1e6, 0.0]]), "2000001 x 2000001 nodes are too many"),
        (np.broadcast_to(0.0, (60_000_000, 3)), "60000000 are too many"),
    ],
)
def test_an_invalid_cloud_is_rejected(points: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cloud_to_grid(points)  # type: ignore[arg-type]
