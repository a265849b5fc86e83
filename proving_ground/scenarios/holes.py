"""Stretches of a run that were not recorded, or in which a topic is silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proving_ground.scenarios.channels import shared_instants
from proving_ground.scenarios.refereeing import START_WITHIN_S

Array = NDArray[np.float64]

LONGEST_STEP_S = 0.2  # of a recording without holes: 20 instants of ours
USUAL_STEPS = 10  # of a slower recording; no hole is shorter
EDGE_S = 0.5  # at the ends of a recording, which is opened and closed while messages come
RECORDING = "the recording"


class Hole(NamedTuple):
    """Between two instants that are known, in seconds of the run; at an end of the run there is but one."""

    start_s: float
    end_s: float
    has_before: bool = True
    has_after: bool = True

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s

    def hides(self, time_s: Array | float) -> NDArray[np.bool_]:
        """Which instants are in it; nothing comes after one that has no instant after it."""
        time = np.asarray(time_s)
        after = time > self.start_s if self.has_before else time >= self.start_s
        return np.asarray(after & ((time < self.end_s) | (not self.has_after)))


@dataclass(frozen=True)
class Lacking:
    """Holes of a run."""

    everywhere: tuple[Hole, ...] = ()  # nothing at all is known there
    of_channels: Mapping[str, Sequence[Hole]] = field(default_factory=dict)  # more of some, by name in CHANNELS

    def of(self, channel: str) -> list[Hole]:
        """Where a channel is not known."""
        return [*self.everywhere, *self.of_channels.get(channel, ())]

    def __bool__(self) -> bool:
        return bool(self.everywhere) or any(self.of_channels.values())


def holes(time_s: Array, start_s: float | None = None, end_s: float | None = None) -> list[Hole]:
    """In times that rise, and between them and the run's ends, where these are given.

    >>> [(hole.start_s, hole.end_s) for hole in holes(np.array([0.0, 0.1, 0.2, 2.5, 2.6]), end_s=4.0)]
    [(0.2, 2.5), (2.6, 4.0)]
    """
    if not len(time_s):
        return []
    steps = np.diff(time_s)
    usual = USUAL_STEPS * float(np.median(steps)) if len(steps) else 0.0
    first, last = float(time_s[0]), float(time_s[-1])
    found = []
    if start_s is not None and first - start_s > max(EDGE_S, usual):
        found.append(Hole(start_s, first, has_before=False))
    for place in np.flatnonzero(steps > max(LONGEST_STEP_S, usual)):
        found.append(Hole(float(time_s[place]), float(time_s[place + 1])))
    if end_s is not None and end_s - last > max(EDGE_S, usual):
        found.append(Hole(last, end_s, has_after=False))
    return found


def estimate_holes(start_ns: int, time_s: Array, estimates: NDArray[np.void] | None, knows_start: bool) -> list[Hole]:
    """Where ESTIMATE_CHANNELS have no estimate; estimates: records with time_ns, None or none: they have no channels.

    One that has to find out where it is begins when it can: before, its channels are those of its first estimate. One
    that is told begins at once.
    """
    if estimates is None:
        return []
    ours, _ = shared_instants(start_ns, time_s, estimates)
    if not len(ours):
        return []
    estimate_times = time_s[ours]
    found = holes(estimate_times, end_s=float(time_s[-1]))
    if knows_start and estimate_times[0] - time_s[0] > START_WITHIN_S:  # it was not there
        found.insert(0, Hole(float(time_s[0]), float(estimate_times[0]), has_before=False))
    return found


def during(found: Sequence[Hole], length_s: float) -> list[Hole]:
    """What of them is in a run of a length."""
    return [
        hole._replace(start_s=max(hole.start_s, 0.0), end_s=min(hole.end_s, length_s))
        for hole in found
        if hole.end_s > 0.0 and hole.start_s < length_s
    ]


def beyond(found: Sequence[Hole], others: Sequence[Hole]) -> list[Hole]:
    """Those that the others do not account for."""

    def shared(hole: Hole) -> float:
        return sum(max(0.0, min(hole.end_s, one.end_s) - max(hole.start_s, one.start_s)) for one in others)

    return [hole for hole in found if hole.length_s - shared(hole) > LONGEST_STEP_S]


def lack_words(found: Sequence[Hole], who: str = RECORDING) -> str:
    """For people.

    >>> lack_words([Hole(1.0, 3.5), Hole(7.0, 8.0)])
    'the recording lacks 3.5 s: from 1.0 to 3.5 s and from 7.0 to 8.0 s'
    """
    spans = [f"from {hole.start_s:.1f} to {hole.end_s:.1f} s" for hole in found]
    return f"{who} lacks {sum(hole.length_s for hole in found):.1f} s: {' and '.join(spans)}"
