"""Maps as .npz, the format that keeps everything and loads fastest."""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np

from proving_ground.settings.files import whole_file
from terrain.elevation_map import ElevationMap
from terrain.formats.regular_file import check_is_file
from terrain.georeference import Georeference
from terrain.limits import check_grid_size, file_error

VERSION = 1
ABOUT_LIMIT_BYTES = 1_000_000
HEIGHT, BYTE = np.dtype("<f4"), np.dtype("u1")


def save_npz(ground: ElevationMap, path: Path) -> None:
    """Write heights, soils and a JSON text with the rest; uncompressed, for fast loading."""
    about = {
        "version": VERSION,
        "resolution_m": ground.resolution,
        "origin_m": [ground.origin_x, ground.origin_y],
        "soil_names": list(ground.soil_names),
        "georeference": asdict(ground.georeference) if ground.georeference else None,
    }
    arrays: dict[str, Any] = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8), "heights": ground.heights}
    if ground.soils is not None:
        arrays["soils"] = ground.soils
    with whole_file(path) as file:
        np.savez(file, **arrays)


def load_npz(path: Path) -> ElevationMap:
    """Read a map; raises SettingsError for anything else, before memory is allocated for it."""
    check_is_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(_read(archive, "about", BYTE, ABOUT_LIMIT_BYTES).tobytes())
            if about["version"] != VERSION:
                raise ValueError(f"version {about['version']} is not known; this reads version {VERSION}")
            heights = _read(archive, "heights", HEIGHT)
            soils = _read(archive, "soils", BYTE) if "soils.npy" in archive.namelist() else None
        where = about["georeference"]
        return ElevationMap(
            heights=heights,
            soils=soils,
            resolution=float(about["resolution_m"]),
            origin_x=float(about["origin_m"][0]),
            origin_y=float(about["origin_m"][1]),
            soil_names=_names(about["soil_names"]),
            georeference=None if where is None else Georeference(**where),
        )
    except (zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise file_error(path, f"is not a whole .npz file: {error}; it looks truncated") from None
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise file_error(path, f"is not a map of this suite: {error}") from None
    except OSError as error:
        raise file_error(path, error.strerror or error) from None
    except (ValueError, NotImplementedError, RuntimeError) as error:
        raise file_error(path, error) from None


def _read(archive: zipfile.ZipFile, name: str, dtype: np.dtype[Any], limit: int | None = None) -> Any:
    """Read one array, after checking its type and size."""
    with archive.open(f"{name}.npy") as file:
        shape, in_order, found = _header(file)
        if found != dtype or in_order:
            raise ValueError(f"{name}: must be {dtype.name} by rows, got {found}")
        if limit is None:
            if len(shape) != 2:
                raise ValueError(f"{name}: must have rows and columns, got {len(shape)} axes")
            check_grid_size(*shape)
        elif len(shape) != 1 or shape[0] > limit:
            raise ValueError(f"{name}: too long, {shape} (limit {limit})")
    with archive.open(f"{name}.npy") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _names(found: object) -> tuple[str, ...]:
    if not isinstance(found, list):
        raise ValueError(f"soil_names: must be a list of names, got {str(found)[:40]!r}")
    return tuple(found)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"arrays of version {version} are not known")
