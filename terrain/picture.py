"""A world as a picture: shaded relief with contour lines, soils by colour, obstacles, scale, start and goal."""

from __future__ import annotations

import io
import itertools
import math
from typing import Any

import numpy as np

from terrain.elevation_map import Array, ElevationMap
from terrain.world import World

LONGEST_SIDE_PIXELS = 1400  # of the relief; large maps are drawn from fewer nodes
SOIL_COLOURS = {
    "hard": "#b9b9b5", "wet": "#8093a3", "ice": "#bfe3ee", "dry_sand": "#ecd28a", "lete_sand": "#d9b26a",
    "sandy_loam": "#b5b27a", "clay": "#b0764f", "heavy_clay": "#8c5a44", "snow": "#eef3f6",
}  # fmt: skip
OTHER_COLOURS = ("#c99ab5", "#6f9e97", "#8fae6b", "#9a8fc0", "#c9a88f")  # of soils that are not named above
SUN = np.array([-0.5, 0.5, math.sqrt(0.5)])  # towards it: from the north-west, 45 degrees high
STEEP = 0.5  # flatter worlds are drawn as if their steepest slope were this
MOST_EXAGGERATED = 8.0
LEAST_CONTOUR_M = 0.02
LEAST_RELIEF_FOR_LABELS_M = 0.5


