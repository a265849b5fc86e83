"""Progress of a drive to a goal: status, reason and present command."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from planner.maps.grid import LocalGrid
from planner.planning import Arcs, Array


class Status(Enum):
    """Present activity of the driver to a goal."""

    NO_GOAL = "no_goal"
    DRIVING = "driving"
    BLOCKED = "blocked"  # stops, to back up and turn
    MANOEUVRING = "manoeuvring"  # backs up and turns
    ARRIVED = "arrived"
    FAILED = "failed"  # see Reason
    EMERGENCY = "emergency"  # its inputs are too old, not finite, or implausible

    @property
    def is_over(self) -> bool:
        """Whether the drive has ended."""
        return self in (Status.ARRIVED, Status.FAILED)


class Reason(Enum):
    """Why a goal is rejected or given up, or the vehicle stands: one for each cause."""

    NONE = ""
    NOT_FINITE = "the goal is not finite"
    OUTSIDE_MAP = "the goal is outside the map"
    OTHER_FRAME = "the goal is in another frame"
    TOO_MANY = "there are more than 10000 waypoints"
    IN_OBSTACLE = "the goal is inside an obstacle"
    UNREACHABLE = "there is no path to the goal"
    TOO_LARGE = "the path to the goal needs too large a map"
    BOXED_IN = "boxed in: no progress for too long"
    STUCK = "stuck: the vehicle does not move as commanded"
    ALREADY_THERE = "the vehicle is already there"
    OLD_POSE = "the pose is too old"
    OLD_MAP = "the obstacle map is too old"
    BAD_POSE = "the pose is not finite"
    FROZEN_POSE = "the pose does not move, but the speed is not 0"
    PLANNER_ERROR = "the planner failed"  # see Progress.detail


@dataclass(frozen=True, eq=False)
class Progress:
    """The present command, and what to report and display."""

    status: Status
    reason: Reason = Reason.NONE
    speed: float = 0.0  # [m/s], forward positive
    curvature: float = 0.0  # [1/m], left positive
    to_go: float = math.nan  # distance to the present goal [m]
    waypoint: int = 0  # index of the present goal
    path: Array = field(default_factory=lambda: np.zeros((0, 2)))
    arcs: Arcs = field(default_factory=Arcs)
    grid: LocalGrid | None = None
    detail: str = ""  # of the reason, one line

    @property
    def is_at_rest(self) -> bool:
        """Whether the vehicle is meant to stand and stay."""
        return self.status in (Status.NO_GOAL, Status.ARRIVED, Status.FAILED, Status.EMERGENCY)

    @property
    def words(self) -> str:
        """Progress towards the goal in one line, for display."""
        words = self.reason.value or self.status.value.replace("_", " ")
        return f"{words}: {self.detail}" if self.detail else words
