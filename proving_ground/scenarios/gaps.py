"""Intervals of a run that were not recorded, or in which a topic is silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.channels import shared_instants
from proving_ground.scenarios.refereeing import START_WITHIN_S

Array = NDArray[np.float64]

LONGEST_STEP_S = 0.2  # in a recording without gaps: 20 of our instants
USUAL_STEPS = 10  # of a slower recording: the shortest gap
EDGE_S = 0.5  # at the ends of a recording, which is opened and closed while messages arrive
RECORDING = "the recording"


class Gap(NamedTuple):
    """Interval between two known instants, in seconds of the run; at an end of the run there is only one."""

    start_s: float
    end_s: float
    has_before: bool = True
    has_after: bool = True

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def hides(self, time_s: Array | float) -> NDArray[np.bool_]:
        """Mask of the instants inside; a gap at the end of the run hides everything after its start."""
        time = np.asarray(time_s)
        after = time > self.start_s if self.has_before else time >= self.start_s
        return np.asarray(after & ((time < self.end_s) | (not self.has_after)))


@dataclass(frozen=True)
class Missing:
    """Gaps in the data of a run, in all channels or in some."""

    everywhere: tuple[Gap, ...] = ()  # of all channels
    of_channels: Mapping[str, Sequence[Gap]] = field(default_factory=dict)  # further gaps of some, by name in CHANNELS

    def of(self, channel: str) -> list[Gap]:
        """All gaps of a channel: those of the run and its own."""
        return [*self.everywhere, *self.of_channels.get(channel, ())]

    def __bool__(self) -> bool:
        return bool(self.everywhere) or any(self.of_channels.values())


def gaps(time_s: Array, start_s: float | None = None, end_s: float | None = None) -> list[Gap]:
    """Gaps in increasing times, and between them and the run's ends, where these are given.

    >>> [(gap.start_s, gap.end_s) for gap in gaps(np.array([0.0, 0.1, 0.2, 2.5, 2.6]), end_s=4.0)]
    [(0.2, 2.5), (2.6, 4.0)]
    """
    if not len(time_s):
        return []
    steps = np.diff(time_s)
    usual = USUAL_STEPS * float(np.median(steps)) if len(steps) else 0.0
    first, last = float(time_s[0]), float(time_s[-1])
    found = []
    if start_s is not None and first - start_s > max(EDGE_S, usual):
        found.append(Gap(start_s, first, has_before=False))
    for index in np.flatnonzero(steps > max(LONGEST_STEP_S, usual)):
        found.append(Gap(float(time_s[index]), float(time_s[index + 1])))
    if end_s is not None and end_s - last > max(EDGE_S, usual):
        found.append(Gap(last, end_s, has_after=False))
    return found


def estimate_gaps(start_ns: int, time_s: Array, estimates: NDArray[np.void] | None, knows_start: bool) -> list[Gap]:
    """Gaps of ESTIMATE_CHANNELS; estimates: records with time_ns; None or empty: there are no such channels.

    An observer that initialises itself starts when it can: before, its channels are those of its first estimate. One
    that is given its start begins at once.
    """
    if estimates is None:
        return []
    ours, _ = shared_instants(start_ns, time_s, estimates)
    if not len(ours):
        return []
    estimate_times = time_s[ours]
    found = gaps(estimate_times, end_s=float(time_s[-1]))
    if knows_start and estimate_times[0] - time_s[0] > START_WITHIN_S:  # it was not running
        found.insert(0, Gap(float(time_s[0]), float(estimate_times[0]), has_before=False))
    return found


def during(found: Sequence[Gap], length_s: float) -> list[Gap]:
    """The parts of the gaps within a run of some length."""
    return [
        gap._replace(start_s=max(gap.start_s, 0.0), end_s=min(gap.end_s, length_s))
        for gap in found
        if gap.end_s > 0.0 and gap.start_s < length_s
    ]


def beyond(found: Sequence[Gap], others: Sequence[Gap]) -> list[Gap]:
    """Those of the gaps in `found` that no gap of `others` covers."""

    def shared(gap: Gap) -> float:
        return sum(max(0.0, min(gap.end_s, one.end_s) - max(gap.start_s, one.start_s)) for one in others)

    return [gap for gap in found if gap.length_s - shared(gap) > LONGEST_STEP_S]


def missing_text(found: Sequence[Gap], source: str = RECORDING) -> str:
    """Text for users.

    >>> missing_text([Gap(1.0, 3.5), Gap(7.0, 8.0)])
    'the recording lacks 3.5 s: from 1.0 to 3.5 s and from 7.0 to 8.0 s'
    """
    spans = [f"from {gap.start_s:.1f} to {gap.end_s:.1f} s" for gap in found]
    return f"{source} lacks {sum(gap.length_s for gap in found):.1f} s: {' and '.join(spans)}"
