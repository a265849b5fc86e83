"""Pictures of the mobility chapter: tractive effort over speed, and the travel of the suspensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from proving_ground.scenarios.plots import png
from proving_ground.validation.mobility.climbs import Load
from proving_ground.validation.mobility.rig import KMPH
from proving_ground.validation.mobility.suspension_travel import Linkage, Position, Travel, linkage
from proving_ground.validation.mobility.tractive_effort import Curve, resistance

DRAWN_GRADES = (0, 10, 20, 30, 40, 60)  # [%]
FRICTION = 0.8
MOST_KMPH, MOST_KN = 125.0, 32.0
COLOURS = {"H": "#1f4e9c", "L": "#c65a11"}
STANDING = ({"color": "#1f4e9c"}, {"color": "#c65a11"})  # at each mass
# Where a gear's name stands: share of the part in use, and offset in points; H1 and L3 nearly coincide.
NAMES = {"H1": (0.1, (6, 3)), "H2": (0.6, (0, 6)), "H3": (0.6, (0, 6)), "L1": (0.6, (8, 3)), "L2": (0.6, (4, 5)),
         "L3": (0.88, (9, -4))}  # fmt: skip
DPI = 130


def draw_effort(loads: Sequence[Load]) -> bytes:
    """Effort of all gears, resistance of grades, and simulated climbs; one diagram for each mass."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    picture = Figure(figsize=(9.0, 11.0), layout="constrained")
    for axis, load in zip(np.atleast_1d(picture.subplots(len(loads), 1, sharex=True)), loads, strict=True):
        _draw_resistance(axis, load)
        for curve in load.curves:
            _draw_curve(axis, curve)
        _draw_climbs(axis, load)
        axis.set(xlim=(0.0, MOST_KMPH), ylim=(0.0, MOST_KN), ylabel="tractive effort [kN]")
        axis.set_title(f"Full throttle at {load.name}", loc="left", fontweight="bold")
        axis.grid(True, alpha=0.25)
        axis.legend(loc="upper right", fontsize=9, framealpha=1.0)
    axis.set_xlabel("speed [km/h]")
    return png(picture, DPI)


def _draw_curve(axis: Any, curve: Curve) -> None:
    """A gear: strong where the automatic gearbox uses it at full throttle, faint elsewhere."""
    colour, driving = COLOURS[curve.transfer], curve.effort > 0.0
    kmph, kn = curve.speed[driving] / KMPH, curve.effort[driving] / 1e3
    axis.plot(kmph, kn, color=colour, linewidth=0.9, alpha=0.5)
    label = f"effort in {curve.transfer}; strong: gear in use" if curve.gear == 1 else None
    axis.plot(kmph, np.where(curve.is_used[driving], kn, np.nan), color=colour, linewidth=2.4, label=label)
    share, offset = NAMES.get(curve.name(), (0.5, (0, 6)))
    used = np.flatnonzero(curve.is_used[driving])
    at = used[int(share * (len(used) - 1))]
    axis.annotate(
        curve.name(), (kmph[at], kn[at]), xytext=offset, textcoords="offset points", color=colour, fontsize=10,
        fontweight="bold",
    )  # fmt: skip


def _draw_resistance(axis: Any, load: Load) -> None:
    speed = np.linspace(0.0, MOST_KMPH, 200) * KMPH
    for percent in DRAWN_GRADES:
        needed = resistance(load.vehicle, load.mass, percent / 100.0, speed) / 1e3
        label = "resistance on a grade" if percent == DRAWN_GRADES[0] else None
        axis.plot(speed / KMPH, needed, color="0.35", linewidth=1.0, linestyle=(0, (5, 2)), label=label)
        axis.annotate(
            f"{percent} %", (speed[-1] / KMPH, needed[-1]), xytext=(-4, 3), textcoords="offset points", ha="right",
            fontsize=9, color="0.25",
        )  # fmt: skip
    limit = FRICTION * load.mass * load.vehicle.kernel.gravity / 1e3
    axis.axhline(limit, color="tab:red", linewidth=1.0, linestyle=":", label=f"friction {FRICTION}, all wheels, level")


def _draw_climbs(axis: Any, load: Load) -> None:
    steady = [climb for climb in load.climbs if climb.is_steady and climb.percent in DRAWN_GRADES]
    axis.plot(
        [climb.speed / KMPH for climb in steady], [climb.effort / 1e3 for climb in steady],
        "o", color="black", markerfacecolor="white", markersize=6.5, markeredgewidth=1.6, zorder=5,
        label="simulated, steady",
    )  # fmt: skip


