"""The planner node: drives to /goal_pose by /cmd_vel and shows how. All behaviour is in planner.navigator.

Time is that of the odometry: a paused simulation pauses the planner, and a fast one does not hurry it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from nav_msgs.msg import Path
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header

from planner.drive_to_goal import Progress, Reason, Status
from planner.figures import progress_figures
from planner.navigator import Navigator
from planner.node_settings import POSES, PlannerNodeSettings
from planner.rehearsal import rehearse
from planner.ros.instant_turns import InstantTurns, Odometry
from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.interfaces.map_codec import fill_local_grid
from proving_ground.interfaces.motion_codec import fill_command
from proving_ground.ros_support import qos
from proving_ground.ros_support.fixed_layout import as_published, fixed
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.packed import PackedArcs, PackedPath
from proving_ground.ros_support.point_cloud import cloud_to_points
from proving_ground.ros_support.respawn import was_respawned
from proving_ground.ros_support.synchronous import Finished
from proving_ground.ros_support.time import ns_to_stamp
from proving_ground.settings.units import NS_PER_S
from sensors.ros.truth_input import TruthInput
from sensors.samples import DriveTruth
from terrain.ros.changes import follow_spawned, follow_world
from terrain.world import World
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion
from vehicle_dynamics.control.drive_by_wire import Motion
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.stepper import CONTROL_NS
from vehicle_dynamics.vehicle_files import vehicle_file

WATCH_PERIOD_S = 0.05  # wall time
LEVELS = {Status.FAILED: Level.WARN, Status.EMERGENCY: Level.ERROR, Status.BLOCKED: Level.WARN}


class PlannerNode(SuiteNode[PlannerNodeSettings]):
    """Converts messages, calls the navigator, publishes and displays."""

    default_name = "planner"
    settings_type = PlannerNodeSettings

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        vehicle = Hmmwv.from_yaml(vehicle_file(s.vehicle))
        self._frame = s.frames.map_frame
        self._lidar_frame = s.frames.named(s.lidar.frame)
        world = load_world(s.world)
        rehearse(s, vehicle, vehicle.parameters, world)
        self._navigator = Navigator(s, vehicle, vehicle.parameters, world, self._on_cloud_used)
        follow_world(self, self._on_world)
        follow_spawned(self, self._navigator.set_spawned)
        self._has_goals = False
        self._shown = 0  # plans
        kind = TwistStamped if s.stamped else Twist
        self._cmd_vel = self.advertise(topics.CMD_VEL, kind)
        command = TwistStamped(header=Header(frame_id=s.frames.base_frame))
        self._command = fixed(command) if s.stamped else command
        self._plan, self._packed_path = self.advertise(topics.PLAN), PackedPath(self._frame)
        self._arcs, self._packed_arcs = self.advertise(topics.ARCS), PackedArcs(self._frame)
        self._local_map = self.advertise(topics.LOCAL_MAP)
        self.listen(topics.GOAL_POSE, self._on_goal)
        self.listen(topics.WAYPOINTS, self._on_waypoints)
        self.serve(topics.CANCEL, self._on_cancel)
        self._time_ns = 0  # of the latest odometry, or of the instant
        self._finished = Finished(self, [topics.CMD_VEL.name]) if s.sync_with else None
        if self._finished is not None:
            self._navigator.digest = self._finished.digest
            InstantTurns(self, s, self._act, self._on_reset, self._finished.on_resets)
        else:
            self._listen_freely()
        self.report("goal", Level.OK, "no goal")
        goal = s.goal.position(world)
        if goal is not None and was_respawned():
            self.report("goal", Level.WARN, "was started again: standing, waiting for a goal")
        elif goal is not None:
            pose = PoseStamped()
            pose.pose.position.x, pose.pose.position.y = goal
            self._take_goals([pose], "the goal of the settings")

    def _listen_freely(self) -> None:
        s = self.settings
        if s.sensing == "lidar":
            self.listen(topics.POINTS.named(s.lidar.name), self._on_cloud, qos.SENSOR)
        frames = (self._frame, s.frames.base_frame)
        self._odometry = TruthInput(
            self, self._on_odometry, self._on_reset, odometry=POSES[s.pose_source], frames=frames
        )
        self.create_timer(WATCH_PERIOD_S, self._watch, clock=self.wall_clock)

    def on_settings(self, old: PlannerNodeSettings, new: PlannerNodeSettings) -> None:
        """Apply settings, also while driving."""
        self._navigator.change(new)

    # Goals

    def _on_goal(self, message: PoseStamped) -> None:
        self._take_goals([message], topics.GOAL_POSE.name)

    def _on_waypoints(self, message: Path) -> None:
        self._take_goals(message.poses, topics.WAYPOINTS.name, message.header.frame_id)

    def _take_goals(self, poses: list[PoseStamped], topic: str, frame: str = "") -> None:
        frames = {pose.header.frame_id or frame for pose in poses} - {"", self._frame}
        positions = [(pose.pose.position.x, pose.pose.position.y) for pose in poses]
        if frames:
            reason = self._navigator.reject(Reason.OTHER_FRAME)
            words = f"{reason.value}: {min(frames)!r}, must be in {self._frame!r}"
        else:
            reason = self._navigator.drive_to(positions)
            words = reason.value
        self._has_goals = bool(self._navigator.goals)
        if reason is not Reason.NONE:
            self.report("goal", Level.WARN, f"{topic} rejected, the vehicle stops: {words}")
        elif positions:
            x, y = positions[-1]
            self.report("goal", Level.OK, f"drives to x {x:.1f}, y {y:.1f} m by {len(positions)} waypoint(s)")
        else:
            self.report("goal", Level.OK, "no goal")

    def _on_cancel(self, request: Any, response: Any) -> Any:
        self._navigator.drive_to([])
        self._has_goals = False
        self.report("goal", Level.OK, "no goal")
        response.success, response.message = True, "the vehicle stops"
        return response

    # Driving

    def _on_reset(self) -> None:
        self.get_logger().info("restarts: the simulation was reset")
        self._navigator.reset()

    def _act(self, now_ns: int, odometry: Odometry | None, clouds: Sequence[PointCloud2]) -> None:
        """Act at an instant that all others have finished."""
        assert self._finished is not None
        for cloud in clouds:
            self._on_cloud(cloud)
        self._drive(now_ns, self._navigator.act(now_ns, odometry))
        is_over = self._navigator.progress.status.is_over
        self._finished.report(now_ns, now_ns + CONTROL_NS, is_over=is_over)
        self._show_plan(now_ns)  # which nobody waits for

    def _on_world(self, name: str, world: World) -> None:
        self._navigator.enter(world)
        self._has_goals = False
        self.report("goal", Level.OK, "no goal; another world was loaded")

    def _on_odometry(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> None:
        self._drive(time_ns, self._navigator.move(time_ns, motion, self._lag(time_ns)))
        self._show_plan(time_ns)

    def _drive(self, time_ns: int, command: Motion | None) -> None:
        navigator, self._time_ns = self._navigator, time_ns
        if self._has_goals and not navigator.goals:
            self._has_goals = False
            self.report("goal", Level.OK, f"no goal; the last one: {navigator.progress.words}")
        if command is not None:
            self._send(time_ns, command)

    def _show_plan(self, time_ns: int) -> None:
        if self._navigator.core.plans != self._shown:
            self._shown = self._navigator.core.plans
            self._show(time_ns, self._navigator.progress)

    def _lag(self, time_ns: int) -> float:
        """Age [s] of an odometry stamp by the clock; unknown without /clock."""
        if not self.get_parameter("use_sim_time").value:
            return 0.0
        return max(float(self.get_clock().now().nanoseconds - time_ns) / NS_PER_S, 0.0)

    def _send(self, time_ns: int, command: Motion) -> None:
        fill_command(self._command, time_ns, *command)
        self._cmd_vel.publish(as_published(self._command) if self.settings.stamped else self._command.twist)
        if self._finished is not None:
            self._finished.count(topics.CMD_VEL.name)

    def _watch(self) -> None:
        """Stop the vehicle when odometry is missing; else only its own time-out would."""
        time_ns = self._odometry.time_ns
        silent_s = max(self._odometry.silent_s, self._lag(time_ns) if time_ns is not None else 0.0)
        is_silent, is_driving = silent_s > self.settings.stale_s, not self._navigator.progress.is_at_rest
        stop = self._navigator.wait(silent_s) if is_driving else None
        if stop is not None:
            self._send(self._odometry.time_ns or 0, stop)
            self.report("input", Level.ERROR, f"{POSES[self.settings.pose_source].name} is silent: stopping")
        elif not is_silent:
            self.report("input", Level.OK, "odometry arrives")

    def _show(self, time_ns: int, progress: Progress) -> None:
        height = self._navigator.height
        if self._plan.get_subscription_count():
            self._plan.publish(self._packed_path.of(time_ns, progress.path, height))
        if self._arcs.get_subscription_count():
            self._arcs.publish(self._packed_arcs.of(time_ns, progress.arcs, height))
        if progress.grid is not None and self._local_map.get_subscription_count():
            grid = new_message(topics.LOCAL_MAP.type, self._frame)
            fill_local_grid(grid, time_ns, progress.grid)
            self._local_map.publish(grid)

    # Sensing

    def _on_cloud(self, message: PointCloud2) -> None:
        try:
            if message.header.frame_id != self._lidar_frame:
                raise ValueError(f"is in frame {message.header.frame_id!r}, must be in {self._lidar_frame!r}")
            self._navigator.add_cloud(read_stamp(message.header.stamp), cloud_to_points(message).reshape(-1))
        except ValueError as error:
            self._on_cloud_used(str(error))

    def _on_cloud_used(self, problem: str) -> None:
        if problem:
            self.health.count(f"{topics.POINTS.name} rejected")
            self.report("lidar", Level.WARN, f"{topics.POINTS.name} rejected: {problem}")
        else:
            self.health.report("lidar", Level.OK, "clouds arrive")

    def publish_health(self) -> None:
        """Publish status, progress and arrival as diagnostics."""
        progress = self._navigator.progress
        self.report("driving", LEVELS.get(progress.status, Level.OK), progress.words)
        figures = progress_figures(progress, self._navigator.core.plans)
        figures |= self._finished.digest.texts() if self._finished is not None else {}
        stamp = ns_to_stamp(self._time_ns)
        self.publish_figures(stamp, figures)


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(PlannerNode)


if __name__ == "__main__":
    raise SystemExit(main())
