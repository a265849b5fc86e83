"""The plane under a wheel: exact on planes, smooth over kerbs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from terrain.contact_plane import SAMPLES, contact_plane
from terrain.ground import LEVEL, FlatGround, Ground, grid_of, ground_at, height_at
from terrain.obstacle_contact import no_obstacles
from terrain.ruts import no_ruts
from terrain.soils_file import soil_table

RADIUS, WIDTH = 0.47, 0.3


def map_ground(height: Any, size: float = 4.0, resolution: float = 0.05) -> Ground:
    """A map of a function of x and y around the origin."""
    nodes = np.arange(-size, size + resolution / 2.0, resolution)
    heights = height(nodes[None, :], nodes[:, None]).astype(np.float32)
    grid = grid_of(heights, None, -size, -size, resolution)
    return Ground(LEVEL, grid, soil_table(["hard"]), no_ruts(), no_obstacles())


def plane_under(ground: Ground, x: float, z: float, heading: float = 0.0) -> Any:
    axis = (-math.sin(heading), math.cos(heading), 0.0)
    return contact_plane(ground, (x, 0.3, z), axis, RADIUS, WIDTH, 0.0, np.zeros(SAMPLES))


@pytest.mark.parametrize("heading", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("z", [0.3, 0.45, 2.0])
def test_plane_of_a_map_is_found_to_rounding(z: float, heading: float) -> None:
    ground = map_ground(lambda x, y: 0.25 * x - 0.125 * y + 0 * x)

    plane = plane_under(ground, 0.4, z, heading)

    assert plane.height == pytest.approx(0.25 * 0.4 - 0.125 * 0.3, abs=1e-6)
    normal = np.array([-0.25, 0.125, 1.0])
    assert_allclose(plane.normal, normal / np.linalg.norm(normal), atol=1e-6)
    assert plane.rough < 1e-6


def test_analytic_plane_is_used_as_it_is() -> None:
    ground = FlatGround(slope_x=0.3).kernel()
    assert plane_under(ground, 1.0, 0.7).normal == ground_at(ground, 1.0, 0.3).normal


def test_kerb_raises_and_tilts_the_plane_without_a_jump() -> None:
    ground = map_ground(lambda x, y: np.where(x > 1.0, 0.15, 0.0) + 0 * y, resolution=0.02)
    positions = np.arange(0.3, 1.6, 0.002)

    planes = [plane_under(ground, float(x), 0.455) for x in positions]

    heights = np.array([plane.height for plane in planes])
    slopes = np.array([-plane.normal[0] / plane.normal[2] for plane in planes])
    pressed = RADIUS - (0.455 - heights) * np.array([plane.normal[2] for plane in planes])
    assert heights[0] == pytest.approx(0.0, abs=1e-3)
    assert heights[-1] == pytest.approx(0.15, abs=1e-3)
    assert slopes.max() > 0.3  # it pushes back
    assert slopes.min() > -0.05
    # The wall is one cell of the map, 20 mm: a single point would be pressed in by all of 0.15 m over that distance.
    assert np.abs(pressed[10:] - pressed[:-10]).max() < 0.09


def test_map_is_bilinear_and_continues_beyond_its_edge() -> None:
    heights = np.array([[0.0, 1.0], [2.0, 5.0]], np.float32)
    ground = Ground(LEVEL, grid_of(heights, None, 0.0, 0.0, 1.0), soil_table(["hard"]), no_ruts(), no_obstacles())

    assert height_at(ground, 0.5, 0.5) == pytest.approx(2.0)
    assert height_at(ground, 0.25, 0.75) == pytest.approx(0.25 * 0.25 * 1 + 0.75 * 0.75 * 2 + 0.25 * 0.75 * 5)
    assert height_at(ground, -100.0, 0.5) == pytest.approx(1.0)
    assert height_at(ground, 1e9, 1e9) == pytest.approx(5.0)
    point = ground_at(ground, 0.5, 0.5)
    assert_allclose(np.divide(point.normal, point.normal[2])[:2], [-2.0, -3.0], atol=1e-6)
