"""Pictures of a replay, as Figs. 5.22-5.29 of [Sanjurjo]: GPS, observer and truth over time; errors; innovations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.recording.figures import Errors, rotated, yaw_of
from proving_ground.recording.offline import Replay
from proving_ground.scenarios.plots import BAND, SENSOR_NAMES, draw_band, frame_most, png

Array = NDArray[np.float64]
Draw = Callable[[str, Replay, Errors | None, Array], bytes | None]

GPS, OBSERVER, TRUTH = "tab:green", "tab:blue", "0.15"
THREE = 3.0  # standard deviations: nearly all of a normal distribution
MOST_POINTS = 20_000  # of a line: more are not visible
AXES = ("east", "north")
NS = 1e-9


def position_figure(title: str, replay: Replay, off: Errors | None, shift: Array) -> bytes:
    """Position east and north over time with its 95 % band, as [Sanjurjo] Figs. 5.22, 5.23, 5.26, 5.27."""
    estimates, truth, zero = _thinned(replay.estimates), _thinned(replay.truth), _zero(replay)
    picture, axes = _figure(title, 2)
    for k, axis in enumerate(axes):
        seconds = (estimates["time_ns"] - zero) * NS
        draw_band(axis, seconds, estimates["position"][:, k], np.sqrt(estimates["position_variance"][:, k]), OBSERVER)
        _dots(axis, (replay.fixes["time_ns"] - zero) * NS, replay.fixes["position"][:, k])
        axis.plot(seconds, estimates["position"][:, k], color=OBSERVER, linewidth=1.2, label="observer")
        if len(truth):
            axis.plot(
                (truth["time_ns"] - zero) * NS, truth["position"][:, k] + shift[k],
                color=TRUTH, linewidth=1.0, linestyle="--", label="truth",
            )  # fmt: skip
        _finish(axis, f"position {AXES[k]} [m]")
    return _png(picture, axes)


def velocity_figure(title: str, replay: Replay, off: Errors | None, shift: Array) -> bytes:
    """Velocity east and north over time, as [Sanjurjo] Figs. 5.24, 5.25, 5.28, 5.29."""
    estimates, truth, zero = _thinned(replay.estimates), _thinned(replay.truth), _zero(replay)
    ours = rotated(estimates["attitude"], estimates["velocity"])
    std = _world_velocity_std(estimates, ours)
    fixes = replay.fixes[replay.fixes["has_velocity"]]
    picture, axes = _figure(title, 2)
    for k, axis in enumerate(axes):
        seconds = (estimates["time_ns"] - zero) * NS
        draw_band(axis, seconds, ours[:, k], std[:, k], OBSERVER)
        _dots(axis, (fixes["time_ns"] - zero) * NS, fixes["velocity"][:, k])
        axis.plot(seconds, ours[:, k], color=OBSERVER, linewidth=1.2, label="observer")
        if len(truth):
            true = rotated(truth["attitude"], truth["velocity"])[:, k]
            axis.plot((truth["time_ns"] - zero) * NS, true, color=TRUTH, linewidth=1.0, linestyle="--", label="truth")
        _finish(axis, f"velocity {AXES[k]} [m/s]")
    return _png(picture, axes)


def path_figure(title: str, replay: Replay, off: Errors | None, shift: Array) -> bytes:
    """Picture of the estimated and the true path from above; shift: as for figures.errors [m]."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(7.0, 7.0), layout="constrained")
    picture.suptitle(title, fontsize=11)
    axis = picture.subplots()
    estimates, truth = _thinned(replay.estimates), _thinned(replay.truth)
    _dots(axis, replay.fixes["position"][:, 0], replay.fixes["position"][:, 1])
    axis.plot(estimates["position"][:, 0], estimates["position"][:, 1], color=OBSERVER, linewidth=1.5, label="observer")
    if len(truth):
        positions = truth["position"] + shift
        axis.plot(positions[:, 0], positions[:, 1], color=TRUTH, linewidth=1.0, linestyle="--", label="truth")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_xlabel("east [m]")
    _finish(axis, "north [m]")
    return png(picture)


