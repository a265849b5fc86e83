"""Point clouds to elevation grids ([Cameron]: LIDAR clouds become the terrain's own maps). World axes, z up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proving_ground.settings import setting
from terrain.elevation_map import Array
from terrain.limits import LARGEST_COORDINATE, POINT_LIMIT, check_grid_size
from terrain.raw_grid import RawGrid


@dataclass(frozen=True, kw_only=True)
class CloudSettings:
    """Settings of the conversion of points to heights."""

    resolution_m: float = setting(0.5, "Side length of the cells", unit="m", minimum=0.001, maximum=1000.0)
    quantile: float = setting(0.5, "Quantile of a cell's ground points that gives the height", minimum=0.0, maximum=1.0)
    layer_m: float = setting(0.3, "Gap in height that separates layers", unit="m", minimum=0.01, maximum=100.0)
    least_points: int = setting(
        1, "Fewest ground points of a cell; with fewer it stays unknown", minimum=1, maximum=10_000
    )
    strays: int = setting(2, "Most points of a lowest layer that may be noise", minimum=0, maximum=1000)
    stray_share: float = setting(
        0.1, "Share of a cell's points below which a lowest layer of few points is noise", minimum=0.0, maximum=1.0
    )


def cloud_to_grid(points: ArrayLike, settings: CloudSettings | None = None) -> RawGrid:
    """Heights of the ground from points (n x 3 [m]); cells without points are unknown.

    In each cell the points are sorted by height and split into layers where a gap exceeds layer_m. The ground
    is the lowest layer that is not noise, such as multiple echoes from below: at most `strays` points, and a smaller
    share of their cell than stray_share. The height is a quantile of the ground points. Points that are not finite
    are ignored.
    """
    chosen = settings or CloudSettings()
    sound = _sound(points)
    size = chosen.resolution_m
    first = np.floor(sound[:, :2].min(axis=0) / size)
    cells = (np.floor(sound[:, :2] / size) - first).astype(np.int64)
    columns, rows = (int(count) + 1 for count in cells.max(axis=0))
    # A single cell spans no area; an unknown row beside it does no harm.
    rows, columns = max(rows, 2), max(columns, 2)
    check_grid_size(rows, columns)
    heights = np.full(rows * columns, np.nan, np.float32)
    numbers, values = _ground(cells[:, 1] * columns + cells[:, 0], sound[:, 2], chosen)
    heights[numbers] = values
    x, y = (first + 0.5) * size  # heights belong to cells; our nodes are their centres
    return RawGrid(heights=heights.reshape(rows, columns), resolution=size, origin_x=float(x), origin_y=float(y))


def _sound(points: ArrayLike) -> Array:
    try:
        given = np.asarray(points)
    except ValueError:  # rows of different lengths
        raise ValueError("points: must be n x 3 numbers") from None
    if given.ndim != 2 or given.shape[1] != 3:
        raise ValueError(f"points: must be n x 3, got {' x '.join(map(str, given.shape)) or 'one value'}")
    if given.dtype.kind not in "fiu":
        raise ValueError(f"points: must be numbers, got {given.dtype}")
    if len(given) > POINT_LIMIT:
        raise ValueError(f"points: {len(given)} are too many (limit {POINT_LIMIT})")
    numbers = given.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore"):
        sound = numbers[(np.abs(numbers) <= LARGEST_COORDINATE).all(axis=1)]
    if not len(sound):
        raise ValueError(f"points: none of {len(given)} is finite")
    return sound


def _ground(cell: NDArray[np.int64], z: Array, chosen: CloudSettings) -> tuple[NDArray[np.int64], Array]:
    """Indices of the cells that have ground, and their heights."""
    order = np.lexsort((z, cell))
    cell, z = cell[order], z[order]
    new_cell = np.append(True, cell[1:] != cell[:-1])
    new_layer = new_cell | np.append(True, np.diff(z) > chosen.layer_m)
    start = np.flatnonzero(new_layer)
    count = np.diff(np.append(start, len(z)))
    opens_cell = new_cell[start]
    cell_of_layer = np.cumsum(opens_cell) - 1
    cell_count = np.bincount(cell_of_layer, count)[cell_of_layer]
    is_noise = (count <= chosen.strays) & (count < chosen.stray_share * cell_count)
    # The first layer of each cell that is not noise; where there is none, the first of all.
    ground = np.flatnonzero(opens_cell)
    solid = np.flatnonzero(~is_noise)
    owners, at = np.unique(cell_of_layer[solid], return_index=True)
    ground[owners] = solid[at]
    ground = ground[count[ground] >= chosen.least_points]
    # The quantile between the sorted points of a layer.
    index = chosen.quantile * (count[ground] - 1)
    below = start[ground] + np.floor(index).astype(np.int64)
    above = start[ground] + np.ceil(index).astype(np.int64)
    share = index - np.floor(index)
    return cell[start[ground]], z[below] * (1.0 - share) + z[above] * share
