"""The present content of the page. Messages go in and are checked; the page reads the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proving_ground.cockpit import reading
from proving_ground.cockpit.cloud_view import CloudView, Mount, cloud_view
from proving_ground.cockpit.ellipse import confidence_ellipse
from proving_ground.cockpit.reading import Grid, Motion
from proving_ground.cockpit.replay_state import ReplayState, replay_state
from proving_ground.cockpit.tracks import Pace, Poses, Strip, Trail
from proving_ground.cockpit.words import NodeWords, degrees_words, speed_words, time_words
from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import read_stamp

Array = NDArray[np.float64]

JUMP_BACK_NS = 500_000_000
STALE_NS = 3_000_000_000  # simulated time after which data are no longer shown
MOST_EARLIER = 20_000  # pieces of trails
TRAIL_JUMP_M = 20.0  # a larger step between messages starts another drive


@dataclass(frozen=True)
class Estimate:
    """Pose and velocity estimated by an observer, with the ellipse of its position."""

    motion: Motion
    half_axes: tuple[float, float] | None  # [m] of the 95 % ellipse; None: invalid covariance
    angle: float  # [rad] of the longer one from x


class ViewModel:
    """Latest data of all topics. Rejected messages are counted by topic, and change nothing else."""

    def __init__(self) -> None:
        self.rejected: dict[str, int] = {}
        self.nodes = NodeWords()
        self.pace = Pace()
        self.replay: ReplayState | None = None
        self.time_ns: int | None = None
        self.resets: int | None = None
        self.goal: Array | None = None
        self.plot = Strip(("speed", "roll", "pitch", "yaw"))
        self.truth_trail, self.estimate_trail = Trail(), Trail(lift=0.09)
        self.earlier = np.zeros((0, 2, 3))  # lines of branches that were driven before [m]
        self._poses = Poses()
        self._mounts: dict[str, Mount] = {}
        self.forget()

    def forget(self) -> None:
        """Clear, as after a reset or a jump back in time; the goal stays."""
        self.truth: Motion | None = None
        self.estimate: Estimate | None = None
        self.joints: dict[str, float] = {}
        self.plan: tuple[int, Array] | None = None  # time [ns], n x 3 [m]
        self.arcs: tuple[int, dict[str, Array]] | None = None
        self.grid: tuple[int, Grid] | None = None
        self.cloud: tuple[int, CloudView] | None = None
        for part in (self.plot, self.truth_trail, self.estimate_trail, self._poses):
            part.clear()

    def begin_branch(self) -> None:
        """Keep the trail so far as that of an earlier branch, and begin another."""
        self.earlier = np.concatenate((self.earlier, self.truth_trail.segments()))[-MOST_EARLIER:]
        self.forget()

    # Messages in

    def on_clock(self, message: Any, wall: float) -> None:
        """Store simulated time from rosgraph_msgs/Clock; wall: seconds of a steady clock."""

        def update() -> None:
            now = read_stamp(message.clock)
            if self.time_ns is not None and now < self.time_ns - JUMP_BACK_NS:
                self.forget()
            self.time_ns = now
            self.pace.record(wall, now)

        self._checked(topics.CLOCK.name.lstrip("/"), update)

    def on_resets(self, message: Any) -> None:
        """Clear if the number of resets of the simulation, a std_msgs/UInt32, has changed."""
        if self.resets is not None and message.data != self.resets:
            self.forget()
        self.resets = message.data

    def on_truth(self, message: Any) -> None:
        """Store the true motion from nav_msgs/Odometry."""

        def update() -> None:
            motion = reading.motion(message)
            before = self.truth
            if before is not None and motion.time_ns < before.time_ns - JUMP_BACK_NS:
                self.forget()
            elif before is not None and float(np.linalg.norm(motion.position - before.position)) > TRAIL_JUMP_M:
                self.truth_trail.clear()
            self.truth = motion
            self._poses.record(motion.time_ns, motion.position, motion.attitude)
            self.truth_trail.record(motion.position)
            roll, pitch, yaw = np.degrees(reading.euler(motion.attitude)).tolist()
            self.plot.record(motion.time_ns, (float(motion.velocity[0]), roll, pitch, yaw))

        self._checked(topics.TRUTH_ODOM.name, update)

    def on_estimate(self, message: Any) -> None:
        """Store the estimated motion and its covariance from nav_msgs/Odometry."""

        def update() -> None:
            motion = reading.motion(message)
            try:
                half_axes, angle = confidence_ellipse(motion.position_covariance)
                self.estimate = Estimate(motion, half_axes, angle)
            except ValueError:
                self._reject(f"{topics.ESTIMATE.name} covariance")
                self.estimate = Estimate(motion, None, 0.0)
            self.estimate_trail.record(motion.position)

        self._checked(topics.ESTIMATE.name, update)

    def on_joints(self, message: Any) -> None:
        """Store joint positions from sensor_msgs/JointState."""

        def update() -> None:
            self.joints = reading.joint_positions(message)

        self._checked(topics.JOINT_STATES.name, update)

    def on_plan(self, message: Any) -> None:
        """Store the planned path from nav_msgs/Path."""

        def update() -> None:
            self.plan = (read_stamp(message.header.stamp), reading.path(message))

        self._checked(topics.PLAN.name, update)

    def on_arcs(self, message: Any) -> None:
        """Store the planner's arcs from visualization_msgs/MarkerArray."""

        def update() -> None:
            if message.markers:
                self.arcs = (read_stamp(message.markers[0].header.stamp), reading.arcs(message))

        self._checked(topics.ARCS.name, update)

    def on_grid(self, message: Any) -> None:
        """Store the planner's map from nav_msgs/OccupancyGrid."""

        def update() -> None:
            self.grid = (read_stamp(message.header.stamp), reading.grid(message))

        self._checked(topics.LOCAL_MAP.name, update)

    def on_goal(self, message: Any) -> None:
        """Store the goal from geometry_msgs/PoseStamped, whoever published it."""

        def update() -> None:
            self.goal = reading.point(message.pose.position)

        self._checked(topics.GOAL_POSE.name, update)

    def on_mounts(self, message: Any) -> None:
        """Store the poses of sensors in base_link from a tf2_msgs/TFMessage of fixed frames."""

        def update() -> None:
            for item in message.transforms:
                position = item.transform.translation
                self._mounts[item.child_frame_id] = Mount(
                    np.array([position.x, position.y, position.z], float), reading.attitude(item.transform.rotation)
                )

        self._checked(topics.FIXED_TRANSFORMS.name, update)

    def on_cloud(self, message: Any, points: Callable[[Any], NDArray[np.void]], most: int) -> None:
        """Store the points of a sensor_msgs/PointCloud2, at most `most`; points: converts it to a structured array."""

        def update() -> None:
            mount = self._mounts.get(message.header.frame_id)
            if mount is None or self.truth is None:
                return
            time_ns = read_stamp(message.header.stamp)
            self.cloud = (time_ns, cloud_view(points(message), time_ns, mount, self._poses, most))

        self._checked(topics.POINTS.name, update)

    def on_replay(self, figures: Mapping[str, str], wall: float) -> None:
        """Store the status of a replayer; wall: seconds of a steady clock."""

        def update() -> None:
            self.replay = replay_state(figures, wall)

        self._checked("replay", update)

    # Queries of the page

    def is_fresh(self, time_ns: int) -> bool:
        """Whether data of that time are still shown; they do not age while the simulation is paused."""
        return self.time_ns is None or abs(self.time_ns - time_ns) < STALE_NS

    def figures(self, now: float) -> dict[str, str]:
        """Figures as text; now: seconds of the clock of on_clock."""
        truth = self.truth
        roll, pitch, yaw = reading.euler(truth.attitude) if truth is not None else (np.nan, np.nan, np.nan)
        return {
            "Speed": speed_words(float(truth.velocity[0]) if truth is not None else np.nan),
            "Time": "-" if self.time_ns is None else time_words(self.time_ns),
            "Real-time factor": self.pace.words(now),
            "Position": "-" if truth is None else f"{truth.position[0]:.1f}, {truth.position[1]:.1f} m",
            "Roll, pitch, heading": "-" if truth is None else ", ".join(map(degrees_words, (roll, pitch, yaw))),
            "Estimate off (95 %)": self._error_words(),
        }

    @property
    def error(self) -> float | None:
        """Distance [m] of the estimate from the truth at its time, in the plane; None without a fresh estimate."""
        if self.truth is None or self.estimate is None or not self.is_fresh(self.estimate.motion.time_ns):
            return None
        times = np.array([self.estimate.motion.time_ns])
        away = self.estimate.motion.position - self._poses.at(times)[0][0]
        return float(np.hypot(away[0], away[1]))

    def _error_words(self) -> str:
        error, estimate = self.error, self.estimate
        if error is None or estimate is None:
            return "-"
        axes = estimate.half_axes
        return f"{error:.2f} m" if axes is None else f"{error:.2f} m ({axes[0]:.2f})"

    def _checked(self, topic: str, update: Callable[[], None]) -> None:
        try:
            update()
        except (ValueError, TypeError, AttributeError):  # NaN, wrong sizes, fields of another type
            self._reject(topic)

    def _reject(self, topic: str) -> None:
        self.rejected[topic] = self.rejected.get(topic, 0) + 1
