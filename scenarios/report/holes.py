"""Stretches of a run that its recording lacks, and which criteria they leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scenarios.metrics import Finding

LONGEST_STEP_S = 0.2  # of a recording without holes: 20 instants of ours
USUAL_STEPS = 10  # of a slower recording; no hole is shorter
UNBOUNDED = 1e12


class Hole(NamedTuple):
    """Between two instants of the recording, in seconds of the run."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


def holes(time_s: NDArray[np.float64]) -> list[Hole]:
    """In times that rise.

    >>> holes(np.array([0.0, 0.1, 0.2, 2.5, 2.6]))
    [Hole(start_s=0.2, end_s=2.5)]
    """
    steps = np.diff(time_s)
    if not len(steps):
        return []
    places = np.flatnonzero(steps > max(LONGEST_STEP_S, USUAL_STEPS * float(np.median(steps))))
    return [Hole(float(time_s[place]), float(time_s[place + 1])) for place in places]


def lack_words(found: Sequence[Hole]) -> str:
    """For people.

    >>> lack_words([Hole(1.0, 3.5), Hole(7.0, 8.0)])
    'the recording lacks 3.5 s: from 1.0 to 3.5 s and from 7.0 to 8.0 s'
    """
    spans = [f"from {hole.start_s:.1f} to {hole.end_s:.1f} s" for hole in found]
    return f"the recording lacks {sum(hole.length_s for hole in found):.1f} s: {' and '.join(spans)}"


def is_open(finding: Finding, found: Sequence[Hole]) -> bool:
    """Whether a criterion that is met in what was recorded could have been broken in what was not.

    A maximum can only have been larger, a minimum smaller, and the end is the end; means can have been anything.
    """
    c = finding.criterion
    inside = [hole for hole in found if hole.start_s < c.to_s and hole.end_s > c.from_s]
    if not finding.passed or not inside:
        return False
    if c.statistic == "end":
        return any(hole.start_s < c.to_s < hole.end_s for hole in inside)
    if c.statistic == "maximum":
        return c.at_most < UNBOUNDED
    if c.statistic == "minimum":
        return c.at_least > -UNBOUNDED
    return True
