"""Maps from and to files, by file extension: .npz, .asc, .tif, .png, .obj, .ply, .stl; to .crg."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from proving_ground.settings import SettingsError
from terrain.elevation_map import ElevationMap
from terrain.formats.ascii_grid import load_ascii_grid, save_ascii_grid
from terrain.formats.geotiff import load_geotiff, save_geotiff
from terrain.formats.heightmap_png import load_heightmap_png, save_heightmap_png
from terrain.formats.mesh_files import SUFFIXES as MESHES
from terrain.formats.mesh_files import load_mesh, save_mesh
from terrain.formats.npz import load_npz, save_npz
from terrain.formats.open_crg import save_crg
from terrain.limits import file_error
from terrain.mesh import Mesh, mesh_to_grid
from terrain.raw_grid import RawGrid
from terrain.road_strip import strip_of

GEOTIFFS = (".tif", ".tiff")
ROAD = ".crg"
SUFFIXES = (".npz", ".asc", *GEOTIFFS, ".png", *MESHES)


@dataclass(frozen=True, kw_only=True)
class MapFileOptions:
    """Options for map files, most of them for files that do not give the value themselves."""

    resolution_m: float | None = None  # of meshes and PNG, and of GeoTIFF without georeference
    low_m: float | None = None  # height of black in a PNG
    high_m: float | None = None  # height of white
    fill_gaps: bool = False  # unknown heights from their nearest neighbours; else they are rejected


def load_map(path: Path, options: MapFileOptions | None = None) -> ElevationMap:
    """A map from a file of any known format; raises SettingsError with one line, and never loads partially."""
    given = options or MapFileOptions()
    if path.suffix.lower() == ".npz":
        return load_npz(path)
    grid = load_grid(path, given)
    try:
        return grid.to_map(given.fill_gaps)
    except ValueError as error:
        raise file_error(path, error) from None


def load_grid(path: Path, options: MapFileOptions) -> RawGrid:
    """The heights of a file other than .npz; unknown ones stay unknown."""
    suffix = path.suffix.lower()
    if suffix == ".asc":
        return load_ascii_grid(path)
    if suffix in GEOTIFFS:
        return load_geotiff(path, options.resolution_m)
    if suffix == ".png":
        if options.low_m is None or options.high_m is None or options.resolution_m is None:
            raise file_error(path, "an image has no height scale; give low_m, high_m and resolution_m")
        return load_heightmap_png(path, low=options.low_m, high=options.high_m, resolution=options.resolution_m)
    if suffix in MESHES:
        if options.resolution_m is None:
            raise file_error(path, "a mesh has no resolution; give resolution_m")
        mesh = load_mesh(path)
        try:
            return mesh_to_grid(mesh, options.resolution_m)
        except ValueError as error:
            raise file_error(path, error) from None
    road = "; a world takes a road from a .crg file by `build: {crg: {file: ...}}`" if suffix == ROAD else ""
    raise file_error(path, f"must end in one of {', '.join(SUFFIXES)}{road}")


def save_map(ground: ElevationMap, path: Path, kind: str = "", mesh: Mesh | None = None) -> None:
    """Write a map, or for mesh files the given mesh; the kind is that of the file name unless given."""
    suffix = f".{kind}" if kind else path.suffix.lower()
    if suffix == ".npz":
        save_npz(ground, path)
    elif suffix == ".asc":
        save_ascii_grid(ground, path)
    elif suffix in GEOTIFFS:
        save_geotiff(ground, path)
    elif suffix == ".png":
        save_heightmap_png(ground, path)
    elif suffix == ROAD:
        save_crg(strip_of(ground), path)
    elif suffix in MESHES:
        save_mesh(mesh or ground.triangle_mesh(), path, suffix[1:])
    else:
        raise SettingsError(f"{path}: a map cannot be written as '{suffix}'; known: {', '.join((*SUFFIXES, ROAD))}")
