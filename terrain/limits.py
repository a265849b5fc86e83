"""Size limits of maps, clouds and files, checked before memory is allocated."""

from __future__ import annotations

from pathlib import Path

from proving_ground.settings import SettingsError

CELL_LIMIT = 100_000_000  # nodes of a map: 400 MB of heights; 5 km x 5 km at 0.5 m
POINT_LIMIT = 50_000_000  # points of a cloud
SURVEY_LIMIT = 1_000_000  # points of a survey, which are triangulated
MESH_FILE_LIMIT_BYTES = 500_000_000
STRIP_FILE_LIMIT_BYTES = 400_000_000  # of a road: four bytes for each node of the largest map
SMALLEST_RESOLUTION = 0.001  # [m]
LARGEST_RESOLUTION = 1000.0  # [m]
LARGEST_COORDINATE = 1e8  # [m]; beyond it float64 no longer resolves micrometres
LARGEST_HEIGHT = 20_000.0  # [m]; anything higher is a nodata value mistaken for a height


def check_grid_size(rows: int, columns: int) -> None:
    """Raise ValueError unless a grid of this size is valid."""
    if rows < 2 or columns < 2:
        raise ValueError(f"{columns} x {rows} nodes span no area; at least 2 x 2 are needed")
    if rows * columns > CELL_LIMIT:
        raise ValueError(f"{columns} x {rows} nodes are too many (limit {CELL_LIMIT}); use a coarser resolution")


def file_error(path: Path, reason: object) -> SettingsError:
    """The one-line error for a file that cannot be used."""
    return SettingsError(f"terrain '{path}': {reason}")
