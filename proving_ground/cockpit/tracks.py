"""History: poses of the last seconds, trails on the ground, and the data of the plots."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Poses:
    """Poses of the last seconds, to place past measurements."""

    def __init__(self, keep: int = 100) -> None:
        self._keep, self._count = keep, 0
        self._times = np.zeros(2 * keep, np.int64)
        self._rows = np.zeros((2 * keep, 7))  # position [m], quaternion x y z w

    def record(self, time_ns: int, position: Array, attitude: Array) -> None:
        """Record a pose; one that is not newer than the last is ignored."""
        if self._count and time_ns <= self._times[self._count - 1]:
            return
        if self._count == len(self._times):  # drop the older half
            self._times[: self._keep], self._rows[: self._keep] = self._times[self._keep :], self._rows[self._keep :]
            self._count = self._keep
        # q and -q are the same rotation: between neighbours take the nearer one
        sign = -1.0 if self._count and attitude @ self._rows[self._count - 1, 3:] < 0.0 else 1.0
        self._times[self._count] = time_ns
        self._rows[self._count, :3], self._rows[self._count, 3:] = position, sign * attitude
        self._count += 1

    def clear(self) -> None:
        """Forget all poses."""
        self._count = 0

    def at(self, times_ns: NDArray[np.int64]) -> tuple[Array, Array]:
        """Positions (n x 3 [m]) and quaternions (n x 4, x y z w) at times; beyond the ends as at the ends.

        Raises ValueError when there is no pose.
        """
        if not self._count:
            raise ValueError("no pose yet")
        times, rows = self._times[: self._count], self._rows[: self._count]
        wanted = np.asarray(times_ns, np.int64)
        after = np.clip(np.searchsorted(times, wanted), min(1, self._count - 1), self._count - 1)
        before = np.maximum(after - 1, 0)
        span = np.maximum(times[after] - times[before], 1)
        share = np.clip((wanted - times[before]) / span, 0.0, 1.0)[:, None]
        found = (1.0 - share) * rows[before] + share * rows[after]
        rotation = found[:, 3:]
        return found[:, :3], rotation / np.linalg.norm(rotation, axis=1, keepdims=True)


class Trail:
    """A line along the driven path; older parts get coarser when it becomes long."""

    def __init__(self, spacing: float = 0.3, most: int = 1500, lift: float = 0.06) -> None:
        self._spacing, self._most, self._lift = spacing, most, lift
        self._points: list[tuple[float, float, float]] = []

    def record(self, position: Array) -> None:
        """Record the vehicle's position [m]."""
        x, y, z = position.tolist()
        if self._points:
            before = self._points[-1]
            if (x - before[0]) ** 2 + (y - before[1]) ** 2 < self._spacing**2:
                return
        self._points.append((x, y, z + self._lift))
        if len(self._points) > self._most:
            half = len(self._points) // 2
            self._points = self._points[:half:2] + self._points[half:]

    def clear(self) -> None:
        """Forget the path driven so far."""
        self._points.clear()

    def segments(self) -> Array:
        """Segments of the line, each with its start and its end in the world (n x 2 x 3 [m])."""
        positions = np.array(self._points, float).reshape(-1, 3)
        return np.stack((positions[:-1], positions[1:]), axis=1) if len(positions) > 1 else np.zeros((0, 2, 3))


class Strip:
    """Values over the last seconds of simulated time."""

    def __init__(self, names: tuple[str, ...], span_s: float = 30.0, rate_hz: float = 10.0) -> None:
        self.names, self._span_ns, self._step_ns = names, round(span_s * 1e9), round(1e9 / rate_hz)
        self._rows: deque[tuple[int, tuple[float, ...]]] = deque()

    def record(self, time_ns: int, values: tuple[float, ...]) -> None:
        """Record the values of all names at a time; too soon after the last ones, they are ignored."""
        if self._rows and time_ns - self._rows[-1][0] < self._step_ns:
            return
        self._rows.append((time_ns, values))
        while self._rows[0][0] < time_ns - self._span_ns:
            self._rows.popleft()

    def clear(self) -> None:
        """Forget all values of the plot."""
        self._rows.clear()

    def columns(self) -> tuple[Array, ...]:
        """Seconds before the last value (0 and below), then a column for each name."""
        if not self._rows:
            return tuple(np.zeros(0) for _ in range(len(self.names) + 1))
        newest = self._rows[-1][0]
        seconds = np.array([(time - newest) * 1e-9 for time, _ in self._rows])
        values = np.array([row for _, row in self._rows], float).reshape(len(seconds), -1)
        return (seconds, *values.T)


class Pace:
    """Real-time factor over the last seconds."""

    def __init__(self, span_s: float = 2.0) -> None:
        self._span, self._samples = span_s, deque[tuple[float, int]]()

    def record(self, wall: float, time_ns: int) -> None:
        """Record simulated time at a time [s] of a steady clock."""
        if self._samples and time_ns < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((wall, time_ns))
        while len(self._samples) > 2 and self._samples[0][0] < wall - self._span:
            self._samples.popleft()

    @property
    def factor(self) -> float:
        """Simulated over real time; 0 while unknown."""
        if len(self._samples) < 2:
            return 0.0
        (wall, first), (now, last) = self._samples[0], self._samples[-1]
        return (last - first) * 1e-9 / (now - wall) if now > wall else 0.0

    def words(self, now: float) -> str:
        """The factor, or why it is unknown; now: seconds of the same steady clock."""
        if not self._samples or now - self._samples[-1][0] > self._span:
            return "no clock"
        return f"{self.factor:.2f}" if self.factor > 0.0 else "0 (paused)"
