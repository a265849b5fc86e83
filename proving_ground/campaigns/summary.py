"""A campaign's results in a few lines of text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proving_ground.campaigns.perform import PASSED, VERDICTS
from proving_ground.campaigns.rules import wilson
from proving_ground.settings.text_table import text_table

Array = NDArray[np.float64]

QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)
HEADINGS = ("least", "5 %", "median", "95 %", "largest")


def counts(table: pa.Table) -> dict[str, int]:
    """Counts of the verdicts that occur, in the usual order."""
    verdicts = table["verdict"].to_pylist()
    return {name: verdicts.count(name) for name in VERDICTS if name in verdicts}


def rate_words(passed: int, total: int) -> str:
    """Success rate of runs with its 95 % interval, as text."""
    if not total:
        return "no runs"
    low, high = wilson(passed, total)
    return f"{passed / total:.1%} passed ({passed} of {total}; 95 % interval {low:.1%} to {high:.1%}, Wilson)"


def metric_names(table: pa.Table) -> list[str]:
    """Names of the metrics that are kept."""
    return [name.removeprefix("metric.") for name in table.column_names if name.startswith("metric.")]


def numbers(table: pa.Table, column: str) -> Array:
    """A column as numbers, NaN where a value is missing."""
    return np.array([np.nan if value is None else value for value in table[column].to_pylist()], dtype=float)


def summary(name: str, table: pa.Table) -> str:
    """Summary of a campaign's table as text for a terminal."""
    found = counts(table)
    lines = [f"{name}: {rate_words(found.get(PASSED, 0), len(table))}"]
    lines.append("  " + ", ".join(f"{count} {verdict}" for verdict, count in found.items()))
    rows = []
    for metric in metric_names(table):
        values = numbers(table, f"metric.{metric}")
        values = values[np.isfinite(values)]
        if len(values):
            rows.append([metric, str(len(values)), *(f"{q:.4g}" for q in np.quantile(values, QUANTILES))])
    return "\n".join([*lines, *([text_table(["metric", "runs", *HEADINGS], rows)] if rows else [])])
