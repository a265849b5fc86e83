"""Events of a run on a line for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proving_ground.report.drawing import BOTTOM, FAULT_COLOUR, RIGHT, Plot, letters, svg
from proving_ground.report.run_record import Event

WIDTH_INCHES, LINE_INCHES, LEFT_INCHES = 8.0, 0.32, 0.9
COLOURS = {
    "fault": FAULT_COLOUR,
    "collision": "#b3261e",
    "planner": "#0b4fb3",
    "observer": "#2a7f3f",
    "change": "#8a6d00",
}
OTHER = "#6b5b95"


def timeline(events: Sequence[Event], duration_s: float) -> Plot | None:
    """Diagram of events over time; None without events. States of planner and observer last until their next."""
    if not events:
        return None
    kinds = list(dict.fromkeys(event.kind for event in events))
    with letters():
        from matplotlib.figure import Figure

        height = BOTTOM + 0.1 + LINE_INCHES * len(kinds)
        picture = Figure(figsize=(WIDTH_INCHES, height))
        across = (WIDTH_INCHES - LEFT_INCHES - RIGHT) / WIDTH_INCHES
        axis = picture.add_axes((LEFT_INCHES / WIDTH_INCHES, BOTTOM / height, across, 1.0 - (BOTTOM + 0.1) / height))
        for row, kind in enumerate(kinds):
            _draw_line(axis, row, [event for event in events if event.kind == kind], duration_s)
        axis.set(xlim=(0.0, max(duration_s, 1e-3)), ylim=(len(kinds) - 0.4, -0.6), yticks=range(len(kinds)))
        axis.set_yticklabels(kinds)
        axis.set_xlabel("time [s]", labelpad=2.0)
        axis.grid(True, axis="x", alpha=0.3, linewidth=0.6)
        source = svg(picture)
    return Plot("Events", source, f"{len(events)} events over time; the table below has each.", is_wide=True)


def _draw_line(axis: Any, row: int, events: Sequence[Event], duration_s: float) -> None:
    colour = COLOURS.get(events[0].kind, OTHER)
    if events[0].kind in ("planner", "observer"):  # states, each until the next
        ends = [*(event.time_s for event in events[1:]), duration_s]
        for number, (event, end) in enumerate(zip(events, ends, strict=True)):
            axis.barh(
                row, end - event.time_s, left=event.time_s, height=0.5, color=colour, alpha=0.75 if number % 2 else 0.4,
                linewidth=0.0,
            )  # fmt: skip
        return
    for event in events:
        if event.length_s is not None:
            axis.barh(row, event.length_s, left=event.time_s, height=0.5, color=colour, alpha=0.8, linewidth=0.0)
        else:
            axis.plot([event.time_s], [row], marker="D", markersize=5, color=colour, linestyle="")