def errors_figure(title: str, replay: Replay, off: Errors | None, shift: Array) -> bytes | None:
    """Estimate less truth, with the observer's own bounds of three standard deviations."""
    if off is None:
        return None
    chosen = slice(None, None, max(len(off.time_ns) // MOST_POINTS, 1))
    seconds = (off.time_ns[chosen] - _zero(replay)) * NS
    slip_std = np.where(np.isfinite(off.sideslip), off.sideslip_std, np.nan)
    rows = (
        ("east [m]", off.position[:, 0], off.position_std[:, 0]),
        ("north [m]", off.position[:, 1], off.position_std[:, 1]),
        ("heading [°]", np.degrees(off.heading), np.degrees(off.heading_std)),
        ("speed [m/s]", off.speed, off.speed_std),
        ("sideslip [°]", np.degrees(off.sideslip), np.degrees(slip_std)),
    )
    picture, axes = _figure(f"{title}: estimate less truth", len(rows))
    for axis, (name, values, std) in zip(axes, rows, strict=True):
        axis.fill_between(
            seconds, -THREE * std[chosen], THREE * std[chosen],
            color=OBSERVER, alpha=0.15, linewidth=0.0, label="3 standard deviations",
        )  # fmt: skip
        axis.plot(seconds, values[chosen], color=OBSERVER, linewidth=1.0, label="error")
        _finish(axis, name)
        frame_most(axis, values, THREE * std)
    return _png(picture, axes)


def innovations_figure(title: str, replay: Replay, off: Errors | None, shift: Array) -> bytes | None:
    """Innovations of each sensor over their standard deviation: 95 % should be between the lines."""
    there = {name: item for name, item in replay.innovations.items() if len(item.time_ns)}
    if not there:
        return None
    picture, axes = _figure(f"{title}: innovations over their standard deviation", len(there))
    for axis, (name, item) in zip(axes, there.items(), strict=True):
        chosen = slice(None, None, max(len(item.time_ns) // MOST_POINTS, 1))
        seconds = (item.time_ns[chosen] - _zero(replay)) * NS
        for k in np.flatnonzero(np.any(item.values != 0.0, axis=0)):
            axis.plot(seconds, item.values[chosen, k], ".", markersize=2.0)
        for limit in (-BAND, BAND):
            axis.axhline(limit, color=TRUTH, linewidth=0.8, linestyle="--")
        axis.set_ylabel(f"{SENSOR_NAMES[name]}\nNIS {replay.health.mean_nis[name]:.2f}")
        axis.grid(True, alpha=0.3)
    return _png(picture, axes)


FIGURES: dict[str, Draw] = {
    "position": position_figure,
    "velocity": velocity_figure,
    "path": path_figure,
    "errors": errors_figure,
    "innovations": innovations_figure,
}


def _world_velocity_std(estimates: NDArray[np.void], velocity: Array) -> Array:
    """Standard deviation of the velocity east and north, from yaw and body velocity."""
    cosine, sine = np.cos(yaw := yaw_of(estimates["attitude"])), np.sin(yaw)
    jacobian = np.stack(
        [np.stack([-velocity[:, 1], cosine, -sine], axis=1), np.stack([velocity[:, 0], sine, cosine], axis=1)], axis=1
    )
    variance = np.einsum("nij,njk,nik->ni", jacobian, estimates["planar"], jacobian)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _thinned(rows: NDArray[np.void]) -> NDArray[np.void]:
    return rows[:: max(len(rows) // MOST_POINTS, 1)]


def _zero(replay: Replay) -> int:
    """Start time of the pictures [ns]."""
    parts = (replay.estimates, replay.fixes, replay.truth)
    return min(int(part["time_ns"].min()) for part in parts if len(part))


def _figure(title: str, count: int) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    picture = Figure(figsize=(9.0, 2.0 * count + 1.6 if count > 2 else 7.0), layout="constrained")
    picture.suptitle(title, fontsize=11)
    return picture, picture.subplots(count, 1, sharex=True, squeeze=False)[:, 0]


def _dots(axis: Any, across: Array, up: Array) -> None:
    if len(across):
        axis.plot(across, up, ".", color=GPS, markersize=4.0, alpha=0.7, label="GPS (antenna)")


def _finish(axis: Any, name: str) -> None:
    axis.set_ylabel(name)
    axis.grid(True, alpha=0.3)
    axis.legend(loc="best", fontsize=8, ncols=4)


def _png(picture: Any, axes: Any) -> bytes:
    axes[-1].set_xlabel("time [s]")
    return png(picture)
