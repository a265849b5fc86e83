"""Settings of a planner in a run; they are its node's parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from planner.maps.lidar_source import LidarMapSettings
from planner.settings import PlannerSettings
from proving_ground.interfaces import topics
from proving_ground.interfaces.frames import RENAMED_FRAMES, Frames
from proving_ground.interfaces.synchrony import sync_with
from proving_ground.settings import SettingsError, setting
from proving_ground.settings.units import FAR_M
from sensors.mounting import Mount
from terrain.world import World
from vehicle_dynamics.vehicle_files import DEFAULT_VEHICLE

POSES = {"truth": topics.TRUTH_ODOM, "observer": topics.ESTIMATE}
SENSING = ("terrain", "lidar")
GOALS = ("none", "world", "given")


@dataclass(frozen=True, kw_only=True)
class GoalChoice:
    """Goal that the planner drives to when it starts."""

    source: str = setting(
        "none", "Goal at start: none (wait for /goal_pose), the world's own, or the given position",
        choices=GOALS, read_only=True,
    )  # fmt: skip
    x_m: float = setting(
        0.0, "Position of the goal along x of the world, for goal.source: given",
        unit="m", minimum=-FAR_M, maximum=FAR_M, read_only=True,
    )  # fmt: skip
    y_m: float = setting(
        0.0, "Position of the goal along y of the world, for goal.source: given",
        unit="m", minimum=-FAR_M, maximum=FAR_M, read_only=True,
    )  # fmt: skip

    def position(self, world: World | None) -> tuple[float, float] | None:
        """x, y [m], or None without a goal; raises SettingsError for a world without one."""
        if self.source != "world":
            return (self.x_m, self.y_m) if self.source == "given" else None
        if world is None or world.goal is None:
            name = world.name if world is not None else "a plane"
            raise SettingsError(f"driver.to_goal: world {name} has no goal; give one")
        return world.goal.x, world.goal.y


@dataclass(frozen=True, kw_only=True)
class SeenLidar:
    """The LIDAR that the planner uses."""

    name: str = setting("lidar", "Name of the LIDAR whose clouds are used, published on NAME/points", read_only=True)
    frame: str = setting("lidar_link", "Name of the LIDAR's frame; clouds of others are rejected", read_only=True)
    mount: Mount = field(default_factory=Mount)
    is_deskewed: bool = setting(
        False, "Whether points of a cloud are motion-compensated to the time of its stamp", read_only=True
    )
    sweep_s: float = setting(
        0.1, "Duration of one LIDAR scan, from its first to its last column",
        unit="s", minimum=0.001, maximum=10.0, read_only=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PlannerNodeSettings(LidarMapSettings, PlannerSettings):
    """All settings of a planner as a part of a run."""

    renamed: ClassVar[dict[str, str]] = {
        **RENAMED_FRAMES,
        "to_world_goal": "goal.source",
        "lidar_frame": "lidar.frame",
        "lidar_xyz_m": "lidar.mount.xyz_m",
        "lidar_rpy_deg": "lidar.mount.rpy_deg",
        "lidar_deskewed": "lidar.is_deskewed",
        "lidar_sweep_s": "lidar.sweep_s",
    }

    world: str = setting(
        "urban",
        "Name of a world in config/worlds, or a path; gives its size, and obstacles unless a LIDAR senses them",
        read_only=True,
    )
    vehicle: str = setting(
        DEFAULT_VEHICLE,
        "Name of a vehicle in config/vehicles, or a path; gives its footprint and largest curvature",
        read_only=True,
    )
    goal: GoalChoice = field(default_factory=GoalChoice)
    sensing: str = setting(
        "terrain",
        "Source of obstacles: terrain = the world's truth, lidar = point clouds",
        choices=SENSING,
        read_only=True,
    )
    pose_source: str = setting(
        "truth", "Source of the vehicle's pose: truth = ground_truth/odom, observer = odometry/filtered",
        choices=tuple(POSES), read_only=True,
    )  # fmt: skip
    lidar: SeenLidar = field(default_factory=SeenLidar)
    stamped: bool = setting(True, "Publish /cmd_vel as TwistStamped, else as Twist", read_only=True)
    frames: Frames = field(default_factory=Frames)
    start_date: str = setting(
        "", "Date of the run's first instant, ISO 8601; empty: stamp of the first odometry received", read_only=True
    )
    sync_with: tuple[str, ...] = sync_with()
