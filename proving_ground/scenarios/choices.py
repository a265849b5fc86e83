"""Sections of a scenario file that choose an observer and a driver to a goal."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.maps.lidar_source import LidarMapSettings
from planner.node_settings import POSES, SENSING, GoalChoice
from planner.settings import PlannerSettings
from proving_ground.settings import setting
from state_observer.kinds import OBSERVER_KINDS

FAR_M = 1e6


@dataclass(frozen=True, kw_only=True)
class ObserverChoice:
    """Which observer estimates the motion from the sensors."""

    kind: str = setting(
        "vehicle",
        "Kind of observer: vehicle (errorEKF around a vehicle model), ins (strapdown INS), or a registered kind",
    )
    settings: str = setting(
        "", "YAML file of the observer's settings, relative to this one; empty: that of config/observers"
    )
    knows_start: bool = setting(
        True, "Whether the observer is given the initial pose, as by /initialpose; else it initialises itself"
    )

    def __post_init__(self) -> None:
        if self.kind not in OBSERVER_KINDS:
            raise ValueError(f"kind: must be one of {', '.join(OBSERVER_KINDS)}, got {self.kind!r}")


@dataclass(frozen=True, kw_only=True)
class GoalPosition:
    """Position of the goal."""

    x_m: float = setting(..., "Position of the goal along x", unit="m", minimum=-FAR_M, maximum=FAR_M)
    y_m: float = setting(..., "Position of the goal along y", unit="m", minimum=-FAR_M, maximum=FAR_M)


@dataclass(frozen=True, kw_only=True)
class ToGoal:
    """Section `driver.to_goal`: the planner drives to a goal."""

    goal: GoalPosition | None = None  # None: the world's own
    sensing: str = setting(
        "terrain", "Source of obstacles: terrain = the world's truth, lidar = point clouds", choices=SENSING
    )
    pose: str = setting(
        "truth",
        "Source of the vehicle's pose: truth = ground_truth/odom, observer = odometry/filtered",
        choices=tuple(POSES),
    )
    planner: PlannerSettings = field(default_factory=PlannerSettings)
    lidar_map: LidarMapSettings = field(default_factory=LidarMapSettings)

    def goal_choice(self) -> GoalChoice:
        """The goal in the planner's settings."""
        if self.goal is None:
            return GoalChoice(source="world")
        return GoalChoice(source="given", x_m=self.goal.x_m, y_m=self.goal.y_m)
