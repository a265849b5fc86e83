"""Pictures of what sensors see: one LIDAR scan, the scatter of a GPS, and the noise of an IMU by Allan deviation."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensors.allan import AllanCurve
from sensors.samples import LidarScan

Array = NDArray[np.float64]

NEAR_M = 40.0  # around the vehicle, in the perspective view
WITHIN = 0.95  # share of fixes in the ellipse
AXES = "xyz"
COLOURS = ("tab:blue", "tab:orange", "tab:green")


def lidar_picture(title: str, scan: LidarScan, height_m: float) -> bytes:
    """A scan from above, coloured by height, and from behind, coloured by ring; height_m: of the sensor."""
    figure = _figure((14.0, 6.5))
    points = scan.points
    reach = float(np.quantile(np.hypot(points["x"], points["y"]), 0.995)) if len(points) else NEAR_M
    above = figure.add_subplot(1, 2, 1)
    z = points["z"] + height_m
    dots = above.scatter(points["x"], points["y"], c=z, s=1.0, cmap="viridis", vmin=-0.5, vmax=6.0, linewidths=0.0)
    figure.colorbar(dots, ax=above, label="height above base_link [m]", shrink=0.8)
    above.plot([0.0], [0.0], "k+", markersize=10)
    above.set(xlabel="ahead [m]", ylabel="left [m]", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    above.set_title(f"From above: {len(points)} returns of {scan.ranges.size} rays")

    behind = figure.add_subplot(1, 2, 2, projection="3d", computed_zorder=False)
    near = points[np.maximum(np.abs(points["x"]), np.abs(points["y"])) < NEAR_M]
    rings = behind.scatter(
        near["x"],
        near["y"],
        near["z"] + height_m,
        c=near["ring"],
        s=0.6,
        cmap="turbo",
        linewidths=0.0,
        depthshade=False,
    )
    figure.colorbar(rings, ax=behind, label="ring, 0 is the lowest beam", shrink=0.8)
    behind.set(xlabel="ahead [m]", ylabel="left [m]", title=f"Within {NEAR_M:g} m, from behind")
    behind.set(xlim=(-NEAR_M, NEAR_M), ylim=(-NEAR_M, NEAR_M), zlim=(0.0, 20.0))
    behind.set_box_aspect((2.0 * NEAR_M, 2.0 * NEAR_M, 20.0), zoom=1.3)
    behind.view_init(elev=32.0, azim=-150.0)
    figure.suptitle(title)
    return _png(figure)


def gps_picture(title: str, errors: Array, std_m: tuple[float, float]) -> bytes:
    """Fixes of an antenna that stands still: errors east and north, n x 2 [m], and the ellipse the receiver claims."""
    figure = _figure((7.5, 7.0))
    axes = figure.add_subplot()
    east, north = (math.sqrt(-2.0 * math.log(1.0 - WITHIN)) * std for std in std_m)  # chi-square of two
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    inside = np.hypot(errors[:, 0] / east, errors[:, 1] / north) <= 1.0
    axes.plot(errors[:, 0], errors[:, 1], ".", markersize=3.0, alpha=0.5, label=f"{len(errors)} fixes")
    axes.plot(
        east * np.cos(turn), north * np.sin(turn), "k", label=f"{WITHIN:.0%} as claimed; holds {inside.mean():.1%}"
    )
    axes.plot([0.0], [0.0], "k+", markersize=12, label="the antenna")
    plane = float(np.sqrt((errors**2).sum(axis=1).mean()))
    axes.set(xlabel="east [m]", ylabel="north [m]", aspect="equal")
    axes.set_title(f"{title}\nerror in the plane {plane:.3g} m RMS")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right")
    return _png(figure)


def imu_picture(title: str, curves: dict[str, tuple[AllanCurve, Array]]) -> bytes:
    """Allan deviations of a unit at rest: by panel title, which ends with its unit, the measured and expected curve."""
    figure = _figure((13.0, 5.5))
    for column, (panel, (curve, expected)) in enumerate(curves.items()):
        axes = figure.add_subplot(1, len(curves), column + 1)
        for channel, colour in enumerate(COLOURS):
            axes.loglog(curve.tau, curve.deviation[:, channel], color=colour, label=AXES[channel], linewidth=1.2)
        axes.loglog(curve.tau, expected, "k--", label="as configured")
        low, high = curve.interval(expected, WITHIN)
        axes.fill_between(curve.tau, low, high, color="black", alpha=0.12, label=f"{WITHIN:.0%} of such hours")
        axes.set(xlabel="averaging time [s]", ylabel=f"Allan deviation {panel[panel.rindex('[') :]}", title=panel)
        axes.grid(which="both", alpha=0.25)
        axes.legend(loc="best")
    figure.suptitle(title)
    return _png(figure)


def _figure(size: tuple[float, float]) -> Any:
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    return Figure(figsize=size, layout="constrained")


def _png(figure: Any) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    return buffer.getvalue()
