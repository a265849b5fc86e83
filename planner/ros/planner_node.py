"""The planner node: drives to /goal_pose by /cmd_vel and shows how. All behaviour is in planner.drive_to_goal.

Time is that of the odometry: a paused simulation pauses the planner, and a fast one does not hurry it.
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any

from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Path
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header

from planner.drive_to_goal import DriveToGoal, Progress, Reason, Status
from planner.figures import progress_figures
from planner.footprint import Footprint
from planner.maps.lidar_source import LidarMapSettings, LidarSource
from planner.maps.source import ObstacleSource
from planner.maps.terrain_truth import TerrainTruth
from planner.motion_height import MotionHeight
from planner.node_settings import POSES, PlannerNodeSettings
from planner.pose import pose_from_attitude
from planner.pose_history import PoseHistory
from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.map_codec import fill_arcs, fill_local_grid, fill_path
from proving_ground.ros_support.convert import twist_to_msg
from proving_ground.ros_support.diagnostics import health_to_msg
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.point_cloud import cloud_to_points
from proving_ground.ros_support.respawn import was_respawned
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S
from sensors.ros.truth_input import TruthInput
from sensors.samples import DriveTruth
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.vehicle_files import vehicle_file

COMMAND_PERIOD_S = 0.05  # of simulated time
LAST_WORDS_S = 1.0  # a stop is repeated for so long; then /cmd_vel is free for others
LEAST_SPEED_MPS = 0.05
WATCH_PERIOD_S = 0.05  # of the machine's time
CLOUD_WAIT_NS = NS_PER_S  # a cloud from further ahead of the odometry is not waited for
LEVELS = {Status.FAILED: Level.WARN, Status.EMERGENCY: Level.ERROR, Status.BLOCKED: Level.WARN}


MAP_SETTINGS = (
    *(item.name for item in fields(LidarMapSettings)),
    *("map_resolution_m", "max_step_m", "max_slope_deg", "max_height_m", "local_map_m"),
)


class PlannerNode(SuiteNode[PlannerNodeSettings]):
    """Converts, hands on, shows."""

    default_name = "planner"
    settings_type = PlannerNodeSettings

    def __init__(self) -> None:
        super().__init__()
        vehicle = Hmmwv.from_yaml(vehicle_file(self.settings.vehicle))
        self._equipment = vehicle.parameters.equipment
        s = self._fitted()
        self._frame = s.frames.map_frame
        self._lidar_frame = s.frames.named(s.lidar.frame)
        self._footprint = Footprint.of(vehicle.parameters, vehicle.base_in_chassis)
        self._world = load_world(s.world)
        self._lidar: LidarSource | None = None
        self._goals: list[tuple[float, float]] = []  # that are driven to; none any more when they were reached
        self._source = self._make_source()
        self._core = DriveToGoal(s, self._footprint, self._source)
        self._poses = PoseHistory()
        self._heights = MotionHeight()
        self._cloud: PointCloud2 | None = None  # that waits
        self._progress = Progress(Status.NO_GOAL)
        self._seconds = 0.0  # of the latest odometry, since the first
        self._start_ns: int | None = None
        self._commanded_at = self._driven_at = -math.inf
        self._shown = 0  # plans
        kind = TwistStamped if s.stamped else Twist
        self._cmd_vel = self.advertise(topics.CMD_VEL, kind)
        self._plan = self.advertise(topics.PLAN)
        self._arcs = self.advertise(topics.ARCS)
        self._local_map = self.advertise(topics.LOCAL_MAP)
        self.listen(topics.GOAL_POSE, self._on_goal)
        self.listen(topics.WAYPOINTS, self._on_waypoints)
        self.serve(topics.CANCEL, self._on_cancel)
        if s.sensing == "lidar":
            self.listen(topics.POINTS.named(s.lidar.name), self._on_cloud)
        frames = (self._frame, s.frames.base_frame)
        self._odometry = TruthInput(
            self, self._on_odometry, self._on_reset, odometry=POSES[s.pose_source], frames=frames
        )
        self.create_timer(WATCH_PERIOD_S, self._watch, clock=self.wall_clock)
        self.report("goal", Level.OK, "no goal")
        goal = s.goal.position(self._world)
        if goal is not None and was_respawned():
            self.report("goal", Level.WARN, "was started again: stands and waits for a goal")
        elif goal is not None:
            pose = PoseStamped()
            pose.pose.position.x, pose.pose.position.y = goal
            self._take_goals([pose], "the goal of the settings")

    def _fitted(self) -> PlannerNodeSettings:
        """The settings, with what they leave open as the vehicle's file has it."""
        s = self.settings.fitted(self._equipment)
        return replace(s, lidar=replace(s.lidar, mount=s.lidar.mount.fitted(self._equipment.place("lidar"))))

    def on_settings(self, old: PlannerNodeSettings, new: PlannerNodeSettings) -> None:
        """The drive goes on with its goals and its speed; a map is made anew only if it would be another one."""
        if any(getattr(old, name) != getattr(new, name) for name in MAP_SETTINGS):
            self._source = self._make_source()
        before, self._core = self._core, DriveToGoal(self._fitted(), self._footprint, self._source)
        self._core.take_over(before)

    def _make_source(self) -> ObstacleSource:
        s = self._fitted()
        truth = TerrainTruth(self._world, s)
        if s.sensing != "lidar":
            return truth
        self._lidar = LidarSource(s, self._footprint, s.lidar.mount.mounting(), truth.extent(), s)
        return self._lidar

    # Goals

    def _on_goal(self, message: PoseStamped) -> None:
        self._take_goals([message], topics.GOAL_POSE.name)

    def _on_waypoints(self, message: Path) -> None:
        self._take_goals(message.poses, topics.WAYPOINTS.name, message.header.frame_id)

    def _take_goals(self, poses: list[PoseStamped], topic: str, frame: str = "") -> None:
        frames = {pose.header.frame_id or frame for pose in poses} - {"", self._frame}
        if frames:
            reason, places = self._core.refuse(Reason.OTHER_FRAME), []
            words = f"{reason.value}: {min(frames)!r}, must be in {self._frame!r}"
        else:
            places = [(pose.pose.position.x, pose.pose.position.y) for pose in poses]
            reason = self._core.set_waypoints(places)
            words = reason.value
        self._goals = [] if reason is not Reason.NONE else places
        if reason is not Reason.NONE:
            self.report("goal", Level.WARN, f"{topic} refused, the vehicle stops: {words}")
        elif places:
            x, y = places[-1]
            self.report("goal", Level.OK, f"drives to x {x:.1f}, y {y:.1f} m by {len(places)} place(s)")
        else:
            self.report("goal", Level.OK, "no goal")
        self._driven_at = self._seconds

    def _on_cancel(self, request: Any, response: Any) -> Any:
        self._core.set_waypoints([])
        self._goals = []
        self.report("goal", Level.OK, "no goal")
        response.success, response.message = True, "the vehicle stops"
        return response

    # Driving

    def _on_reset(self) -> None:
        """A drive that was under way goes on to its goals, from the start; one that had ended does not begin again."""
        self.get_logger().info("begins anew, as the simulation did")
        self._core.reset()
        self._poses.clear()
        self._heights.clear()
        self._cloud = None
        if self._lidar is not None:
            self._lidar.reset()
        self._start_ns = None
        self._commanded_at = self._driven_at = -math.inf
        self._core.set_waypoints(self._goals)

    def _on_odometry(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> None:
        if self._start_ns is None:
            self._start_ns = time_ns
        self._seconds = (time_ns - self._start_ns) / NS_PER_S
        self._height = motion.position[2]
        pose = pose_from_attitude(motion.position, motion.attitude)
        if self.settings.pose_source == "observer":
            pose = pose._replace(z=self._heights.after(time_ns, motion))
        self._poses.note(time_ns, pose)
        self._see()
        pose_time = self._seconds - self._lag(time_ns)
        self._progress = self._core.update(self._seconds, pose, motion.velocity[0], pose_time)
        if self._goals and self._progress.status in (Status.ARRIVED, Status.FAILED):
            self._goals = []
            self.report("goal", Level.OK, f"no goal; the last one: {self._progress.words}")
        self._command(self._progress)
        if self._core.plans != self._shown:
            self._shown = self._core.plans
            self._show(time_ns, self._progress)

    def _lag(self, time_ns: int) -> float:
        """How old [s] an odometry of that stamp is by the clock; without /clock there is no telling."""
        if not self.get_parameter("use_sim_time").value:
            return 0.0
        return max(float(self.get_clock().now().nanoseconds - time_ns) / NS_PER_S, 0.0)

    def _command(self, progress: Progress) -> None:
        if not progress.is_at_rest:
            self._driven_at = self._seconds
        is_due = self._seconds - self._commanded_at >= COMMAND_PERIOD_S - 1e-6
        if is_due and self._seconds - self._driven_at <= LAST_WORDS_S:
            self._commanded_at = self._seconds
            self._send(progress.speed, progress.curvature)

    def _send(self, speed: float, curvature: float) -> None:
        if abs(speed) < LEAST_SPEED_MPS:
            speed = 0.0  # a turn on the spot is what it would ask for
        twist = twist_to_msg((speed, 0.0, 0.0), (0.0, 0.0, speed * curvature))
        if not self.settings.stamped:
            self._cmd_vel.publish(twist)
            return
        stamp = ns_to_stamp((self._start_ns or 0) + round(self._seconds * NS_PER_S))
        header = Header(stamp=stamp, frame_id=self.settings.frames.base_frame)
        self._cmd_vel.publish(TwistStamped(header=header, twist=twist))

    def _watch(self) -> None:
        """Without odometry nobody else would stop the vehicle before its own time-out."""
        is_silent = self._odometry.silent_s > self.settings.stale_s
        if is_silent and not self._progress.is_at_rest:
            self._send(0.0, 0.0)
            self.report("input", Level.ERROR, f"{POSES[self.settings.pose_source].name} is silent: stops")
        elif not is_silent:
            self.report("input", Level.OK, "odometry arrives")

    def _show(self, time_ns: int, progress: Progress) -> None:
        path, arcs, grid = (new_message(topic.type) for topic in (topics.PLAN, topics.ARCS, topics.LOCAL_MAP))
        path.header.frame_id = grid.header.frame_id = self._frame
        fill_path(path, time_ns, progress.path, self._height, new_message)
        self._plan.publish(path)
        fill_arcs(arcs, path.header, progress.arcs, self._height, new_message)
        self._arcs.publish(arcs)
        if progress.grid is not None:
            fill_local_grid(grid, time_ns, progress.grid)
            self._local_map.publish(grid)

    # Sensing

    def _on_cloud(self, message: PointCloud2) -> None:
        """A cloud may come before the odometry of its sweep's end: then it waits, if no newer one comes."""
        self._cloud = message
        self._see()

    def _see(self) -> None:
        """Place the cloud by where the vehicle was at its stamp and, unless it was put straight, at the sweep's end."""
        message, s = self._cloud, self.settings
        if message is None or self._lidar is None or self._start_ns is None:
            return
        try:
            time_ns = read_stamp(message.header.stamp)
            end_ns = time_ns + (0 if s.lidar.is_deskewed else round(s.lidar.sweep_s * NS_PER_S))
            if self._poses.is_before(end_ns) and not self._poses.is_before(end_ns - CLOUD_WAIT_NS):
                return
            self._cloud = None
            if message.header.frame_id != self._lidar_frame:
                raise ValueError(f"is in frame {message.header.frame_id!r}, must be in {self._lidar_frame!r}")
            points = cloud_to_points(message).reshape(-1)
            pose = self._poses.at(time_ns)
            later = None if s.lidar.is_deskewed else self._poses.at(end_ns)
            seconds = (time_ns - self._start_ns) / NS_PER_S
            if not self._lidar.see(seconds, points, pose, later, s.lidar.sweep_s):
                raise ValueError("late, not finite, or with too few points of use")
        except ValueError as error:
            self._cloud = None
            self.health.count(f"{topics.POINTS.name} refused")
            self.report("lidar", Level.WARN, f"{topics.POINTS.name} refused: {error}")
        else:
            self.health.report("lidar", Level.OK, "clouds arrive")

    def publish_health(self) -> None:
        """Status, progress and arrival."""
        progress = self._progress
        self.report("driving", LEVELS.get(progress.status, Level.OK), progress.words)
        figures = progress_figures(progress, self._core.plans)
        stamp = ns_to_stamp(self._odometry.time_ns or 0)
        message = health_to_msg(self.health, self.get_fully_qualified_name(), stamp)
        message.status[0].values += [KeyValue(key=key, value=value) for key, value in figures.items()]
        self._diagnostics.publish(message)


def main() -> int:
    """Entry point."""
    return run_node(PlannerNode)


if __name__ == "__main__":
    raise SystemExit(main())
