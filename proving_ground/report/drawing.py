"""Small diagrams for pages: each as the source of an <img>, with a text alternative.

Diagrams are SVG with text as text; those with many thousand dots or colours are PNG.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from proving_ground.report.run_record import Event

Array = NDArray[np.float64]

WIDTH_INCHES = 5.4  # small enough for text to be legible on a phone
HEIGHT_INCHES = 2.4
ROW_INCHES = 1.55  # of a diagram with several rows
LEFT, RIGHT, TOP, BOTTOM, GAP = 0.62, 0.12, 0.34, 0.46, 0.12  # margins [inch]
PNG_DPI = 160
FAULT_COLOUR = "#e8a33d"
LETTERS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "proving_ground",  # reports are reproducible to the byte
    "text.parse_math": False,  # names come from files
    "font.size": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "0.45",
    "axes.linewidth": 0.7,
    "xtick.color": "0.3",
    "ytick.color": "0.3",
    "text.color": "0.15",
}
_LONG_NUMBER = re.compile(r"(\.\d\d)\d+")
_SAFE = " ,;:/=()'-._~+*!?@$[]{}|"  # characters that a data: URL need not escape


@dataclass(frozen=True)
class Plot:
    """A picture of a page: title, source, text alternative and width."""

    title: str
    source: str  # data: URL
    words: str  # what it shows
    is_wide: bool = False
    caption: str = ""


def rows_figure(rows: int = 1) -> tuple[Any, list[Any]]:
    """A figure with diagrams below one another that share the time axis."""
    from matplotlib.figure import Figure  # slow to import, and only pictures need it

    height = HEIGHT_INCHES if rows == 1 else TOP + BOTTOM + rows * ROW_INCHES + (rows - 1) * GAP
    picture = Figure(figsize=(WIDTH_INCHES, height))
    each = (height - TOP - BOTTOM - (rows - 1) * GAP) / rows
    across = (WIDTH_INCHES - LEFT - RIGHT) / WIDTH_INCHES
    axes: list[Any] = []
    for row in range(rows):
        low = BOTTOM + (rows - 1 - row) * (each + GAP)
        axes_box = (LEFT / WIDTH_INCHES, low / height, across, each / height)
        axes.append(picture.add_axes(axes_box, sharex=axes[0] if axes else None))
        axes[-1].tick_params(labelbottom=row == rows - 1, length=2.5)
    axes[-1].set_xlabel("time [s]", labelpad=2.0)
    return picture, axes


def finish(axis: Any, title: str, unit: str, legend: bool = True) -> None:
    """Finish a diagram: title with unit at the left and legend at the right, both above it."""
    axis.set_title(f"{title} [{unit}]" if unit else title, loc="left", fontsize=9.5, fontweight="bold", pad=6.0)
    if legend and len(axis.get_legend_handles_labels()[1]) > 1:
        axis.legend(
            loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=4, fontsize=7.5, frameon=False,
            borderaxespad=0.0, columnspacing=0.7, handlelength=0.9, handletextpad=0.4,
        )  # fmt: skip
    axis.grid(True, alpha=0.3, linewidth=0.6)


def shade_faults(axis: Any, events: Iterable[Event]) -> None:
    """Shade the spans of a diagram in which a sensor or an actuator had a fault."""
    for event in events:
        if event.kind == "fault" and event.length_s is not None:
            axis.axvspan(event.time_s, event.time_s + event.length_s, color=FAULT_COLOUR, alpha=0.16, linewidth=0.0)


def letters() -> Any:
    """Context with the font settings in which figures are drawn."""
    import matplotlib

    return matplotlib.rc_context(LETTERS)


def svg(picture: Any) -> str:
    """A figure as a data: URL. Coordinates are kept to a hundredth of a point."""
    buffer = io.StringIO()
    picture.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = _LONG_NUMBER.sub(r"\1", text[text.index("<svg") :])
    return "data:image/svg+xml," + quote(" ".join(text.split()), safe=_SAFE)


def png(picture: Any, dpi: int = PNG_DPI) -> str:
    """A figure as a data: URL, with 256 colours."""
    from PIL import Image

    buffer = io.BytesIO()
    picture.savefig(buffer, format="png", dpi=dpi)
    small = io.BytesIO()
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(small.getvalue()).decode()


def range_words(label: str, values: Array, unit: str) -> str:
    """Text alternative of a line.

    >>> range_words("forward", np.array([0.0, 20.1, 20.0]), "m/s")
    'forward from 0 to 20.1, 20 at the end [m/s]'
    """
    seen = values[np.isfinite(values)]
    if not len(seen):
        return f"{label}: nothing"
    ends = f"{label} from {seen.min():.3g} to {seen.max():.3g}, {seen[-1]:.3g} at the end"
    return f"{ends} [{unit}]" if unit else ends
