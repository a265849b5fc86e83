"""The plots of the papers for a run, as far as it has the channels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.report.drawing import Plot, finish, letters, range_words, rows_figure, shade_faults, svg
from proving_ground.report.run_record import RunRecord
from proving_ground.scenarios.channels import Channels
from proving_ground.scenarios.plots import DEGREES, FIGURES, Panel, draw_panel, wheel_panel

Array = NDArray[np.float64]

SLIP_FROM_MPS = 1.0  # below this speed slip is 0/0
LEAST_SINKAGE_M = 1e-4  # below this, a run is on hard ground
LEAST_POWER_W = 1.0  # below this at every instant, a run is on smooth ground

_SPEED, _ANGLES, _SIDE, _YAW_RATE = FIGURES["motion"]
_LOAD, _SPRING, _ALONG, _ACROSS = FIGURES["wheels"]
_DRIVER, _ENGINE, _GEAR, _ACCELERATION = FIGURES["driving"]
SECTIONS: dict[str, tuple[Panel, ...]] = {  # [Cameron], Figs. 11-14, and more
    "Motion": (
        _SPEED,
        Panel("Roll and pitch", "deg", _ANGLES.lines[:2], DEGREES),
        Panel("Yaw", "deg", _ANGLES.lines[2:], DEGREES),
        _SIDE,
        _YAW_RATE,
        _ACCELERATION,
    ),
    "Suspension and wheels": (
        replace(_SPRING, title="Spring compression"),
        _LOAD,
        wheel_panel("Sinkage", "mm", "sinkage_m", 1e3),
        _ALONG,
        _ACROSS,
    ),
    "Ride": (Panel("Power absorbed by the driver", "W", (("seat_absorbed_power_w", "vertical"),)),),
    "Driver and engine": (replace(_DRIVER, title="Pedals and steering"), _GEAR, _ENGINE),
}


def section_plots(record: RunRecord) -> dict[str, list[Plot]]:
    """Plots of a run by the section of the report they belong to."""
    found = {}
    with letters():
        for name, panels in SECTIONS.items():
            there = [part for panel in panels if (part := shown_part(panel, record.channels)) is not None]
            if there:
                found[name] = [_draw(panel, record) for panel in there]
    return found


def shown_part(panel: Panel, channels: Channels) -> Panel | None:
    """The panel with the lines that have channels; None if there are none."""
    lines = tuple(line for line in panel.lines if line[0] in channels)
    if not lines:
        return None
    if lines[0][0].startswith("sinkage_m") and max(channels[line[0]].max() for line in lines) < LEAST_SINKAGE_M:
        return None
    if lines[0][0] == "seat_absorbed_power_w" and channels[lines[0][0]].max() < LEAST_POWER_W:
        return None
    return replace(panel, lines=lines)


def moving_slips(channels: Channels) -> dict[str, Array]:
    """Channels with slips only where the vehicle moves."""
    if "speed_mps" not in channels:
        return dict(channels)
    moves = np.abs(channels["speed_mps"]) > SLIP_FROM_MPS
    return {
        name: np.where(moves, values, np.nan) if name.startswith("slip_") else values
        for name, values in channels.items()
    }


def whole_numbers(axis: Any, panel: Panel) -> None:
    """Give a diagram of gears a scale of whole numbers."""
    if panel.lines == _GEAR.lines:
        low, high = axis.get_ylim()
        first, last = round(low), round(high)
        axis.set_ylim(first - 0.5, last + 0.5)
        axis.set_yticks(range(first, last + 1))


def _draw(panel: Panel, record: RunRecord) -> Plot:
    picture, (axis,) = rows_figure()
    time = record.channels["time_s"]
    shade_faults(axis, record.events)
    draw_panel(axis, panel, moving_slips(record.channels), record.reference)
    whole_numbers(axis, panel)
    if len(time) > 1:
        axis.set_xlim(time[0], time[-1])
    finish(axis, panel.title, panel.axis)
    words = "; ".join(
        range_words(label, np.clip(panel.factor * record.channels[channel], -panel.most, panel.most), panel.axis)
        for channel, label in panel.lines
    )
    return Plot(panel.title, svg(picture), f"{panel.title} over time: {words}.")
