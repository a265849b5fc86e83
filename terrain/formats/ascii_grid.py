"""ESRI ASCII grids (.asc): a header of six lines, then rows of heights from north to south."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from proving_ground.settings.files import whole_file
from terrain.elevation_map import ElevationMap
from terrain.formats.regular_file import check_is_file
from terrain.limits import check_grid_size, file_error
from terrain.raw_grid import RawGrid

KEYS = ("ncols", "nrows", "xllcorner", "xllcenter", "yllcorner", "yllcenter", "cellsize", "nodata_value")
NODATA = -9999.0  # ESRI's default, where the file gives none
LEAST_CELL_SIZE = 0.01  # [m]; one of 30 seconds of arc is 0.0083 degrees
BLOCK_CHARACTERS = 16_000_000


def load_ascii_grid(path: Path) -> RawGrid:
    """Read a grid; nodata values and NaN are unknown. Raises SettingsError where header and content disagree."""
    check_is_file(path)
    try:
        with path.open(encoding="ascii") as file:
            header, first_line = _header(file)
            return _grid(header, _values(file, first_line, header["nrows"], header["ncols"]))
    except UnicodeDecodeError:
        raise file_error(path, "is not a text file") from None
    except OSError as error:
        raise file_error(path, error.strerror or error) from None
    except ValueError as error:
        raise file_error(path, error) from None


def save_ascii_grid(ground: ElevationMap, path: Path) -> None:
    """Write the heights; a georeferenced map in the coordinates of its system."""
    where = ground.georeference
    x = ground.origin_x + (where.easting_m if where else 0.0)
    y = ground.origin_y + (where.northing_m if where else 0.0)
    rows, columns = ground.shape
    header = (
        f"ncols {columns}\nnrows {rows}\nxllcenter {x!r}\nyllcenter {y!r}\n"
        f"cellsize {ground.resolution!r}\nNODATA_value {NODATA:g}\n"
    )
    with whole_file(path) as file:
        file.write(header.encode())
        for row in ground.heights[::-1]:
            file.write(b" ".join(b"%.9g" % value for value in row.tolist()) + b"\n")


def _header(file: TextIO) -> tuple[dict[str, Any], str]:
    """The header's values, checked, and the first line after it."""
    found: dict[str, Any] = {}
    while True:
        line = file.readline(10_000)
        words = line.split()
        if not words or not words[0][0].isalpha() or words[0].lower() == "nan":
            break
        key = words[0].lower()
        if key not in KEYS or key in found or len(words) != 2:
            raise ValueError(f"header line '{line.strip()[:40]}' is unknown; known: {', '.join(KEYS)}")
        found[key] = _number(key, words[1])
    missing = [key for key in ("ncols", "nrows", "cellsize") if key not in found]
    missing += [f"{axis}llcorner" for axis in "xy" if (f"{axis}llcorner" in found) == (f"{axis}llcenter" in found)]
    if missing:
        raise ValueError(f"header lacks {', '.join(missing)} (or has it twice)")
    check_grid_size(found["nrows"], found["ncols"])
    if found["cellsize"] < LEAST_CELL_SIZE:
        raise ValueError(f"cellsize {found['cellsize']:g} looks like degrees; reproject the file to metres first")
    return found, line


def _number(key: str, word: str) -> float:
    try:
        value = int(word) if key in ("ncols", "nrows") else float(word)
    except ValueError:
        raise ValueError(f"header: {key} must be a number, got '{word[:40]}'") from None
    if key != "nodata_value" and not np.isfinite(value):
        raise ValueError(f"header: {key} must be finite, got {word}")
    return value


def _values(file: TextIO, first_line: str, rows: int, columns: int) -> Any:
    values = np.empty(rows * columns, np.float32)
    count = 0
    for block in _blocks(file, first_line):
        numbers = _numbers(block)
        if count + len(numbers) > values.size:
            raise ValueError(f"{rows} rows of {columns} expected, more found")
        with np.errstate(over="ignore"):  # 1e300 becomes infinite, and is rejected as such
            values[count : count + len(numbers)] = numbers
        count += len(numbers)
    if count < values.size:
        raise ValueError(f"{rows} rows expected, {count // columns} found; file looks truncated")
    return values.reshape(rows, columns)


def _blocks(file: TextIO, first_line: str) -> Iterator[str]:
    """The rest of the file in chunks that end between numbers."""
    rest = first_line
    while True:
        block = file.read(BLOCK_CHARACTERS)
        text = rest + block
        end = len(text) if not block else max(text.rfind(" "), text.rfind("\n"), text.rfind("\t")) + 1
        yield text[:end]
        rest = text[end:]
        if not block:
            return


def _numbers(text: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy skips what it cannot read with only a warning
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            for word in text.split():
                try:
                    float(word)
                except ValueError:
                    raise ValueError(f"'{word[:40]}' is not a height") from None
            raise


def _grid(header: dict[str, Any], values: Any) -> RawGrid:
    with np.errstate(over="ignore"):  # nodata may be the largest double
        nodata = np.float32(header.get("nodata_value", NODATA))
    values[values == nodata] = np.nan
    if np.isinf(values).any():
        raise ValueError(f"{int(np.isinf(values).sum())} heights are infinite or beyond what float32 holds")
    size = header["cellsize"]
    # Heights belong to cells; our nodes are their centres.
    x = header["xllcenter"] if "xllcenter" in header else header["xllcorner"] + 0.5 * size
    y = header["yllcenter"] if "yllcenter" in header else header["yllcorner"] + 0.5 * size
    return RawGrid(heights=values[::-1], resolution=size, origin_x=x, origin_y=y)