def draw_travel(travels: Sequence[Travel]) -> bytes:
    """Each axle seen from behind between its stops, and wheel travel over spring length."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(11.0, 11.0), layout="constrained")
    rows = picture.subplots(len(travels), 2, gridspec_kw={"width_ratios": (1.0, 1.25)}, squeeze=False)
    for (view, diagram), travel in zip(rows, travels, strict=True):
        _draw_view(view, travel)
        _draw_diagram(diagram, travel)
    return png(picture, DPI)


def _draw_view(axis: Any, travel: Travel) -> None:
    for position in travel.stops:
        points = linkage(travel, position)
        _draw_linkage(axis, travel, points, {"color": "0.6", "linewidth": 1.0, "linestyle": "--"})
        edge = np.sign(position.height) * (travel.vehicle.wheel_radius + 0.05)
        y, z = points.wheel
        axis.text(y, z + edge, position.name, ha="center", va="center", fontsize=8.5, color="0.35")
    for position, look in zip(travel.standing, STANDING, strict=True):
        _draw_linkage(axis, travel, linkage(travel, position), {"linewidth": 2.0, **look})
    axis.axvline(0.0, color="0.5", linewidth=0.8, linestyle="-.")
    axis.set_aspect("equal")
    axis.set_title(f"{travel.axle} axle, left side seen from behind", loc="left", fontweight="bold")
    axis.set(
        xlim=(1.2, -0.05),
        ylim=(-0.75, 1.0),
        xlabel="from the centre plane [m]",
        ylabel="height in the chassis frame [m]",
    )
    axis.grid(True, alpha=0.25)


def _draw_linkage(axis: Any, travel: Travel, points: Linkage, look: dict[str, Any]) -> None:
    for line in (points.lower_arm, points.upper_arm, points.upright):
        axis.plot(line[:, 0], line[:, 1], marker="o", markersize=3.5, **look)
    axis.plot(*_coil(points.spring), **(look | {"linewidth": 0.8}))
    half, radius = 0.5 * travel.vehicle.parameters.tyre.width_m, travel.vehicle.wheel_radius
    across, up = half * points.axle, radius * np.array([-points.axle[1], points.axle[0]])
    corners = [points.wheel + i * across + k * up for i, k in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))]
    axis.plot(*np.transpose(corners), **(look | {"linewidth": 0.9}))


def _coil(ends: Any) -> tuple[Any, Any]:
    """A zigzag between the spring's ends."""
    share = np.linspace(0.0, 1.0, 17)
    along = ends[1] - ends[0]
    across = np.array([-along[1], along[0]]) / np.hypot(*along)
    offsets = 0.03 * np.where(np.arange(17) % 2, 1.0, -1.0)
    offsets[[0, -1]] = 0.0
    points = ends[0] + share[:, None] * along + offsets[:, None] * across
    return points[:, 0], points[:, 1]


def _draw_diagram(axis: Any, travel: Travel) -> None:
    bump, rebound = travel.stops
    axis.plot(1e3 * travel.spring, 1e3 * travel.height, color="black", linewidth=1.8)
    lengths = 1e3 * np.array([bump.spring, rebound.spring])
    for stop, edge in ((bump, lengths[0] - 30.0), (rebound, lengths[1] + 30.0)):
        axis.axvspan(1e3 * stop.spring, edge, color="0.88", zorder=0)
    for position in travel.stops:
        _mark(axis, position, {"color": "0.35"}, f"{position.name}: {_millimetres(position.height)}")
    design = travel.at("design", float(np.interp(0.0, travel.height, travel.spring)))
    _mark(axis, design, {"color": "tab:green", "marker": "D", "markersize": 12, "zorder": 3}, "design")
    for position, look, clearance in zip(travel.standing, STANDING, travel.clearance, strict=True):
        up, down = 1e3 * (bump.height - position.height), 1e3 * (position.height - rebound.height)
        words = f"at {position.name}: {_millimetres(position.height)}, clearance {1e3 * clearance:.0f} mm\n"
        words += f"{up:.0f} mm to bump, {down:.0f} mm to rebound"
        _mark(axis, position, look, words)
    axis.set(
        xlim=(lengths[0] - 30.0, lengths[1] + 30.0),
        ylim=(1e3 * rebound.height - 50.0, 1e3 * bump.height + 130.0),
        xlabel="spring length [mm]",
        ylabel="wheel above its design position [mm]",
    )
    axis.grid(True, alpha=0.25)
    axis.legend(loc="upper right", fontsize=8.5, framealpha=1.0)


def _millimetres(height: float) -> str:
    return f"{round(1e3 * height):+d} mm"


def _mark(axis: Any, position: Position, look: dict[str, Any], label: str) -> None:
    axis.plot(
        1e3 * position.spring, 1e3 * position.height, label=label, linestyle="",
        **({"marker": "o", "markersize": 7, "zorder": 4} | look),
    )  # fmt: skip
