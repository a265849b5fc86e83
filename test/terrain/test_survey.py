"""Surveys: scattered points to a bounded surface, checked on surfaces whose heights are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from terrain.alpha_shape import alpha_shape
from terrain.survey import Survey, load_survey, surface_mesh
from terrain.worlds import load_world, world_file


def hill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 0.3 * np.sin(x / 8.0) * np.cos(y / 6.0) + 0.02 * x


def bent_road(count: int = 800, seed: int = 2) -> np.ndarray:
    """Points on three quarters of a ring between radius 20 and 30 m."""
    random = np.random.default_rng(seed)
    radius, angle = np.sqrt(random.uniform(400.0, 900.0, count)), random.uniform(0.0, 1.5 * np.pi, count)
    return np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))


def surveyed(positions: np.ndarray) -> Survey:
    return Survey(np.column_stack((positions, hill(positions[:, 0], positions[:, 1]))))


@pytest.mark.parametrize(("interpolation", "error"), [("smooth", 0.01), ("linear", 0.03)])
def test_the_surface_between_points_is_that_of_the_ground(interpolation: str, error: float) -> None:
    survey = surveyed(bent_road())

    surface = survey.surface(survey.outline(), resolution=0.5, interpolation=interpolation)

    x = surface.origin_x + np.arange(surface.heights.shape[1]) * 0.5
    y = surface.origin_y + np.arange(surface.heights.shape[0])[:, None] * 0.5
    off = (surface.heights - hill(x, y))[surface.known]
    assert np.sqrt(np.mean(off**2)) < error  # [m], points 2 m apart


@pytest.mark.parametrize("interpolation", ["smooth", "linear"])
def test_a_plane_is_exact(interpolation: str) -> None:
    positions = bent_road(300)
    survey = Survey(np.column_stack((positions, 0.1 * positions[:, 0] - 0.2 * positions[:, 1] + 5.0)))

    surface = survey.surface(survey.outline(), 1.0, interpolation)

    x = surface.origin_x + np.arange(surface.heights.shape[1])
    y = surface.origin_y + np.arange(surface.heights.shape[0])[:, None]
    assert_allclose(surface.heights[surface.known], (0.1 * x - 0.2 * y + 5.0)[surface.known], atol=1e-5)


def test_the_outline_follows_the_road_and_not_its_hull() -> None:
    outline = surveyed(bent_road()).outline()

    ring = 0.75 * np.pi * (30.0**2 - 20.0**2)
    assert 0.85 * ring < outline.area < 1.01 * ring  # points do not lie exactly on its edge
    assert not outline.covers(np.array([0.0, 12.0, 20.0]), np.array([0.0, -12.0, -25.0])).any()
    assert outline.covers(np.array([25.0, 0.0, -25.0]), np.array([1.0, 25.0, 0.0])).all()


def test_no_point_is_outside_and_no_triangle_is_wider_than_alpha() -> None:
    positions = bent_road()
    outline = alpha_shape(positions, radius=4.0)

    assert outline.covers(*(positions.T * 0.9999)).mean() > 0.9  # of points near the outline, some are just outside
    corners = positions[outline.triangles]
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    assert (sides <= 2.0 * 4.0).all()  # no side is longer than the circle is wide
    ends, counts = np.unique(outline.boundary(), return_counts=True)
    assert (counts % 2 == 0).all()  # closed curves
    assert set(ends) <= set(range(len(positions)))


def test_a_wide_alpha_gives_the_convex_hull() -> None:
    from scipy.spatial import ConvexHull

    positions = bent_road(200)

    assert alpha_shape(positions, radius=1e9).area == pytest.approx(ConvexHull(positions).volume)


def test_the_mesh_covers_what_was_surveyed_and_faces_up() -> None:
    survey = surveyed(bent_road())
    outline = survey.outline()

    mesh = surface_mesh(survey.surface(outline, resolution=0.5))

    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    areas = 0.5 * np.cross(b - a, c - a)[:, 2]
    assert (areas > 0.0).all()
    assert 0.9 * outline.area < areas.sum() <= outline.area
    assert outline.covers(mesh.vertices[:, 0], mesh.vertices[:, 1]).all()


def test_the_surveyed_world_has_the_heights_of_its_formula() -> None:
    world = load_world("survey")

    assert world.surveyed is not None
    assert world.georeference is not None
    assert world.georeference.latitude_deg == pytest.approx(43.4938, abs=1e-3)
    # The file's own comment: heights over (x, y) from 43.4938, -8.2390, 60 m.
    from pymap3d import geodetic2enu

    where = world.georeference
    shift = geodetic2enu(where.latitude_deg, where.longitude_deg, where.altitude_m, 43.4938, -8.2390, 60.0)
    x, y = np.meshgrid(world.ground.node_x() + shift[0], world.ground.node_y() + shift[1])
    expected = 0.012 * x - 0.006 * y + 0.25 * np.sin(x / 25.0) * np.cos(y / 20.0) - shift[2]
    off = (world.ground.heights - expected)[world.surveyed]
    assert np.sqrt(np.mean(off**2)) < 0.015  # [m]; the points have 0.01
    assert world.surveyed[world.surveyed].size < 0.4 * world.surveyed.size


def test_metres_and_degrees_give_the_same_ground(tmp_path: Path) -> None:
    degrees = load_survey(world_file("survey").with_name("bent_road.csv"))
    lines = ["z_m, y_m, x_m"] + [f"{z}, {y}, {x}" for x, y, z in degrees.points.tolist()]
    (tmp_path / "metres.csv").write_text("\n".join(lines))

    metres = load_survey(tmp_path / "metres.csv")

    assert_allclose(metres.points, degrees.points)
    assert metres.georeference is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "columns must be x_m, y_m, z_m or latitude_deg, longitude_deg, altitude_m, got"),
        ("x,y,z\n1,2,3\n", "got x, y, z"),
        ("x_m,y_m,z_m\n1,2,3\n1,2\n", "point 2: '1, 2' is not 3 finite numbers"),
        ("x_m,y_m,z_m\n1,2,nan\n", "point 1: '1, 2, nan' is not 3 finite numbers"),
        ("x_m,y_m,z_m\n1,2,high\n", "point 1: '1, 2, high' is not 3 numbers"),
        ("x_m,y_m,z_m\n1,2,3\n", "points: must be 3 to 1000000, got 1"),
        ("x_m,y_m,z_m\n1e300,2,3\n1,2,3\n4,5,6\n", "points: must be within 1e+08 m of 0"),
        ("latitude_deg,longitude_deg,altitude_m\n", "has no points"),
        ("latitude_deg,longitude_deg,altitude_m\n-98,43,0\n-98,43.1,0\n", "are the columns swapped?"),
        ("latitude_deg,longitude_deg,altitude_m\n43,-8,0\n46,-8,0\n", "spans more than one degree"),
    ],
)
def test_an_invalid_survey_is_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "points.csv"
    path.write_text(text)

    with pytest.raises(SettingsError) as rejection:
        load_survey(path)

    assert words in str(rejection.value)
    assert "\n" not in str(rejection.value)


def test_points_on_a_line_span_no_area() -> None:
    with pytest.raises(ValueError, match="4 points span no area; are they on one line"):
        alpha_shape(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))


def test_too_narrow_an_alpha_says_what_is_needed() -> None:
    with pytest.raises(ValueError, match=r"no triangle fits into a circle of 0.001 m; the narrowest needs"):
        alpha_shape(bent_road(50), radius=0.001)
