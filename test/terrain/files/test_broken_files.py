"""Broken, malicious and absurd map files: one clear line each, and nothing partially loaded."""

from __future__ import annotations

import io
import json
import os
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from proving_ground.settings import SettingsError
from terrain.elevation_map import ElevationMap
from terrain.map_files import MapFileOptions, load_map, save_map

Tags = dict[int, Any]
SCALE, TIEPOINT, MATRIX, KEYS, NODATA = 33550, 33922, 34264, 34735, 42113
HEADER = "ncols 3\nnrows 4\nxllcorner 0\nyllcorner 0\ncellsize 1\n"
ROW = "1 2 3\n"
ANY = MapFileOptions(resolution_m=1.0, low_m=0.0, high_m=1.0)


def rejection(path: Path, options: MapFileOptions | None = None) -> str:
    with pytest.raises(SettingsError) as found:
        load_map(path, options)
    assert "\n" not in str(found.value)
    assert str(found.value).startswith(f"terrain '{path}': ")
    return str(found.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEADER + 3 * ROW, "4 rows expected, 3 found; file looks truncated"),
        (HEADER + 3 * ROW + "1 2", "4 rows expected, 3 found; file looks truncated"),
        (HEADER, "4 rows expected, 0 found; file looks truncated"),
        (HEADER + 5 * ROW, "4 rows of 3 expected, more found"),
        (HEADER + 3 * ROW + "1 2 x", "'x' is not a height"),
        (HEADER + 3 * ROW + "1 2 inf", "1 heights are infinite"),
        (HEADER + 3 * ROW + "1 2 1e300", "1 heights are infinite or beyond what float32 holds"),
        (HEADER + 3 * ROW + "1 2 1e9", "1 heights are not within 20000 m of 0, the first at row 0, column 2: 1e+09"),
        (HEADER + 3 * ROW + "1 -9999 nan", "2 of 12 heights are unknown, the first at x 1.5, y 0.5 m; fill_gaps"),
        (HEADER.replace("nrows 4", "nrows 4e9") + ROW, "header: nrows must be a number, got '4e9'"),
        (HEADER.replace("nrows 4", "nrows 400000000") + ROW, "3 x 400000000 nodes are too many (limit 100000000)"),
        (HEADER.replace("nrows 4", "nrows -4") + ROW, "3 x -4 nodes span no area"),
        (HEADER.replace("ncols 3", "ncols 1").replace("nrows 4", "nrows 1") + "5", "1 x 1 nodes span no area"),
        (HEADER.replace("nrows 4\n", "") + ROW, "header lacks nrows"),
        (HEADER.replace("xllcorner 0", "xllcorner nan") + 4 * ROW, "header: xllcorner must be finite, got nan"),
        (HEADER.replace("xllcorner 0\n", "") + 4 * ROW, "header lacks xllcorner"),
        (HEADER.replace("nrows 4", "rows 4") + 4 * ROW, "header line 'rows 4' is unknown"),
        (HEADER.replace("cellsize 1", "cellsize 0.000277778") + 4 * ROW, "looks like degrees; reproject the file"),
        (HEADER.replace("cellsize 1", "cellsize -1") + 4 * ROW, "cellsize -1 looks like degrees"),
        ("", "header lacks ncols"),
    ],
)  # fmt: skip
def test_a_broken_ascii_grid_is_rejected(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "hill.asc"
    path.write_text(text)

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the error is the only message
        assert words in rejection(path)


def test_binary_data_in_a_text_format_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "hill.asc"
    path.write_bytes(b"\xff\xfe\x00ncols")

    assert "is not a text file" in rejection(path)


@pytest.mark.parametrize("suffix", [".npz", ".asc", ".tif", ".png", ".obj", ".stl", ".ply"])
def test_a_missing_or_empty_file_is_rejected(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"hill{suffix}"

    assert rejection(path, ANY) == f"terrain '{path}': No such file or directory"
    path.touch()
    rejection(path, ANY)


@pytest.mark.parametrize("suffix", [".npz", ".asc", ".tif", ".png", ".obj", ".stl", ".ply"])
def test_a_pipe_is_rejected_before_it_can_block(
    tmp_path: Path, suffix: str, alarm: Callable[[float], AbstractContextManager[None]]
) -> None:
    path = tmp_path / f"hill{suffix}"
    os.mkfifo(path)

    with alarm(10.0):
        assert "is a pipe or device, not a file" in rejection(path, ANY)


def test_a_folder_is_not_a_map(tmp_path: Path) -> None:
    path = tmp_path / "hill.npz"
    path.mkdir()

    assert "is a folder, not a file" in rejection(path)


def test_an_unknown_kind_of_file_is_rejected(tmp_path: Path) -> None:
    assert "must end in one of .npz, .asc, .tif" in rejection(tmp_path / "hill.docx")


@pytest.mark.parametrize("suffix", [".npz", ".tif", ".png", ".stl", ".ply"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_a_truncated_file_is_rejected(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"hill{suffix}"
    heights = np.random.default_rng(1).normal(size=(40, 50)).astype(np.float32)
    save_map(ElevationMap(heights=heights, resolution=1.0), path)
    data = path.read_bytes()

    path.write_bytes(data[: int(share * len(data))])

    words = rejection(path, ANY)
    assert "truncated" in words or "unexpected length" in words  # the wording of PLY


@pytest.mark.parametrize("length", [200, 400, 2000])  # [bytes]: within the table of tags, and within the heights
def test_a_truncated_geotiff_is_reported_as_such_and_not_as_unreferenced(tmp_path: Path, length: int) -> None:
    path = tmp_path / "hill.tif"
    save_map(ElevationMap(heights=np.zeros((40, 50)), resolution=1.0), path)
    path.write_bytes(path.read_bytes()[:length])

    words = rejection(path)

    assert "is damaged or truncated" in words
    assert "georeference" not in words


ASCII_STL = """solid hill
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 4 0 0
vertex 0 4 0
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 4 0 0
vertex 4 4 0
vertex 0 4 0
endloop
endfacet
endsolid hill
"""


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("hill.obj", bytes(range(256)), "it is not a text file"),
        ("hill.obj", b"\xff\xfe\xfd junk", "it has no faces"),
        ("hill.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "it has no faces"),
        ("hill.stl", bytes(range(256)), "neither STL text nor whole binary STL (for 1397903696 triangles, 256 bytes)"),
        ("hill.stl", b"\xff" * 20, "neither STL text nor whole binary STL (20 bytes); it looks truncated"),
        ("hill.stl", ASCII_STL[:-20].encode(), "the text does not end with 'endsolid'; it looks truncated"),
    ],
)
def test_a_broken_mesh_is_rejected_with_its_fault(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)

    assert f"is not a valid mesh: {words}" in rejection(tmp_path / name, ANY)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hill.stl", ASCII_STL.replace("hill", "H\xfcgel")),
        ("hill.obj", "# H\xfcgel\nv 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nf 1 2 3\nf 1 3 4\n"),
    ],
)
def test_names_and_comments_of_a_mesh_may_be_in_an_old_code_page(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))

    assert load_map(tmp_path / name, ANY).shape == (5, 5)


def test_an_astronomically_large_mesh_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "hill.obj"
    path.write_text("v -1e308 0 0\nv 1e308 0 0\nv 0 1e308 0\nf 1 2 3\n")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "mesh: corners must be within 1e+08 m of 0" in rejection(path, ANY)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_arbitrary_bytes_are_loaded_or_rejected(data: st.DataObject, tmp_path: Path) -> None:
    suffix = data.draw(st.sampled_from([".npz", ".asc", ".tif", ".png", ".obj", ".stl", ".ply"]))
    path = tmp_path / f"fuzz{suffix}"
    save_map(ElevationMap(heights=np.arange(30.0).reshape(5, 6), resolution=1.0), path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)

    words = ""
    try:
        assert np.isfinite(load_map(path, ANY).heights).all()
    except SettingsError as error:
        words = str(error)
    assert "\n" not in words


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ({}, "has no georeference (no pixel scale and tie point); give resolution_m to use it"),
        ({MATRIX: (0.9, 0.4, 0.0, 5.0, 0.4, -0.9, 0.0, 7.0, *8 * (0.0,))}, "is rotated against its coordinate system"),
        ({SCALE: (1.0, 1.0, 0.0), TIEPOINT: 12 * (0.0,)}, "is placed by several tie points"),
        ({SCALE: (1.0, 2.0, 0.0), TIEPOINT: 6 * (0.0,)}, "has pixels of 1 x 2 m; resample it to square ones first"),
        ({SCALE: (1.0, -1.0, 0.0), TIEPOINT: 6 * (0.0,)}, "has an invalid georeference: pixel scale [1.0, -1.0]"),
        ({SCALE: (1.0, 1.0, 0.0), TIEPOINT: (*3 * (0.0,), float("nan"), 0.0, 0.0)}, "has an invalid georeference"),
        (
            {SCALE: (1.0, 1.0, 0.0), TIEPOINT: 6 * (0.0,), KEYS: (1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326)},
            "is in degrees (EPSG:4326); reproject it to metres first",
        ),
        (  # no model type, only a geographic system
            {SCALE: (1 / 120, 1 / 120, 0.0), TIEPOINT: 6 * (0.0,), KEYS: (1, 1, 0, 1, 2048, 0, 1, 4326)},
            "is in degrees (EPSG:4326); reproject it to metres first",
        ),
        (
            {SCALE: (1.0, 1.0, 0.0), TIEPOINT: 6 * (0.0,), KEYS: (1, 1, 0, 1, 3076, 0, 1, 9002)},
            "has coordinates in a unit other than metres (EPSG:9002)",
        ),
        (
            {SCALE: (1.0, 1.0, 0.0), TIEPOINT: 6 * (0.0,), NODATA: "5"},
            "1 of 12 heights are unknown, the first at x 1.5, y -1.5 m",
        ),
    ],
)
def test_a_geotiff_that_cannot_be_placed_is_rejected(
    write_tiff: Callable[[Tags], Path], tags: Tags, words: str
) -> None:
    assert words in rejection(write_tiff(tags))


