"""OpenCRG road files: what is read, what is written, and one line for every error."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from proving_ground.settings import SettingsError
from some_leaves import assert_loaded_or_rejected_in_one_line, many
from terrain.elevation_map import ElevationMap
from terrain.formats.open_crg import load_crg, save_crg
from terrain.map_files import load_map, save_map
from terrain.road_strip import RoadStrip, strip_of
from terrain.worlds import build_world

SHARED = Path(__file__).parents[3] / "shared/courses"  # the Keweenaw courses; not part of the project
END = "$" * 72 + "\n"
WHOLE = "$ROAD_CRG\nreference_line_increment = 0.5\nlong_section_v_right = -1\nlong_section_v_left = 1\n"
SECTIONS = "D:long section 1,m\nD:long section 2,m\nD:long section 3,m\n"
ROWS = np.array([[0.0, 0.1, 0.2], [0.3, 0.4, 0.5], [0.6, 0.7, 0.8], [0.9, 1.0, 1.1]])


def text_rows(rows: np.ndarray, width: int = 10, per_line: int = 8) -> str:
    lines = []
    for row in rows:
        fields = [("*missing*" if math.isnan(value) else f"{value:.6f}").rjust(width) for value in row]
        lines += ["".join(fields[begin : begin + per_line]) for begin in range(0, len(fields), per_line)]
    return "\n".join(lines) + "\n"


def write(path: Path, road: str = WHOLE, code: str = "LRFI", sections: str = SECTIONS, data: str | bytes = "") -> Path:
    header = f"$CT ! a comment\nany text\n$\n{road}$KD_Definition\n#:{code}\n{sections}$\n{END}"
    content = (data or text_rows(ROWS)) if isinstance(data, str) else data
    path.write_bytes(header.encode() + (content.encode() if isinstance(content, str) else content))
    return path


def binary(rows: np.ndarray, kind: str, per_record: int) -> bytes:
    numbers = rows.astype(kind).ravel()
    return numbers.tobytes() + np.full(-len(numbers) % per_record, np.nan, kind).tobytes()


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("LRFI", text_rows(ROWS)),
        ("LDFI", text_rows(ROWS, 20, 4)),
        ("KRBI", binary(ROWS, ">f4", 20)),
        ("KDBI", binary(ROWS, ">f8", 10)),
    ],
)
def test_heights_of_every_code_are_read(tmp_path: Path, code: str, data: str | bytes) -> None:
    strip = load_crg(write(tmp_path / "a.crg", code=code, data=data))

    assert_allclose(strip.heights, ROWS, atol=1e-6)
    assert_allclose(strip.offsets, [-1.0, 0.0, 1.0])
    assert strip.increment == 0.5


def test_a_row_may_have_several_lines_of_text(tmp_path: Path) -> None:
    rows = np.arange(30.0).reshape(3, 10) / 100.0
    sections = "".join(f"D:long section {number},m\n" for number in range(1, 11))

    assert_allclose(load_crg(write(tmp_path / "a.crg", sections=sections, data=text_rows(rows))).heights, rows)


def test_least_header_centres_the_sections(tmp_path: Path) -> None:
    road = "$ROAD_CRG\nREFERENCE_LINE_INCREMENT = 1.0\nLONG_SECTION_V_INCREMENT = 0.5\n"

    strip = load_crg(write(tmp_path / "a.crg", road=road))

    assert_allclose(strip.offsets, [-0.5, 0.0, 0.5])
    assert strip.start == (0.0, 0.0)
    assert not strip.headings.any()
    assert not strip.line_heights.any()


def test_binary_rows_without_a_length_end_before_the_padding(tmp_path: Path) -> None:
    strip = load_crg(write(tmp_path / "a.crg", code="KRBI", data=binary(ROWS, ">f4", 20)))

    assert strip.heights.shape == (4, 3)  # the record's last 8 numbers are padding: two rows and a half


def test_missing_heights_are_rejected_or_filled_from_their_neighbours(tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[1, 2] = math.nan
    strip = load_crg(write(tmp_path / "a.crg", data=text_rows(rows)))

    with pytest.raises(ValueError, match=r"1 of 12 heights are unknown, the first at u 0\.5 m from the start, v 1 m"):
        strip.to_map()
    filled = strip.filled().heights
    assert np.abs(filled[1, 2] - np.array([0.2, 0.4, 0.8])).min() < 1e-6
    assert_allclose(filled[[0, 2, 3]], rows[[0, 2, 3]])
    assert np.isfinite(strip.filled().to_map().heights).all()


def test_lines_with_slope_banking_and_direction_are_where_they_should_be(tmp_path: Path) -> None:
    road = WHOLE + (
        "reference_line_start_x = 10\nreference_line_start_y = 20\nreference_line_start_z = 3\n"
        "reference_line_start_phi = 1.5707963267948966\nreference_line_start_s = 0.1\nreference_line_start_b = 0.2\n"
    )

    ground = load_crg(write(tmp_path / "a.crg", road=road, data=text_rows(np.zeros((21, 3))))).to_map(0.1)

    # The line leads along y from (10, 20): left is towards smaller x.
    assert_allclose(
        ground.height_at([10.0, 10.0, 9.0, 11.0], [20.0, 25.0, 25.0, 25.0]), [3.0, 3.5, 3.7, 3.3], atol=1e-6
    )
    assert ground.x_limits == pytest.approx((9.0, 11.0))


def test_a_bent_line_is_followed(tmp_path: Path) -> None:
    count, step = 158, 0.5
    radius = count * step / math.tau * 2.0  # half a circle to the left
    turn = step / radius
    headings = turn * (np.arange(count) - 0.5)
    table = np.column_stack([headings, np.full(count, -0.1), np.zeros(count), np.full(count, 0.1)])
    sections = "D:reference line phi,rad\n" + SECTIONS
    strip = load_crg(write(tmp_path / "a.crg", sections=sections, data=text_rows(table)))

    ground = strip.to_map(0.1)

    angle = np.linspace(0.1, math.pi - 0.2, 50)
    for offset in (-0.9, -0.3, 0.0, 0.5, 0.9):  # heights rise from right to left by 0.1 m per metre
        x, y = (radius - offset) * np.sin(angle), radius - (radius - offset) * np.cos(angle)
        assert_allclose(ground.height_at(x, y), 0.1 * offset, atol=2e-3)


def test_a_written_map_is_read_again_to_the_bit(tmp_path: Path) -> None:
    heights = np.random.default_rng(1).normal(size=(5, 40)).astype(np.float32)
    ground = ElevationMap(heights=heights, resolution=0.25, origin_x=-2.0, origin_y=-0.5)

    save_map(ground, tmp_path / "a.crg")

    again = load_crg(tmp_path / "a.crg").to_map()
    assert (again.origin_x, again.origin_y, again.resolution) == (-2.0, -0.5, 0.1)
    assert_allclose(load_crg(tmp_path / "a.crg").to_map(0.25).heights, heights, atol=1e-6)
    assert load_crg(tmp_path / "a.crg").heights.astype(np.float32).tobytes() == heights.T.tobytes()


def test_only_straight_strips_are_written(tmp_path: Path) -> None:
    straight = strip_of(ElevationMap(heights=np.zeros((3, 4)), resolution=1.0))
    bent = RoadStrip(
        heights=straight.heights, offsets=straight.offsets, increment=1.0, headings=np.array([0.0, 0.1, 0.2]),
        line_heights=np.zeros(4), banking=np.zeros(4),
    )  # fmt: skip

    with pytest.raises(SettingsError, match="only level, straight strips are written"):
        save_crg(bent, tmp_path / "a.crg")


def test_a_world_of_a_strip_starts_on_its_line_and_says_what_has_no_effect(tmp_path: Path) -> None:
    road = WHOLE + "$ROAD_CRG_OPTS\nBORDER_MODE_U = 2\n"
    write(tmp_path / "strip.crg", road=road, data=text_rows(np.full((81, 3), 0.25)))
    (tmp_path / "made.yaml").write_text("version: 1\ndescription: a test\nbuild: {crg: {file: strip.crg}}\n")

    world = build_world(tmp_path / "made.yaml")

    assert (world.start.x, world.start.y, world.start.heading) == (5.0, 0.0, 0.0)
    assert world.goal is not None
    assert world.goal.x == 35.0
    assert world.ground.x_limits == pytest.approx((-3.0, 43.0))
    assert_allclose(world.ground.height_at([-3.0, 20.0], [0.0, 4.0]), 0.25)
    assert world.remarks == ("strip.crg: $ROAD_CRG_OPTS has no effect",)


WRONG_ORDER = "".join(f"D:long section at v = {v},m\n" for v in (1, 0, -1))
NO_V = "$ROAD_CRG\nreference_line_increment = 1\n"
HEADINGS = np.column_stack([np.full(4, math.nan), ROWS])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code": "LHFI"}, "line 9: code LHFI: must be one of KRBI, KDBI, LRFI, LDFI"),
        ({"road": WHOLE + "reference_line_incremnt = 1\n"},
         "line 8: reference_line_incremnt: unknown; did you mean reference_line_increment?"),
        ({"road": WHOLE + "reference_line_start_z = nan\n"},
         "reference_line_start_z: must be a finite number, got 'nan'"),
        ({"road": WHOLE + "long_section_v_left = 1\n"}, "line 8: long_section_v_left: is there twice"),
        ({"road": WHOLE.replace("0.5", "0")}, "reference_line_increment: must be given and above 0, got 0"),
        ({"road": WHOLE.replace("0.5", "1e-9")}, "reference_line_increment: must be from 0.001 to 1000 m, got 1e-09"),
        ({"road": NO_V}, "long_section_v_increment: must be given, or long_section_v_right and _left"),
        ({"road": WHOLE + "long_section_v_increment = 2\n"}, "2 does not fit 3 sections from -1 to 1"),
        ({"road": WHOLE + "$ROAD_CRG_FILE\n"}, "takes its data from another file, which is not read"),
        ({"road": WHOLE + "reference_line_end_u = 10\n"},
         "21 rows of 3 numbers expected, 4 found; file looks truncated"),
        ({"road": WHOLE + "reference_line_end_u = 0.5\n"}, "2 rows of 3 numbers expected, and 6 numbers more found"),
        ({"road": WHOLE + "reference_line_end_u = 1e300\n"}, "reference_line_end_u: must be a whole number"),
        ({"sections": "D:long section 1,m\n", "data": text_rows(ROWS[:, :1])}, "needs 2 long sections at least, has 1"),
        ({"sections": SECTIONS + "D:friction,-\n"}, "line 13: channel 'friction': must be reference line phi"),
        ({"sections": WRONG_ORDER}, "long sections must go from right to left"),
        ({"sections": "D:reference line phi,rad\n" + SECTIONS, "data": text_rows(HEADINGS)},
         "reference line phi: must be finite, row 2 is not"),
        ({"data": "  0.000000\n"}, "line 1 of the data: 3 numbers of 10 characters expected"),
        ({"data": "  0.000000  0.00x000  0.000000\n"}, "line 1 of the data: must be a finite number, got '0.00x000'"),
        ({"data": binary(ROWS, ">f4", 20) + b"\xff"}, "its data are not text"),
        ({"code": "KRBI", "data": binary(np.full((4, 3), np.inf), ">f4", 20)}, "12 numbers are infinite"),
    ],
)  # fmt: skip
def test_an_error_is_one_line(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError) as rejection:
        load_crg(write(tmp_path / "a.crg", **change))

    assert words in str(rejection.value)
    assert str(rejection.value).startswith(f"terrain '{tmp_path}")
    assert "\n" not in str(rejection.value)


@many(400)
@given(data=st.data(), code=st.sampled_from(["LRFI", "KRBI", "KDBI"]))
def test_a_damaged_file_is_read_or_rejected_in_one_line(tmp_path: Path, data: st.DataObject, code: str) -> None:
    kinds = {"LRFI": text_rows(ROWS), "KRBI": binary(ROWS, ">f4", 20), "KDBI": binary(ROWS, ">f8", 10)}
    path = write(tmp_path / "a.crg", road=WHOLE + "reference_line_start_s = 0.1\n", code=code, data=kinds[code])
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content)

    made = tmp_path / "made.yaml"
    made.write_text(
        "version: 1\ndescription: a test\nbuild: {crg: {file: a.crg, fill_gaps: true, resolution_m: 1.0}}\n"
    )

    assert_loaded_or_rejected_in_one_line(lambda: build_world(made))


def test_another_file_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.crg").write_bytes(b"\x00\xff" * 1000)

    with pytest.raises(SettingsError, match="no line of at least four"):
        load_crg(tmp_path / "a.crg")
    with pytest.raises(SettingsError, match=r"build: \{crg: \{file"):
        load_map(tmp_path / "a.crg")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the Keweenaw courses are not on this machine")
@pytest.mark.parametrize(("inches", "rms"), [(1, 0.969), (2, 1.744), (3, 2.316)])
def test_keweenaw_courses_have_the_roughness_that_their_headers_say(inches: int, rms: float) -> None:
    strip = load_crg(SHARED / f"detrended_rms_course_{inches}in.crg")

    along = strip.increment * np.arange(len(strip.heights))
    rough = strip.heights[(along >= 100.0) & (along <= 404.8), 1]
    assert rough.std() / 0.0254 == pytest.approx(rms, rel=0.015)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the curved strip is not on this machine")
def test_a_strip_with_every_channel_is_read() -> None:
    strip = load_crg(SHARED / "handmade_curved_banked_sloped.crg")

    assert strip.heights.shape == (23, 7)
    assert_allclose(strip.offsets, [-1.5, -1.25, -1.0, 0.0, 1.0, 1.25, 1.5])
    assert np.isnan(strip.heights).sum() == 3
    assert strip.headings[10] == strip.banking[11] == 0.11
    assert strip.line_heights[-1] == pytest.approx(1.21)  # sum of the slopes
