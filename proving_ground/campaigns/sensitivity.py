"""Sensitivity of a metric to the inputs, by two measures that need no further runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from proving_ground.campaigns.summary import numbers

Array = NDArray[np.float64]

FEWEST = 10  # runs needed for a meaningful answer
MOST_BINS = 20


@dataclass(frozen=True)
class Influence:
    """Influence of one varied input on one metric: rank correlation, and share of the metric's variance."""

    name: str
    rank_correlation: float | None  # Spearman's, from -1 to 1; none for words
    share: float  # of the variance, from 0 to 1
    runs: int


def influences(table: pa.Table, metric: str) -> list[Influence]:
    """Influences of all inputs on a metric, the strongest first; inputs that do not vary are left out."""
    values = numbers(table, f"metric.{metric}")
    found = []
    for column in (name for name in table.column_names if name.startswith("input.")):
        influence = _influence(column.removeprefix("input."), table[column].to_pylist(), values)
        if influence is not None:
            found.append(influence)
    return sorted(found, key=lambda item: (-max(abs(item.rank_correlation or 0.0), math.sqrt(item.share)), item.name))


def _influence(name: str, inputs: list[float | str], values: Array) -> Influence | None:
    known = np.isfinite(values)
    groups = _groups(inputs, known)
    if known.sum() < FEWEST or len(np.unique(groups)) < 2 or np.ptp(values[known]) == 0.0:
        return None
    correlation = None
    if not any(isinstance(item, str) for item in inputs):
        from scipy.stats import spearmanr

        correlation = float(spearmanr(np.array(inputs, dtype=float)[known], values[known]).statistic)
    return Influence(name, correlation, variance_share(groups, values[known]), int(known.sum()))


def _groups(inputs: list[float | str], known: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Group number of each known run: by its word or value, or by bins of equal size where there are many values."""
    kept = [item for item, is_known in zip(inputs, known, strict=True) if is_known]
    different, codes = np.unique(np.array(kept), return_inverse=True)
    bins = min(MOST_BINS, max(2, math.isqrt(len(kept)) // 2))
    if len(different) <= bins or any(isinstance(item, str) for item in kept):
        return np.asarray(codes, np.intp)
    ranks = np.argsort(np.argsort(np.array(kept, dtype=float), kind="stable"), kind="stable")
    return np.asarray(ranks * bins // len(kept), np.intp)


def variance_share(groups: NDArray[np.intp], values: Array) -> float:
    """Share of the variance explained by the group: Var(E[Y|X]) / Var(Y), the first-order Sobol index of X.

    The correlation ratio over groups of X, less what chance gives (Kelley's epsilon squared); valid where inputs
    are independent, as a campaign's are. 0 where chance explains as much.
    """
    count, kinds = len(values), np.unique(groups)
    if count <= len(kinds):
        return 0.0
    within = sum(float(((values[groups == kind] - values[groups == kind].mean()) ** 2).sum()) for kind in kinds)
    whole = float(((values - values.mean()) ** 2).sum())
    return max(0.0, 1.0 - (within / (count - len(kinds))) / (whole / (count - 1)))
