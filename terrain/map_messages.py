"""A world for display and planning: occupied cells, and shapes to draw. Arrays only; ROS is elsewhere."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.settings import SettingsError, setting
from terrain.elevation_map import Array, ElevationMap, Heights
from terrain.mesh import Mesh
from terrain.obstacles import Box, Cylinder, Obstacles
from terrain.picture import OTHER_COLOURS, SOIL_COLOURS
from terrain.world import World

Cells = NDArray[np.int8]
Flags = NDArray[np.bool_]
Colour = tuple[float, float, float]

OCCUPIED, FREE, UNKNOWN = 100, 0, -1  # as in nav_msgs/OccupancyGrid
MOST_CELLS = 25_000_000  # of one map: 25 MB on the wire
STEP_RUN_M = 0.25  # a rise within this length can be a step; on coarser maps only slopes are detected
STEP_STEEPNESS = math.tan(math.radians(30.0))  # rise over run; anything flatter is a slope
MOST_TRIANGLES = 60_000  # of the ground as drawn
PAINT_LIFT_M = 0.03  # of road markings above the ground, so that they show
DARKEST = 0.7  # brightness of the lowest ground; the highest is 1
HOUSE, POST, TREE, PAINT = (0.72, 0.58, 0.45), (0.82, 0.11, 0.11), (0.12, 0.36, 0.17), (0.95, 0.95, 0.9)
TREES_FROM_M = 2.0  # height; lower cylinders are posts


@dataclass(frozen=True, kw_only=True)
class MapSettings:
    """Limits of what counts as an obstacle, and resolution and size of the map."""

    map_resolution_m: float = setting(
        0.5, "Side length of the cells of the published map", unit="m", minimum=0.05, maximum=100.0, read_only=True
    )
    map_size_m: float = setting(
        1000.0, "Largest side length of the published map; of a larger world, the part around the start", unit="m",
        minimum=1.0, maximum=10_000.0, read_only=True,
    )  # fmt: skip
    max_slope_deg: float = setting(
        30.0, "Slope above which map cells are marked as occupied",
        unit="deg", minimum=1.0, maximum=89.0, read_only=True,
    )  # fmt: skip
    max_step_m: float = setting(
        0.1, "Height of steps and kerbs above which map cells are marked as occupied",
        unit="m", minimum=0.01, maximum=10.0, read_only=True,
    )  # fmt: skip


class Occupancy(NamedTuple):
    """Drivable area: cell [row, column] begins at (x + column * resolution, y + row * resolution)."""

    cells: Cells
    resolution: float  # [m]
    x: float  # of the corner of cell [0, 0] [m]
    y: float
    is_cut: bool  # the world continues beyond it


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape:
    """One shape to draw. Corners of triangles and lines are points[order]; the others have a position and size."""

    group: str
    number: int  # within its group; the same for the same world
    kind: str  # triangles, lines, cube, cylinder
    colour: Colour = (1.0, 1.0, 1.0)
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of its centre [m]
    yaw: float = 0.0  # [rad]
    size: tuple[float, float, float] = (1.0, 1.0, 1.0)  # [m]; for lines the first is their width
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    order: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    colours: Array = field(default_factory=lambda: np.zeros((0, 3)))  # one for each point, or none


def occupancy(world: World, settings: MapSettings) -> Occupancy:
    """Map in which obstacles at any height, and steep or stepped ground are occupied; unsurveyed ground is unknown.

    A cell is occupied if any part of it is; obstacles are enlarged by up to half a cell's diagonal.
    Raises SettingsError for a map of too many cells.
    """
    ground, most = world.ground, settings.map_size_m
    rows = _span(ground.origin_y, ground.shape[0], ground.resolution, world.start.y, most)
    columns = _span(ground.origin_x, ground.shape[1], ground.resolution, world.start.x, most)
    heights = ground.heights[rows, columns]
    _check_cells(heights.shape, ground.resolution, settings)
    rough = _too_rough(heights, ground.resolution, settings)
    in_cells = [_cell_edges(count, ground.resolution, settings.map_resolution_m) for count in heights.shape]
    cells = np.where(_any_in_cells(rough, in_cells), OCCUPIED, FREE).astype(np.int8)
    if world.surveyed is not None:
        cells[~_any_in_cells(world.surveyed[rows, columns], in_cells)] = UNKNOWN
    found = Occupancy(
        cells,
        settings.map_resolution_m,
        ground.origin_x + columns.start * ground.resolution,
        ground.origin_y + rows.start * ground.resolution,
        heights.shape != ground.shape,
    )
    for item in _primitives(world.obstacles):
        _occupy(found, item)
    return found


def shapes(world: World) -> list[Shape]:
    """Ground, obstacles (meshes as the boxes around them) and road markings."""
    drawn = [_ground_shape(world.ground), *obstacle_shapes(world.obstacles)]
    if len(world.markings):
        drawn.append(_paint_shape(world))
    return drawn


def obstacle_shapes(obstacles: Obstacles) -> list[Shape]:
    """A shape for each obstacle, boxes first."""
    drawn = []
    for number, item in enumerate(_primitives(obstacles)):
        position = (item.x, item.y, item.base + 0.5 * item.height)
        if isinstance(item, Box):
            size = (item.length, item.width, item.height)
            drawn.append(
                Shape(
                    group="boxes", number=number, kind="cube", colour=HOUSE, position=position, yaw=item.yaw, size=size
                )
            )
        else:
            size = (2.0 * item.radius, 2.0 * item.radius, item.height)
            colour = TREE if item.height > TREES_FROM_M else POST
            drawn.append(
                Shape(group="cylinders", number=number, kind="cylinder", colour=colour, position=position, size=size)
            )
    return drawn


def words_on_world(world: World) -> str:
    """Name, size and obstacles of a world."""
    ground, obstacles = world.ground, world.obstacles
    rows, columns = ground.shape
    across, along = (rows - 1) * ground.resolution, (columns - 1) * ground.resolution
    return (
        f"world {world.name}: {along:g} x {across:g} m, {columns} x {rows} nodes {ground.resolution:g} m apart; "
        f"{len(obstacles)} obstacles: {len(obstacles.boxes)} boxes, {len(obstacles.cylinders)} cylinders, "
        f"{len(obstacles.meshes)} meshes"
    )


def words_on_map(found: Occupancy) -> str:
    """Number of cells, and of occupied and unknown ones."""
    rows, columns = found.cells.shape
    occupied, unknown = int((found.cells == OCCUPIED).sum()), int((found.cells == UNKNOWN).sum())
    words = f"map: {columns} x {rows} cells of {found.resolution:g} m, {occupied} occupied, {unknown} unknown"
    return words + ("; only the part around the start: map_size_m is less than the world's" if found.is_cut else "")


def _span(origin: float, count: int, resolution: float, middle: float, most: float) -> slice:
    """Nodes of one axis: all, or those of a length [m] around a position, as far as there are any."""
    wanted = max(min(int(most / resolution + 1e-9) + 1, count), 2)
    first = round((middle - 0.5 * most - origin) / resolution)
    first = min(max(first, 0), count - wanted)
    return slice(first, first + wanted)


def _check_cells(shape: tuple[int, ...], resolution: float, settings: MapSettings) -> None:
    across, along = ((count - 1) * resolution for count in shape)
    cells = across * along / settings.map_resolution_m**2
    if cells > MOST_CELLS:
        raise SettingsError(
            f"map_resolution_m: {settings.map_resolution_m:g} m makes {cells / 1e6:.0f} million cells of "
            f"{along:g} x {across:g} m, allowed are {MOST_CELLS / 1e6:.0f}; make it larger, or map_size_m smaller"
        )


def _too_rough(heights: Heights, resolution: float, settings: MapSettings) -> Flags:
    """Nodes at steps, or on slopes measured over the length of a map cell: fine roughness is not a slope."""
    found = np.zeros(heights.shape, bool)
    for run in range(1, int(STEP_RUN_M / resolution + 1e-9) + 1):
        least = max(settings.max_step_m, STEP_STEEPNESS * run * resolution)
        for axis in (0, 1):
            _mark_rises(found, heights, run, axis, least)
    run = max(round(settings.map_resolution_m / resolution), 1)
    rows, columns = (min(run, count - 1) for count in heights.shape)
    along = (heights[:, columns:] - heights[:, :-columns]) / np.float32(columns * resolution)
    across = (heights[rows:] - heights[:-rows]) / np.float32(rows * resolution)
    steep = np.hypot(along[:-rows], across[:, :-columns]) > math.tan(math.radians(settings.max_slope_deg))
    # A slope belongs to the middle of the length it was measured over.
    up, right = rows // 2, columns // 2
    found[up : up + steep.shape[0], right : right + steep.shape[1]] |= steep
    return found


def _mark_rises(found: Flags, heights: Heights, run: int, axis: int, least: float) -> None:
    """Mark both ends of rises above the least [m] between nodes of an axis that are `run` apart."""
    if run >= heights.shape[axis]:
        return
    low, high = [slice(None), slice(None)], [slice(None), slice(None)]
    low[axis], high[axis] = slice(None, -run), slice(run, None)
    rises = np.abs(heights[tuple(high)] - heights[tuple(low)]) > least
    found[tuple(low)] |= rises
    found[tuple(high)] |= rises


def _cell_edges(count: int, resolution: float, cell: float) -> NDArray[np.intp]:
    """First node in each cell of one axis; with nodes further apart than cells, the one nearest to its centre."""
    cells = max(math.ceil((count - 1) * resolution / cell - 1e-6), 1)
    if cell >= resolution:
        first = np.ceil(np.arange(cells) * (cell / resolution) - 1e-6)
    else:
        first = np.rint((np.arange(cells) + 0.5) * (cell / resolution))
    return np.asarray(np.minimum(first.astype(np.intp), count - 1))


def _any_in_cells(flags: Flags, first: list[NDArray[np.intp]]) -> Flags:
    """Whether a flag is set at any node of each cell."""
    by_rows = np.logical_or.reduceat(flags, first[0], axis=0)  # where edges coincide it takes the one flag
    return np.asarray(np.logical_or.reduceat(by_rows, first[1], axis=1))


def _primitives(obstacles: Obstacles) -> Iterator[Box | Cylinder]:
    yield from obstacles.boxes
    yield from (item.box() for item in obstacles.meshes)
    yield from obstacles.cylinders


def _occupy(found: Occupancy, item: Box | Cylinder) -> None:
    """Mark every cell that the footprint touches; checks only cells around it."""
    reach = 0.5 * math.hypot(item.length, item.width) if isinstance(item, Box) else item.radius
    windows, middles = [], []
    for position, origin, count in ((item.y, found.y, found.cells.shape[0]), (item.x, found.x, found.cells.shape[1])):
        first = max(math.floor((position - reach - origin) / found.resolution) - 1, 0)
        last = min(math.floor((position + reach - origin) / found.resolution) + 2, count)
        if first >= last:
            return
        windows.append(slice(first, last))
        middles.append(origin + (np.arange(first, last) + 0.5) * found.resolution)
    one = Obstacles(boxes=(item,)) if isinstance(item, Box) else Obstacles(cylinders=(item,))
    y, x = np.meshgrid(*middles, indexing="ij")
    half_diagonal = found.resolution * math.sqrt(0.5)
    found.cells[tuple(windows)][one.distance(x, y) <= half_diagonal] = OCCUPIED


def _ground_shape(ground: ElevationMap) -> Shape:
    mesh = _thinned_mesh(ground)
    x, y, z = mesh.vertices.T
    free = itertools.cycle(OTHER_COLOURS)
    by_soil = np.array([_rgb(SOIL_COLOURS.get(name) or next(free)) for name in ground.soil_names])
    relief = float(np.ptp(z))
    share = (z - z.min()) / relief if relief > 0.0 else np.ones_like(z)
    colours = by_soil[ground.soil_at(x, y)] * (DARKEST + (1.0 - DARKEST) * share)[:, None]
    order = mesh.faces.reshape(-1)
    return Shape(group="ground", number=0, kind="triangles", points=mesh.vertices, order=order, colours=colours)


def _thinned_mesh(ground: ElevationMap) -> Mesh:
    rows, columns = (count - 1 for count in ground.shape)
    step = max(math.isqrt(2 * rows * columns // MOST_TRIANGLES), 1)
    while 2 * math.ceil(rows / step) * math.ceil(columns / step) > MOST_TRIANGLES:
        step += 1
    return ground.triangle_mesh(step)


def _paint_shape(world: World) -> Shape:
    x, y = world.markings.reshape(-1, 2).T
    points = np.column_stack((x, y, world.ground.height_at(x, y) + PAINT_LIFT_M))
    order = np.arange(len(points), dtype=np.int32)
    return Shape(
        group="markings", number=0, kind="lines", colour=PAINT, size=(0.12, 0.0, 0.0), points=points, order=order
    )


def _rgb(colour: str) -> Colour:
    """Components of '#rrggbb', each from 0 to 1."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red / 255.0, green / 255.0, blue / 255.0
