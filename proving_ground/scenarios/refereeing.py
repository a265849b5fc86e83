"""What a run over ROS goes through: nodes get ready, time runs, the drive ends. No ROS here."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from proving_ground.scenarios.ending import Standing

TIMING = "timing.json"  # in a run's folder, once time runs; with all times when it came to its end
START_WITHIN_S = 3.0  # of a run: so long an observer is told where it starts
ASK_AGAIN_S = 2.0  # a question, or its answer, may be lost
SLOW_MPS = 0.5  # above this speed an initial pose is stale when it arrives
CALM_S = 0.5  # the graph has not changed for so long
SILENT_S = 2.5  # a node that tells of its health each second is gone, or stuck


class Phase(enum.Enum):
    """Of a run."""

    GETTING_READY = "getting ready"
    RUNNING = "running"
    OVER = "over"


class Step(enum.Enum):
    """What is to be done now for time to run."""

    WAIT = "wait"
    ASK = "ask"
    RUN = "run"
    GIVE_UP = "give up"


@dataclass
class Permission:
    """Time is asked to run, and again while nothing comes of it; after a while that is given up.

    Times of a steady clock.
    """

    began_at: float
    within_s: float
    _asked_at: float = float("-inf")
    _elapsed_then_s: float = float("inf")

    @property
    def was_asked(self) -> bool:
        """Whether an answer may come."""
        return self._asked_at > float("-inf")

    def step(self, now: float, *, is_ready: bool, is_answered: bool, elapsed_s: float) -> Step:
        """What to do now; elapsed_s: simulated so far. Time that runs is an answer too."""
        if is_answered or elapsed_s > self._elapsed_then_s:
            return Step.RUN
        if now - self.began_at > self.within_s:
            return Step.GIVE_UP
        if not (is_ready or self.was_asked) or now - self._asked_at <= ASK_AGAIN_S:
            return Step.WAIT
        self._asked_at, self._elapsed_then_s = now, min(elapsed_s, self._elapsed_then_s)
        return Step.ASK


@dataclass
class Readiness:
    """Ready when every node has told of its health and nobody new is found for a while; times of a steady clock."""

    wanted: frozenset[str]
    _heard: set[str] = field(default_factory=set)
    _graph: Mapping[str, int] = field(default_factory=dict)
    _changed_at: float = float("-inf")

    def hear(self, node: str) -> None:
        """A node tells of its health."""
        self._heard.add(node)

    def look(self, graph: Mapping[str, int], now: float) -> None:
        """Who listens to what: counts by topic."""
        if graph != self._graph:
            self._graph, self._changed_at = dict(graph), now

    @property
    def missing(self) -> list[str]:
        """Nodes that have not told of themselves yet."""
        return sorted(self.wanted - self._heard)

    def is_ready(self, now: float) -> bool:
        """Whether time may run."""
        return not self.missing and now - self._changed_at > CALM_S


@dataclass
class Attendance:
    """Who is still there, by what nodes tell of their health; times of a steady clock."""

    _heard_at: dict[str, float] = field(default_factory=dict)

    def hear(self, node: str, now: float) -> None:
        """A node tells of its health."""
        self._heard_at[node] = now

    def silent(self, now: float) -> list[str]:
        """Nodes that do not tell of themselves any more."""
        return sorted(node for node, at in self._heard_at.items() if now - at > SILENT_S)


@dataclass
class Course:
    """Where a run is: time, and whether the drive is over before it."""

    duration_s: float
    begun_ns: int | None = None
    elapsed_s: float = 0.0
    planner_status: str = ""
    trouble: str = ""  # why the run cannot go on
    _speed: float = float("nan")
    _standing: Standing = field(default_factory=Standing)

    def tell_time(self, time_ns: int) -> None:
        """Simulation time; after a jump back it goes on from there."""
        if self.begun_ns is None or time_ns < self.begun_ns:
            self.begun_ns = time_ns
        self.elapsed_s = (time_ns - self.begun_ns) * 1e-9

    def tell_speed(self, speed: float) -> None:
        """Of the vehicle [m/s]."""
        self._speed = speed
        self._standing.note(self.elapsed_s, speed)

    @property
    def is_slow(self) -> bool:
        """Whether the vehicle is where it was said to be a moment ago; not before its first odometry."""
        return abs(self._speed) < SLOW_MPS

    @property
    def stands(self) -> bool:
        """Whether the vehicle does."""
        return self._standing.since_s is not None

    @property
    def is_over(self) -> bool:
        """Time is up, or the planner has arrived or given up and the vehicle stands."""
        return self.elapsed_s >= self.duration_s or self._standing.ends(self.elapsed_s, self.planner_status)

    def words(self, factor: float) -> str:
        """For people."""
        status = f", planner: {self.planner_status}" if self.planner_status else ""
        return f"{self.elapsed_s:6.1f} of {self.duration_s:g} s simulated, {factor:.2f} times real time{status}"
