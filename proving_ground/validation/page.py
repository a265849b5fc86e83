"""`proving-ground validate`: the suite compared with papers and references, as a page with tables and pictures.

Nothing is copied from earlier results: every figure of ours comes from a fresh run. Figures of papers and
references are constants in the chapters, with their sources.
"""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path

from proving_ground.report.versions import versions
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.files import write_whole
from proving_ground.validation.estimation import gps, linkages, low_cost_gps, vehicle_observer
from proving_ground.validation.mechanics import formulations, newton_chord, quarter_car
from proving_ground.validation.mobility.chapter import mobility
from proving_ground.validation.parts import Chapter, Part, Row, Section
from proving_ground.validation.vehicle import identification, lane_change, straight, suite

FAILED = 1
PAGE, PICTURES = "validation.md", "validation"
WIDTH = 118  # of the page's lines
HEAD = """# Validation

Made by `proving-ground validate{options}`; do not edit. Every figure of ours comes from a run made for this page.
"within" says what is asked of it. A figure outside is marked **outside**, and the command then ends with status 1,
unless the difference is known, which is stated beside it.
"""


def validate(out: Path, *, is_full: bool, only: Sequence[str] = ()) -> int:
    """Write the page and its pictures into a folder; status 1 when a figure is outside its bounds."""
    if list(only) == ["list"]:
        print("\n".join(f"{name}{' (with --full)' if name in LONG else ''}" for name in PARTS))
        return 0
    chosen = _chosen(is_full, only)
    pictures = _folder_of_pictures(out)
    texts, has_missed = [HEAD.format(options=" --full" if is_full else "")], False
    for name in chosen:
        part = _made(name)
        for file, content in part.pictures.items():
            write_whole(pictures / f"{file}.png", content)
        texts.append(_chapter(PARTS[name].title, part))
        has_missed = has_missed or any(not row.is_within and not row.known for row in part.all_rows())
    texts.append(_made_with())
    write_whole(out / PAGE, "\n".join(texts))
    print(f"written to {out / PAGE}, pictures to {pictures}")
    return FAILED if has_missed else 0


def _chosen(is_full: bool, only: Sequence[str]) -> list[str]:
    """Names of the parts to make; raises SettingsError for an unknown one."""
    for name in only:
        if name not in PARTS:
            raise SettingsError(f"--only {name}: {close_name(name, PARTS)}")
    if only:
        return [name for name in PARTS if name in only]
    return [name for name in PARTS if is_full or name not in LONG]


def _folder_of_pictures(out: Path) -> Path:
    folder = out / PICTURES
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"--out {out}: {error.strerror or error}") from None
    return folder


def _made(name: str) -> Part:
    """Make a part, and print what is outside its bounds and how long it took."""
    begun = time.monotonic()
    part = PARTS[name].make(lambda words: print(f"{name}: {words}", file=sys.stderr, flush=True))
    outside = [row for row in part.all_rows() if not row.is_within]
    words = ", ".join(f"{row.what} {'outside, known' if row.known else 'OUTSIDE'}" for row in outside)
    print(f"{name}: {words or 'ok'} ({time.monotonic() - begun:.0f} s)")
    return part


def _chapter(title: str, part: Part) -> str:
    lines = [f"## {title}", "", textwrap.fill(part.about, WIDTH, break_on_hyphens=False), ""]
    if part.rows:
        lines += [f"| | ours | {part.theirs} | within |", "| --- | --- | --- | --- |"]
        for row in part.rows:
            mark = "" if row.is_within else f" {_outside(row)}"
            lines.append(f"| {row.what} | {row.value()} | {row.theirs or '-'} | {row.bound.words()}{mark} |")
        lines.append("")
    lines += [f"![{name.replace('_', ' ')}]({PICTURES}/{name}.png)\n" for name in part.pictures]
    lines += [part.after, ""] if part.after else []
    return "\n".join([*lines, *map(_section, part.sections)])


def _section(section: Section) -> str:
    lines = [f"### {section.title}", "", textwrap.fill(section.about, WIDTH, break_on_hyphens=False), ""]
    lines += ["| | ours | band | mark | verdict |", "| --- | --- | --- | --- | --- |"]
    for row in section.rows:
        verdict = "inside" if row.is_within else _outside(row)
        lines.append(f"| {row.what} | {row.value()} | {row.bound.words()} | {row.mark} | {verdict} |")
    return "\n".join([*lines, ""])


def _outside(row: Row) -> str:
    return f"**outside**{': ' if row.known else ''}{row.known}"


def _made_with() -> str:
    estimates = {key: value for key, value in versions().items() if key != "commit"}
    return "## Made with\n\n" + ", ".join(f"{key} {value}" for key, value in estimates.items()) + "\n"


PARTS = {
    "lane_change": Chapter("Double lane change beside an independent simulation", lane_change),
    "straight": Chapter("Straight ahead", straight),
    "identification": Chapter("Identification ([Sanjurjo], Eqs. 5.26 and 5.43)", identification),
    "formulations": Chapter("One vehicle, three formulations ([Cameron])", formulations),
    "newton_chord": Chapter("Newton chord ([Bae])", newton_chord),
    "quarter_car": Chapter("One suspension, four methods", quarter_car),
    "linkages": Chapter("State observers on linkages ([Sanjurjo], chapter 4)", linkages),
    "gps": Chapter("Cheap GPS receiver ([Sanjurjo], Section 5.8.2)", gps),
    "low_cost_gps": Chapter("Vehicle observer with a cheap GPS ([Sanjurjo], test 2)", low_cost_gps),
    "vehicle_observer": Chapter("Vehicle observer over ten noise seeds", vehicle_observer),
    "scenarios": Chapter("Scenarios", suite(("lane_change", "j_turn", "bump", "off_road", "low_cost_gps"))),
    "urban": Chapter("Scenario urban", suite(("urban",))),
    "mobility": Chapter("Mobility of the HMMWV", mobility),
}
LONG = ("vehicle_observer", "urban")
