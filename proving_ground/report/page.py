"""One self-contained HTML page for one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proving_ground.report.compared import compared
from proving_ground.report.drawing import Plot
from proving_ground.report.estimate_plots import estimate_plots, innovation_plots
from proving_ground.report.map_picture import map_of, world_of
from proving_ground.report.panels import section_plots
from proving_ground.report.run_record import REPORT, RunRecord
from proving_ground.report.timeline import timeline
from proving_ground.report.words import NONE, checks, facts, name_and_unit, number, timing, verdict_words
from proving_ground.settings.files import write_whole
from proving_ground.settings.share import share_file
from terrain.world import World

TEMPLATES = "config/report"
MOST_EVENTS = 200  # in the table


@dataclass(frozen=True)
class Section:
    """Section of a page: a heading with an anchor, pictures, a table."""

    title: str
    plots: Sequence[Plot] = ()
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    note: str = ""

    @property
    def anchor(self) -> str:
        """Anchor of the section in the page, for links."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.title.lower())


def write_report(folder: Path, record: RunRecord, world: World | None = None, out: Path | None = None) -> Path:
    """Write the page into a run's folder or elsewhere and return its path. world: that of the run, if already built."""
    path = out or folder / REPORT
    write_whole(path, run_page(record, world))
    return path


def run_page(record: RunRecord, world: World | None = None) -> str:
    """HTML report of a run; the world is rebuilt if it is not given."""
    remarks = list(record.remarks)
    if world is None:
        world, why = world_of(record)
        remarks += [why] if why else []
    view = map_of([record], world)
    sections = [Section("Map", [view])] if view is not None else []
    sections += _events(record)
    sections += [Section(name, plots) for name, plots in section_plots(record).items()]
    sections += _observer(record)
    return render(
        "run.html.j2",
        title=record.name,
        record=record,
        verdict=record.verdict,
        why=verdict_words(record),
        facts=facts(record),
        checks=checks(record),
        figures=[(*name_and_unit(key), number(value)) for key, value in record.figures.items()],
        sections=sections,
        timing=timing(record),
        remarks=remarks,
    )


def render(template: str, **values: Any) -> str:
    """A page from a template in config/report; everything from files is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only pages need it

    folder = share_file(f"{TEMPLATES}/{template}").parent
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def _events(record: RunRecord) -> list[Section]:
    line = timeline(record.events, record.duration_s)
    if line is None:
        return []
    rows = [
        (f"{event.time_s:.2f}", "" if event.length_s is None else f"{event.length_s:.2f}", event.kind, event.words)
        for event in record.events[:MOST_EVENTS]
    ]
    left_out = len(record.events) - len(rows)
    note = f"{left_out} later events are left out." if left_out else ""
    return [Section("Events", [line], ("at [s]", "for [s]", "what", "words"), rows, note)]


def _observer(record: RunRecord) -> list[Section]:
    quantities = compared(record)
    sections = []
    if quantities:
        rows = [
            (q.name, q.unit, number(q.rms), f"{q.share_inside:.1%}" if q.rms == q.rms else NONE) for q in quantities
        ]
        headings = ("quantity", "unit", "RMS error", "inside the 95 % band")
        plots = estimate_plots(quantities, record.events)
        sections.append(Section("Estimate against truth", plots, headings, rows))
    innovations = innovation_plots(record)
    if innovations:
        note = "NIS is over its degrees of freedom: 1 is expected of a consistent filter. Dashed lines hold 95 %."
        sections.append(Section("Innovations", innovations, note=note))
    return sections
