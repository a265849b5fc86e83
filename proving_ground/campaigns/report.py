"""`proving-ground campaign report`: one page of a campaign's results that needs no network."""

from __future__ import annotations

import shlex
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from proving_ground.campaigns.campaign_file import Campaign, Metric, load_campaign
from proving_ground.campaigns.kit import load_kit
from proving_ground.campaigns.perform import PASSED
from proving_ground.campaigns.pictures import MOST_CELLS, end_map, histogram, matrix, scatter, success_over
from proving_ground.campaigns.rules import wilson
from proving_ground.campaigns.sensitivity import influences
from proving_ground.campaigns.store import COPY, load_made_of, load_results
from proving_ground.campaigns.summary import HEADINGS, QUANTILES, counts, numbers
from proving_ground.report.page import Section, render
from proving_ground.report.words import number
from proving_ground.settings import SettingsError
from proving_ground.settings.files import write_whole
from terrain.world import World

NONE = number(None)
SCATTERS = 3  # most influential inputs, over which a metric is drawn
WORST = 5  # runs of each metric
MOST_FAILURES = 25
MOST_SUCCESS_PLOTS = 12

SENSITIVITY_NOTE = (
    "Rank correlation is Spearman's: -1 or 1 where the metric always falls or rises with the input. Share of variance"
    " is the first-order index Var(E[Y|X]) / Var(Y), estimated by the correlation ratio over parts of the input's"
    " range, less what chance gives; it also sees influences that rise and fall again, and none that work only"
    " together with another input. Both take the inputs to be independent."
)


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write the page into the campaign's folder or elsewhere and return its path. Raises SettingsError."""
    path = out or folder / "report.html"
    write_whole(path, report_page(folder))
    return path


def report_page(folder: Path) -> str:
    """HTML page with the results of a campaign's folder."""
    made_of, table = load_made_of(folder), load_results(folder)
    if not len(table):
        raise SettingsError(f"{folder}: no run is done yet")
    campaign = load_campaign(folder / COPY)
    found, passed = counts(table), counts(table).get(PASSED, 0)
    low, high = wilson(passed, len(table))
    return render(
        "campaign.html.j2",
        title=made_of["name"],
        name=made_of["name"],
        description=campaign.description,
        rate=f"{passed / len(table):.1%}",
        interval=f"{low:.1%} to {high:.1%}",
        bar={"low": 100.0 * low, "high": 100.0 * high, "rate": 100.0 * passed / len(table)},
        counts=found,
        passed=passed,
        total=len(table),
        remarks=_remarks(table, made_of, campaign),
        facts=_facts(table, campaign),
        sections=_sections(folder, table, campaign),
        campaign=(folder / COPY).read_text(encoding="utf-8"),
    )


def _sections(folder: Path, table: pa.Table, campaign: Campaign) -> list[Section]:
    inputs = [item.called for item in campaign.vary]
    varied = [name for name in inputs if len(set(table[f"input.{name}"].to_pylist())) > 1]
    sections = []
    points = {item.called: len(getattr(item.distribution, "values", ())) for item in campaign.vary}
    grids = [name for name in varied if 2 <= points[name] <= MOST_CELLS]
    for first, second in list(combinations(grids, 2))[:1]:
        sections.append(Section("Go or no-go", [matrix(table, first, second)]))
    if 0 < counts(table).get(PASSED, 0) < len(table):
        plots = [success_over(table, name) for name in varied[:MOST_SUCCESS_PLOTS]]
        sections.append(Section("Success over inputs", plots, note="Bars are 95 % intervals (Wilson)."))
    sections.append(_distributions(table, campaign))
    sections.append(_sensitivity(table, campaign))
    sections.append(_scatters(table, campaign))
    sections += _worst(folder, table, campaign)
    view = end_map(table, _world(folder))
    if view is not None:
        note = "The ground is that of the base; inputs may have changed it." if _world(folder) is not None else ""
        sections.append(Section("Where runs ended", [view], note=note))
    return [section for section in sections if section.plots or section.rows]


def _distributions(table: pa.Table, campaign: Campaign) -> Section:
    plots, rows = [], []
    for metric in campaign.metrics:
        values = numbers(table, f"metric.{metric.called}")
        known = values[np.isfinite(values)]
        plot = histogram(table, metric.called, (metric.at_least, metric.at_most))
        plots += [plot] if plot is not None else []
        quantiles = [number(q) for q in np.quantile(known, QUANTILES)] if len(known) else [NONE] * len(QUANTILES)
        rows.append((metric.called, metric.bounds() or "any", str(len(known)), *quantiles))
    note = "Dashed lines are bounds that a run must keep to pass."
    return Section("Metrics", plots, ("metric", "bound", "runs", *HEADINGS), rows, note if plots else "")


