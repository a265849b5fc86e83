"""`proving-ground world`: lists, draws and exports worlds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from proving_ground.cli.parsing import Commands
from proving_ground.settings import SettingsError

if TYPE_CHECKING:
    from terrain.elevation_map import ElevationMap
    from terrain.world import World

MESHES = ("obj", "ply", "stl")
FORMATS = (*MESHES, "npz", "asc", "tif", "png", "crg")


def add_parser(commands: Commands) -> None:
    """Add the command `world` to the command line."""
    parser = commands.add_parser(
        "world",
        help="list worlds, draw one from above, or write one for other programs",
        description="`world` lists all; `world show NAME` draws one; `world export NAME` writes its ground or mesh.",
    )
    parser.add_argument("action", nargs="?", default="list", choices=("list", "show", "export"), help="default: list")
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="name in config/worlds or a YAML file; without it, a list"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write (show: NAME.png by default)")
    parser.add_argument(
        "--format", default="", help="format of an export: obj, stl, ply (meshes), npz, asc, tif, png, crg"
    )
    parser.add_argument("--resolution", type=float, metavar="M", help="export at another grid spacing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List worlds, draw one or write one."""
    if options.action == "list" or options.name is None:
        return _list()
    if options.action == "show":
        return _show(options.name, options.out)
    if options.out is None:
        raise SettingsError("export: say where to write with --out FILE")
    return _export(options.name, options.format or options.out.suffix[1:], options.out, options.resolution)


def _list() -> int:
    from terrain.worlds import load_world_file, world_files

    for name, path in world_files().items():
        print(f"{name}: {load_world_file(path).description}")
    return 0


def _show(name: str, out: Path | None) -> int:
    """Draw a world from above and print what it holds."""
    from proving_ground.settings.files import write_whole
    from terrain.picture import world_picture
    from terrain.worlds import build_world, load_world_file, world_file

    path = world_file(name)
    description = load_world_file(path).description
    world = build_world(path)
    target = out or Path(f"{path.stem}.png")
    if target.suffix.lower() != ".png":
        raise SettingsError(f"--out {target}: must end in .png")
    write_whole(target, world_picture(world, description))
    print(f"{path.stem}: {description}")
    for line in _facts(world):
        print(f"  {line}")
    print(f"  drawn to {target}")
    return 0


def _export(name: str, kind: str, out: Path, resolution: float | None) -> int:
    """Write a world's ground, and into meshes its obstacles too."""
    from proving_ground.settings.fields import close_name
    from terrain.worlds import build_world, world_file

    if kind not in FORMATS:
        raise SettingsError(f"--format {kind}: {close_name(kind, FORMATS)}")
    world = build_world(world_file(name))
    ground = world.ground if resolution is None else _resampled(world.ground, resolution)
    if kind in MESHES:
        _save_mesh(ground, world, kind, out)
    else:
        _save_ground(ground, kind, out)
    return 0


def _save_mesh(ground: ElevationMap, world: World, kind: str, out: Path) -> None:
    from terrain.map_files import save_map
    from terrain.mesh import joined

    mesh = joined((ground.triangle_mesh(), world.obstacles.mesh()))
    save_map(ground, out, kind, mesh)
    print(f"{out}: {len(mesh.vertices)} corners, {len(mesh.faces)} triangles")


def _save_ground(ground: ElevationMap, kind: str, out: Path) -> None:
    from terrain.map_files import save_map

    save_map(ground, out, kind)
    print(f"{out}: {ground.shape[1]} x {ground.shape[0]} nodes of {ground.resolution:g} m")
    if kind == "png":
        print(f"  black is {ground.heights.min():.9g} m, white {ground.heights.max():.9g} m")


def _resampled(ground: ElevationMap, resolution: float) -> ElevationMap:
    try:
        return ground.resampled(resolution)
    except ValueError as error:
        raise SettingsError(f"--resolution: {error}") from None


def _facts(world: World) -> list[str]:
    ground, obstacles = world.ground, world.obstacles
    (left, right), (low, high) = ground.x_limits, ground.y_limits
    lines = [
        f"{right - left:g} x {high - low:g} m, {ground.shape[1]} x {ground.shape[0]} nodes of {ground.resolution:g} m, "
        f"heights {ground.heights.min():.2f} to {ground.heights.max():.2f} m",
        f"soils: {', '.join(ground.soil_names)}",
        f"{len(obstacles.boxes)} boxes, {len(obstacles.cylinders)} cylinders, {len(obstacles.meshes)} meshes",
    ]
    where = world.georeference
    if where is not None and where.latitude_deg is not None:
        lines.append(f"origin at {where.latitude_deg:.6f}, {where.longitude_deg:.6f} degrees, {where.altitude_m:.1f} m")
    elif where is not None:
        lines.append(f"origin at {where.easting_m:g}, {where.northing_m:g} m of {where.crs or 'an unnamed system'}")
    return [*lines, *world.remarks]
