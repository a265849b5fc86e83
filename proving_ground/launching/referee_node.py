"""The referee node: lets time run when all nodes are ready, sends the goal, ends the run. The rest is in refereeing."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, ClassVar

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Pose, PoseStamped, PoseWithCovarianceStamped
from nav_msgs.msg import Odometry
from std_srvs.srv import SetBool

from proving_ground.interfaces import topics
from proving_ground.interfaces.diagnostics_codec import HARDWARE_ID
from proving_ground.interfaces.digest import INPUTS, OUTPUTS
from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.respawn import RESPAWNED
from proving_ground.scenarios.refereeing import (
    HASHES,
    START_WITHIN_S,
    TIMING,
    Attendance,
    Course,
    Permission,
    Phase,
    Readiness,
    RefereeSettings,
    Step,
)
from proving_ground.settings.files import write_whole
from state_observer.in_run import HEADING_VARIANCE, START_VARIANCE
from state_observer.vehicle.health import ALIGNED, STARTING
from terrain.worlds import load_world
from vehicle_dynamics.choices import DIVERGED, OVER

LOOK_EVERY_S = 0.1
REPORT_EVERY_S = 5.0
AGAIN_AFTER_S = 0.5  # goals and initial poses that nobody accepted are sent again
FINAL_REPORTS_WITHIN_S = 10.0
EXIT_FAILED = 1
OBSERVER, VEHICLE = "observer", "vehicle"
PAUSE = f"/{topics.PAUSE.name}"
WATCHED = tuple(
    topic.name
    for topic in (
        topics.TRUTH_ODOM,
        topics.CLOCK,
        topics.PEDALS,
        topics.CMD_VEL,
        topics.ESTIMATE,
        topics.POINTS,
        topics.IMU_RAW,
    )
)


class RefereeNode(SuiteNode[RefereeSettings]):
    """Lets time run when all nodes are ready; ends, and the launch with it, when the run is over."""

    default_name = "referee"
    settings_type = RefereeSettings
    exit_status: ClassVar[int] = EXIT_FAILED

    def __init__(self) -> None:
        super().__init__()
        s = self.settings
        world = load_world(s.world) if s.goal.source == "world" and s.world else None
        self._goal = s.goal.position(world)
        self._phase = Phase.GETTING_READY
        self._readiness = Readiness(frozenset(s.wait_for))
        self._attendance = Attendance()
        self._course = Course(s.duration_s)
        self._began_at = self._sent_at = self.wall_time()
        self._permission = Permission(self._began_at, s.ready_within_s)
        self._ran_at, self._asked_at = math.nan, -math.inf
        self._over_at = math.nan
        self._last_progress = ""  # line of progress printed last, until all nodes are ready
        self._answer: Any = None
        self._is_observed = self._is_disturbed = self._is_over = self._stands_long = False
        self._hashes: dict[str, dict[str, str]] = {}  # of inputs and outputs, by node
        self._hashed: set[str] = set()
        self._respawned: set[str] = set()  # nodes that were restarted during the run
        self._waited_s = 0.0  # wall time that the vehicle has waited for others
        self._longest = (0.0, "")  # its longest wait, and for whom
        self._observer_status = ""
        self._pose: Pose | None = None  # the true one
        self.listen(topics.DIAGNOSTICS, self._on_diagnostics)
        self._follows_pose = False
        if not s.is_synchronous:  # there the vehicle reports time and speed, and 100 Hz would cost much
            self._follow_pose()
        self._estimates = self.listen(topics.ESTIMATE, self._on_estimate, qos.SENSOR)
        self._goals = self.advertise(topics.GOAL_POSE)
        self._poses = self.advertise(topics.INITIAL_POSE)
        self._pause = self.create_client(SetBool, topics.PAUSE.name)
        self.create_timer(LOOK_EVERY_S, self._look, clock=self.wall_clock)
        self.report("run", Level.OK, self._phase.value)

    # Inputs

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.hardware_id != HARDWARE_ID:
                continue
            name = status.name.rpartition("/")[2]
            self._readiness.on_report(name)
            if name in self.settings.wait_for:
                self._attendance.on_report(name, self.wall_time())
            said = {item.key: item.value for item in status.values}  # the last value of a key wins
            if RESPAWNED in said:
                self._respawned.add(name)
            if INPUTS in said:
                self._hashes[name] = {key: said[key] for key in (INPUTS, OUTPUTS)}
            if name == OBSERVER:
                self._observer_status = said.get("status", "")
            elif name == "planner":
                self._course.planner_status = said.get("status", "")
            elif name == VEHICLE:
                self._on_vehicle(said, status.message, read_stamp(message.header.stamp))

    def _on_vehicle(self, said: dict[str, str], words: str, time_ns: int) -> None:
        self._is_over = said.get("state") == OVER
        self._waited_s = float(said.get("waited_s", "0"))
        self._longest = float(said.get("longest_wait_s", "0")), said.get("longest_wait_for", "")
        if self.settings.is_synchronous and self._phase is not Phase.OVER:
            self._course.on_time(time_ns)
            self._course.on_speed(float(said.get("speed_mps", "inf")))
        if said.get("state") == DIVERGED:
            self._course.trouble = words.replace("; reset it", "")  # the run is over
        elif self.settings.is_synchronous and self._phase is Phase.RUNNING:
            waits_s = float(said.get("awaited_s", "0"))
            self._judge_standstill(waits_s, f"time has stood still for {waits_s:.0f} s, waiting for {said['awaited']}")
            if self._is_over:
                self._watch(self.wall_time())  # now: the time of the run ends here

    def _judge_standstill(self, seconds: float, words: str) -> None:
        """End a run that has stood still for long; if somebody watches it, only say so, once."""
        was_long, self._stands_long = self._stands_long, seconds > self.settings.standstill_s
        if self._stands_long and not self.settings.is_attended:
            self._course.trouble = words
        elif self._stands_long and not was_long:
            self._say(words)

    def _follow_pose(self) -> None:
        self._follows_pose = True
        self.listen(topics.TRUTH_ODOM, self._on_odometry, qos.SENSOR)

    def _on_odometry(self, message: Odometry) -> None:
        if self._phase is not Phase.OVER:
            self._course.on_time(read_stamp(message.header.stamp))
            self._course.on_speed(message.twist.twist.linear.x)
            self._pose = message.pose.pose

    def _on_estimate(self, message: Odometry) -> None:
        if not self._is_observed:
            self._is_observed = True
            self.destroy_subscription(self._estimates)  # 100 Hz would cost more than all the rest

    # Actions

    def _look(self) -> None:
        now = self.wall_time()
        if self._phase is Phase.GETTING_READY:
            self._get_ready(now)
        elif self._phase is Phase.RUNNING:
            self._watch(now)
        elif self._has_final_reports(now):
            self._write_hashes()
            self.stop()

    def _get_ready(self, now: float) -> None:
        others = self.count_publishers(topics.CLOCK.name)
        if others > 1:
            self._say(
                f"{others} nodes publish {topics.CLOCK.name}: another simulation runs in this ROS_DOMAIN_ID; giving up"
            )
            self.stop()
            return
        self._readiness.look({topic: self.count_subscribers(topic) for topic in WATCHED}, now)
        step = self._permission.step(
            now,
            is_ready=self._readiness.is_ready(now) and self._pause.service_is_ready() and self._has_driver(),
            is_answered=self._answer is not None and self._answer.done(),
            elapsed_s=self._course.elapsed_s,
        )
        if step is Step.RUN:
            self._ran_at, self._phase = now, Phase.RUNNING
            self._write({})
            self._say(f"all nodes are ready after {now - self._began_at:.1f} s; time runs")
        elif step is Step.ASK:
            if self._answer is not None:
                self._pause.remove_pending_request(self._answer)
            self._answer = self._pause.call_async(SetBool.Request(data=False))
        elif step is Step.GIVE_UP:
            waiting = ", ".join(self._missing()) or PAUSE
            self._say(f"after {self.settings.ready_within_s:g} s still waiting for {waiting}; giving up")
            self.stop()
        elif now - self._sent_at > REPORT_EVERY_S:
            self._sent_at = now
            self._say_progress()

    def _say_progress(self) -> None:
        """One line when something has changed."""
        missing, wanted = self._missing(), len(self.settings.wait_for)
        known = PAUSE if self._permission.was_asked else "connections"
        ready = wanted - len(self._readiness.missing)
        words = f"{ready} of {wanted} nodes are ready; waiting for {', '.join(missing) or known}"
        if words != self._last_progress:
            self._last_progress = words
            self._say(words)

    def _missing(self) -> list[str]:
        driver = [] if self._has_driver() else [f"a publisher of {self.settings.driver_topic}"]
        return self._readiness.missing + driver

    def _has_driver(self) -> bool:
        """Whether the driver from outside is there, if one is waited for."""
        topic = self.settings.driver_topic
        return not topic or self.count_publishers(topic) > 0

    def _watch(self, now: float) -> None:
        course = self._course
        silent = self._attendance.silent(now)
        words = f"no report from {', '.join(silent)}" if silent else "all nodes report"
        self.report("nodes", Level.WARN if silent else Level.OK, words)
        # In a synchronous run silence means a busy machine; time stands still for nodes that died.
        self._is_disturbed |= bool(OBSERVER in self._respawned if self.settings.is_synchronous else silent)
        if self._is_disturbed and not self._follows_pose:
            self._follow_pose()
        if not silent and self._observer_status == ALIGNED:
            self._is_disturbed = False
        standstill_s = self.settings.standstill_s
        if self.settings.is_synchronous and VEHICLE in self._attendance.silent(now, standstill_s):
            self._judge_standstill(math.inf, f"the vehicle has not reported for {standstill_s:.0f} s")
        if course.trouble:
            self._say(f"giving up after {course.elapsed_s:.1f} s: {course.trouble}")
            self._write({"given_up": course.trouble})
            self.stop()
            return
        self._send_goal(now)
        factor = course.elapsed_s / (now - self._ran_at) if now > self._ran_at else 0.0
        if now - self._sent_at > REPORT_EVERY_S:
            self._sent_at = now
            self._say(course.words(factor))
        if self._is_over if self.settings.is_synchronous else course.is_over:
            self._phase = Phase.OVER
            self._say(f"over: {course.words(factor)}")
            self._write(
                {
                    "simulated_s": course.elapsed_s,
                    "wall_s": now - self._ran_at,
                    "real_time_factor": factor,
                    "waited_s": self._waited_s,
                }
            )
            type(self).exit_status = 0
            self._over_at = now
            self._hashed, self._hashes = set(self._hashes), {}  # those sent from now on are of the whole run
            self._answer = self._pause.call_async(SetBool.Request(data=True))

    def _has_final_reports(self, now: float) -> bool:
        """Whether the vehicle has answered, and all nodes have sent the hashes of the whole run."""
        is_complete = self._answer.done() and self._hashed <= set(self._hashes)
        return is_complete or now - self._over_at > FINAL_REPORTS_WITHIN_S

    def _write_hashes(self) -> None:
        if self.settings.out and self._hashes:
            write_whole(Path(self.settings.out) / HASHES, json.dumps(self._hashes, indent=2, sort_keys=True) + "\n")

    def _send_goal(self, now: float) -> None:
        """Send the observer's pose, then the goal; repeat each until it is accepted."""
        if now - self._asked_at < AGAIN_AFTER_S:
            return
        self._asked_at = now
        pose = self._pose_to_send()
        if pose is not None:
            message = PoseWithCovarianceStamped()
            message.header.frame_id = "map"
            message.pose.pose = pose
            message.pose.covariance[0] = message.pose.covariance[7] = START_VARIANCE
            message.pose.covariance[35] = HEADING_VARIANCE
            self._poses.publish(message)
        elif self._goal is not None and self._course.planner_status in ("", "no_goal") and self._may_lack_goal():
            goal = PoseStamped()
            goal.header.frame_id = "map"
            goal.pose.position.x, goal.pose.position.y = self._goal
            goal.pose.orientation.w = 1.0
            self._goals.publish(goal)

    def _may_lack_goal(self) -> bool:
        """Whether the planner can have lost its goal, which its settings gave it when the run began."""
        return not self.settings.is_synchronous or "planner" in self._respawned

    def _pose_to_send(self) -> Pose | None:
        """Initial pose for an observer that may know it; again when node deaths made it lose its estimate.

        Always the present pose, and never in motion: a pose has no speed, and arrives late. An observer that starts
        in motion gets it from its settings. A stationary observer cannot initialise itself, and the
        planner would wait for it forever. One that diverges while all nodes live is left alone.
        """
        if OBSERVER not in self.settings.wait_for or not self.settings.sends_start:
            return None
        if not self.settings.is_synchronous and not self._is_observed and self._course.elapsed_s < START_WITHIN_S:
            return self._pose if self._course.is_slow else None
        is_lost = self._is_disturbed and self._observer_status == STARTING
        if not (is_lost and self._course.stands) or self._attendance.silent(self.wall_time()):
            return None
        self._say("nodes were restarted: sending the vehicle's pose to the observer")
        return self._pose

    def _write(self, times: dict[str, Any]) -> None:
        if self.settings.out:
            folder = Path(self.settings.out)
            folder.mkdir(parents=True, exist_ok=True)
            longest_s, awaited = self._longest
            found = {
                **times,
                "ready_s": self._ran_at - self._began_at,
                "restarted": sorted(self._respawned),
                "longest_wait_s": longest_s,
                "longest_wait_for": awaited,
            }
            write_whole(folder / TIMING, json.dumps(found, indent=2) + "\n")

    def _say(self, words: str) -> None:
        self.health.report("run", Level.OK, self._phase.value)
        print(words, flush=True)


def main() -> int:
    """Entry point; status 0 only when the run completed."""
    status = run_node(RefereeNode)
    return status or RefereeNode.exit_status


if __name__ == "__main__":
    sys.exit(main())
