"""Pictures of sensor data: a LIDAR scan, the scatter of a GPS, and the Allan deviation of an IMU."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensors.allan import AllanCurve
from sensors.mounting import Mounting
from sensors.samples import LidarScan

Array = NDArray[np.float64]

NEAR_M = 40.0  # around the vehicle, in the perspective view
WITHIN = 0.95  # share of fixes in the ellipse
NO_ERROR_M = 1e-5  # a receiver that claims less has no errors, only a lower bound of its variance
LEAST_REACH_M = 1e-3  # of the axes if all fixes coincide
AXES = "xyz"
COLOURS = ("tab:blue", "tab:orange", "tab:green")


def lidar_picture(title: str, scan: LidarScan, mounting: Mounting) -> bytes:
    """A scan in base_link, whatever the mount: from above, by height, and from behind, by ring."""
    figure = _figure((14.0, 6.5))
    ring = scan.points["ring"]
    in_sensor = np.column_stack([scan.points[axis] for axis in AXES])
    points = in_sensor @ mounting.base_from_sensor.T + mounting.arm
    ahead, left, height = points.T
    reach = float(np.quantile(np.hypot(ahead, left), 0.995)) if len(points) else NEAR_M
    above = figure.add_subplot(1, 2, 1)
    dots = above.scatter(ahead, left, c=height, s=1.0, cmap="viridis", vmin=-0.5, vmax=6.0, linewidths=0.0)
    figure.colorbar(dots, ax=above, label="height above base_link [m]", shrink=0.8)
    above.plot(*mounting.arm[:2], "k+", markersize=10)
    above.set(xlabel="forward [m]", ylabel="left [m]", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    above.set_title(f"From above: {len(points)} returns of {scan.ranges.size} rays; + is the unit")

    behind = figure.add_subplot(1, 2, 2, projection="3d", computed_zorder=False)
    is_near = np.maximum(np.abs(ahead), np.abs(left)) < NEAR_M
    rings = behind.scatter(
        *points[is_near].T, c=ring[is_near], s=0.6, cmap="turbo", linewidths=0.0, depthshade=False,
        vmin=0.0, vmax=max(len(scan.ranges) - 1.0, 1.0),
    )  # fmt: skip
    figure.colorbar(rings, ax=behind, label="ring, 0 is the lowest beam of the unit", shrink=0.8)
    behind.set(xlabel="forward [m]", ylabel="left [m]", title=f"Within {NEAR_M:g} m, from behind")
    behind.set(xlim=(-NEAR_M, NEAR_M), ylim=(-NEAR_M, NEAR_M), zlim=(0.0, 20.0))
    behind.set_box_aspect((2.0 * NEAR_M, 2.0 * NEAR_M, 20.0), zoom=1.3)
    behind.view_init(elev=32.0, azim=-150.0)
    figure.suptitle(title)
    return _png(figure)


def gps_picture(title: str, errors: Array, std_m: tuple[float, float]) -> bytes:
    """Fixes of an antenna at rest: errors east and north, n x 2 [m], and the ellipse the receiver claims.

    A receiver that claims no error has no ellipse, and the picture says so.
    """
    figure = _figure((7.5, 7.0))
    axes = figure.add_subplot()
    east, north = (math.sqrt(-2.0 * math.log(1.0 - WITHIN)) * std for std in std_m)  # chi-square, 2 degrees of freedom
    axes.plot(errors[:, 0], errors[:, 1], ".", markersize=3.0, alpha=0.5, label=f"{len(errors)} fixes")
    if min(std_m) > NO_ERROR_M:
        angle = np.linspace(0.0, 2.0 * np.pi, 200)
        inside = np.hypot(errors[:, 0] / east, errors[:, 1] / north) <= 1.0
        words = f"{WITHIN:.0%} as claimed; holds {inside.mean():.1%}"
        axes.plot(east * np.cos(angle), north * np.sin(angle), "k", label=words)
    else:
        axes.plot([], [], " ", label="claims no error: no ellipse")
    axes.plot([0.0], [0.0], "k+", markersize=12, label="the antenna")
    plane = float(np.sqrt((errors**2).sum(axis=1).mean()))
    reach = 1.1 * max(east, north, float(np.abs(errors).max()), LEAST_REACH_M)
    axes.set(xlabel="east [m]", ylabel="north [m]", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_title(f"{title}, under open sky, at rest\nerror in the plane {plane:.3g} m RMS")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right")
    return _png(figure)


def imu_picture(title: str, curves: Mapping[str, tuple[AllanCurve, Array] | None]) -> bytes:
    """Allan deviations of a unit at rest: by panel title, which ends with its unit, the measured and expected curve.

    None instead of curves: readings that never change.
    """
    figure = _figure((13.0, 5.5))
    for column, (panel, found) in enumerate(curves.items()):
        axes = figure.add_subplot(1, len(curves), column + 1)
        axes.set(xlabel="averaging time [s]", ylabel=f"Allan deviation {panel[panel.rindex('[') :]}", title=panel)
        if found is None:
            axes.text(0.5, 0.5, "no noise: the reading never changes", ha="center", transform=axes.transAxes)
            axes.set(xticks=[], yticks=[])
            continue
        curve, expected = found
        for channel, colour in enumerate(COLOURS):
            axes.loglog(curve.tau, curve.deviation[:, channel], color=colour, label=AXES[channel], linewidth=1.2)
        axes.loglog(curve.tau, expected, "k--", label="as configured")
        low, high = curve.interval(expected, WITHIN)
        axes.fill_between(curve.tau, low, high, color="black", alpha=0.12, label=f"{WITHIN:.0%} of such hours")
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
