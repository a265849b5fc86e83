"""The ground for the page: few triangles where it is smooth, many at kerbs, textured with a picture of its soils."""

from __future__ import annotations

import io
import itertools
import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from terrain.elevation_map import ElevationMap
from terrain.picture import OTHER_COLOURS, SOIL_COLOURS
from terrain.world import World

Array = NDArray[np.float64]
Floats = NDArray[np.float32]

PICTURE_PIXELS = 2048  # of the longer side
EVEN_SHARE = 0.4  # share of lines at even spacing; the others go where the ground bends
KERB_STEP_M = 0.05  # height above the road that marks a block
KERB_STONE_M, PAVEMENT_M = 0.3, 4.0  # from the edge of a block
ASPHALT, STONE, PAVEMENT, YARD = (74, 77, 82), (196, 194, 188), (158, 155, 149), (126, 139, 98)
PAINT, PAINT_M = (236, 234, 222), 0.16
OFF_ROAD = {
    "hard": "#a7a394",
    "sandy_loam": "#8f9460",
    "dry_sand": "#d8bd7c",
    "clay": "#a8714e",
}  # more saturated than in pictures
SUN = np.array([-0.45, -0.35, 0.82]) / np.linalg.norm([-0.45, -0.35, 0.82])
GRID_HALF_M = 500.0  # of the ground where there is no world


@dataclass(frozen=True, eq=False)
class GroundView:
    """Triangles of the ground with a picture on it."""

    vertices: Floats  # n x 3 [m]
    faces: NDArray[np.uint32]  # m x 3
    uv: Floats  # n x 2: texture coordinates, from the lower left corner
    picture: NDArray[np.uint8]  # rows from north to south x columns x 3

    def to_glb(self) -> bytes:
        """The ground as the bytes of a binary glTF file."""
        from PIL import Image

        trimesh: Any = import_module("trimesh")  # slow to import, and untyped in part
        material = trimesh.visual.material.PBRMaterial(
            baseColorTexture=_packed(Image.fromarray(self.picture)), metallicFactor=0.0, roughnessFactor=1.0
        )
        visual = trimesh.visual.TextureVisuals(uv=self.uv, material=material)
        mesh = trimesh.Trimesh(self.vertices, self.faces, visual=visual, process=False)
        return bytes(trimesh.exchange.gltf.export_glb(trimesh.Scene(mesh), include_normals=True))


def ground_view(world: World, triangles: int) -> GroundView:
    """View of a world with about this many triangles."""
    ground = world.ground
    rows, columns = _lines(ground, triangles)
    x, y = ground.node_x()[columns], ground.node_y()[rows]
    grid_x, grid_y = np.meshgrid(x, y)
    vertices: Array = np.stack(
        (grid_x, grid_y, ground.heights[np.ix_(rows, columns)]), axis=-1, dtype=np.float64
    ).reshape(-1, 3)
    (left, right), (low, high) = ground.x_limits, ground.y_limits
    uv = np.column_stack(((vertices[:, 0] - left) / (right - left), (vertices[:, 1] - low) / (high - low)))
    corner = np.arange(len(vertices), dtype=np.uint32).reshape(len(y), len(x))
    a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, :-1], corner[1:, 1:]
    faces = np.stack((np.stack((a, b, d), axis=-1), np.stack((a, d, c), axis=-1)), axis=2).reshape(-1, 3)
    return GroundView(vertices.astype(np.float32), faces, uv.astype(np.float32), ground_picture(world))


