"""Map files: what is written comes back."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from terrain.elevation_map import ElevationMap
from terrain.formats.heightmap_png import save_heightmap_png
from terrain.georeference import Georeference
from terrain.map_files import MapFileOptions, load_map, save_map

SOUTH_WEST = (512_345.25, 4_812_345.5)


@pytest.fixture
def hills() -> ElevationMap:
    """Uneven, not square, with two soils, far from the origin of its coordinate system."""
    random = np.random.default_rng(5)
    return ElevationMap(
        heights=random.normal(100.0, 20.0, (17, 23)).astype(np.float32),
        resolution=0.25,
        origin_x=-3.0,
        origin_y=2.0,
        soils=random.integers(0, 2, (17, 23)).astype(np.uint8),
        soil_names=("hard", "clay"),
        georeference=Georeference(crs="EPSG:32629", easting_m=SOUTH_WEST[0] + 3.0, northing_m=SOUTH_WEST[1] - 2.0),
    )


def test_npz_keeps_everything(tmp_path: Path, hills: ElevationMap) -> None:
    save_map(hills, tmp_path / "hills.npz")

    again = load_map(tmp_path / "hills.npz")

    assert_array_equal(again.heights, hills.heights)
    assert again.soils is not None
    assert_array_equal(again.soils, hills.soils)
    assert (again.resolution, again.origin_x, again.origin_y) == (0.25, -3.0, 2.0)
    assert again.soil_names == hills.soil_names
    assert again.georeference == hills.georeference
    assert [path.name for path in tmp_path.iterdir()] == ["hills.npz"]  # no temporary file remains


def loading_peak(path: Path) -> int:
    """Peak memory [bytes] while a map is loaded."""
    tracemalloc.start()
    try:
        load_map(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("side", [1000, 2000])  # nodes
def test_loading_a_map_takes_five_bytes_a_node_and_no_copy_whatever_its_size(tmp_path: Path, side: int) -> None:
    # What holds for 4 million nodes holds for the 64 million of 4 km x 4 km at 0.5 m: time and memory are spent on one
    # copy of the file. One megabyte is for the reader's own buffers.
    shape = (side, side)
    ground = ElevationMap(heights=np.ones(shape, np.float32), resolution=0.5, soils=np.zeros(shape, np.uint8))
    save_map(ground, tmp_path / "large.npz")

    assert (tmp_path / "large.npz").stat().st_size == pytest.approx(5 * side * side, abs=5_000)
    assert loading_peak(tmp_path / "large.npz") == pytest.approx(5 * side * side, abs=1_000_000)


@pytest.mark.parametrize("suffix", [".asc", ".tif"])
def test_georeferenced_heights_come_back_in_the_coordinates_of_their_system(
    tmp_path: Path, hills: ElevationMap, suffix: str
) -> None:
    save_map(hills, tmp_path / f"hills{suffix}")

    again = load_map(tmp_path / f"hills{suffix}")

    assert_array_equal(again.heights, hills.heights)
    assert (again.origin_x, again.origin_y) == SOUTH_WEST
    assert again.resolution == 0.25
    if suffix == ".tif":
        assert again.georeference == Georeference(crs="EPSG:32629")


def test_png_comes_back_within_one_of_its_65535_steps(tmp_path: Path, hills: ElevationMap) -> None:
    low, high = save_heightmap_png(hills, tmp_path / "hills.png")

    again = load_map(tmp_path / "hills.png", MapFileOptions(resolution_m=0.25, low_m=low, high_m=high))

    assert_allclose(again.heights, hills.heights, atol=(high - low) / 65535)


def test_a_png_of_eight_bits_spans_the_same_heights(tmp_path: Path) -> None:
    Image.fromarray(np.array([[0, 255], [51, 102]], np.uint8)).save(tmp_path / "small.png")

    ground = load_map(tmp_path / "small.png", MapFileOptions(resolution_m=2.0, low_m=-1.0, high_m=4.0))

    assert_allclose(ground.heights, [[0.0, 1.0], [-1.0, 4.0]])  # row 0 is at the bottom of the picture


@pytest.mark.parametrize("suffix", [".obj", ".stl", ".ply"])
def test_a_mesh_comes_back_as_the_same_map(tmp_path: Path, suffix: str) -> None:
    heights = np.random.default_rng(5).normal(0.0, 2.0, (17, 23)).astype(np.float32)
    hills = ElevationMap(heights=heights, resolution=0.25, origin_x=-3.0, origin_y=2.0)
    save_map(hills, tmp_path / f"hills{suffix}")

    again = load_map(tmp_path / f"hills{suffix}", MapFileOptions(resolution_m=0.25))

    assert (again.origin_x, again.origin_y) == (-3.0, 2.0)
    assert_allclose(again.heights, hills.heights, atol=1e-6)


def test_the_highest_surface_of_a_mesh_counts(tmp_path: Path) -> None:
    table_over_floor = ["v 0 0 0", "v 4 0 0", "v 4 4 0", "v 0 4 0", "v 1 1 2", "v 3 1 2", "v 3 3 2", "v 1 3 2"]
    table_over_floor += ["f 1 2 3", "f 1 3 4", "f 5 6 7", "f 5 7 8"]
    (tmp_path / "table.obj").write_text("\n".join(table_over_floor))

    ground = load_map(tmp_path / "table.obj", MapFileOptions(resolution_m=1.0))

    assert ground.height_at(2.0, 2.0) == 2.0
    assert ground.height_at(0.0, 4.0) == 0.0


def test_corner_and_centre_of_the_lower_left_cell_are_distinguished(tmp_path: Path) -> None:
    rows = "cellsize 10\n1 2\n3 4\n"
    (tmp_path / "corner.asc").write_text(f"ncols 2\nnrows 2\nxllcorner 100\nyllcorner 200\n{rows}")
    (tmp_path / "centre.asc").write_text(f"NCOLS 2\nNROWS 2\nXLLCENTER 105\nYLLCENTER 205\n{rows}")

    for name in ("corner", "centre"):
        ground = load_map(tmp_path / f"{name}.asc")
        assert (ground.origin_x, ground.origin_y) == (105.0, 205.0)
        assert_array_equal(ground.heights, [[3.0, 4.0], [1.0, 2.0]])  # the file begins in the north


@pytest.mark.parametrize("dtype", ["uint8", "uint16", ">u2", "int16", "float32"])
def test_geotiffs_of_8_16_and_32_bits_are_read(tmp_path: Path, dtype: str) -> None:
    heights = np.array([[7, 200], [30, 4]]).astype(dtype)
    Image.fromarray(heights).save(tmp_path / "small.tif")

    ground = load_map(tmp_path / "small.tif", MapFileOptions(resolution_m=1.0))

    assert_array_equal(ground.heights, heights[::-1].astype(np.float32))


def test_negative_heights_of_sixteen_bits_stay_negative(tmp_path: Path, write_int16_tiff: object) -> None:
    path = write_int16_tiff(np.array([[-5, 200], [300, -400]], np.int16))  # type: ignore[operator]

    ground = load_map(path, MapFileOptions(resolution_m=1.0))

    assert_array_equal(ground.heights, [[300.0, -400.0], [-5.0, 200.0]])


def test_gaps_are_filled_only_on_request(tmp_path: Path) -> None:
    header = "ncols 3\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\nNODATA_value -9999\n"
    (tmp_path / "gaps.asc").write_text(header + "1 2 -9999\n4 nan 6\n")

    ground = load_map(tmp_path / "gaps.asc", MapFileOptions(fill_gaps=True))

    assert ground.heights[1, 2] in (2.0, 6.0)  # the two nearest
    assert ground.heights[0, 1] in (2.0, 4.0, 6.0)
    assert ground.heights[1, 0] == 1.0
