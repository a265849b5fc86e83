"""Criteria of a run with gaps, which may leave some open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from proving_ground.scenarios.channels import ESTIMATE_CHANNELS, Channels
from proving_ground.scenarios.gaps import Gap, Missing, estimate_gaps
from proving_ground.scenarios.lock_step import Run
from proving_ground.scenarios.metrics import Finding, judge
from proving_ground.scenarios.scenario import Criterion, Scenario

UNBOUNDED = 1e12  # bounds of a criterion from here on mean none


def judge_around(
    criteria: Sequence[Criterion], found: Channels, reference: Channels | None, lacking: Missing
) -> list[Finding]:
    """Findings on all criteria by the known parts of channels; those that gaps leave undecided are open."""
    findings = []
    for criterion in criteria:
        missing = lacking.of(criterion.channel)
        (finding,) = judge([criterion], _known(found, criterion.channel, missing), reference)
        undecided = is_open(finding, missing)
        findings.append(replace(finding, passed=False, is_open=True) if undecided else finding)
    return findings


def judge_run(scenario: Scenario, run: Run, reference: Channels | None) -> list[Finding]:
    """Findings on all criteria of a lock-step run, in which only estimates of an observer can be missing."""
    lacking = Missing(of_channels=dict.fromkeys(ESTIMATE_CHANNELS, silent_observer(scenario, run)))
    return judge_around(scenario.criteria, run.channels, reference, lacking)


def silent_observer(scenario: Scenario, run: Run) -> list[Gap]:
    """Gaps in which a run with an observer has no estimate."""
    if scenario.observer is None:
        return []
    knows_start = scenario.observer.knows_start
    return estimate_gaps(scenario.start.time_ns(), run.time, run.estimates, knows_start=knows_start)


def _known(found: Channels, channel: str, missing: Sequence[Gap]) -> Channels:
    """A channel and its times without the interpolated values in its gaps."""
    if not missing or channel not in found:
        return found
    hidden = np.logical_or.reduce([gap.hides(found["time_s"]) for gap in missing])
    return {name: found[name][~hidden] for name in ("time_s", channel)}


def is_open(finding: Finding, missing: Sequence[Gap]) -> bool:
    """Whether the missing data could change the verdict of a criterion.

    With the missing data a maximum can only be larger, a minimum only smaller; the value at the end is only open if
    the end is missing; means can be anything.
    """
    c, value = finding.criterion, finding.value
    if math.isnan(value):  # its whole time is missing
        return any(gap.start_s <= c.to_s and gap.end_s >= c.from_s for gap in missing)
    inside = [gap for gap in missing if gap.start_s < c.to_s and gap.end_s > c.from_s]
    if not inside:
        return False
    if c.statistic == "end":
        return any(gap.hides(c.to_s) for gap in inside)
    if c.statistic == "maximum":
        return value <= c.at_most and (value < c.at_least or c.at_most < UNBOUNDED)
    if c.statistic == "minimum":
        return value >= c.at_least and (value > c.at_most or c.at_least > -UNBOUNDED)
    return True