def _lines(ground: ElevationMap, triangles: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the map that are kept."""
    rows, columns = ground.shape
    per_cell = math.sqrt(0.5 * triangles / (rows * columns))
    counts = (max(round(count * per_cell), 2) for count in (rows, columns))
    chosen = (kept_lines(_bend(ground.heights, axis), count) for axis, count in enumerate(counts))
    first, second = chosen
    return first, second


def _bend(heights: Floats, axis: int) -> Array:
    """Mean curvature of the ground along each row or column: large for a kerb that runs along it."""
    second = np.abs(np.diff(heights, 2, axis=axis)).mean(axis=1 - axis, dtype=np.float64)
    return np.concatenate(([0.0], second, [0.0]))


def kept_lines(bend: Array, count: int) -> NDArray[np.intp]:
    """Numbers of about `count` lines, ends included: some evenly spaced, the others where the ground bends most."""
    total = len(bend)
    if count >= total:
        return np.arange(total)
    even = np.linspace(0, total - 1, max(round(EVEN_SHARE * count), 2))
    weight = bend / bend.sum() if bend.sum() > 0.0 else np.full(total, 1.0 / total)
    wanted = count - len(even)
    for _ in range(8):  # no line can be chosen twice: the excess of one goes to the others
        weight = np.minimum(weight, 1.0 / max(wanted, 1))
        free = weight < 1.0 / max(wanted, 1)
        rest = 1.0 - weight[~free].sum()
        if not free.any() or weight[free].sum() <= 0.0:
            break
        weight = np.where(free, weight * rest / weight[free].sum(), weight)
    reached = np.cumsum(weight)
    bent = np.searchsorted(reached, (np.arange(wanted) + 0.5) / max(wanted, 1) * reached[-1])
    return np.unique(np.concatenate([np.rint(even).astype(np.intp), np.minimum(bent, total - 1)]))


def ground_picture(world: World) -> NDArray[np.uint8]:
    """Soils by colour, shaded; in a town roads, kerbs, pavements and painted lines. Rows from north to south."""
    ground = world.ground
    (left, right), (low, high) = ground.x_limits, ground.y_limits
    pixel = max(right - left, high - low) / PICTURE_PIXELS
    columns, rows = max(round((right - left) / pixel), 2), max(round((high - low) / pixel), 2)
    x = left + (np.arange(columns) + 0.5) * (right - left) / columns
    y = low + (np.arange(rows) + 0.5) * (high - low) / rows
    heights = np.stack([ground.height_at(x, np.full_like(x, position)) for position in y]).astype(np.float32)
    if len(world.markings):
        paint = _town(world, heights, pixel)
    else:
        soils = np.stack([ground.soil_at(x, np.full_like(x, position)) for position in y])
        paint = _soil_colours(ground)[soils] * _light(heights, pixel)[..., None]
    picture = np.clip(paint, 0.0, 255.0).astype(np.uint8)[::-1]
    return _with_markings(world, picture) if len(world.markings) else picture


def _soil_colours(ground: ElevationMap) -> Array:
    free = itertools.cycle(OTHER_COLOURS)
    texts = [OFF_ROAD.get(name) or SOIL_COLOURS.get(name) or next(free) for name in ground.soil_names]
    return np.array([list(bytes.fromhex(text.removeprefix("#"))) for text in texts], float)


def _light(heights: Floats, pixel: float) -> Array:
    """Brightness about 1, from slopes; low ground is a little darker."""
    smooth = ndimage.uniform_filter(heights, 3)
    across, along = np.gradient(smooth, pixel)
    lit = (SUN[2] - 2.0 * (along * SUN[0] + across * SUN[1])) / np.sqrt(1.0 + 4.0 * (along**2 + across**2)) / SUN[2]
    relief = float(np.ptp(heights))
    tint = (heights - heights.min()) / relief if relief > 0.0 else np.ones_like(heights)
    return np.asarray((0.6 + 0.4 * np.clip(lit, 0.0, 1.5)) * (0.88 + 0.12 * tint), float)


def _town(world: World, heights: Floats, pixel: float) -> Array:
    x, y = world.markings.reshape(-1, 2).T
    road = float(np.median(world.ground.height_at(x, y)))
    inside = ndimage.distance_transform_edt(heights > road + KERB_STEP_M) * pixel
    bands = np.digitize(inside, [1e-9, KERB_STONE_M, PAVEMENT_M])
    return np.asarray(np.array([ASPHALT, STONE, PAVEMENT, YARD], float)[bands])


def _with_markings(world: World, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    (left, right), high = world.ground.x_limits, world.ground.y_limits[1]
    image = Image.fromarray(np.ascontiguousarray(picture))
    pen = ImageDraw.Draw(image)
    scale = picture.shape[1] / (right - left)
    for x0, y0, x1, y1 in world.markings.tolist():
        line = ((x0 - left) * scale, (high - y0) * scale, (x1 - left) * scale, (high - y1) * scale)
        pen.line(line, fill=PAINT, width=max(round(PAINT_M * scale), 2))
    return np.asarray(image)


def _packed(image: Any) -> Any:
    """The picture as PNG, which keeps painted lines sharp, or as JPEG where that is smaller."""
    from PIL import Image

    png, jpeg = io.BytesIO(), io.BytesIO()
    image.save(png, format="PNG")
    image.save(jpeg, format="JPEG", quality=88)
    return Image.open(io.BytesIO(min(png.getvalue(), jpeg.getvalue(), key=len)))
