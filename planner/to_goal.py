"""Section `driver.to_goal` of a scenario file: the planner drives to a goal."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.maps.lidar_source import LidarMapSettings
from planner.node_settings import POSES, SENSING, GoalChoice
from planner.settings import PlannerSettings
from proving_ground.settings import setting
from proving_ground.settings.units import FAR_M


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
