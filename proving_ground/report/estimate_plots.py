"""Plots of an observer: estimates against truth ([Sanjurjo], Figs. 5.22-5.29) with 95 % bands, innovations and NIS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proving_ground.report.compared import Quantity
from proving_ground.report.drawing import Plot, finish, letters, png, rows_figure, shade_faults, svg
from proving_ground.report.run_record import Event, Innovations, RunRecord
from proving_ground.scenarios.plots import BAND, SENSOR_NAMES, draw_band, draw_line, frame_most, keep_in_view, thinned

Array = NDArray[np.float64]

OBSERVER, TRUTH = "tab:blue", "0.15"
MOST_DOTS = 6000  # of one diagram
MEAN_OF = 50  # samples of a sensor that are averaged for a point of the smoothed NIS
LARGEST_INNOVATION = 6.0  # standard deviations shown


def estimate_plots(quantities: Sequence[Quantity], events: Sequence[Event]) -> list[Plot]:
    """Plots of each quantity: estimate and truth above, the difference below."""
    with letters():
        return [_estimate_plot(quantity, events) for quantity in quantities]


def _estimate_plot(q: Quantity, events: Sequence[Event]) -> Plot:
    picture, (above, below) = rows_figure(2)
    shade_faults(above, events)
    shade_faults(below, events)
    shown = thinned(q.estimate)
    seconds, deviation = q.time_s[shown], q.deviation[shown]
    # Where sideslip is meaningless it is NaN, but its standard deviation is huge.
    known = np.where(np.isfinite(q.error[shown]), deviation, np.nan)
    draw_band(above, seconds, q.estimate[shown], known, OBSERVER)
    above.plot(seconds, q.estimate[shown], color=OBSERVER, linewidth=1.2, label="estimate")
    draw_line(above, q.time_s, q.truth, color=TRUTH, linewidth=0.9, linestyle="--", label="truth")
    both = np.concatenate([q.truth, q.estimate])
    both = both[np.isfinite(both)]
    if len(both):
        low, high = np.quantile(both, [0.002, 0.998])
        room = 0.08 * (high - low) + 1e-3
        above.set_ylim(min(low, *np.quantile(q.truth[np.isfinite(q.truth)], [0.0])) - room, high + room)
    keep_in_view(above)
    finish(above, q.name, q.unit)
    draw_band(below, seconds, np.zeros(len(seconds)), known, OBSERVER)
    draw_line(below, q.time_s, q.error, color=OBSERVER, linewidth=0.9)
    frame_most(below, q.error, BAND * known)
    below.set_ylabel(f"error [{q.unit}]", labelpad=1.0)
    below.grid(True, alpha=0.3, linewidth=0.6)
    below.set_xlim(q.time_s[0], max(q.time_s[-1], q.time_s[0] + 1e-3))
    words = (
        f"{q.name}: estimate and truth over time, and their difference in the band where 95 % are expected; root mean "
        f"square error {q.rms:.3g} {q.unit}, {q.share_inside:.0%} inside the band."
    )
    return Plot(q.name, svg(picture), words)


def innovation_plots(record: RunRecord) -> list[Plot]:
    """A plot of innovations over time for each sensor."""
    with letters():
        return [
            _innovation_plot(sensor_name(name), item, record)
            for name, item in record.innovations.items()
            if len(item.time_s)
        ]


def sensor_name(name: str) -> str:
    """Name of a sensor in words, as a heading."""
    words = SENSOR_NAMES.get(name, name)
    return words[:1].upper() + words[1:]


def _innovation_plot(name: str, item: Innovations, record: RunRecord) -> Plot:
    has_values = item.values is not None
    picture, axes = rows_figure(2 if has_values else 1)
    for axis in axes:
        shade_faults(axis, record.events)
        axis.set_xlim(0.0, max(record.duration_s, 1e-3))
        axis.grid(True, alpha=0.3, linewidth=0.6)
    if item.values is not None:
        _draw_innovations(axes[0], item.time_s, item.values)
    title = f"{name}: innovations over their deviation" if has_values else f"{name}: NIS per degree of freedom"
    finish(axes[0], title, "")
    time, mean = _smoothed(item.time_s, item.nis)
    draw_line(axes[-1], time, mean, color=OBSERVER, linewidth=1.0)
    axes[-1].axhline(1.0, color=TRUTH, linewidth=0.8, linestyle="--")
    axes[-1].set_ylim(0.0, max(2.0, 1.3 * float(np.quantile(mean, 0.99))))
    axes[-1].set_ylabel("NIS (mean)" if has_values else "", labelpad=1.0)
    words = f"{name}: innovations and their squares (NIS) over time; mean NIS {item.nis.mean():.2f}, 1 is expected."
    return Plot(name, png(picture), words)


def _draw_innovations(axis: object, time: Array, values: Array) -> None:
    used = np.flatnonzero(np.any(values != 0.0, axis=0))
    every = max(len(time) * len(used) // MOST_DOTS, 1)
    for k in used:
        shown = np.clip(values[::every, k], -LARGEST_INNOVATION, LARGEST_INNOVATION)
        axis.plot(time[::every], shown, ".", markersize=1.6)  # type: ignore[attr-defined]
    for limit in (-BAND, BAND):
        axis.axhline(limit, color=TRUTH, linewidth=0.8, linestyle="--")  # type: ignore[attr-defined]
    axis.set_ylim(-LARGEST_INNOVATION, LARGEST_INNOVATION)  # type: ignore[attr-defined]


def _smoothed(time: Array, nis: Array) -> tuple[Array, Array]:
    """Means over this many samples each."""
    size = min(MEAN_OF, max(len(nis) // 10, 1))
    count = len(nis) // size
    return time[: count * size].reshape(count, size).mean(axis=1), nis[: count * size].reshape(count, size).mean(axis=1)
