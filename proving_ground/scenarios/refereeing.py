"""Phases of a run over ROS: nodes get ready, time runs, the drive ends. No ROS here."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from planner.node_settings import GoalChoice
from planner.progress import Status
from proving_ground.settings import setting
from proving_ground.settings.units import LONGEST_RUN_S
from vehicle_dynamics.standing import Standing

TIMING = "timing.json"  # in a run's folder once time runs; with all times at its end
HASHES = "hashes.json"  # in the folder of a synchronous run: of inputs and outputs, by node
START_WITHIN_S = 3.0  # from the start of a run, in which an observer is sent its initial pose
ASK_AGAIN_S = 2.0  # a request, or its answer, may be lost
SLOW_MPS = 0.5  # above this speed an initial pose is stale when it arrives
CALM_S = 0.5  # without changes of the graph
OVER = frozenset(status.value for status in Status if status.is_over)
SILENT_S = 2.5  # after which a node, which reports each second, is gone or stuck


@dataclass(frozen=True, kw_only=True)
class RefereeSettings:
    """Settings of the referee for one run."""

    name: str = setting("run", "Name of the run, used in log messages", read_only=True)
    world: str = setting(
        "", "Name of a world in config/worlds, or a path to a YAML file; empty: a plane", read_only=True
    )
    goal: GoalChoice = field(default_factory=GoalChoice)
    sends_start: bool = setting(
        False,
        "Publish the vehicle's start pose on /initialpose for the state observer, again when restarted nodes made it "
        "lose its estimate",
        read_only=True,
    )
    wait_for: tuple[str, ...] = setting(
        (), "Names of the nodes that must report ready before time starts", read_only=True
    )
    driver_topic: str = setting(
        "",
        "Topic of the commands of a driver from outside, whose publisher is waited for too; empty: none",
        read_only=True,
    )
    ready_within_s: float = setting(
        300.0, "Longest time to wait for nodes to become ready, which includes compiling kernels on a first start",
        unit="s", minimum=1.0, maximum=1e5, read_only=True,
    )  # fmt: skip
    duration_s: float = setting(
        60.0, "Simulated duration of the run", unit="s", minimum=0.01, maximum=LONGEST_RUN_S, read_only=True
    )
    is_synchronous: bool = setting(
        False, "Whether time waits for all nodes; the vehicle then ends the run itself", read_only=True
    )
    standstill_s: float = setting(
        60.0, "Wall time that time may stand still in a synchronous run before that is reported, and ends the run",
        unit="s", minimum=1.0, maximum=1e5, read_only=True,
    )  # fmt: skip
    is_attended: bool = setting(
        False, "Whether somebody watches the run, who decides: a standstill then does not end it", read_only=True
    )
    out: str = setting(
        "",
        "Folder for the run's times, and hashes of what each node received and sent; empty: not written",
        read_only=True,
    )


class Phase(enum.Enum):
    """Phase of a run over ROS: waiting for nodes, running, ended."""

    GETTING_READY = "getting ready"
    RUNNING = "running"
    OVER = "over"


class Step(enum.Enum):
    """Next action of the referee until time runs."""

    WAIT = "wait"
    ASK = "ask"
    RUN = "run"
    GIVE_UP = "give up"


@dataclass
class Permission:
    """Requests that time runs, repeats the request, and gives up after a while.

    Times of a steady clock.
    """

    began_at: float
    within_s: float
    _asked_at: float = float("-inf")
    _elapsed_then_s: float = float("inf")

    @property
    def was_asked(self) -> bool:
        """Whether a request was sent."""
        return self._asked_at > float("-inf")

    def step(self, now: float, *, is_ready: bool, is_answered: bool, elapsed_s: float) -> Step:
        """Action to take now to let time run; simulated time that advances counts as an answer."""
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
    """Ready when every node has reported and the graph has not changed for a while; times of a steady clock."""

    wanted: frozenset[str]
    _reported: set[str] = field(default_factory=set)
    _graph: Mapping[str, int] = field(default_factory=dict)
    _changed_at: float = float("-inf")

    def on_report(self, node: str) -> None:
        """Record a node's health report."""
        self._reported.add(node)

    def look(self, graph: Mapping[str, int], now: float) -> None:
        """Record the numbers of subscribers by topic."""
        if graph != self._graph:
            self._graph, self._changed_at = dict(graph), now

    @property
    def missing(self) -> list[str]:
        """Nodes that have not reported yet."""
        return sorted(self.wanted - self._reported)

    def is_ready(self, now: float) -> bool:
        """Whether time may run."""
        return not self.missing and now - self._changed_at > CALM_S


@dataclass
class Attendance:
    """Nodes that are still alive, by their health reports; times of a steady clock."""

    _reported_at: dict[str, float] = field(default_factory=dict)

    def on_report(self, node: str, now: float) -> None:
        """Record a node's health report."""
        self._reported_at[node] = now

    def silent(self, now: float, after_s: float = SILENT_S) -> list[str]:
        """Nodes that have not reported for some time."""
        return sorted(node for node, at in self._reported_at.items() if now - at > after_s)


@dataclass
class Course:
    """Progress of a run: time, and whether the drive ended early."""

    duration_s: float
    begun_ns: int | None = None
    elapsed_s: float = 0.0
    planner_status: str = ""
    trouble: str = ""  # why the run cannot continue
    _speed: float = float("nan")
    _standing: Standing = field(default_factory=Standing)

    def on_time(self, time_ns: int) -> None:
        """Record simulated time [ns]; after a jump back, time counts on from there."""
        if self.begun_ns is None or time_ns < self.begun_ns:
            self.begun_ns = time_ns
        self.elapsed_s = (time_ns - self.begun_ns) * 1e-9

    def on_speed(self, speed: float) -> None:
        """Record the vehicle's speed [m/s]."""
        self._speed = speed
        self._standing.record(self.elapsed_s, speed)

    @property
    def is_slow(self) -> bool:
        """Whether the latest pose is still valid, because the vehicle is slow; False before its first odometry."""
        return abs(self._speed) < SLOW_MPS

    @property
    def stands(self) -> bool:
        """Whether the vehicle stands."""
        return self._standing.since_s is not None

    @property
    def is_over(self) -> bool:
        """Time is up, or the planner has arrived or given up and the vehicle stands."""
        return self.elapsed_s >= self.duration_s or self._standing.ends(
            self.elapsed_s, is_over=self.planner_status in OVER
        )

    def words(self, factor: float) -> str:
        """Progress of the run as text; factor: simulated over real time."""
        status = f", planner: {self.planner_status}" if self.planner_status else ""
        return f"{self.elapsed_s:6.1f} of {self.duration_s:g} s simulated, {factor:.2f} times real time{status}"
