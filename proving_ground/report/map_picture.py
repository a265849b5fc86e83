"""The path of one or more runs from above, over the world's ground, roads and obstacles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.report.drawing import FAULT_COLOUR, Plot, letters, png
from proving_ground.report.run_record import RunRecord
from proving_ground.scenarios.plots import scale_path
from proving_ground.settings import SettingsError
from terrain.picture import draw_contours, draw_obstacles, draw_relief, draw_survey
from terrain.world import World
from terrain.worlds import load_world

Array = NDArray[np.float64]
Span = tuple[float, float]

WIDTH_INCHES, DPI = 7.0, 150
LONGEST_SIDE = 600  # nodes of the ground that is drawn
LEAST_MARGIN_M, MARGIN = 12.0, 0.12  # around the path; share of its size
FLATTEST = 0.35  # height of the map over its width, at least; and the other way round
COLOURS = ("#0b4fb3", "#d1495b", "#2a7f3f", "#8a4fbf", "#b86e00", "#008a9a")
ESTIMATE = "#ffd500"


def map_of(records: Sequence[RunRecord], world: World | None) -> Plot | None:
    """Map of the world with the paths of runs; None where no run has positions."""
    there = [record for record in records if {"x_m", "y_m"} <= set(record.channels)]
    if not there:
        return None
    with letters():
        return _draw(there, world)


def world_of(record: RunRecord) -> tuple[World | None, str]:
    """The world of a run, rebuilt; or None and the reason."""
    if not record.world:
        return None, ""
    try:
        return load_world(record.world), ""
    except SettingsError as error:
        return None, f"the map has no world behind it: {error}"


def _draw(records: Sequence[RunRecord], world: World | None) -> Plot:
    from matplotlib.figure import Figure

    x_span, y_span = _frame(records, world)
    width, height = (high - low for low, high in (x_span, y_span))
    picture = Figure(figsize=(WIDTH_INCHES, min(max(0.88 * WIDTH_INCHES * height / width, 2.0), 8.0) + 0.9))
    picture.set_layout_engine("constrained")
    axis = picture.subplots()
    behind = _draw_world(axis, world, x_span, y_span) if world is not None else []
    paths = _draw_paths(axis, records, has_world=bool(behind))
    if behind:
        axis.set(xlim=x_span, ylim=y_span, aspect="equal", xlabel="x [m]", ylabel="y [m], to the left")
        to_scale = True
    else:
        axis.grid(True, alpha=0.3)
        true_x, true_y = (np.concatenate([record.channels[key] for record in records]) for key in ("x_m", "y_m"))
        to_scale = scale_path(axis, float(np.ptp(true_x)), float(np.ptp(true_y)))
    handles = [*paths, *behind]
    picture.legend(
        handles=handles, loc="outside lower center", ncols=min(len(handles), 4), fontsize=8, frameon=False
    )  # fmt: skip
    caption = "" if to_scale else "x and y have scales of their own."
    return Plot("Map", png(picture, DPI), f"{_words(records, world)} {caption}".strip(), is_wide=True, caption=caption)


def _frame(records: Sequence[RunRecord], world: World | None) -> tuple[Span, Span]:
    """Visible part of the world: paths and goals, with a margin, not too narrow."""
    spans = []
    for number, key in enumerate(("x_m", "y_m")):
        values = [np.array([record.channels[key].min(), record.channels[key].max()]) for record in records]
        values += [np.array([record.goal[number]]) for record in records if record.goal is not None]
        every = np.concatenate(values)
        spans.append((float(every.min()), float(every.max())))
    sizes = [high - low for low, high in spans]
    margin = max(LEAST_MARGIN_M, MARGIN * max(sizes))
    sizes = [size + 2.0 * margin for size in sizes]
    least = FLATTEST * max(sizes)
    limits = (world.ground.x_limits, world.ground.y_limits) if world is not None else ((-math.inf, math.inf),) * 2
    x, y = (
        _around(span, max(size, least), limit) for span, size, limit in zip(spans, sizes, limits, strict=True)
    )  # fmt: skip
    return x, y


def _around(span: Span, size: float, limits: Span) -> Span:
    """Interval of that size around the span; within the limits, unless the span is not."""
    (low, high), middle = span, 0.5 * sum(span)
    return min(low, max(middle - 0.5 * size, limits[0])), max(high, min(middle + 0.5 * size, limits[1]))


def _draw_world(axis: Any, world: World, x_span: Span, y_span: Span) -> list[Any]:
    """Draw the world; returns handles for the legend, none where the frame does not overlap the world."""
    try:
        ground = world.ground.cropped(x_span, y_span)
    except ValueError:
        return []
    step = math.ceil(max(ground.shape) / LONGEST_SIDE)
    if step > 1:
        ground = ground.resampled(step * ground.resolution)
    part = replace(world, ground=ground, surveyed=None)
    handles = [*draw_relief(axis, ground), *draw_contours(axis, ground, part)]
    return [*handles, *draw_survey(axis, world), *draw_obstacles(axis, world)]


def _draw_paths(axis: Any, records: Sequence[RunRecord], has_world: bool) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3.2, foreground="white", alpha=0.7)] if has_world else None
    is_one = len(records) == 1
    look: dict[str, Any]
    for index, (record, colour) in enumerate(zip(records, _cycled(len(records)), strict=True)):
        x, y = record.channels["x_m"], record.channels["y_m"]
        if is_one and record.reference is not None and {"x_m", "y_m"} <= set(record.reference):
            r = record.reference
            axis.plot(r["x_m"], r["y_m"], color="0.25", linewidth=1.0, linestyle="--", label="reference", zorder=4)
        axis.plot(
            x, y, color=colour, linewidth=1.8, linestyle="--" if index % 2 else "-",
            label="path (truth)" if is_one else record.name, zorder=5, path_effects=halo,
        )  # fmt: skip
        if is_one and record.estimates is not None and len(record.estimates):
            track = record.estimates["position"][:: max(len(record.estimates) // 5000, 1)]
            axis.plot(
                track[:, 0],
                track[:, 1],
                color=ESTIMATE,
                linewidth=1.1,
                linestyle="--",
                label="path (estimate)",
                zorder=6,
            )
        if is_one:
            _draw_faults(axis, record)
        look = {"linestyle": "", "markeredgecolor": "white", "zorder": 8}
        axis.plot(x[:1], y[:1], marker="o", markersize=7, color=colour, label="start", **look)
        axis.plot(x[-1:], y[-1:], marker="s", markersize=7, color=colour, label="end", **look)
        if record.goal is not None:
            axis.plot(*record.goal, marker="*", markersize=14, color="#c2127f", label="goal", **look)
        for event in record.events if is_one else ():
            if event.kind == "collision":
                position = [float(np.interp(event.time_s, record.channels["time_s"], values)) for values in (x, y)]
                axis.plot(*position, marker="X", markersize=9, color="#b3261e", label="collision", **look)
    handles: dict[str, Any] = {}
    for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
        is_mark = label in ("start", "end") and not is_one
        handles.setdefault(
            label, Line2D([], [], marker=handle.get_marker(), color="0.3", linestyle="") if is_mark else handle
        )
        handles[label].set_label(label)
    return list(handles.values())


def _draw_faults(axis: Any, record: RunRecord) -> None:
    time, x, y = (record.channels[key] for key in ("time_s", "x_m", "y_m"))
    label: str | None = "fault"
    for event in record.events:
        if event.kind == "fault" and event.length_s is not None:
            part = (time >= event.time_s) & (time <= event.time_s + event.length_s)
            axis.plot(x[part], y[part], color=FAULT_COLOUR, linewidth=6.0, alpha=0.6, label=label, zorder=4)
            label = None


def _cycled(count: int) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(count)]


def _words(records: Sequence[RunRecord], world: World | None) -> str:
    paths = []
    for record in records:
        x, y = record.channels["x_m"], record.channels["y_m"]
        length = float(np.hypot(np.diff(x), np.diff(y)).sum())
        paths.append(
            f"{record.name}: {length:.0f} m from x {x[0]:.1f}, y {y[0]:.1f} m to x {x[-1]:.1f}, y {y[-1]:.1f} m"
        )
    where = f" in world {world.name}" if world is not None else ""
    return f"The path from above{where}. {'; '.join(paths)}."
