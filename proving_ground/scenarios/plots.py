"""Pictures of a run: speed, angles, lateral acceleration and yaw rate as in [Cameron] (Figs. 11-14), and more.

The functions for single diagrams are shared with reports and pictures of observers.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.interfaces.joints import CORNERS
from proving_ground.scenarios.channels import Channels

Array = NDArray[np.float64]

DEGREES = 180.0 / np.pi
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red")
BAND = 1.96  # standard deviations: 95 % of a normal distribution
SENSOR_NAMES = {
    "gps_position": "GPS position", "gps_velocity": "GPS velocity", "course": "course", "gyro": "gyroscopes",
    "accelerometer": "accelerometers", "wheels": "wheels",
}  # fmt: skip
BINS = 600  # of a thinned line: finer details are not visible


@dataclass(frozen=True)
class Panel:
    """A diagram over time: channels with their labels, in a unit."""

    title: str
    axis: str
    lines: tuple[tuple[str, str], ...]  # channel, label
    factor: float = 1.0
    most: float = np.inf  # largest value shown; a standing wheel's slip is 0/0


def wheel_panel(title: str, axis: str, name: str, factor: float, most: float = np.inf) -> Panel:
    """Panel of a channel `name` that each wheel has; axis: unit shown; factor: from the channel's unit to that one."""
    return Panel(title, axis, tuple((f"{name}.{corner}", corner.replace("_", " ")) for corner in CORNERS), factor, most)


FIGURES: dict[str, tuple[Panel, ...]] = {
    "motion": (
        Panel("Speed", "m/s", (("speed_mps", "forward"),)),
        Panel("Angles", "deg", (("roll_rad", "roll"), ("pitch_rad", "pitch (nose down)"), ("yaw_rad", "yaw")), DEGREES),
        Panel("Lateral acceleration", "m/s²", (("side_acceleration_mps2", "to the left"),)),
        Panel("Yaw rate", "deg/s", (("yaw_rate_radps", "to the left"),), DEGREES),
    ),
    "driving": (
        Panel("Driver", "share of full", (("steering", "steering"), ("throttle", "throttle"), ("brake", "brake"))),
        Panel("Engine", "rpm", (("engine_speed_rpm", "engine speed"),)),
        Panel("Gear", "", (("gear", "gear"),)),
        Panel(
            "Acceleration", "m/s²",
            (("forward_acceleration_mps2", "forward"), ("up_acceleration_mps2", "up")),
        ),
    ),
    "wheels": (
        wheel_panel("Wheel load", "kN", "wheel_load_n", 1e-3),
        wheel_panel("Spring compression", "mm", "spring_compression_m", 1e3),
        wheel_panel("Slip along", "%", "slip_along", 100.0, 100.0),
        wheel_panel("Slip across", "%", "slip_across", 100.0, 100.0),
    ),
}  # fmt: skip


def figure(name: str, title: str, run: Channels, reference: Channels | None = None) -> bytes:
    """A picture of a run, by its name in FIGURES, as PNG; the reference's channels are overlaid in grey."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    panels = FIGURES[name]
    picture = Figure(figsize=(9.0, 2.3 * len(panels) + 0.6), layout="constrained")
    picture.suptitle(title, fontsize=11, parse_math=False)
    axes = picture.subplots(len(panels), 1, sharex=True)
    for panel, axis in zip(panels, axes, strict=True):
        draw_panel(axis, panel, run, reference)
        axis.set_ylabel(f"{panel.title}\n[{panel.axis}]" if panel.axis else panel.title)
        axis.legend(loc="upper right", fontsize=8, ncols=5)
    axes[-1].set_xlabel("time [s]")
    return png(picture)


def draw_panel(axis: Any, panel: Panel, run: Channels, reference: Channels | None = None) -> None:
    """Draw a panel's lines with labels, the reference in grey, and suitable limits; the run must have all channels."""
    for (channel, label), colour in zip(panel.lines, COLOURS, strict=False):
        draw_line(axis, run["time_s"], panel.factor * run[channel], color=colour, linewidth=1.3, label=label)
        if reference is not None and channel in reference:
            draw_line(
                axis, reference["time_s"], panel.factor * reference[channel], color="0.25", linewidth=1.0,
                linestyle="--", label="reference" if channel == panel.lines[-1][0] else None,
            )  # fmt: skip
    axis.grid(True, alpha=0.3)
    keep_in_view(axis, panel.most)


