"""Pictures of the study, as in [Sanjurjo] Figs. 4.4 to 4.20."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from state_observer.study.merit import NORMAL_95, Merit
from state_observer.study.parameters import Case

Array = NDArray[np.float64]

COLOURS = {
    "CEKF": "tab:red", "DEKF": "tab:blue", "UKF-FE": "tab:olive", "UKF-TR": "tab:green", "SCKF": "tab:pink",
    "DIEKFpm": "tab:purple", "errorEKF": "black",
}  # fmt: skip
MARKERS = {"CEKF": "s", "DEKF": "o", "UKF-FE": "v", "UKF-TR": "^", "SCKF": "P", "DIEKFpm": "X", "errorEKF": "D"}
TITLES = {
    "encoder": "encoders on the cranks",
    "coupler_gyro": "gyros on the couplers",
    "crank_gyro": "gyros on the cranks",
}
LEAST_RMS, MOST_RMS = 3e-3, 0.4  # [rad] a filter with a larger error has diverged
UNOBSERVABLE = 8.0  # where infinite condition numbers are drawn


def rms_picture(linkage: str, found: Mapping[Case, Merit], sensor_std: float) -> bytes:
    """RMS error over the sensor rate ([Sanjurjo] Figs. 4.4, 4.6, 4.11; 4.5, 4.10, 4.12)."""
    picture = _figure(12.0, 4.6)
    axes = picture.subplots(1, len(TITLES), sharey=True)
    for axis, (sensors, title) in zip(axes, TITLES.items(), strict=True):
        for (method, error), runs in _grouped(linkage, sensors, found).items():
            rates = [case.rate_hz for case in runs]
            values = [runs[case].rms for case in runs]
            shown = [value if value < MOST_RMS else np.nan for value in values]
            axis.plot(
                rates, shown, color=COLOURS.get(method, "0.5"), marker=MARKERS.get(method, "."), markersize=5,
                linewidth=1.3, linestyle="-" if error == "high" else "--", label=method if error == "high" else None,
                markerfacecolor=None if error == "high" else "white",
            )  # fmt: skip
        if sensors == "encoder":
            axis.axhline(sensor_std, color="0.6", linewidth=1.0)
            axis.text(200.0, 1.04 * sensor_std, "one reading", color="0.45", fontsize=8, va="bottom")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_ylim(LEAST_RMS, MOST_RMS)
        axis.invert_xaxis()
        _plain_ticks(axis, sorted({case.rate_hz for case in found}))
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("readings per second [Hz]")
        axis.grid(True, which="both", alpha=0.25)
    axes[0].set_ylabel("RMS error of crank angles [rad]")
    axes[-1].legend(fontsize=8, loc="lower left", ncols=2)
    words = linkage.replace("_", "-")
    picture.suptitle(f"{words}: solid with high, dashed with low modelling error; diverged or aborted runs left out")
    return _png(picture)


def interval_picture(title: str, times: Array, errors: Array, deviations: Array, limit: float) -> bytes:
    """Error of a crank angle with its 95 % confidence interval ([Sanjurjo] Figs. 4.9, 4.13)."""
    picture = _figure(9.0, 3.2)
    axis = picture.subplots()
    axis.fill_between(
        times, -NORMAL_95 * deviations, NORMAL_95 * deviations, color="tab:blue", alpha=0.2, linewidth=0.0,
        label="95 % interval of the filter",
    )  # fmt: skip
    axis.plot(times, errors, color="black", linewidth=0.9, label="error")
    axis.set_ylim(-limit, limit)
    axis.set_ylabel("crank angle error [rad]")
    _finish(axis, title)
    return _png(picture)


def lines_picture(title: str, label: str, times: Array, lines: Mapping[str, Array]) -> bytes:
    """Lines over time, as [Sanjurjo] Figs. 4.7 and 4.8."""
    picture = _figure(9.0, 3.2)
    axis = picture.subplots()
    for (name, values), style in zip(lines.items(), ("-", "--", ":", "-."), strict=False):
        axis.plot(times[: len(values)], values, style, linewidth=1.3, label=name)
    axis.set_ylabel(label)
    _finish(axis, title)
    return _png(picture)


def cost_picture(factors: Mapping[str, Mapping[str, float]]) -> bytes:
    """Real-time factor of each filter on each linkage ([Sanjurjo] Fig. 4.14)."""
    picture = _figure(9.0, 3.4)
    axis = picture.subplots()
    methods = list(next(iter(factors.values())))
    width = 0.8 / len(factors)
    for axes_box, (linkage, values) in enumerate(factors.items()):
        offsets = np.arange(len(methods)) + (axes_box - 0.5 * (len(factors) - 1)) * width
        bars = axis.bar(offsets, [values[method] for method in methods], width, label=linkage.replace("_", "-"))
        axis.bar_label(bars, fmt="%.0f", fontsize=8, padding=2)
    axis.set_xticks(range(len(methods)), methods)
    axis.set_yscale("log")
    axis.margins(y=0.15)
    axis.set_yticks([10, 30, 100, 300, 1000], ["10", "30", "100", "300", "1000"])
    axis.set_yticks([], minor=True)
    axis.set_ylabel("times real time")
    axis.set_title("Speed on one core: encoders at 200 Hz, steps of 5 ms", fontsize=10)
    axis.grid(True, axis="y", alpha=0.25)
    axis.legend(fontsize=8)
    return _png(picture)


def observability_picture(linkage: str, step: float, conditions: Mapping[tuple[str, str], Array]) -> bytes:
    """log10 of the condition number along a run, EKF beside UKF ([Sanjurjo] Figs. 4.15 to 4.20)."""
    picture = _figure(12.0, 3.6)
    axes = picture.subplots(1, len(TITLES), sharey=True)
    for axis, (sensors, title) in zip(axes, TITLES.items(), strict=True):
        for (method, of_sensors), values in conditions.items():
            if of_sensors == sensors:
                shown = np.minimum(values, UNOBSERVABLE)
                times = step * np.arange(1, len(values) + 1)
                is_first = method == "DEKF"
                axis.plot(
                    times, shown, color=COLOURS[method], linewidth=2.4 if is_first else 1.0,
                    alpha=0.5 if is_first else 1.0, label=method,
                )  # fmt: skip
        axis.axhline(UNOBSERVABLE, color="0.6", linewidth=0.8, linestyle=":")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("time [s]")
        axis.margins(x=0.0)
        axis.grid(True, alpha=0.25)
    axes[0].set_ylabel("log10 of condition number")
    axes[0].set_ylim(0.0, UNOBSERVABLE + 0.6)
    axes[0].text(0.1, UNOBSERVABLE - 0.1, "infinite: not observable", fontsize=8, color="0.4", va="top")
    axes[0].legend(fontsize=8, loc="center right")
    picture.suptitle(f"{linkage.replace('_', '-')}: local observability, lower is better", fontsize=11)
    return _png(picture)


def psd_picture(title: str, spectra: Mapping[str, tuple[Array, Array]]) -> bytes:
    """Power spectral density of normalised innovations: flat at 0 dB for a consistent filter (Section 4.7)."""
    picture = _figure(9.0, 3.4)
    axis = picture.subplots()
    for name, (frequencies, density) in spectra.items():
        decibels = 10.0 * np.log10(density * frequencies[-1])
        axis.plot(frequencies, decibels, color=COLOURS.get(name), linewidth=1.1, label=name)
    axis.axhline(0.0, color="0.5", linewidth=0.8)
    axis.set_xlabel("frequency [Hz]")
    axis.set_ylabel("PSD over that of white noise [dB]")
    axis.set_title(title, fontsize=10)
    axis.margins(x=0.0)
    axis.grid(True, alpha=0.25)
    axis.legend(fontsize=8, ncols=4)
    return _png(picture)


def _grouped(linkage: str, sensors: str, found: Mapping[Case, Merit]) -> dict[tuple[str, str], dict[Case, Merit]]:
    groups: dict[tuple[str, str], dict[Case, Merit]] = {}
    for case, merit in found.items():
        if case.linkage == linkage and case.sensors == sensors:
            groups.setdefault((case.method, case.error), {})[case] = merit
    return groups


def _plain_ticks(axis: Any, rates: list[int]) -> None:
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    axis.set_xticks(rates, [str(rate) for rate in rates])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.set_yticks([0.003, 0.01, 0.03, 0.1, 0.3])
    axis.yaxis.set_major_formatter(ScalarFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())


def _finish(axis: Any, title: str) -> None:
    axis.set_title(title, fontsize=10)
    axis.set_xlabel("time [s]")
    axis.margins(x=0.0)
    axis.grid(True, alpha=0.25)
    axis.legend(fontsize=8, loc="upper right", ncols=3)


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    return Figure(figsize=(width, height), layout="constrained")


def _png(picture: Any) -> bytes:
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
