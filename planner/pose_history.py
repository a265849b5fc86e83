"""Recent poses of the vehicle, for scans that arrive after they were taken."""

from __future__ import annotations

import math
from collections import deque

from planner.pose import Pose
from proving_ground.saving.stateful import Stateful

KEPT_NS = 2_000_000_000
SLACK_NS = 20_000_000  # times up to this far beyond the newest pose get that pose


class PoseHistory(Stateful):
    """Poses by time [ns], two seconds of them."""

    STATE = ("_poses",)

    def __init__(self) -> None:
        self._poses: deque[tuple[int, Pose]] = deque()

    def clear(self) -> None:
        """Forget all poses."""
        self._poses.clear()

    def record(self, time_ns: int, pose: Pose) -> None:
        """Record a pose; times must increase."""
        self._poses.append((time_ns, pose))
        while self._poses[0][0] < time_ns - KEPT_NS:
            self._poses.popleft()

    def is_before(self, time_ns: int) -> bool:
        """Whether a pose of that time may still arrive."""
        return not self._poses or self._poses[-1][0] + SLACK_NS < time_ns

    def at(self, time_ns: int) -> Pose:
        """The pose at a time, interpolated linearly; raises ValueError when it is not known."""
        if not self._poses or not self._poses[0][0] <= time_ns <= self._poses[-1][0] + SLACK_NS:
            raise ValueError("its time is outside the known poses")
        after = self._poses[-1]
        for before in reversed(self._poses):
            if before[0] <= time_ns:
                break
            after = before
        (first_ns, first), (second_ns, second) = before, after
        if second_ns <= first_ns:
            return first
        share = (time_ns - first_ns) / (second_ns - first_ns)
        values = [a + share * (b - a) for a, b in zip(first, second, strict=True)]
        heading_change = math.remainder(second.heading - first.heading, 2.0 * math.pi)
        return Pose(*values)._replace(heading=math.remainder(first.heading + share * heading_change, 2.0 * math.pi))