def _sensitivity(table: pa.Table, campaign: Campaign) -> Section:
    rows = []
    for metric in campaign.metrics:
        for index, item in enumerate(influences(table, metric.called), start=1):
            rank = NONE if item.rank_correlation is None else f"{item.rank_correlation:+.2f}"
            rows.append((metric.called, str(index), item.name, rank, f"{item.share:.0%}", str(item.runs)))
    headings = ("metric", "rank", "input", "rank correlation", "share of variance", "runs")
    return Section("Sensitivity", [], headings, rows, SENSITIVITY_NOTE)


def _scatters(table: pa.Table, campaign: Campaign) -> Section:
    plots = []
    for metric in campaign.metrics:
        strongest = influences(table, metric.called)[:SCATTERS]
        plots += [scatter(table, metric.called, item.name) for item in strongest]
    note = f"Each metric over the {SCATTERS} inputs with the strongest influence."
    return Section("Metrics over inputs", plots, note=note)


def _worst(folder: Path, table: pa.Table, campaign: Campaign) -> list[Section]:
    rows = []
    for metric in campaign.metrics:
        rows += _worst_of(folder, table, metric)
    sections = [Section("Worst runs", [], ("metric", "value", "run", "verdict", "repeat it with"), rows)]
    verdicts, runs, reasons = (table[name].to_pylist() for name in ("verdict", "run", "reason"))
    missed = [index for index, verdict in enumerate(verdicts) if verdict != PASSED]
    failures = [
        (str(runs[index]), verdicts[index], reasons[index] or "", _command(folder, runs[index]))
        for index in missed[:MOST_FAILURES]
    ]
    note = f"The first {MOST_FAILURES} of {len(missed)}." if len(missed) > MOST_FAILURES else ""
    return [
        *sections,
        Section("Runs that did not pass", [], ("run", "verdict", "why", "repeat it with"), failures, note),
    ]


def _worst_of(folder: Path, table: pa.Table, metric: Metric) -> list[tuple[str, ...]]:
    if not metric.worse:
        return []
    values = numbers(table, f"metric.{metric.called}")
    known = np.flatnonzero(np.isfinite(values))
    if len(np.unique(values[known])) < 2:  # all equal: none is worse
        return []
    sign = -1.0 if metric.worse == "high" else 1.0
    order = known[np.argsort(sign * values[known], kind="stable")][:WORST]
    runs, verdicts = table["run"].to_pylist(), table["verdict"].to_pylist()
    return [
        (metric.called, number(values[index]), str(runs[index]), verdicts[index], _command(folder, runs[index]))
        for index in order.tolist()
    ]


def _command(folder: Path, run: int) -> str:
    return f"proving-ground run --from {shlex.quote(str(folder))} --run {run}"


def _remarks(table: pa.Table, made_of: dict[str, Any], campaign: Campaign) -> list[str]:
    remarks = []
    if len(table) < made_of["runs"]:
        remarks.append(f"{len(table)} of {made_of['runs']} runs are done.")
    for column, words in (("host.code", "versions of the code"), ("host.cpu", "kinds of processor")):
        kinds = {item for item in table[column].to_pylist() if item is not None}
        if len(kinds) > 1:
            remarks.append(f"The runs are of {len(kinds)} {words}; column {column} of the table says which.")
    if campaign.sampling == "grid":
        remarks.append(
            "The runs are points of a grid, not drawn by chance: the interval says nothing about other points."
        )
    if campaign.stop.interval_below or campaign.stop.max_failures:
        remarks.append(
            "A rule looked at the results after each run to end the campaign: the interval is a little narrow."
        )
    return remarks


def _facts(table: pa.Table, campaign: Campaign) -> dict[str, str]:
    wall = numbers(table, "host.wall_s")
    wall = wall[np.isfinite(wall)]
    simulated = numbers(table, "simulated_s")
    texts = {name: sorted({item for item in table[name].to_pylist() if item}) for name in ("host.cpu", "host.versions")}
    return {
        "Base": campaign.base,
        "Sampling": f"{campaign.sampling}, seed {campaign.seed}",
        "Simulated": f"{np.nansum(simulated) / 3600.0:.2f} h",
        "Wall time of a run": f"{wall.mean():.2f} s" if len(wall) else NONE,
        "Processor": "; ".join(texts["host.cpu"]) or NONE,
        "Versions": "; ".join(texts["host.versions"]) or NONE,
    }


def _world(folder: Path) -> World | None:
    """World of the base scenario, if its file still exists."""
    try:
        kit = load_kit(folder / COPY, Path(load_made_of(folder)["folder"]))
        return kit.world or kit.scenario.world.load()
    except SettingsError:
        return None
