"""Pictures of a campaign's results: distributions, success over inputs, metrics over inputs, where runs ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proving_ground.campaigns.perform import PASSED, VERDICTS
from proving_ground.campaigns.rules import wilson
from proving_ground.campaigns.summary import counts, numbers
from proving_ground.report.drawing import Plot, finish, letters, png, svg
from proving_ground.report.words import name_and_unit
from terrain.world import World

Array = NDArray[np.float64]

COLOURS = dict(zip(VERDICTS, ("#2a7f3f", "#d1495b", "#8a4fbf", "#1c2430", "#b86e00"), strict=True))
MARKS = dict(zip(VERDICTS, ("o", "X", "D", "s", "^"), strict=True))  # distinguishable without colours
SIZE = (5.4, 2.9)
MOST_DOTS = 1500  # beyond, a raster image is smaller than vector dots
BINS = 24
RATE_BINS = 8
MANY = 300  # runs beyond which dots are drawn smaller
MOST_CELLS = 16  # along each side of a matrix
LONGEST_SIDE = 500  # nodes of the ground that is drawn


def histogram(table: pa.Table, metric: str, bounds: tuple[float, float]) -> Plot | None:
    """Histogram of a metric's values by verdict; bounds: at_least and at_most of the metric."""
    values, verdicts = numbers(table, f"metric.{metric}"), _verdicts(table)
    known = np.isfinite(values)
    if not known.any():
        return None
    with letters():
        picture, axis = _figure()
        groups = [(name, values[known & (verdicts == name)]) for name in counts(table)]
        groups = [(name, group) for name, group in groups if len(group)]
        axis.hist(
            [group for _, group in groups], bins=min(BINS, max(5, int(known.sum()) // 4)), stacked=True,
            color=[COLOURS[name] for name, _ in groups], label=[name for name, _ in groups],
        )  # fmt: skip
        for bound in bounds:
            if abs(bound) < 1e12:
                axis.axvline(bound, color="0.2", linestyle="--", linewidth=1.0)
        axis.set_ylabel("runs")
        axis.yaxis.get_major_locator().set_params(integer=True)
        finish(axis, *name_and_unit(metric))
        ends = f"{values[known].min():.4g} to {values[known].max():.4g}, median {np.median(values[known]):.4g}"
        return Plot(metric, svg(picture), f"Distribution of {metric}: {ends}")


def scatter(table: pa.Table, metric: str, name: str) -> Plot:
    """A metric over an input, by verdict."""
    ticks, labels = _ticks(table[f"input.{name}"].to_pylist())
    values, verdicts = numbers(table, f"metric.{metric}"), _verdicts(table)
    size = 16.0 if len(values) < MANY else 8.0
    with letters():
        picture, axis = _figure()
        for verdict in counts(table):
            part = (verdicts == verdict) & np.isfinite(values)
            axis.scatter(
                ticks[part], values[part], s=size, marker=MARKS[verdict], color=COLOURS[verdict], alpha=0.65,
                linewidths=0.0, label=verdict,
            )  # fmt: skip
        _name_ticks(axis, labels)
        axis.set_xlabel(_label(name), labelpad=2.0)
        finish(axis, *name_and_unit(metric))
        source = svg(picture) if len(values) <= MOST_DOTS else png(picture)
        return Plot(f"{metric} over {name}", source, f"{metric} of each run over {name}, coloured by verdict")


def success_over(table: pa.Table, name: str) -> Plot:
    """Success rate over an input, with 95 % intervals."""
    inputs, passed = table[f"input.{name}"].to_pylist(), _verdicts(table) == PASSED
    ticks, labels = _ticks(inputs)
    different = np.unique(ticks)
    if len(different) <= 2 * RATE_BINS:
        groups = [ticks == tick for tick in different]
    else:
        parts = np.array_split(np.argsort(ticks, kind="stable"), RATE_BINS)
        groups = [np.isin(np.arange(len(ticks)), part) for part in parts if len(part)]
    with letters():
        picture, axis = _figure()
        middles = np.array([ticks[group].mean() for group in groups])
        rates = np.array([passed[group].mean() for group in groups])
        ends = np.array([wilson(int(passed[group].sum()), int(group.sum())) for group in groups])
        axis.errorbar(
            middles, 100.0 * rates, yerr=100.0 * np.abs(ends.T - rates), fmt="o", color="#0b4fb3", capsize=3.0,
            markersize=4.0, linewidth=1.0,
        )  # fmt: skip
        axis.set(ylim=(-4.0, 104.0), xlabel=_label(name), ylabel="passed [%]")
        _name_ticks(axis, labels)
        finish(axis, f"Success over {_label(name)}", "", legend=False)
        words = ", ".join(f"{middle:.4g}: {rate:.0%}" for middle, rate in zip(middles, rates, strict=True))
        return Plot(f"Success over {name}", svg(picture), f"Share of runs that passed over {name}: {words}")


def matrix(table: pa.Table, first: str, second: str) -> Plot:
    """Success over two inputs with few values: go in green, no-go in red."""
    (y, y_names), (x, x_names) = (_codes(table[f"input.{name}"].to_pylist()) for name in (first, second))
    passed = (_verdicts(table) == PASSED).astype(float)
    total, good = (np.zeros((len(y_names), len(x_names))) for _ in range(2))
    np.add.at(total, (y, x), 1.0)
    np.add.at(good, (y, x), passed)
    share = np.divide(good, total, out=np.full_like(good, np.nan), where=total > 0)
    with letters():
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.figure import Figure

        picture = Figure(figsize=(7.0, 1.2 + 0.34 * len(y_names)), layout="constrained")
        axis = picture.subplots()
        shades = LinearSegmentedColormap.from_list("go", ["#e9a3a0", "#f3e6b3", "#9fd0a9"])
        axis.imshow(share, cmap=shades, vmin=0.0, vmax=1.0, aspect="auto")
        for row, column in np.argwhere(total > 0):
            value = share[row, column]
            text = "go" if value == 1.0 else "no" if value == 0.0 else f"{value:.0%}"
            axis.text(column, row, text, ha="center", va="center", fontsize=8)
        axis.set_xticks(range(len(x_names)), x_names)
        axis.set_yticks(range(len(y_names)), y_names)
        axis.set(xlabel=_label(second), ylabel=_label(first))
        words = "; ".join(
            f"{row}: {', '.join(f'{column} {share[i, j]:.0%}' for j, column in enumerate(x_names) if total[i, j])}"
            for i, row in enumerate(y_names)
        )
        return Plot("Go or no-go", svg(picture), f"Share that passed over {first} and {second}. {words}", is_wide=True)


def end_map(table: pa.Table, world: World | None) -> Plot | None:
    """End positions of runs, by verdict, over the ground of the base's world; None if no run has one."""
    x, y, verdicts = numbers(table, "end.x_m"), numbers(table, "end.y_m"), _verdicts(table)
    known = np.isfinite(x) & np.isfinite(y)
    if not known.any():
        return None
    with letters():
        from matplotlib.figure import Figure

        picture = Figure(figsize=(7.0, 5.2), layout="constrained")
        axis = picture.subplots()
        if world is not None:
            _draw_ground(axis, world)
        for verdict in counts(table):  # passed ones first, below the others
            part = known & (verdicts == verdict)
            axis.scatter(
                x[part], y[part], s=22.0, marker=MARKS[verdict], color=COLOURS[verdict], alpha=0.8,
                linewidths=0.4, edgecolors="white", label=f"{verdict} ({int(part.sum())})",
            )  # fmt: skip
        axis.set(xlabel="x [m]", ylabel="y [m], to the left")
        if world is not None:
            axis.set_aspect("equal")
        axis.grid(True, alpha=0.3, linewidth=0.6)
        picture.legend(loc="outside lower center", ncols=5, fontsize=8, frameon=False)
        missed = int((known & (verdicts != PASSED)).sum())
        scale = "" if world is not None else " x and y have scales of their own."
        words = f"End of {int(known.sum())} runs, {missed} not passed.{scale}"
        return Plot("Where runs ended", png(picture), words, is_wide=True)


def _draw_ground(axis: Any, world: World) -> None:
    ground = world.ground
    step = max(1, max(ground.shape) // LONGEST_SIDE)
    extent = (*ground.x_limits, *ground.y_limits)
    axis.imshow(ground.heights[::step, ::step], origin="lower", extent=extent, cmap="Greys", alpha=0.22)
    if world.goal is not None:
        look = {"markersize": 14, "markerfacecolor": "none", "markeredgecolor": "#c2127f"}
        axis.plot(world.goal.x, world.goal.y, "o", linestyle="", label="goal", **look)


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    picture = Figure(figsize=SIZE, layout="constrained")
    return picture, picture.subplots()


def _verdicts(table: pa.Table) -> NDArray[np.str_]:
    return np.array(table["verdict"].to_pylist(), dtype=str)


def _ticks(inputs: Sequence[float | str]) -> tuple[Array, list[str]]:
    """Positions to draw at; words get whole numbers, and are returned as labels."""
    if any(isinstance(item, str) for item in inputs):
        codes, names = _codes(inputs)
        return codes.astype(float), names
    return np.array(inputs, dtype=float), []


def _codes(inputs: Sequence[float | str]) -> tuple[NDArray[np.intp], list[str]]:
    different, codes = np.unique(np.array(inputs), return_inverse=True)
    return np.asarray(codes, np.intp), [item if isinstance(item, str) else f"{item:g}" for item in different.tolist()]


def _name_ticks(axis: Any, labels: Sequence[str]) -> None:
    if labels:
        axis.set_xticks(range(len(labels)), labels, rotation=30, ha="right")


def _label(name: str) -> str:
    words, unit = name_and_unit(name) if name.count(".") == 0 else (name, "")
    return f"{words} [{unit}]" if unit else words
