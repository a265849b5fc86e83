"""The observer node: sensors in, pose, motion, sideslip and tyre forces out.

All behaviour is in state_observer.vehicle. Time comes from the stamps of the samples, live or from a bag; another clock
is used only to detect silence (outer_clock).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby
from typing import Any

from geometry_msgs.msg import PoseWithCovarianceStamped
from std_msgs.msg import Float64, UInt32

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.motion_codec import describe_forces, fill_estimate, fill_forces
from proving_ground.interfaces.sample_synchroniser import ROLES, SampleSynchroniser
from proving_ground.interfaces.synchrony import Arrival
from proving_ground.interfaces.topic import Topic
from proving_ground.ros_support import qos
from proving_ground.ros_support.convert import quaternion_from_msg
from proving_ground.ros_support.fixed_layout import as_published, fixed
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.respawn import was_respawned
from proving_ground.ros_support.synchronous import Finished, SynchronousInput
from proving_ground.ros_support.tf import FrameTransform, TransformBroadcaster
from proving_ground.ros_support.time import ns_to_stamp, on_time_jump
from proving_ground.settings.units import NS_PER_S
from state_observer.arrivals import Arrivals, RecentCounts
from state_observer.in_run import FORCES_EVERY, EstimateTimes, InstantObserver, begin_at
from state_observer.kinds import OBSERVER_KINDS
from state_observer.node_settings import ObserverNodeSettings, make_observer
from state_observer.ros.outer_clock import OuterClock
from state_observer.vehicle.figures import health_figures
from state_observer.vehicle.health import ALIGNED, INVALID, STARTING
from state_observer.vehicle.observer import BasicObserver, VehicleObserver, Verdict
from state_observer.vehicle.odometry_frames import odometry_frames
from state_observer.vehicle.validation import Rejection, Sample, pose_variances
from terrain.ros.changes import follow_world
from terrain.surroundings import Surroundings
from terrain.world import World
from vehicle_dynamics.motion import heading_of

POSE = topics.INITIAL_POSE.name
LEVELS = {ALIGNED: Level.OK, STARTING: Level.WARN, INVALID: Level.ERROR}  # others: WARN


class ObserverNode(SuiteNode[ObserverNodeSettings]):
    """Converts messages, passes them to the observer, publishes estimates."""

    default_name = "observer"
    settings_type = ObserverNodeSettings

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        self.get_logger().debug(f"building the observer ({s.kind})")
        self._observer = self._make_observer()
        self._observer.warm_up()
        self._times = EstimateTimes(s.rate_hz)
        self._count = 0
        self._resets: int | None = None
        self._times_back = 0
        self._recent = RecentCounts()
        self._reported_s, self._used_s = time.monotonic(), time.process_time()
        self._frames = (s.frames.map_frame, s.frames.odom_frame, s.frames.base_frame)
        self._estimate = new_message(topics.ESTIMATE.type, self._frames[0])
        self._estimate.child_frame_id = self._frames[2]
        self._estimate = fixed(self._estimate)
        self._force_table = new_message(topics.TYRE_FORCES.type)
        describe_forces(self._force_table, len(joints.WHEELS), new_message)
        self._odometry = self.advertise(topics.ESTIMATE)
        self._sideslip = self.advertise(topics.SIDESLIP)
        self._forces = self.advertise(topics.TYRE_FORCES)
        self._tf = TransformBroadcaster(self) if s.tf_rate_hz else None
        uses_actuation = OBSERVER_KINDS[s.kind].uses_actuation
        inputs = {
            role: topic.named(getattr(s, topic.sensor).name)
            for role, topic in ROLES.items()
            if uses_actuation or role != "actuation"
        }
        self._roles = {topic.name: role for role, topic in inputs.items()}
        names = {role: topic.name for role, topic in inputs.items()}
        self._samples = SampleSynchroniser(names, holds_imu=not s.sync_with)
        self._arrivals = Arrivals([topic.name for topic in inputs.values()], time.monotonic())
        self._outer_clock = OuterClock(self)
        self._finished = Finished(self, [topics.ESTIMATE.name]) if s.sync_with else None
        self._run = self._make_run()
        self._input: SynchronousInput | None = None
        if s.sync_with:
            self._input = SynchronousInput(self, self._sources(inputs.values()), self._on_progress)
        for role, topic in inputs.items():
            if self._input is not None:
                self.listen(topic, self._input.on_message(topic.name), is_lazy=True, is_fixed=True)
            else:  # sensors of others may be best effort
                self.listen(topic, self._on_message(role, topic.name), qos.SENSOR, is_fixed=True)
        self.listen(topics.INITIAL_POSE, self._on_pose)
        follow_world(self, self._on_world)
        self.listen(topics.RESETS, self._on_resets)
        self.serve(topics.OBSERVER_RESET, self._on_reset)
        self._jump_handle = on_time_jump(self, self._on_jump)

    def _make_observer(self, world: World | None = None) -> BasicObserver:
        """world: replaces that of the settings; the vehicle then starts at its start pose."""
        s = self.settings
        if world is not None:
            s = replace(s, start=replace(s.start, x_m=0.0, y_m=0.0, heading_deg=0.0, speed_mps=0.0, at_world=True))
        there = Surroundings(s, world)
        self._start, self._start_ns = s.origin(there), s.start.time_ns()
        self._is_at_start = not was_respawned()  # after a respawn the vehicle is elsewhere
        if s.knows_start and not self._is_at_start:
            self.report("pose", Level.WARN, "restarted: must drive to initialise, or needs a pose on " + POSE)
        return make_observer(s, there)

    def _make_run(self) -> InstantObserver:
        """The present observer, instant by instant, from its start."""
        start = self._start if self._is_at_start else None
        run = InstantObserver(self._observer, start, self._start_ns, self.settings.rate_hz)
        run.digest = self._finished.digest if self._finished is not None else None
        return run

    # Sensors, instant by instant

    def _sources(self, inputs: Iterable[Topic]) -> dict[str, list[str]]:
        """Topics of the nodes to keep in step with; second parts of a sample first, so that the first finds its own."""
        s = self.settings
        named = [(getattr(s, topic.sensor).name, topic.name) for topic in reversed(list(inputs))]
        return {name: [topic for sensor, topic in named if sensor == name] for name in s.sync_with}

    def _on_progress(self) -> None:
        """Process all instants that every sensor has finished."""
        assert self._finished is not None
        assert self._input is not None
        horizon_ns = self._input.horizon_ns
        arrivals = self._input.take(horizon_ns)
        later_ns = [item.instant_ns for item in arrivals]
        for instant_ns, found in groupby(arrivals, key=lambda item: item.instant_ns):
            estimate = self._process_instant(instant_ns, found)
            next_ns = min((time_ns for time_ns in later_ns if time_ns > instant_ns), default=horizon_ns)
            self._finished.report(instant_ns, next_ns)
            if estimate is not None:
                self._send_details(estimate)  # which nobody waits for
        if horizon_ns:
            self._finished.report(horizon_ns - 1, horizon_ns)

    def _process_instant(self, instant_ns: int, arrivals: Iterable[Arrival]) -> Any:
        """The estimate, if one was due and is published."""
        self._outer_clock.on_arrival()
        samples = self._samples
        found = [
            part for item in arrivals for part in samples.process(self._roles[item.topic], item.message, instant_ns)
        ]
        estimate = self._run.process(instant_ns, [*found, *samples.flush()], self._on_verdict)
        if estimate is not None:
            self._send_estimate(estimate)
        return estimate

    def _on_verdict(self, verdict: Verdict) -> None:
        if not verdict.is_accepted:
            self.report("samples", Level.WARN, f"recently rejected: {verdict.reason}")

    # Sensors, as their messages arrive

    def _on_message(self, role: str, topic: str) -> Callable[[Any], None]:
        def process(message: Any) -> None:
            arrival_ns = time.monotonic_ns()
            stamp = message.header.stamp
            time_ns = stamp.sec * NS_PER_S + stamp.nanosec
            delay_s = (self.get_clock().now().nanoseconds - time_ns) / NS_PER_S
            self._arrivals.record(topic, arrival_ns / NS_PER_S, delay_s)
            self._arrivals.expect(time_ns, arrival_ns / NS_PER_S)
            for sample in self._samples.process(role, message, arrival_ns):
                self._process(sample)

        return process

    def _process(self, sample: Sample) -> None:
        self._outer_clock.on_arrival()
        self._on_verdict(self._observer.process(sample))
        before, self._times_back = self._times_back, self._observer.times_back
        if self._times_back > before:
            self._samples.clear()
            self._is_at_start = True
            self.get_logger().info("restarts: time went back")
        if self._is_at_start and self._observer.filter.time_ns and not self._observer.is_running:
            self._begin_at_start()
        self._publish_estimate()

    def _begin_at_start(self) -> None:
        """Initialise at the known start pose, only at start-up; otherwise GPS fixes initialise the filter."""
        self._is_at_start = False
        if self._start is None:
            return
        verdict = begin_at(self._observer, self._start, self._start_ns)
        if not verdict.is_accepted:
            self.report("pose", Level.WARN, f"start pose rejected: {verdict.reason}")

    # Estimates

    def _publish_estimate(self) -> None:
        if not self._observer.is_running:
            return
        now_ns = self._observer.filter.time_ns
        if not self._times.is_due(now_ns):
            return
        estimate = self._observer.estimate()
        self._send_estimate(estimate)
        self._send_details(estimate)

    def _send_estimate(self, estimate: Any) -> None:
        now_ns = int(estimate["time_ns"])
        self._count += 1
        fill_estimate(self._estimate, estimate)
        self._odometry.publish(as_published(self._estimate))
        if self._finished is not None:
            self._finished.count(topics.ESTIMATE.name)
        self._arrivals.published(now_ns, time.monotonic())

    def _send_details(self, estimate: Any) -> None:
        now_ns = int(estimate["time_ns"])
        self._sideslip.publish(Float64(data=float(estimate["sideslip"])))
        if self._tf is not None and self._count % self.settings.tf_every == 0:
            self._tf.send(ns_to_stamp(now_ns), self._transforms(estimate))
        if isinstance(self._observer, VehicleObserver) and self._count % FORCES_EVERY == 0:
            fill_forces(self._force_table, self._observer.forces())
            self._forces.publish(self._force_table)

    def _transforms(self, estimate: Any) -> list[FrameTransform]:
        map_frame, odom_frame, base_frame = self._frames
        odom, base = odometry_frames(estimate)
        return [FrameTransform(map_frame, odom_frame, *odom), FrameTransform(odom_frame, base_frame, *base)]

    # Resets

    def _on_pose(self, message: PoseWithCovarianceStamped) -> None:
        """Initialise at a pose, as sent by RViz."""
        reason = self._pose_rejection(message)
        position = message.pose.pose.position
        if reason:
            self.health.count(f"{POSE} rejected")
            self.report("pose", Level.WARN, f"{POSE} rejected: {reason}")
        else:
            self.report("pose", Level.OK, f"initialised at x {position.x:.1f}, y {position.y:.1f} m")

    def _pose_rejection(self, message: PoseWithCovarianceStamped) -> str:
        """Why the pose is rejected; empty if it was applied."""
        if message.header.frame_id not in ("", self._frames[0]):
            return f"is in frame {message.header.frame_id!r}, must be in {self._frames[0]!r}"
        variances = pose_variances(message.pose.covariance)
        if isinstance(variances, Rejection):
            return variances.reason
        try:
            heading = heading_of(quaternion_from_msg(message.pose.pose.orientation).tolist())
        except ValueError as error:
            return str(error)
        position = message.pose.pose.position
        verdict = self._observer.set_pose(
            position.x, position.y, heading, position_variance=variances[0], heading_variance=variances[1]
        )
        return verdict.reason

    def _on_resets(self, message: UInt32) -> None:
        before, self._resets = self._resets, message.data
        if before is not None and message.data != before:
            self._is_at_start = True
            self._restart("the simulation was reset")
        if self._finished is not None and self._input is not None:
            self._finished.on_resets(message.data)
            if message.data != self._input.resets:
                self._input.restart(message.data)  # which may go on at once

    def _on_world(self, name: str, world: World) -> None:
        self._observer = self._make_observer(world)
        self._is_at_start, self._times_back = True, 0
        self._run = self._make_run()
        self._restart(f"world {name} was loaded")

    def _on_jump(self) -> None:
        self._is_at_start = True
        self._restart("the clock went back")

    def _on_reset(self, request: Any, response: Any) -> Any:
        self._restart("requested")
        response.success, response.message = True, "restarted"
        return response

    def _restart(self, words: str) -> None:
        self.get_logger().info(f"restarts: {words}")
        self._run.reset()
        self._samples.clear()

    # Diagnostics

    def publish_health(self) -> None:
        """Publish status, warnings, NIS, counts and latency as diagnostics."""
        now_s = time.monotonic()
        found = self._observer.health(self._outer_clock.silent_s(self._observer.filter.time_ns))
        self.report("status", LEVELS.get(found.status, Level.WARN), found.status)
        warnings = list(found.warnings)
        if self._input is None:  # else time waits for sensors, and the machine's clock does not matter
            # The list of topics says more about sensors that never sent a sample.
            warnings = [words for words in warnings if not words.endswith("none has come")]
            warnings += self._arrivals.missing(now_s)
        self.report("warnings", Level.WARN if warnings else Level.OK, "; ".join(warnings) or "no warnings")
        rejected = {**found.rejected, **self._samples.rejected}
        recent = self._recent.update(rejected, now_s)
        words = f"recently rejected: {'; '.join(recent)}" if recent else "all samples accepted"
        self.report("samples", Level.WARN if recent else Level.OK, words)
        figures = {
            **health_figures(found, rejected),
            **self._arrivals.figures(),
            "busy_share": f"{self._busy_share(now_s):.3f}",
            **(self._finished.digest.texts() if self._finished is not None else {}),
        }
        self.publish_figures(ns_to_stamp(self._times.estimate_ns), figures)

    def _busy_share(self, now_s: float) -> float:
        """CPU time of all threads since the last report, as a share of one core."""
        used_s = time.process_time()
        share = (used_s - self._used_s) / max(now_s - self._reported_s, 1e-3)
        self._used_s, self._reported_s = used_s, now_s
        return share


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(ObserverNode)


if __name__ == "__main__":
    raise SystemExit(main())