def test_a_projected_geotiff_may_name_the_geographic_system_below_it(write_tiff: Callable[[Tags], Path]) -> None:
    keys = (1, 1, 0, 3, 1024, 0, 1, 1, 2048, 0, 1, 4258, 3072, 0, 1, 25829)

    ground = load_map(write_tiff({SCALE: (1.0, 1.0, 0.0), TIEPOINT: 6 * (0.0,), KEYS: keys}))

    assert ground.georeference is not None
    assert ground.georeference.crs == "EPSG:25829"


def test_nodata_may_be_the_largest_double(tmp_path: Path, write_tiff: Callable[[Tags], Path]) -> None:
    path = tmp_path / "hill.asc"
    path.write_text(HEADER + "NODATA_value -1.7976931348623157e+308\n" + 3 * ROW + "1 2 -1.7976931348623157e+308")
    tiff = write_tiff({SCALE: (1.0, 1.0, 0.0), TIEPOINT: 6 * (0.0,), NODATA: "-1.7976931348623157e+308"})

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "1 of 12 heights are unknown" in rejection(path)
        assert load_map(tiff).heights.max() == 11.0


def test_an_upright_matrix_places_a_geotiff_as_scale_and_tie_point_do(write_tiff: Callable[[Tags], Path]) -> None:
    matrix = (2.0, 0.0, 0.0, 100.0, 0.0, -2.0, 0.0, 200.0, *8 * (0.0,))

    ground = load_map(write_tiff({MATRIX: matrix}))

    # The north-west corner of the north-west pixel of 4 x 3 is at (100, 200); nodes are centres.
    assert (ground.origin_x, ground.origin_y, ground.resolution) == (101.0, 195.0, 2.0)


