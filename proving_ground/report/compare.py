"""One page for several runs: verdicts and figures side by side, with their plots overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from proving_ground.report.compared import Quantity, compared
from proving_ground.report.drawing import Plot, finish, letters, range_words, rows_figure, svg
from proving_ground.report.map_picture import COLOURS, map_of, world_of
from proving_ground.report.page import Section, render
from proving_ground.report.panels import SECTIONS, moving_slips, shown_part, whole_numbers
from proving_ground.report.run_record import RunRecord
from proving_ground.report.words import NONE, Check, checks, facts, name_and_unit, number, timing, verdict_words
from proving_ground.scenarios.channels import CHANNELS
from proving_ground.scenarios.plots import Panel, draw_line, frame_most, keep_in_view

MOST_RUNS = 12


class Cell(NamedTuple):
    """Cell of a table; mark: good or bad, empty for neither."""

    words: str
    mark: str = ""


class Row(NamedTuple):
    """Row of the table that compares runs."""

    name: str
    cells: list[Cell]


def labelled(records: Sequence[RunRecord], paths: Sequence[Path]) -> list[RunRecord]:
    """Records with distinct names: those of their folders, or more of their paths."""
    names = [path.resolve().name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    return [replace(record, name=name) for record, name in zip(records, names, strict=True)]


def compare_page(records: Sequence[RunRecord]) -> str:
    """HTML page that compares runs with the first one; what only some runs have is shown for those."""
    remarks = [f"{record.name}: {remark}" for record in records for remark in record.remarks]
    world = None
    if len({record.world for record in records}) == 1:
        world, why = world_of(records[0])
        remarks += [why] if why else []
    view = map_of(records, world)
    sections = [Section("Map", [view])] if view is not None else []
    with letters():
        sections += [Section(name, plots) for name, plots in _overlaid(records).items() if plots]
        errors = _errors(records)
    if errors:
        sections.append(Section("Errors of the estimates", errors, note="Estimate less truth."))
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(records))]
    return render(
        "compare.html.j2",
        title=" and ".join(record.name for record in records),
        runs=[
            {"name": record.name, "description": record.description, "verdict": record.verdict, "colour": colour,
             "why": verdict_words(record)}
            for record, colour in zip(records, colours, strict=True)
        ],
        tables=[table for table in _tables(records) if table[1]],
        sections=sections,
        remarks=remarks,
    )  # fmt: skip


def _tables(records: Sequence[RunRecord]) -> list[tuple[str, list[Row]]]:
    return [
        ("Runs", _union([facts(record) | timing(record) for record in records])),
        ("Criteria", _criteria(records)),
        ("Figures", _figures(records)),
        ("Final values", _final_values(records)),
        ("Versions that differ", _versions(records)),
    ]


def _union(tables: Sequence[dict[str, str]]) -> list[Row]:
    keys = dict.fromkeys(key for table in tables for key in table)
    return [Row(key, [Cell(table.get(key, NONE)) for table in tables]) for key in keys]


def _versions(records: Sequence[RunRecord]) -> list[Row]:
    rows = _union([dict(record.versions) for record in records])
    return [row for row in rows if len({cell.words for cell in row.cells}) > 1]


def _criteria(records: Sequence[RunRecord]) -> list[Row]:
    found = [{(check.what, check.bounds): check for check in checks(record)} for record in records]
    keys = dict.fromkeys(key for table in found for key in table)
    return [Row(f"{what} ({bounds})", [_judged(table.get((what, bounds))) for table in found]) for what, bounds in keys]


def _judged(check: Check | None) -> Cell:
    if check is None:
        return Cell(NONE)
    if check.is_open:
        return Cell(f"· {check.value}")
    return Cell(f"{'✓' if check.passed else '✗'} {check.value}", "passed" if check.passed else "failed")


def _figures(records: Sequence[RunRecord]) -> list[Row]:
    keys = dict.fromkeys(key for record in records for key in record.figures)
    return [_number_row(key, [record.figures.get(key) for record in records]) for key in keys]


def _final_values(records: Sequence[RunRecord]) -> list[Row]:
    """Final values of the channels that all runs have, except those of single wheels."""
    keys = [key for key in CHANNELS if "." not in key and all(key in record.channels for record in records)]
    return [_number_row(key, [float(record.channels[key][-1]) for record in records]) for key in keys]


def _number_row(key: str, values: Sequence[float | None]) -> Row:
    """Row of numbers with the difference to the first."""
    name, unit = name_and_unit(key)
    first = values[0]
    cells = []
    for column, value in enumerate(values):
        words = number(value)
        if column and value is not None and first is not None:
            words += f" ({value - first:+.3g})"
        cells.append(Cell(words))
    return Row(f"{name} [{unit}]" if unit else name, cells)


def _overlaid(records: Sequence[RunRecord]) -> dict[str, list[Plot]]:
    found: dict[str, list[Plot]] = {}
    for section, panels in SECTIONS.items():
        plots = [_overlay(panel, records) for whole in panels for panel in _split(whole)]
        found[section] = [plot for plot in plots if plot is not None]
    return found


def _split(panel: Panel) -> list[Panel]:
    """A diagram for each channel, but one for all wheels: colours distinguish the runs."""
    if len(panel.lines) == 1 or "." in panel.lines[0][0]:
        return [panel]
    return [replace(panel, title=_heading(panel.title, line[1]), lines=(line,)) for line in panel.lines]


def _heading(title: str, label: str) -> str:
    """Heading of one line of a panel with several."""
    words = f"{title}, {label}" if title == "Acceleration" else label
    return words[:1].upper() + words[1:]


def _overlay(panel: Panel, records: Sequence[RunRecord]) -> Plot | None:
    picture, (axis,) = rows_figure()
    words = []
    for column, record in enumerate(records):
        part = shown_part(panel, record.channels)
        if part is None:
            continue
        channels = moving_slips(record.channels)
        for index, (channel, label) in enumerate(part.lines):
            values = np.clip(part.factor * channels[channel], -part.most, part.most)
            draw_line(axis, channels["time_s"], values, **_look(column), label=None if index else record.name)
            words.append(range_words(f"{record.name}, {label}", values, panel.axis))
    if not words:
        return None
    keep_in_view(axis, panel.most)
    whole_numbers(axis, panel)
    finish(axis, panel.title, panel.axis, legend=False)
    return Plot(panel.title, svg(picture), f"{panel.title} over time. {'; '.join(words)}.")


def _errors(records: Sequence[RunRecord]) -> list[Plot]:
    found = [compared(record) for record in records]
    names = dict.fromkeys(q.name for quantities in found for q in quantities)
    return [_error_plot(name, [_named(quantities, name) for quantities in found], records) for name in names]


def _named(quantities: Sequence[Quantity], name: str) -> Quantity | None:
    return next((q for q in quantities if q.name == name), None)


def _error_plot(name: str, found: Sequence[Quantity | None], records: Sequence[RunRecord]) -> Plot:
    picture, (axis,) = rows_figure()
    words, unit = [], ""
    for column, (q, record) in enumerate(zip(found, records, strict=True)):
        if q is not None:
            draw_line(axis, q.time_s, q.error, **_look(column))
            words.append(f"{record.name}: root mean square {q.rms:.3g} {q.unit}")
            unit = q.unit
    together = np.concatenate([q.error for q in found if q is not None])
    frame_most(axis, together, np.zeros(0))
    finish(axis, name, unit, legend=False)
    return Plot(name, svg(picture), f"Error of {name.lower()} over time. {'; '.join(words)}.")


def _look(column: int) -> dict[str, Any]:
    """Colours, and dashes for lines that would hide others."""
    return {"color": COLOURS[column % len(COLOURS)], "linewidth": 1.2, "linestyle": "--" if column % 2 else "-"}
