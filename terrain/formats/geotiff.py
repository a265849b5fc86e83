"""GeoTIFF elevation models: 8 or 16 bits or float32, on a square grid in metres that is not rotated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, TiffImagePlugin

from proving_ground.settings.files import whole_file
from terrain.elevation_map import ElevationMap
from terrain.formats.images import height_image, pixels
from terrain.georeference import Georeference
from terrain.raw_grid import RawGrid

# Tags of TIFF 6.0, GeoTIFF 1.1 (OGC 19-008r4) and GDAL
BITS_PER_SAMPLE, SAMPLE_FORMAT = 258, 339
MODEL_PIXEL_SCALE, MODEL_TIEPOINT, MODEL_TRANSFORMATION = 33550, 33922, 34264
GEO_KEYS, GEO_ASCII, GDAL_NODATA = 34735, 34737, 42113
# Keys of the GeoKey directory
MODEL_TYPE, RASTER_TYPE, CITATION, GEOGRAPHIC_TYPE, PROJECTED_TYPE, LINEAR_UNITS = 1024, 1025, 1026, 2048, 3072, 3076
PROJECTED, GEOGRAPHIC, PIXEL_IS_POINT, USER_DEFINED, METRE = 1, 2, 2, 32767, 9001
NO_GEOREFERENCE = "has no georeference (no pixel scale and tie point); give resolution_m to use it"


class _Placing(NamedTuple):
    resolution: float
    x: float  # of the first pixel's centre
    y: float


def load_geotiff(path: Path, resolution: float | None = None) -> RawGrid:
    """Read heights with their georeference kept; pixels without a value are unknown.

    A file without georeference is rejected unless its resolution [m] is given.
    """
    with height_image(path, "TIFF") as image:
        tags: Any = image.tag_v2  # type: ignore[attr-defined]
        if set(_numbers(tags, BITS_PER_SAMPLE)) - {8.0, 16.0, 32.0}:
            raise ValueError(f"has {tags.get(BITS_PER_SAMPLE)} bits per height; 8, 16 or 32 can be read")
        keys = _geo_keys(tags)
        placing = _placing(tags, keys, resolution)
        heights = pixels(image).astype(np.float32)
        if image.mode == "I" and set(_numbers(tags, SAMPLE_FORMAT)) <= {1.0} and heights.min() < 0:
            raise ValueError("has unsigned heights of 32 bits, beyond what can be read")
        nodata = _nodata(tags)
        if nodata is not None:
            with np.errstate(over="ignore"):  # it may be the largest double
                heights[heights == np.float32(nodata)] = np.nan
        if np.isinf(heights).any():
            raise ValueError(f"{int(np.isinf(heights).sum())} heights are infinite")
        return RawGrid(
            heights=heights,
            resolution=placing.resolution,
            origin_x=placing.x,
            origin_y=placing.y - (image.height - 1) * placing.resolution,
            georeference=Georeference(crs=_crs(keys)) if keys else None,
        )


def save_geotiff(ground: ElevationMap, path: Path) -> None:
    """Write float32 heights; a georeferenced map in the coordinates of its system, with its EPSG code."""
    where = ground.georeference or Georeference()
    x, y = ground.origin_x + where.easting_m, ground.y_limits[1] + where.northing_m
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    for tag, values in (
        (MODEL_PIXEL_SCALE, (ground.resolution, ground.resolution, 0.0)),
        (MODEL_TIEPOINT, (0.0, 0.0, 0.0, x, y, 0.0)),
    ):
        tags[tag] = values
        tags.tagtype[tag] = 12  # double
    keys = [(MODEL_TYPE, 0, 1, PROJECTED), (RASTER_TYPE, 0, 1, PIXEL_IS_POINT)]
    code = where.crs.removeprefix("EPSG:")
    if code.isdigit() and int(code) < USER_DEFINED:
        keys.append((PROJECTED_TYPE, 0, 1, int(code)))
    tags[GEO_KEYS] = (1, 1, 0, len(keys), *(value for key in keys for value in key))
    tags.tagtype[GEO_KEYS] = 3  # short
    with whole_file(path) as file:
        Image.fromarray(ground.heights[::-1]).save(file, "TIFF", tiffinfo=tags)


def _placing(tags: Any, keys: dict[int, Any], resolution: float | None) -> _Placing:
    """Position of the first (north-west) pixel; GeoTIFF 1.1, annex B.6."""
    if _is_in_degrees(keys):
        raise ValueError(f"is in degrees ({_crs(keys)}); reproject it to metres first (gdalwarp -t_srs EPSG:32629)")
    units = keys.get(LINEAR_UNITS, METRE)
    if units != METRE:
        raise ValueError(f"has coordinates in a unit other than metres (EPSG:{units})")
    scale, tie, matrix = (_numbers(tags, tag) for tag in (MODEL_PIXEL_SCALE, MODEL_TIEPOINT, MODEL_TRANSFORMATION))
    if len(matrix) == 16:
        if max(abs(matrix[1]), abs(matrix[4])) > 1e-9 * max(abs(matrix[0]), abs(matrix[5])):
            raise ValueError("is rotated against its coordinate system; rectify it first (gdalwarp)")
        scale, tie = [matrix[0], -matrix[5], 0.0], [0.0, 0.0, 0.0, matrix[3], matrix[7], 0.0]
    if len(scale) < 2 or len(tie) != 6:
        if len(tie) > 6:
            raise ValueError("is placed by several tie points, so it may be bent; rectify it first (gdalwarp)")
        if resolution is None:
            raise ValueError(NO_GEOREFERENCE)
        return _Placing(resolution, 0.0, 0.0)
    if not all(math.isfinite(value) for value in (*scale, *tie)) or scale[0] <= 0.0 or scale[1] <= 0.0:
        raise ValueError(f"has an invalid georeference: pixel scale {scale[:2]}, tie point {tie}")
    if abs(scale[0] - scale[1]) > 1e-6 * scale[0]:
        raise ValueError(f"has pixels of {scale[0]:g} x {scale[1]:g} m; resample it to square ones first")
    to_centre = 0.0 if keys.get(RASTER_TYPE) == PIXEL_IS_POINT else 0.5
    return _Placing(scale[0], tie[3] + (to_centre - tie[0]) * scale[0], tie[4] - (to_centre - tie[1]) * scale[1])


def _is_in_degrees(keys: dict[int, Any]) -> bool:
    """Whether the file says so, or omits its model type and names only a geographic system."""
    model = keys.get(MODEL_TYPE)
    return model == GEOGRAPHIC or (model != PROJECTED and GEOGRAPHIC_TYPE in keys and PROJECTED_TYPE not in keys)


def _geo_keys(tags: Any) -> dict[int, Any]:
    """The GeoKey directory, with text values resolved."""
    numbers = [int(value) for value in _numbers(tags, GEO_KEYS)]
    text = str(tags.get(GEO_ASCII, ""))
    keys: dict[int, Any] = {}
    for start in range(4, len(numbers) - 3, 4):
        key, offset, count, value = numbers[start : start + 4]
        if offset == 0:
            keys[key] = value
        elif offset == GEO_ASCII:
            keys[key] = text[value : value + count].rstrip("|\0")
    return keys


def _crs(keys: dict[int, Any]) -> str:
    for key in (PROJECTED_TYPE, GEOGRAPHIC_TYPE):
        if isinstance(keys.get(key), int) and 0 < keys[key] < USER_DEFINED:
            return f"EPSG:{keys[key]}"
    text = "".join(letter for letter in str(keys.get(CITATION, "")) if letter.isprintable())
    return text[:1000]


def _nodata(tags: Any) -> float | None:
    try:
        return float(str(tags[GDAL_NODATA]).strip("\0 "))
    except (KeyError, ValueError):
        return None


def _numbers(tags: Any, tag: int) -> list[float]:
    values = tags.get(tag, ())
    return [float(value) for value in (values if isinstance(values, tuple) else (values,))]
