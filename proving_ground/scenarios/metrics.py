"""Figures of a run and whether it passed: statistics of channels against the scenario's criteria."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.channels import CHANNELS, ESTIMATE_CHANNELS, Channels
from proving_ground.scenarios.scenario import Criterion, Scenario
from proving_ground.settings import SettingsError
from proving_ground.settings.fields import close_name
from proving_ground.settings.units import FOREVER_S

Array = NDArray[np.float64]

MOST_REFERENCE_ROWS = 1_000_000


@dataclass(frozen=True)
class Finding:
    """A criterion, the value that the run had, and whether it passed."""

    criterion: Criterion
    value: float
    passed: bool
    is_open: bool = False  # the recording does not decide it; then it has not passed either

    @property
    def mark(self) -> str:
        """The finding in a word."""
        return "open" if self.is_open else "pass" if self.passed else "FAIL"

    def words(self) -> str:
        """The finding in one line."""
        c = self.criterion
        bounds = []
        if c.at_least > -1e12:
            bounds.append(f"at least {c.at_least:g}")
        if c.at_most < 1e12:
            bounds.append(f"at most {c.at_most:g}")
        span = f" from {c.from_s:g} s" if c.from_s > 0.0 else ""
        span += f" to {c.to_s:g} s" if c.to_s < FOREVER_S else ""
        return f"{c.statistic} of {c.channel}{span}: {self.value:.5g} ({', '.join(bounds) or 'any'})"

    def plain(self) -> dict[str, object]:
        """The finding as a mapping for JSON."""
        plain = {
            **asdict(self.criterion),
            "value": self.value if math.isfinite(self.value) else None,
            "passed": self.passed,
        }
        return {**plain, "open": True} if self.is_open else plain


def verdict(findings: Sequence[Finding]) -> bool | None:
    """Verdict of all findings; None: none is missed, and some are open."""
    if any(not finding.passed and not finding.is_open for finding in findings):
        return False
    return None if any(finding.is_open for finding in findings) else True


def judge(criteria: Sequence[Criterion], found: Channels, reference: Channels | None) -> list[Finding]:
    """Findings on all criteria; one whose part of the run was never reached fails."""
    findings = []
    for criterion in criteria:
        value = _value(criterion, found, reference)
        findings.append(Finding(criterion, value, criterion.at_least <= value <= criterion.at_most))
    return findings


def _value(criterion: Criterion, found: Channels, reference: Channels | None) -> float:
    if criterion.channel in ESTIMATE_CHANNELS and criterion.channel not in found:
        return math.nan  # the observer never started
    time, values = found["time_s"], found[criterion.channel]
    part = (time >= criterion.from_s - 1e-9) & (time <= criterion.to_s + 1e-9)
    if not part.any():
        return math.nan
    if criterion.statistic in PLAIN:
        return float(PLAIN[criterion.statistic](values[part]))
    if reference is None or criterion.channel not in reference:
        raise SettingsError(f"criteria: the reference has no channel {criterion.channel}")
    expected = np.interp(time[part], reference["time_s"], reference[criterion.channel])
    peak = float(np.abs(expected).max()) or 1.0
    if criterion.statistic == "reference_rms":  # as a share of the reference's peak
        return float(np.sqrt(np.mean((values[part] - expected) ** 2))) / peak
    return float(np.abs(values[part]).max()) / peak


PLAIN: dict[str, Callable[[Array], float]] = {
    "minimum": np.min,
    "maximum": np.max,
    "mean": np.mean,
    "rms": lambda values: float(np.sqrt(np.mean(values**2))),
    "end": lambda values: float(values[-1]),
}


def load_reference(scenario: Scenario) -> dict[str, Array] | None:
    """Channels of the scenario's reference run, None without one; raises SettingsError when they cannot be used."""
    if not scenario.reference:
        return None
    path = Path(scenario.reference)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))[: MOST_REFERENCE_ROWS + 2]
        names = rows[0]
        table = np.array([[float(cell) for cell in row] for row in rows[1:]])
    except (OSError, UnicodeDecodeError, ValueError, IndexError) as error:
        raise SettingsError(f"{path}: not a table of numbers with a row of names: {error}") from None
    for name in names:
        if name not in CHANNELS:
            raise SettingsError(f"{path}: column {name}: {close_name(name, CHANNELS)}")
    if table.ndim != 2 or len(table) < 2 or "time_s" not in names or not np.isfinite(table).all():
        raise SettingsError(f"{path}: needs a column time_s, two rows at least, and finite numbers only")
    if len(table) > MOST_REFERENCE_ROWS:
        raise SettingsError(f"{path}: has more than {MOST_REFERENCE_ROWS} rows")
    found = {name: table[:, index] for index, name in enumerate(names)}
    if not np.all(np.diff(found["time_s"]) > 0.0):
        raise SettingsError(f"{path}: time_s must rise from row to row")
    return found
