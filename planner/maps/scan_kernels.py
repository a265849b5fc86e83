"""Updates a height grid with one LIDAR scan: points into cells, rays that clear cells, cells under the wheels."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.maps.grid import Floats
from planner.maps.height_grid import (
    MEASURED,
    NO_GROUND,
    NOTHING,
    PASSED,
    TILE,
    HeightGrid,
    cell_index,
    roll_to,
    tile_index,
)
from proving_ground.kernels.jit import inlined, kernel

Array = NDArray[np.float64]

BINS = 1024  # direction bins for rays, a quarter of them per quadrant
GROUND_TILES = 2  # tiles on every side whose lowest heights give the height of the ground
CREEP = np.float32(0.05)  # share of the difference by which a height follows a scan that does not reach it
TALL_M = 0.3  # lower things are not cleared by rays: rays pass close over the foot of a kerb, beside it
BEYOND_M = 0.6  # a ray must end this far behind a cell to have gone through it
GRAZE_M = 0.05  # a ray that passes within this of the ground or of the top does not count either


class SweepPoses(NamedTuple):
    """Poses of the sensor during the sweep: knots at equal times; each point uses the nearest."""

    arm: Array  # lever arm of the sensor in base_link [m]
    base_from_sensor: Array  # 3 x 3
    origins: Array  # of base_link in the world [m]: knots x 3
    world_from_base: Array  # knots x 3 x 3
    rate: float  # knots per second of a point's time; 0 with a single knot


class Scale(NamedTuple):
    """Resolution of a map, and longest range of points that enter it [m]."""

    resolution: float  # side of a cell [m]
    most_range: float  # horizontal distance beyond which points are not entered [m]


class Body(NamedTuple):
    """Extent of the vehicle in base_link [m]: points inside are its own."""

    rear: float
    front: float
    half_width: float
    top: float


class Room(NamedTuple):
    """Preallocated buffers for processing one scan."""

    cells: NDArray[np.int32]  # of the points
    tiles: NDArray[np.int32]
    heights: Floats
    touched: NDArray[np.int32]  # cells that the scan hit
    ray_range: Floats  # bins x rings: horizontal distance of the nearest return [m]; 0 for none
    ray_rise: Floats  # bins x rings: rise over run of that ray


@kernel
def transform_points(
    points: tuple[Floats, Floats, Floats, NDArray[np.uint16], Floats], sweep_poses: SweepPoses, body: Body,
    level: Array, scale: Scale, scan: int, grid: HeightGrid, room: Room,
) -> tuple[int, int]:  # fmt: skip
    """Find the cells of points (x, y, z [m], ring, time [s]), the ground's height, and how far each ray went.

    level: offset of poses over the map, at the sensor [m] and rise over run along x and y (maps.levelling).
    Returns the number of usable points, which fill the first elements of `room`, and of points that were not finite.
    """
    xs, ys, zs, rings, times = points
    resolution, most_range = scale
    room.ray_range[:] = 0.0
    knots = len(sweep_poses.origins)
    middle = (knots - 1) // 2
    eye = _world(
        sweep_poses.origins[middle],
        sweep_poses.world_from_base[middle],
        sweep_poses.arm[0],
        sweep_poses.arm[1],
        sweep_poses.arm[2],
    )
    roll_to(grid, math.floor(eye[0] / resolution), math.floor(eye[1] / resolution))
    b, arm, inverse = sweep_poses.base_from_sensor, sweep_poses.arm, 1.0 / resolution
    origins, rotations, rate = sweep_poses.origins, sweep_poses.world_from_base, sweep_poses.rate
    ray_range, ray_rise, side, tile_low = room.ray_range, room.ray_rise, grid.side, grid.tile_low
    cells, tiles, heights = room.cells, room.tiles, room.heights
    corner_column, corner_row = grid.corner[0], grid.corner[1]
    used, rejected = 0, 0
    for i in range(len(xs)):
        x, y, z = float(xs[i]), float(ys[i]), float(zs[i])
        if not abs(x) + abs(y) + abs(z) < 1e5 or not abs(times[i]) < 1e3:
            rejected += 1
            continue
        in_x = arm[0] + b[0, 0] * x + b[0, 1] * y + b[0, 2] * z
        in_y = arm[1] + b[1, 0] * x + b[1, 1] * y + b[1, 2] * z
        in_z = arm[2] + b[2, 0] * x + b[2, 1] * y + b[2, 2] * z
        if body.rear < in_x < body.front and abs(in_y) < body.half_width and in_z < body.top:
            continue
        knot = min(max(int(times[i] * rate + 0.5), 0), knots - 1)
        at = _world(origins[knot], rotations[knot], in_x, in_y, in_z)
        to_x, to_y = at[0] - eye[0], at[1] - eye[1]
        away = math.sqrt(to_x * to_x + to_y * to_y)
        if not away > 0.0:
            continue
        up = at[2] - eye[2] - level[1] * to_x - level[2] * to_y
        bin_ = _bin(to_x, to_y)
        ring = rings[i]
        if ray_range[bin_, ring] == 0.0 or away < ray_range[bin_, ring]:
            ray_range[bin_, ring] = away
            ray_rise[bin_, ring] = up / away
        column, row = math.floor(at[0] * inverse), math.floor(at[1] * inverse)
        if away > most_range or not (0 <= column - corner_column < side and 0 <= row - corner_row < side):
            continue
        tile = tile_index(side, column // TILE, row // TILE)
        height = np.float32(eye[2] - level[0] + up)
        tile_low[tile] = min(tile_low[tile], height)
        cells[used], tiles[used], heights[used] = cell_index(side, column, row), tile, height
        used += 1
    tile_scan, tile_ground = grid.tile_scan, grid.tile_ground
    for k in range(used):
        if tile_scan[tiles[k]] != scan:
            tile_scan[tiles[k]] = scan
            tile_ground[tiles[k]] = _ground(tile_low, side, tiles[k])
    return used, rejected


@kernel
def gather_points(used: int, scan: int, clear_height: float, grid: HeightGrid, room: Room) -> int:
    """Lowest and highest point of a scan in each cell; returns the number of cells, listed first in room.touched.

    Points higher over the ground than clear_height are overhead and ignored.
    """
    touched, count = room.touched, 0
    cells, tiles, heights = room.cells, room.tiles, room.heights
    tile_ground, met_by, scan_low, scan_high = grid.tile_ground, grid.scan, grid.scan_low, grid.scan_high
    for k in range(used):
        cell, height = cells[k], heights[k]
        if height > tile_ground[tiles[k]] + clear_height:
            continue
        if met_by[cell] != scan:
            met_by[cell] = scan
            scan_low[cell] = scan_high[cell] = height
            touched[count] = cell
            count += 1
        else:
            scan_low[cell] = min(scan_low[cell], height)
            scan_high[cell] = max(scan_high[cell], height)
    return count


@kernel
def merge_cells(touched: NDArray[np.int32], time: float, grid: HeightGrid) -> None:
    """Merge the cells that a scan of a time [s] hit (touched) into the map.

    A height follows at once where the scan goes beyond it, and creeps back where the scan stays within.
    """
    for cell in touched:
        low, high = grid.scan_low[cell], grid.scan_high[cell]
        if grid.state[cell] == MEASURED:
            before, above = grid.low[cell], grid.high[cell]
            low = low if low < before else before + CREEP * (low - before)
            high = high if high > above else above + CREEP * (high - above)
        grid.low[cell], grid.high[cell] = low, high
        grid.state[cell] = MEASURED
        grid.time[cell] = time
        if grid.scan_high[cell] > low + TALL_M:
            grid.driven[cell] = 0


@kernel
def clear_passed(
    scan: int, time: float, eye: tuple[float, float, float], scale: Scale, needed: int, grid: HeightGrid, room: Room
) -> None:
    """Clear cells with something tall that rays of this scan passed through, after `needed` such scans in a row.

    scan: its number; time [s]; eye: position of the sensor [m].
    """
    resolution, most_range = scale
    state, low, high, tile_low, side = grid.state, grid.low, grid.high, grid.tile_low, grid.side
    ray_range, ray_rise = room.ray_range, room.ray_rise
    reach = int(most_range / resolution)
    middle_column, middle_row = math.floor(eye[0] / resolution), math.floor(eye[1] / resolution)
    for row in range(max(middle_row - reach, grid.corner[1]), min(middle_row + reach, grid.corner[1] + side)):
        for column in range(
            max(middle_column - reach, grid.corner[0]), min(middle_column + reach, grid.corner[0] + side)
        ):
            cell = cell_index(side, column, row)
            if state[cell] != MEASURED:
                continue
            tile = tile_index(side, column // TILE, row // TILE)
            ground = min(tile_low[tile], low[cell])
            top = high[cell]
            if not top > ground + TALL_M:
                continue
            if grid.scan[cell] == scan and grid.scan_high[cell] > ground + TALL_M:
                grid.misses[cell] = 0
                continue
            to_x, to_y = (column + 0.5) * resolution - eye[0], (row + 0.5) * resolution - eye[1]
            if not _is_passed(ray_range, ray_rise, to_x, to_y, eye[2], ground + GRAZE_M, top - GRAZE_M):
                continue
            grid.misses[cell] += 1
            if grid.misses[cell] < needed:
                continue
            grid.misses[cell] = 0
            grid.time[cell] = time
            if grid.scan[cell] == scan:  # its ground is seen
                low[cell], high[cell] = grid.scan_low[cell], grid.scan_high[cell]
            else:
                state[cell] = PASSED


@kernel
def free_rectangle(
    position: Array, rotation: Array, rectangle: tuple[float, float, float], is_driven: bool, time: float,
    resolution: float,
    grid: HeightGrid,
) -> None:  # fmt: skip
    """Free the unseen cells of a rectangle of base_link (rear, front, half width [m]); is_driven: the seen ones, too.

    position [m], rotation: base_link's origin and world_from_base.
    """
    rear, front, half_width = rectangle
    reach = max(abs(rear), abs(front)) + half_width
    side, corner_column, corner_row = grid.side, grid.corner[0], grid.corner[1]
    cells = int(reach / resolution) + 1
    middle_column, middle_row = math.floor(position[0] / resolution), math.floor(position[1] / resolution)
    for row in range(max(middle_row - cells, corner_row), min(middle_row + cells + 1, corner_row + side)):
        to_y = (row + 0.5) * resolution - position[1]
        for column in range(
            max(middle_column - cells, corner_column), min(middle_column + cells + 1, corner_column + side)
        ):
            to_x = (column + 0.5) * resolution - position[0]
            along, across = rotation[0, 0] * to_x + rotation[1, 0] * to_y, rotation[0, 1] * to_x + rotation[1, 1] * to_y
            if not (rear < along < front and abs(across) < half_width):
                continue
            cell = cell_index(side, column, row)
            if grid.state[cell] == NOTHING:
                grid.state[cell], grid.time[cell] = PASSED, time
            if is_driven:
                grid.driven[cell], grid.misses[cell], grid.time[cell] = 1, 0, time


@inlined
def _world(o: Array, r: Array, x: float, y: float, z: float) -> tuple[float, float, float]:
    """A point of base_link in the world; o, r: base_link's origin and world_from_base."""
    return (
        o[0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        o[1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        o[2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )


@inlined
def _bin(x: float, y: float) -> int:
    """Direction bin; y / (|x| + |y|) replaces the angle, at less cost."""
    share = y / (abs(x) + abs(y))
    around = 1.0 + share if x >= 0.0 else 3.0 - share
    return int(around * (BINS // 4)) & (BINS - 1)


@inlined
def _ground(tile_low: Floats, side: int, tile: int) -> float:
    """Height of the ground in a tile: the lowest hit there, or the mean of those around if that is lower.

    The mean, because on a slope it is right where the lowest of all would be too low.
    """
    tiles = side // TILE
    row, column = tile // tiles, tile % tiles
    total, count = 0.0, 0
    for down in range(-GROUND_TILES, GROUND_TILES + 1):
        for right in range(-GROUND_TILES, GROUND_TILES + 1):
            # Wraps around the torus: at the square's rim these are tiles of the opposite side, where points are
            # too far away to matter.
            low = tile_low[tile_index(side, column + right, row + down)]
            if low != NO_GROUND:
                total += low
                count += 1
    return float(min(tile_low[tile], total / max(count, 1)))


@inlined
def _is_passed(
    ray_range: Floats, ray_rise: Floats, to_x: float, to_y: float, height: float, low: float, top: float
) -> bool:
    """Whether a ray from a height [m] passed a given distance, there between two heights [m]."""
    away = math.sqrt(to_x * to_x + to_y * to_y)
    if not away > 0.0:
        return False
    bin_ = _bin(to_x, to_y)
    for ring in range(ray_range.shape[1]):
        if ray_range[bin_, ring] > away + BEYOND_M and low < height + ray_rise[bin_, ring] * away < top:
            return True
    return False