def draw_line(axis: Any, across: Array, values: Array, **look: Any) -> None:
    """Draw values over `across` (time or distance) with no more points than can be seen; peaks stay."""
    shown = thinned(values)
    axis.plot(across[shown], values[shown], **look)


def thinned(values: Array, bins: int = BINS) -> NDArray[np.intp]:
    """Indices that suffice to draw a line: least and largest value of each bin, and the ends.

    NaN counts as the least, so that gaps stay gaps.
    """
    count = len(values)
    if count <= 4 * bins:
        return np.arange(count)
    size = count // bins
    whole = np.where(np.isnan(values), -np.inf, values)[: bins * size].reshape(bins, size)
    first = np.arange(bins) * size
    rest = np.arange(bins * size, count)
    return np.unique(np.concatenate([[0, count - 1], first + whole.argmin(axis=1), first + whole.argmax(axis=1), rest]))


def path_figure(title: str, run: Channels, reference: Channels | None = None) -> bytes:
    """Picture of the path from above, as PNG; the reference's is overlaid in grey."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9.0, 4.0), layout="constrained")
    picture.suptitle(title, fontsize=11, parse_math=False)
    axis = picture.subplots()
    axis.plot(run["x_m"], run["y_m"], color=COLOURS[0], linewidth=1.5, label="base_link")
    if reference is not None and {"x_m", "y_m"} <= set(reference):
        axis.plot(reference["x_m"], reference["y_m"], color="0.25", linewidth=1.0, linestyle="--", label="reference")
    axis.plot(run["x_m"][:1], run["y_m"][:1], "o", color="tab:green", label="start")
    axis.plot(run["x_m"][-1:], run["y_m"][-1:], "s", color="tab:red", label="end")
    scale_path(axis, float(np.ptp(run["x_m"])), float(np.ptp(run["y_m"])))
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize=8)
    return png(picture)


def scale_path(axis: Any, span_x: float, span_y: float) -> bool:
    """Limits and labels of a view from above; False where x and y have scales of their own.

    To scale, a lane change on a long road would be a line.
    """
    axis.set_xlabel("x [m]")
    axis.set_ylabel("y [m], to the left")
    if span_y > 0.1 * span_x:
        axis.set_aspect("equal", adjustable="datalim")
        return True
    low, high = axis.get_ylim()
    axis.set_ylim(min(low, -0.5), max(high, 0.5))
    return False


def draw_band(axis: Any, seconds: Array, values: Array, deviation: Array, colour: str) -> None:
    """Draw the 95 % band around values over time [s]; deviation: their standard deviation."""
    axis.fill_between(
        seconds, values - BAND * deviation, values + BAND * deviation,
        color=colour, alpha=0.2, linewidth=0.0, label="95 %",
    )  # fmt: skip


def frame_most(axis: Any, values: Array, band: Array) -> None:
    """Limits around zero: large errors in the first seconds must not flatten the rest."""
    both = np.concatenate([np.abs(values), band])
    both = both[np.isfinite(both)]
    if len(both):
        limit = max(1.3 * float(np.quantile(both, 0.98)), 1e-3)
        axis.set_ylim(-limit, limit)


def keep_in_view(axis: Any, most: float = np.inf) -> None:
    """Values that are zero but for rounding get a scale on which they look so; values beyond the most are cut off."""
    low, high = axis.get_ylim()
    if high - low < 1e-3:
        middle = 0.5 * (low + high)
        low, high = middle - 0.05, middle + 0.05
    axis.set_ylim(max(low, -most), min(high, most))


def png(picture: Any, dpi: int = 110) -> bytes:
    """A matplotlib figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