def gigantic_png(path: Path, side: int) -> None:
    """A file of a hundred bytes that declares an image of side x side."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 16, 0, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b""))


@pytest.mark.parametrize(("side", "words"), [(10_001, "too many"), (60_000, "far too many pixels")])
def test_a_gigantic_image_is_rejected_before_it_is_decoded(tmp_path: Path, side: int, words: str) -> None:
    gigantic_png(tmp_path / "bomb.png", side)

    assert words in rejection(tmp_path / "bomb.png", ANY)


def test_a_colour_image_is_not_a_heightmap(tmp_path: Path) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "photo.png")

    assert "holds colours (mode RGB), not one height per pixel" in rejection(tmp_path / "photo.png", ANY)


def test_an_image_of_one_pixel_is_not_a_map(tmp_path: Path) -> None:
    Image.new("L", (1, 1)).save(tmp_path / "dot.png")

    assert "1 x 1 nodes span no area" in rejection(tmp_path / "dot.png", ANY)


def test_an_image_without_a_height_scale_says_what_is_missing(tmp_path: Path) -> None:
    Image.new("L", (4, 4)).save(tmp_path / "hill.png")

    assert "give low_m, high_m and resolution_m" in rejection(tmp_path / "hill.png")


def write_npz(path: Path, about: dict[str, Any] | None = None, **arrays: Any) -> None:
    words: dict[str, Any] = {"version": 1, "resolution_m": 1.0, "origin_m": [0, 0], "soil_names": ["hard"]}
    words |= {"georeference": None} | (about or {})
    arrays = {"heights": np.zeros((3, 3), np.float32)} | arrays
    np.savez(path, about=np.frombuffer(json.dumps(words).encode(), np.uint8), **arrays)


@pytest.mark.parametrize(
    ("about", "arrays", "words"),
    [
        ({"version": 2}, {}, "version 2 is not known; this reads version 1"),
        ({"resolution_m": -1}, {}, "resolution: must be from 0.001 to 1000 m, got -1"),
        ({"origin_m": []}, {}, "is not a map of this suite"),
        ({"georeference": {"planet": "Mars"}}, {}, "is not a map of this suite"),
        ({}, {"heights": np.zeros((3, 3))}, "heights: must be float32 by rows, got float64"),
        ({}, {"heights": np.array([[{}, {}], [{}, {}]])}, "heights: must be float32 by rows, got object"),
        ({}, {"heights": np.full((3, 3), np.nan, np.float32)}, "9 of 9 heights are NaN, the first at row 0, column 0"),
        ({}, {"heights": np.full((3, 3), 3e4, np.float32)}, "9 heights are not within 20000 m of 0"),
        ({"soil_names": "hard"}, {}, "soil_names: must be a list of names, got 'hard'"),
        ({"soil_names": {"hard": 0}}, {}, "soil_names: must be a list of names"),
        ({"soil_names": None}, {}, "soil_names: must be a list of names, got 'None'"),
        ({}, {"soils": np.full((3, 3), 9, np.uint8)}, "soils: index 9 has no name"),
    ],
)
def test_an_npz_that_is_not_a_map_is_rejected(
    tmp_path: Path, about: dict[str, Any], arrays: dict[str, Any], words: str
) -> None:
    write_npz(tmp_path / "hill.npz", about, **arrays)

    assert words in rejection(tmp_path / "hill.npz")


def test_an_npz_that_declares_a_gigantic_array_is_rejected_by_its_header(tmp_path: Path) -> None:
    write_npz(tmp_path / "hill.npz")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (10**6, 10**6)}
    )  # 4 TB
    with zipfile.ZipFile(tmp_path / "hill.npz") as old, zipfile.ZipFile(tmp_path / "bomb.npz", "w") as new:
        new.writestr("about.npy", old.read("about.npy"))
        new.writestr("heights.npy", header.getvalue())

    assert "1000000 x 1000000 nodes are too many" in rejection(tmp_path / "bomb.npz")


def test_a_mesh_opens_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hill.obj"
    path.write_text("mtllib ../../secret.mtl\nv 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nusemtl a\nf 1 2 3\nf 1 3 4\n")
    asked: list[str] = []
    monkeypatch.setattr(trimesh.resolvers.FilePathResolver, "get", lambda self, name: asked.append(name))

    load_map(path, ANY)

    assert asked == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "hill.npz"
    old = ElevationMap(heights=np.zeros((3, 3)), resolution=1.0)
    save_map(old, path)

    def disk_full(file: Any, **arrays: Any) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", disk_full)
    with pytest.raises(SettingsError, match="cannot be written: No space left on device"):
        save_map(ElevationMap(heights=np.ones((3, 3)), resolution=1.0), path)

    assert load_map(path).heights.max() == 0.0
    assert [item.name for item in tmp_path.iterdir()] == ["hill.npz"]
