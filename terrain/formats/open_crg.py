"""OpenCRG road files (.crg), versions 1.0 to 1.2: text or binary heights over a reference line.

Blocks of options (borders, continuation) and modifiers are ignored: a strip is read as its data stand, from its own
start, and its edges go on level. Offsets into a global coordinate system are ignored, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from proving_ground.settings.fields import close_name
from proving_ground.settings.files import whole_file
from terrain.elevation_map import Array
from terrain.formats.regular_file import check_is_file
from terrain.limits import CELL_LIMIT, STRIP_FILE_LIMIT_BYTES, file_error
from terrain.road_strip import RoadStrip


class _Code(NamedTuple):
    """How numbers are stored."""

    width: int  # characters or bytes of a number
    per_line: int  # numbers of a line or record
    kind: str = ""  # of numpy; empty: text


CODES = {"KRBI": _Code(4, 20, ">f4"), "KDBI": _Code(8, 10, ">f8"), "LRFI": _Code(10, 8), "LDFI": _Code(20, 4)}
AT_ENDS = ("u", "x", "y", "z", "phi", "s", "b", "lon", "lat", "alt")
KEYS = (
    *(f"reference_line_{end}_{name}" for end in ("start", "end") for name in AT_ENDS),
    *(f"reference_line_offset_{name}" for name in ("x", "y", "z", "phi")),
    "reference_line_increment",
    *(f"long_section_v_{name}" for name in ("right", "left", "increment")),
)
ROAD, DATA, REFERENCE = "ROAD_CRG", "KD_DEFINITION", "ROAD_CRG_FILE"
SILENT = ("CT", "")  # blocks of comments
PHI, SLOPE, BANKING = "reference line phi", "reference line slope", "reference line banking"
SECTION = re.compile(r"long section(?: at v\s*=\s*(?P<at>\S+)| (?P<number>\d+))?$")
HEADER_LIMIT_BYTES, CHANNEL_LIMIT = 1_000_000, 10_000
END = b"$$$$"  # of the header, and of one line
SAME = 1e-4  # relative: numbers of text headers have few digits


def load_crg(path: Path) -> RoadStrip:
    """Read a strip; missing heights are NaN. Raises SettingsError where header and content disagree."""
    check_is_file(path)
    try:
        if path.stat().st_size > STRIP_FILE_LIMIT_BYTES:
            raise ValueError(f"too large for a road (limit {STRIP_FILE_LIMIT_BYTES} bytes)")
        header, content = _split(path.read_bytes())
        return _strip(_read_header(header), content)
    except OSError as error:
        raise file_error(path, error.strerror or error) from None
    except ValueError as error:
        raise file_error(path, error) from None


def save_crg(strip: RoadStrip, path: Path) -> None:
    """Write float32 heights; raises SettingsError for a strip with bends, slope or banking."""
    if np.ptp(strip.headings) or np.ptp(strip.line_heights) or strip.banking.any():
        raise file_error(path, "only level, straight strips are written")
    lateral = np.diff(strip.offsets)
    if not np.allclose(lateral, lateral[0]):
        raise file_error(path, "only equally spaced long sections are written")
    values = {
        "reference_line_start_u": 0.0,
        "reference_line_end_u": (len(strip.heights) - 1) * strip.increment,
        "reference_line_increment": strip.increment,
        "reference_line_start_x": strip.start[0],
        "reference_line_start_y": strip.start[1],
        "reference_line_start_z": float(strip.line_heights[0]),
        "reference_line_start_phi": float(strip.headings[0]),
        "long_section_v_right": float(strip.offsets[0]),
        "long_section_v_left": float(strip.offsets[-1]),
    }
    lines = ["$CT", "Road strip of proving_ground", "$", "$ROAD_CRG"]
    lines += [f"{key} = {value:.16e}" for key, value in values.items()]
    lines += ["$", "$KD_DEFINITION", "#:KRBI", f"U:reference line u,m,0,{strip.increment:.9g}"]
    lines += [f"D:long section {number},m" for number in range(1, len(strip.offsets) + 1)]
    numbers = strip.heights.astype(">f4").ravel()
    padding = np.full(-len(numbers) % CODES["KRBI"].per_line, np.nan, ">f4")
    with whole_file(path) as file:
        file.write("\n".join([*lines, "$", "$" * 72, ""]).encode("ascii"))
        file.write(numbers.tobytes() + padding.tobytes())


@dataclass
class _Header:
    """Contents of a header."""

    road: dict[str, float] = field(default_factory=dict)
    code: str = ""
    channels: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def _split(data: bytes) -> tuple[list[str], bytes]:
    """Lines of the header, and what follows them."""
    end = re.search(rb"^\$\$\$\$[^\n]*\n", data[:HEADER_LIMIT_BYTES], re.MULTILINE)
    if end is None:
        raise ValueError("is not an OpenCRG file: no line of at least four $ ends its header")
    return data[: end.start()].decode("latin-1").splitlines(), data[end.end() :]


def _read_header(lines: list[str]) -> _Header:
    header, block = _Header(), ""
    for number, line in enumerate(lines, 1):
        text = line.partition("!")[0].strip()
        if line.startswith("*") or not text:
            continue
        try:
            if text.startswith("$"):
                block = _block(header, text[1:].strip())
            elif block == ROAD:
                _read_road_line(header, text)
            elif block == DATA:
                _read_data_line(header, text)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    if not header.code or not header.channels:
        raise ValueError(f"header lacks ${DATA} with a line #:CODE and lines D:channel,unit")
    return header


def _block(header: _Header, text: str) -> str:
    name = text.split()[0].upper() if text else ""
    if name == REFERENCE:
        raise ValueError(f"${REFERENCE}: takes its data from another file, which is not read")
    if name not in (*SILENT, ROAD, DATA) and name not in header.ignored:
        header.ignored.append(name)
    return name


def _read_road_line(header: _Header, text: str) -> None:
    key, separator, value = (part.strip() for part in text.partition("="))
    key = key.lower()
    if not separator or key not in KEYS:
        raise ValueError(f"{key[:40]}: {close_name(key[:40], KEYS)}")
    if key in header.road:
        raise ValueError(f"{key}: is there twice")
    header.road[key] = _finite(key, value)


def _read_data_line(header: _Header, text: str) -> None:
    kind, _, value = text.partition(":")
    if kind == "#":
        header.code = value.strip().upper()
        if header.code not in CODES:
            raise ValueError(f"code {header.code[:20]}: must be one of {', '.join(CODES)}")
    elif kind == "D":
        name = " ".join(value.partition(",")[0].split()).lower()
        if name not in (PHI, SLOPE, BANKING) and SECTION.match(name) is None:
            raise ValueError(f"channel '{name[:40]}': must be {PHI}, {SLOPE}, {BANKING} or a long section")
        if name in header.channels:
            raise ValueError(f"channel '{name[:40]}': is there twice")
        header.channels.append(name)
        if len(header.channels) > CHANNEL_LIMIT:
            raise ValueError(f"more than {CHANNEL_LIMIT} channels")
    elif kind != "U":
        raise ValueError(f"'{text[:40]}': must begin with #:, U: or D:")


def _finite(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{key}: must be a finite number, got '{text[:40]}'")
    return value


def _strip(header: _Header, content: bytes) -> RoadStrip:
    road = header.road
    step = road.get("reference_line_increment", 0.0)
    if not step > 0.0:
        raise ValueError(f"reference_line_increment: must be given and above 0, got {step:g}")
    table = _table(header, content)
    sections = [index for index, name in enumerate(header.channels) if name.startswith("long section")]
    rows = len(table)

    def channel(name: str, otherwise: float) -> Array:
        """A channel of all rows; its value in front of the first row has no meaning."""
        if name not in header.channels:
            return np.full(rows, otherwise)
        values: Array = table[:, header.channels.index(name)].copy()
        values[0] = otherwise if np.isnan(values[0]) else values[0]
        if not np.isfinite(values).all():
            raise ValueError(f"{name}: must be finite, row {int(np.argmin(np.isfinite(values))) + 1} is not")
        return values

    slope = channel(SLOPE, _slope(road, rows))
    heights = road.get("reference_line_start_z", 0.0) + step * np.concatenate([[0.0], np.cumsum(slope[1:])])
    return RoadStrip(
        heights=table[:, sections],
        offsets=_offsets(road, [header.channels[index] for index in sections]),
        increment=step,
        headings=channel(PHI, _heading(road))[1:],
        line_heights=heights,
        banking=channel(BANKING, road.get("reference_line_start_b", 0.0)),
        start=(road.get("reference_line_start_x", 0.0), road.get("reference_line_start_y", 0.0)),
        ignored=tuple(f"${name}" for name in header.ignored),
    )


def _heading(road: dict[str, float]) -> float:
    """Heading of a line without a channel of it: as given, or from its ends [rad]."""
    ends = [road.get(f"reference_line_{end}_{axis}") for axis in "yx" for end in ("start", "end")]
    if "reference_line_start_phi" in road or None in ends:
        return road.get("reference_line_start_phi", 0.0)
    y, end_y, x, end_x = (value or 0.0 for value in ends)
    return math.atan2(end_y - y, end_x - x)


def _slope(road: dict[str, float], rows: int) -> float:
    """Slope of a line without a channel of it: as given, or from its ends."""
    if "reference_line_start_s" in road or "reference_line_end_z" not in road:
        return road.get("reference_line_start_s", 0.0)
    rise = road["reference_line_end_z"] - road.get("reference_line_start_z", 0.0)
    return rise / (road["reference_line_increment"] * (rows - 1))


def _offsets(road: dict[str, float], sections: list[str]) -> Array:
    """v of the long sections [m]: their own, or equally spaced as the header says."""
    count = len(sections)
    if count < 2:
        raise ValueError(f"needs 2 long sections at least, has {count}")
    own = [match["at"] for name in sections if (match := SECTION.match(name)) and match["at"]]
    if own:
        if len(own) != count:
            raise ValueError("long sections: all or none must have 'at v ='")
        return np.array([_finite("long section at v", text) for text in own])
    right, left, step = (road.get(f"long_section_v_{name}") for name in ("right", "left", "increment"))
    if right is not None and left is not None:
        spacing = (left - right) / (count - 1)
        if step is not None and abs(spacing - step) > SAME * abs(step):
            raise ValueError(
                f"long_section_v_increment: {step:g} does not fit {count} sections from {right:g} to {left:g}"
            )
    elif step is None:
        raise ValueError("long_section_v_increment: must be given, or long_section_v_right and _left")
    else:
        spacing = step
        if right is None:
            right = -0.5 * step * (count - 1) if left is None else left - step * (count - 1)
    return np.asarray(right + spacing * np.arange(count))


def _table(header: _Header, content: bytes) -> Array:
    """All numbers: rows along the line, a column for each channel."""
    code, columns = CODES[header.code], len(header.channels)
    values = _binary(content, code) if code.kind else _text(content, code, columns)
    found = len(values) // columns
    road = header.road
    if "reference_line_end_u" in road:
        length = road["reference_line_end_u"] - road.get("reference_line_start_u", 0.0)
        rows = length / road["reference_line_increment"] + 1.0
        if not 1.5 < rows <= CELL_LIMIT or abs(rows - round(rows)) > 0.01:
            raise ValueError("reference_line_end_u: must be a whole number of increments after the start, one at least")
        rows = round(rows)
    else:
        rows = found
        while rows > 0 and np.isnan(values[(rows - 1) * columns : rows * columns]).all():  # padding of the last record
            rows -= 1
    if rows > found:
        raise ValueError(f"{rows} rows of {columns} numbers expected, {found} found; file looks truncated")
    rest = values[rows * columns :]
    if len(rest) >= code.per_line or not np.isnan(rest).all():
        raise ValueError(f"{rows} rows of {columns} numbers expected, and {len(rest)} numbers more found")
    return values[: rows * columns].reshape(rows, columns)


def _binary(content: bytes, code: _Code) -> Array:
    whole = len(content) - len(content) % code.width
    values = np.frombuffer(content[:whole], code.kind).astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(f"{int(np.isinf(values).sum())} numbers are infinite")
    return values


def _text(content: bytes, code: _Code, columns: int) -> Array:
    try:
        lines = content.decode("ascii").rstrip().splitlines()
    except UnicodeDecodeError:
        raise ValueError("its data are not text, as its code promises") from None
    lines_per_row = -(-columns // code.per_line)
    numbers: list[float] = []
    for index, line in enumerate(lines):
        expected = min(code.per_line, columns - index % lines_per_row * code.per_line)
        numbers += _numbers(line.rstrip(), code.width, expected, index + 1)
    return np.array(numbers)


def _numbers(line: str, width: int, expected: int, number: int) -> Iterator[float]:
    """Numbers of a line of data; those that begin with * are missing."""
    if -(-len(line) // width) != expected:
        raise ValueError(f"line {number} of the data: {expected} numbers of {width} characters expected")
    for begin in range(0, len(line), width):
        text = line[begin : begin + width].strip()
        if text.startswith("*") or text.lower() == "nan":
            yield math.nan
        else:
            yield _finite(f"line {number} of the data", text)