def world_picture(world: World, description: str = "", width_inches: float = 10.0, dpi: int = 110) -> bytes:
    """Map of a world from above, as the bytes of a PNG; description: text in its title."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    ground = _thinned(world.ground)
    span_x, span_y = (high - low for low, high in (ground.x_limits, ground.y_limits))
    height = min(max(0.85 * width_inches * span_y / span_x, 1.2), 12.0) + 1.5
    picture = Figure(figsize=(width_inches, height), layout="constrained")
    axis = picture.subplots()
    axis.set_title(f"{world.name}: {description}" if description else world.name, fontsize=11)
    handles = [*draw_relief(axis, ground), *draw_contours(axis, ground, world), *draw_survey(axis, world)]
    handles += [*draw_obstacles(axis, world), *_draw_poses(axis, world, max(span_x, span_y))]
    axis.set(xlim=ground.x_limits, ylim=ground.y_limits, aspect="equal", xlabel="x [m]", ylabel="y [m]")
    _draw_scale(axis, ground)
    picture.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 6), fontsize=8, frameon=False)
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def _thinned(ground: ElevationMap) -> ElevationMap:
    step = math.ceil(max(ground.shape) / LONGEST_SIDE_PIXELS)
    return ground if step == 1 else ground.resampled(step * ground.resolution)


def draw_relief(axis: Any, ground: ElevationMap) -> list[Any]:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    names, free = ground.soil_names, itertools.cycle(OTHER_COLOURS)
    colours = [SOIL_COLOURS.get(name) or next(free) for name in names]
    soils = np.zeros(ground.shape, np.uint8) if ground.soils is None else ground.soils
    paint = np.array([to_rgb(colour) for colour in colours])[soils]
    (left, right), (low, high), half = ground.x_limits, ground.y_limits, 0.5 * ground.resolution
    axis.imshow(
        np.clip(paint * (_light(ground) * _tint(ground))[..., None], 0.0, 1.0),
        origin="lower",
        extent=(left - half, right + half, low - half, high + half),
    )
    return [Patch(facecolor=colours[number], edgecolor="0.4", label=names[number]) for number in np.unique(soils)]


def _light(ground: ElevationMap) -> Array:
    """Brightness of each node: 1 where it is level."""
    across, along = np.gradient(ground.heights.astype(np.float64), ground.resolution)
    steep = float(np.quantile(np.hypot(across, along), 0.98))
    rise = min(max(STEEP / steep, 1.0), MOST_EXAGGERATED) if steep > 0.0 else 1.0
    towards = SUN[2] - rise * (along * SUN[0] + across * SUN[1])
    lit = np.maximum(towards, 0.0) / np.sqrt(1.0 + rise**2 * (along**2 + across**2)) / SUN[2]
    return np.asarray(0.3 + 0.7 * np.minimum(lit, 1.3))


def _tint(ground: ElevationMap) -> Array:
    """Brightness of each node: low ground is darker."""
    low, high = float(ground.heights.min()), float(ground.heights.max())
    return np.asarray(0.8 + 0.25 * (ground.heights - low) / (high - low) if high > low else np.ones(ground.shape))


def draw_contours(axis: Any, ground: ElevationMap, world: World) -> list[Any]:
    from matplotlib.lines import Line2D

    low, high = float(ground.heights.min()), float(ground.heights.max())
    interval = max(_round_number((high - low) / 6.0), LEAST_CONTOUR_M) if high > low else 1.0
    numbers = np.arange(math.floor(low / interval), math.ceil(high / interval) + 1)
    # Slightly above round numbers: level ground at a round height would be full of lines.
    levels = (numbers + 0.01) * interval
    levels = levels[(levels > low) & (levels < high)]
    if not len(levels):
        return []
    heights = ground.heights
    if world.surveyed is not None and world.surveyed.shape == ground.shape:
        heights = np.where(world.surveyed, heights, np.float32(np.nan))
    lines = axis.contour(ground.node_x(), ground.node_y(), heights, levels, colors="0.2", linewidths=0.5, alpha=0.7)
    if high - low > LEAST_RELIEF_FOR_LABELS_M:
        axis.clabel(lines, levels[::2], fontsize=6, fmt=lambda level: f"{round(level / interval) * interval:g}")
    return [Line2D([], [], color="0.2", linewidth=0.5, label=f"contours every {interval:g} m")]


def draw_survey(axis: Any, world: World) -> list[Any]:
    from matplotlib.patches import Patch

    if world.surveyed is None:
        return []
    ground = world.ground
    axis.contourf(
        ground.node_x(), ground.node_y(), world.surveyed.astype(float), [-1.0, 0.5],
        colors=["white"], alpha=0.85, hatches=["//"],
    )  # fmt: skip
    return [Patch(facecolor="white", edgecolor="0.5", hatch="//", label="not surveyed")]


def draw_obstacles(axis: Any, world: World) -> list[Any]:
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, Patch, Polygon

    handles: list[Any] = []
    axis.add_collection(LineCollection(list(world.markings.reshape(-1, 2, 2)), colors="white", linewidths=0.8))
    boxes = [*world.obstacles.boxes, *(item.box() for item in world.obstacles.meshes)]
    if boxes:
        shapes = PatchCollection([Polygon(box.corners()) for box in boxes], edgecolor="0.25", linewidth=0.6)
        shapes.set(array=np.array([box.height for box in boxes]), cmap="copper_r", clim=(-5.0, 45.0))
        axis.add_collection(shapes)
        handles.append(Patch(facecolor="#c98e5a", edgecolor="0.25", label=f"{len(boxes)} boxes (darker: higher)"))
    if world.obstacles.cylinders:
        for item in world.obstacles.cylinders:
            axis.add_patch(Circle((item.x, item.y), item.radius, facecolor=_post_colour(item.height), edgecolor="none"))
        # Posts are small: a dot shows the position, the circle the radius.
        x, y = zip(*((item.x, item.y) for item in world.obstacles.cylinders), strict=True)
        colours = [_post_colour(item.height) for item in world.obstacles.cylinders]
        axis.scatter(x, y, s=9.0, c=colours, edgecolors="white", linewidths=0.3, zorder=3)
        for is_high, words in ((False, "posts"), (True, "trees")):
            count = sum((item.height > 2.0) == is_high for item in world.obstacles.cylinders)
            if count:
                colour = _post_colour(3.0 if is_high else 1.0)
                handles.append(
                    Line2D([], [], linestyle="", marker="o", markersize=4, color=colour, label=f"{count} {words}")
                )
    return handles


def _post_colour(height: float) -> str:
    return "#1e5c2b" if height > 2.0 else "#d01c1c"


def _draw_poses(axis: Any, world: World, span: float) -> list[Any]:
    from matplotlib.lines import Line2D

    start, reach = world.start, 0.05 * span
    axis.annotate(
        "",
        xy=(start.x + reach * math.cos(start.heading), start.y + reach * math.sin(start.heading)),
        xytext=(start.x, start.y),
        arrowprops={"arrowstyle": "-|>", "color": "#0b4fb3", "linewidth": 2.0, "shrinkA": 0.0, "shrinkB": 0.0},
        zorder=5,
    )
    look: dict[str, Any] = {"linestyle": "", "markeredgecolor": "white", "zorder": 5}
    axis.plot(start.x, start.y, marker="o", markersize=8, color="#0b4fb3", **look)
    handles = [Line2D([], [], marker="o", markersize=7, color="#0b4fb3", linestyle="", label="start")]
    if world.goal is not None:
        axis.plot(world.goal.x, world.goal.y, marker="*", markersize=15, color="#c2127f", **look)
        handles.append(Line2D([], [], marker="*", markersize=10, color="#c2127f", linestyle="", label="goal"))
    return handles


def _draw_scale(axis: Any, ground: ElevationMap) -> None:
    """A bar of a round length in the lower right corner."""
    from matplotlib.patches import Rectangle

    (left, right), (low, _) = ground.x_limits, ground.y_limits
    length = _round_number(0.15 * (right - left))
    edge, thick = 0.012 * (right - left), 0.005 * (right - left)
    begin, under = right - 1.5 * edge - length, low + edge
    room = Rectangle((begin - 0.5 * edge, under - 0.5 * edge), length + edge, 2.9 * edge)
    room.set(facecolor="white", alpha=0.75, edgecolor="none", zorder=6)
    axis.add_patch(room)
    for number, colour in enumerate(("black", "white")):
        half = Rectangle((begin + 0.5 * number * length, under), 0.5 * length, thick)
        half.set(facecolor=colour, edgecolor="black", linewidth=0.6, zorder=7)
        axis.add_patch(half)
    axis.text(
        begin + 0.5 * length, under + 1.2 * thick, f"{length:g} m", ha="center", va="bottom", fontsize=8, zorder=7
    )


def _round_number(about: float) -> float:
    """1, 2 or 5 times a power of ten, not far below."""
    power = 10.0 ** math.floor(math.log10(about))
    return next(factor for factor in (5.0, 2.0, 1.0) if factor * power <= about * 1.0000001) * power
