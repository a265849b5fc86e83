"""Elevation maps: heights, normals and soils between nodes and beyond the edge."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from terrain.elevation_map import ElevationMap
from terrain.georeference import Georeference
from terrain.limits import CELL_LIMIT

SLOPE = st.floats(-1.0, 1.0)
COORDINATE = st.floats(-20.0, 40.0)


def plane(slope_x: float, slope_y: float, resolution: float = 0.5) -> ElevationMap:
    """31 x 21 nodes from (-5, -3), rising along both axes; 0 at the origin."""
    x, y = -5.0 + np.arange(31) * resolution, -3.0 + np.arange(21) * resolution
    heights = (slope_x * x + slope_y * y[:, None]).astype(np.float32)
    return ElevationMap(heights=heights, resolution=resolution, origin_x=-5.0, origin_y=-3.0)


@settings(derandomize=True, deadline=None)
@given(slope_x=SLOPE, slope_y=SLOPE, x=st.floats(-5.0, 10.0), y=st.floats(-3.0, 7.0))
def test_heights_and_normals_of_a_plane_are_exact(slope_x: float, slope_y: float, x: float, y: float) -> None:
    ground = plane(slope_x, slope_y)

    # Only the rounding of float32 heights of up to 15 m may differ.
    assert_allclose(ground.height_at(x, y), slope_x * x + slope_y * y, atol=2e-6)
    normal = np.array([-slope_x, -slope_y, 1.0])
    assert_allclose(ground.normal_at(x, y), normal / np.linalg.norm(normal), atol=1e-5)


def test_nodes_are_where_the_convention_says() -> None:
    heights = np.arange(12, dtype=np.float32).reshape(3, 4)
    ground = ElevationMap(heights=heights, resolution=2.0, origin_x=10.0, origin_y=-4.0)

    assert ground.height_at(10.0, -4.0) == 0.0
    assert ground.height_at(16.0, -4.0) == 3.0  # columns along x
    assert ground.height_at(10.0, 0.0) == 8.0  # rows along y
    assert ground.x_limits == (10.0, 16.0)
    assert ground.y_limits == (-4.0, 0.0)


def test_bilinear_is_the_mean_of_four_in_the_middle_of_a_cell() -> None:
    ground = ElevationMap(heights=np.array([[0.0, 1.0], [2.0, 5.0]], np.float32), resolution=1.0)

    assert ground.height_at(0.5, 0.5) == 2.0


@settings(derandomize=True, deadline=None)
@given(x=COORDINATE, y=COORDINATE)
def test_ground_continues_beyond_the_edge(x: float, y: float) -> None:
    ground = plane(0.3, -0.2)
    (left, right), (low, high) = ground.x_limits, ground.y_limits
    nearest_x, nearest_y = min(max(x, left), right), min(max(y, low), high)

    assert ground.height_at(x, y) == ground.height_at(nearest_x, nearest_y)
    assert ground.covers(x, y) == (x == nearest_x and y == nearest_y)
    slope_x, slope_y = ground.slope_at(x, y)
    assert (slope_x == 0.0) == (x != nearest_x)  # level there, so that no wheel is pushed along
    assert (slope_y == 0.0) == (y != nearest_y)


@pytest.mark.parametrize("position", [(np.nan, 0.0), (0.0, np.nan), (np.inf, 0.0), (-1e300, 1e300)])
def test_no_position_raises_an_index_error(position: tuple[float, float]) -> None:
    ground = plane(0.1, 0.1)

    height = ground.height_at(*position)

    assert np.isnan(height) == np.isnan(position).any()
    assert not ground.covers(*position)
    assert ground.soil_at(*position) == 0


def test_arrays_of_points_keep_their_shape() -> None:
    x, y = np.meshgrid(np.linspace(-6.0, 11.0, 7), np.linspace(-4.0, 8.0, 5))

    assert plane(0.1, 0.2).height_at(x, y).shape == (5, 7)
    assert plane(0.1, 0.2).normal_at(x, y).shape == (5, 7, 3)


def test_the_soil_is_that_of_the_nearest_node() -> None:
    soils = np.array([[0, 1], [2, 1]], np.uint8)
    ground = ElevationMap(heights=np.zeros((2, 2)), resolution=1.0, soils=soils, soil_names=("a", "b", "c"))

    assert_array_equal(ground.soil_at([0.4, 0.6, 0.4, 9.0], [0.4, 0.4, 0.6, 9.0]), [0, 1, 2, 1])


@settings(derandomize=True, deadline=None, max_examples=30)
@given(resolution=st.floats(0.1, 3.0))
def test_a_plane_stays_the_same_at_any_resolution(resolution: float) -> None:
    ground = plane(0.3, -0.2)

    other = ground.resampled(resolution)

    assert other.origin_x == ground.origin_x
    x, y = np.meshgrid(other.node_x(), other.node_y())
    assert_allclose(other.heights, ground.height_at(x, y), atol=1e-6)
    assert -1e-9 <= ground.x_limits[1] - other.x_limits[1] < resolution


def test_a_crop_holds_the_requested_rectangle_and_keeps_its_heights() -> None:
    ground = plane(0.3, -0.2)

    part = ground.cropped((-1.2, 3.1), (0.2, 2.0))

    assert part.x_limits == (-1.5, 3.5)
    assert part.y_limits == (0.0, 2.0)
    assert part.height_at(1.23, 1.0) == pytest.approx(float(ground.height_at(1.23, 1.0)), abs=1e-12)
    with pytest.raises(ValueError, match="x from 50 to 60 m is not on the map, which has -5 to 10 m"):
        ground.cropped((50.0, 60.0), (0.0, 1.0))


def test_a_moved_map_keeps_its_georeference() -> None:
    where = Georeference(crs="EPSG:32629")
    ground = ElevationMap(
        heights=np.zeros((11, 11)), resolution=1.0, origin_x=500_000.0, origin_y=4_800_000.0, georeference=where
    )

    centred = ground.centred()

    assert centred.x_limits == (-5.0, 5.0)
    assert centred.georeference is not None
    assert centred.georeference.easting_m + centred.origin_x == 500_000.0
    assert centred.georeference.northing_m + centred.origin_y == 4_800_000.0


def test_degrees_move_with_the_map() -> None:
    here = Georeference(latitude_deg=43.0, longitude_deg=-8.0, altitude_m=10.0)

    there = here.moved(0.0, -111.1, 5.0)  # the origin is now 111.1 m further north, a thousandth of a degree

    assert there.latitude_deg == pytest.approx(43.001, abs=1e-6)
    assert there.longitude_deg == pytest.approx(-8.0, abs=1e-9)
    assert there.altitude_m == 5.0


@pytest.mark.parametrize("step", [1, 2, 7])
def test_the_mesh_lies_on_the_map_and_faces_up(step: int) -> None:
    ground = plane(0.3, -0.2)

    mesh = ground.triangle_mesh(step)

    a, b, c = (mesh.vertices[mesh.faces[:, corner]] for corner in range(3))
    doubled_areas = np.cross(b - a, c - a)[:, 2]
    assert (doubled_areas > 0.0).all()
    assert 0.5 * doubled_areas.sum() == pytest.approx(15.0 * 10.0)  # the whole map, without overlap
    assert_allclose(mesh.vertices[:, 2], ground.height_at(mesh.vertices[:, 0], mesh.vertices[:, 1]), atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heights": np.zeros((1, 1))}, "1 x 1 nodes span no area; at least 2 x 2 are needed"),
        ({"heights": np.zeros(5)}, "heights: must be an array of rows and columns"),
        ({"heights": np.array([[0.0, -np.inf], [0.0, np.inf]])}, "2 heights are not within 20000 m of 0"),
        ({"heights": np.array([[0.0, 1.0], [np.nan, np.inf]])}, "1 of 4 heights are NaN, the first at row 1, column 0"),
        ({"heights": np.array([[0.0, 1e30], [0.0, 0.0]])}, "the first at row 0, column 1: 1e+30"),
        ({"resolution": 0.0}, "resolution: must be from 0.001 to 1000 m, got 0"),
        ({"resolution": 0.0002777}, "got 0.0002777 (is it in degrees?)"),
        ({"origin_x": np.nan}, "origin: must be within 1e+08 m of 0, got nan, 0"),
        ({"soils": np.zeros((3, 3), np.uint8)}, "soils: must be uint8 of the heights' shape (2, 2), got"),
        ({"soils": np.full((2, 2), 7, np.uint8)}, "soils: index 7 has no name; soil_names has 1"),
        ({"soil_names": "hard"}, "soil_names: must be several names, not the text 'hard'"),
        ({"soil_names": ()}, "soil_names: must be 1 to 256 printable names, got 0"),
    ],
)  # fmt: skip
def test_an_invalid_map_is_rejected_with_one_line(changes: dict[str, object], words: str) -> None:
    sound: dict[str, object] = {"heights": np.zeros((2, 2)), "resolution": 1.0}

    with pytest.raises(ValueError) as rejection:  # noqa: PT011
        ElevationMap(**{**sound, **changes})  # type: ignore[arg-type]

    assert words in str(rejection.value)


def test_a_gigantic_map_is_rejected_before_memory_is_allocated() -> None:
    huge = np.broadcast_to(np.float32(0.0), (200_000, 200_000))  # 160 GB, if it were allocated

    with pytest.raises(ValueError, match=f"200000 x 200000 nodes are too many .limit {CELL_LIMIT}."):
        ElevationMap(heights=huge, resolution=1.0)
