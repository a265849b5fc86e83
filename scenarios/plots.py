"""Pictures of a run: speed, angles, lateral acceleration and yaw rate as in seed 002 (Figs. 11-14), and more."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenarios.channels import Channels

Array = NDArray[np.float64]

DEGREES = 180.0 / np.pi
COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:red")


@dataclass(frozen=True)
class Panel:
    """One diagram over time: channels with their labels, in a unit."""

    title: str
    axis: str
    lines: tuple[tuple[str, str], ...]  # channel, label
    factor: float = 1.0
    most: float = np.inf  # shown; a standing wheel's slip is a quotient of nothings


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
    "wheels": tuple(
        Panel(title, axis, tuple((f"{name}.{corner}", corner.replace("_", " ")) for corner in (
            "front_left", "front_right", "rear_left", "rear_right")), factor, most)
        for title, axis, name, factor, most in (
            ("Wheel load", "kN", "wheel_load_n", 1e-3, np.inf),
            ("Spring compression", "mm", "spring_compression_m", 1e3, np.inf),
            ("Slip along", "%", "slip_along", 100.0, 100.0),
            ("Slip across", "%", "slip_across", 100.0, 100.0),
        )
    ),
}  # fmt: skip


def figure(name: str, title: str, run: Channels, reference: Channels | None = None) -> bytes:
    """One of FIGURES as a PNG; where the reference has a channel, it is laid over in grey."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    panels = FIGURES[name]
    picture = Figure(figsize=(9.0, 2.3 * len(panels) + 0.6), layout="constrained")
    picture.suptitle(title, fontsize=11)
    axes = picture.subplots(len(panels), 1, sharex=True)
    for panel, axis in zip(panels, axes, strict=True):
        for (channel, label), colour in zip(panel.lines, COLOURS, strict=False):
            axis.plot(run["time_s"], panel.factor * run[channel], color=colour, linewidth=1.3, label=label)
            if reference is not None and channel in reference:
                axis.plot(
                    reference["time_s"], panel.factor * reference[channel], color="0.25", linewidth=1.0,
                    linestyle="--", label="reference" if channel == panel.lines[-1][0] else None,
                )  # fmt: skip
        axis.set_ylabel(f"{panel.title}\n[{panel.axis}]" if panel.axis else panel.title)
        axis.grid(True, alpha=0.3)
        axis.legend(loc="upper right", fontsize=8, ncols=5)
        _keep_in_view(axis)
        low, high = axis.get_ylim()
        axis.set_ylim(max(low, -panel.most), min(high, panel.most))
    axes[-1].set_xlabel("time [s]")
    return _png(picture)


def path_figure(title: str, run: Channels, reference: Channels | None = None) -> bytes:
    """The path seen from above."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9.0, 4.0), layout="constrained")
    picture.suptitle(title, fontsize=11)
    axis = picture.subplots()
    axis.plot(run["x_m"], run["y_m"], color=COLOURS[0], linewidth=1.5, label="base_link")
    if reference is not None and {"x_m", "y_m"} <= set(reference):
        axis.plot(reference["x_m"], reference["y_m"], color="0.25", linewidth=1.0, linestyle="--", label="reference")
    axis.plot(run["x_m"][:1], run["y_m"][:1], "o", color="tab:green", label="start")
    axis.plot(run["x_m"][-1:], run["y_m"][-1:], "s", color="tab:red", label="end")
    span_x, span_y = np.ptp(run["x_m"]), np.ptp(run["y_m"])
    if span_y > 0.1 * span_x:  # else a lane change on a long road would be a line
        axis.set_aspect("equal", adjustable="datalim")
    else:
        low, high = axis.get_ylim()
        axis.set_ylim(min(low, -0.5), max(high, 0.5))
    axis.set_xlabel("x [m]")
    axis.set_ylabel("y [m], to the left")
    axis.grid(True, alpha=0.3)
    axis.legend(fontsize=8)
    return _png(picture)


def _keep_in_view(axis: object) -> None:
    """Numbers that are zero but for rounding get a scale on which they look so."""
    low, high = axis.get_ylim()  # type: ignore[attr-defined]
    if high - low < 1e-3:
        middle = 0.5 * (low + high)
        axis.set_ylim(middle - 0.05, middle + 0.05)  # type: ignore[attr-defined]


def _png(picture: object) -> bytes:
    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=110)  # type: ignore[attr-defined]
    return buffer.getvalue()
