"""The cockpit node: a live 3D page for browsers on this machine. All behaviour is in the modules beside it.

While no browser is connected, it subscribes to nothing and its timers rest. While one is, topics are not waited for but
polled at the page's own rate: a message that is not drawn costs nothing.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from geometry_msgs.msg import PoseStamped, Twist, TwistStamped
from numpy.typing import NDArray
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, SetParameters
from rclpy.qos import QoSProfile
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Float64, Header
from std_srvs.srv import SetBool, Trigger

from proving_ground.cockpit.driving import DrivePad
from proving_ground.cockpit.page import Page
from proving_ground.cockpit.ros.latest_message import LATCHED_ALL, LATEST, MANY, LatestMessages
from proving_ground.cockpit.ros.services import Services
from proving_ground.cockpit.server import open_in_browser
from proving_ground.cockpit.settings import CockpitSettings
from proving_ground.cockpit.view_model import ViewModel
from proving_ground.interfaces import topics
from proving_ground.interfaces.topic import Topic
from proving_ground.ros_support.convert import twist_to_msg
from proving_ground.ros_support.diagnostics import health_to_msg, level_from_msg
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.names import type_name
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.point_cloud import cloud_to_points
from proving_ground.ros_support.polled import PolledGroup
from proving_ground.ros_support.time import ns_to_stamp
from terrain.worlds import load_world
from vehicle_dynamics.hmmwv import Hmmwv
from vehicle_dynamics.parameters import VehicleParameters
from vehicle_dynamics.vehicle_files import vehicle_file

Array = NDArray[np.float64]

DRIVE_PERIOD_S = 0.05
SLOW_PERIOD_S = 0.2  # for what changes slowly: plans, maps, nodes


class CockpitNode(SuiteNode[CockpitSettings]):
    """Subscribes while a browser is connected, calls services for its buttons, and publishes when a user drives."""

    default_name = "cockpit"
    settings_type = CockpitSettings

    def __init__(self) -> None:
        self._page: Page | None = None
        self._posted: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._closing, self._is_closed = threading.Lock(), False
        super().__init__()
        s = self.settings
        self._wake = self.create_guard_condition(self._run_posted)
        self._polled = PolledGroup()
        self._mailboxes: list[LatestMessages] = []
        self._model, self._pad = ViewModel(), DrivePad()
        self._askable = Services(self, self._say)
        self._cmd_vel: Any = None
        self._goal_pose = self.advertise(topics.GOAL_POSE)
        self._seek: Any = None
        self._wanted_factor: float | None = None
        self._wanted_rate: float | None = None
        self._wanted_position: float | None = None
        self._pictures, self._counted_at = 0, self.wall_time()
        self._draw_timer = self._resting_timer(1.0 / s.update_rate_hz, self._draw)
        self._drive_timer = self._resting_timer(DRIVE_PERIOD_S, self._command)
        self._slow_timer = self._resting_timer(SLOW_PERIOD_S, self._look_around)
        self.page = self._open_page()
        address = f"http://{s.host}:{self.page.port}"
        self.get_logger().info(f"cockpit: open {address}")
        if s.open_browser:
            open_in_browser(address)
        self.report("page", Level.OK, "no browser is attached")

    def _open_page(self) -> Page:
        s = self.settings
        world = load_world(s.world) if s.world else None
        parameters = VehicleParameters.from_yaml(vehicle_file(s.vehicle))
        self._equipment = parameters.equipment
        if world is not None and world.goal is not None:
            x, y = world.goal.x, world.goal.y
            self._model.goal = np.array([x, y, float(world.ground.height_at(x, y))])
        self._page = Page(s, world, parameters, np.asarray(Hmmwv(parameters).base_in_chassis, float), self)
        return self._page

    def _resting_timer(self, period_s: float, call: Callable[[], None]) -> Any:
        timer = self.create_timer(period_s, call, clock=self.wall_clock)
        timer.cancel()
        return timer

    def destroy_node(self) -> None:
        """End the page's threads before the node that they talk to; late callbacks are dropped."""
        if self._page is not None:
            self._page.close()
        with self._closing:
            self._is_closed = True
        super().destroy_node()

    def publish_health(self) -> None:
        """Report connected browsers and the frame rate."""
        now = self.wall_time()
        rate = self._pictures / max(now - self._counted_at, 1e-9)
        self._pictures, self._counted_at = 0, now
        self.health.counters.update({f"{topic} rejected": count for topic, count in self._model.rejected.items()})
        message = health_to_msg(self.health, self.get_fully_qualified_name(), self.get_clock().now().to_msg())
        browsers = 0 if self._page is None else self._page.browsers
        figures = {"browsers": str(browsers), "pictures_hz": f"{rate:.1f}", "topics": str(len(self._mailboxes))}
        message.status[0].values += [KeyValue(key=key, value=value) for key, value in figures.items()]
        self._diagnostics.publish(message)

    # From the page's threads to this node's

    def post(self, call: Callable[[], None]) -> None:
        """Queue a call for the thread that spins this node."""
        with self._closing:
            if not self._is_closed:
                self._posted.put(call)
                self._wake.trigger()

    def _run_posted(self) -> None:
        for _ in range(self._posted.qsize()):
            self._posted.get()()

    # Browsers come and go

    def attend(self) -> None:
        """Subscribe while a browser is connected; otherwise rest and stop driving."""
        browsers = self.page.browsers
        if browsers and not self._mailboxes:
            self._mailboxes = self._open_mailboxes()
            self._askable.meet(self._wanted_services())
            request = GetParameters.Request(names=["real_time_factor"])
            self._askable.ask(
                f"{self.settings.vehicle_node}/get_parameters", request, self.wall_time(), then=self._show_factor
            )
            self._draw_timer.reset()
            self._slow_timer.reset()
        elif not browsers and self._mailboxes:
            for latest_messages in self._mailboxes:
                latest_messages.close()
            self._mailboxes = []
            self._draw_timer.cancel()
            self._slow_timer.cancel()
            self.page.panel.let_go()
            self._pad.switch(False, self.wall_time())
            self._model.forget()
        words = f"{browsers} browser(s) attached" if browsers else "no browser is attached"
        self.report("page", Level.OK, words)

    def _open_mailboxes(self) -> list[LatestMessages]:
        model, stage, s = self._model, self.page.stage, self.settings

        def cloud(message: PointCloud2) -> None:
            model.on_cloud(message, cloud_to_points, self.settings.cloud_points)

        table: tuple[tuple[Topic, Callable[[Any], None], QoSProfile, float, str], ...] = (
            (topics.CLOCK, lambda message: model.on_clock(message, self.wall_time()), LATEST, 0.0, ""),
            (topics.RESETS, model.on_resets, LATCHED_ALL, 0.0, ""),
            (topics.TRUTH_ODOM, model.on_truth, LATEST, 0.0, ""),
            (topics.JOINT_STATES, model.on_joints, LATEST, 0.0, ""),
            (topics.ESTIMATE, model.on_estimate, LATEST, 0.0, "Estimate"),
            (topics.FIXED_TRANSFORMS, model.on_mounts, LATCHED_ALL, SLOW_PERIOD_S, ""),
            (topics.POINTS, cloud, LATEST, 0.9 / s.cloud_rate_hz, "LIDAR"),
            (topics.PLAN, model.on_plan, LATEST, SLOW_PERIOD_S, "Plan"),
            (topics.ARCS, model.on_arcs, LATEST, SLOW_PERIOD_S, "Arcs"),
            (topics.LOCAL_MAP, model.on_grid, LATEST, 2.0 * SLOW_PERIOD_S, "Local map"),
            (topics.GOAL_POSE, model.on_goal, LATEST, SLOW_PERIOD_S, ""),
            (topics.DIAGNOSTICS, self._on_diagnostics, MANY, SLOW_PERIOD_S, ""),
        )
        return [
            LatestMessages(
                self,
                self._polled,
                topic,
                update,
                profile,
                period,
                partial(stage.is_visible, layer) if layer else None,
            )
            for topic, update, profile, period, layer in table
        ]

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self._model.nodes.record(status.name, int(level_from_msg(status)), status.message, self.wall_time())
            if status.name.rpartition("/")[2] == self.settings.replayer_node:
                self._model.on_replay({item.key: item.value for item in status.values}, self.wall_time())

    def _draw(self) -> None:
        now = self.wall_time()
        for latest_messages in self._mailboxes:
            latest_messages.look(now)
        self.page.draw(self._model, now)
        self._pictures += 1

    def _look_around(self) -> None:
        """Serve pending service calls and slider values, and check whether a bag is played."""
        s = self.settings
        if self._wanted_factor is not None:
            self._set_number(s.vehicle_node, "real_time_factor", self._wanted_factor, "pace")
            self._wanted_factor = None
        if self._wanted_rate is not None:
            self._set_number(s.replayer_node, "rate", self._wanted_rate, "rate")
            self._wanted_rate = None
        self._askable.look(self.wall_time())
        is_replay = self._askable.is_there(topics.REPLAY_RESUME.below(s.replayer_node))
        if is_replay and self._seek is None:
            self._seek = self.advertise(topics.SEEK.below(s.replayer_node))
        if self._wanted_position is not None and self._seek is not None and self._seek.get_subscription_count():
            self._seek.publish(Float64(data=self._wanted_position))
            self._say(f"replay at {self._wanted_position:.1f} s", False)
            self._wanted_position = None
        self.page.panel.show_replay(is_replay, self._askable.is_there(topics.PAUSE.name))

    # Requests of users

    def _wanted_services(self) -> dict[str, type]:
        vehicle, replayer = self.settings.vehicle_node, self.settings.replayer_node
        return {
            topics.PAUSE.name: SetBool,
            topics.STEP.name: Trigger,
            topics.RESET.name: Trigger,
            topics.CANCEL.name: Trigger,
            f"{vehicle}/set_parameters": SetParameters,
            f"{vehicle}/get_parameters": GetParameters,
            topics.REPLAY_PAUSE.below(replayer): SetBool,
            topics.REPLAY_RESUME.below(replayer): Trigger,
            topics.REPLAY_STEP.below(replayer): Trigger,
            f"{replayer}/set_parameters": SetParameters,
        }

    def _say(self, words: str, is_bad: bool) -> None:
        self.page.panel.say(words, is_bad=is_bad)

    def act(self, action: str) -> None:
        """Pause, resume, step or reset the simulation."""
        if action in ("Pause", "Resume"):
            self._askable.ask(topics.PAUSE.name, SetBool.Request(data=action == "Pause"), self.wall_time())
        elif action in ("Step", "Reset"):
            service = topics.STEP if action == "Step" else topics.RESET
            self._askable.ask(service.name, Trigger.Request(), self.wall_time())

    def _show_factor(self, answer: GetParameters.Response) -> None:
        if answer.values and answer.values[0].type == ParameterType.PARAMETER_DOUBLE:
            self.page.panel.show_factor(answer.values[0].double_value)

    def set_factor(self, factor: float) -> None:
        """Set simulated time over real time; deferred, because a slider sends a value for each step."""
        self._wanted_factor = factor

    def replay(self, action: str) -> None:
        """Control the replay of a bag."""
        node = self.settings.replayer_node
        if action == "Pause":
            self._askable.ask(topics.REPLAY_PAUSE.below(node), SetBool.Request(data=True), self.wall_time())
        elif action in ("Resume", "Step"):
            service = topics.REPLAY_STEP if action == "Step" else topics.REPLAY_RESUME
            self._askable.ask(service.below(node), Trigger.Request(), self.wall_time())
        elif action == "Restart":
            self._wanted_position = 0.0

    def set_replay_rate(self, rate: float) -> None:
        """Set the rate of the bag; deferred, as set_factor."""
        self._wanted_rate = rate

    def seek(self, position_s: float) -> None:
        """Seek in the bag; deferred, as set_factor."""
        length_s = np.inf if self._model.replay is None else self._model.replay.length_s
        self._wanted_position = min(position_s, length_s)  # the slider's end is rounded

    def _set_number(self, node: str, name: str, value: float, words: str) -> None:
        number = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
        request = SetParameters.Request(parameters=[Parameter(name=name, value=number)])
        self._askable.ask(f"{node}/set_parameters", request, self.wall_time(), f"{words} {value:g}")

    def set_goal(self, position: Array) -> None:
        """Publish a goal for planners."""
        x, y, z = position.tolist()
        goal = PoseStamped()
        goal.header.frame_id = self.settings.frames.map_frame
        goal.header.stamp = ns_to_stamp(self._model.time_ns or 0)
        goal.pose.position.x, goal.pose.position.y, goal.pose.position.z = x, y, z
        goal.pose.orientation.w = 1.0
        self._goal_pose.publish(goal)
        self._model.goal = position
        self._say(f"goal: {x:.1f}, {y:.1f} m", False)

    # Driving

    def drive(self, is_on: bool) -> None:
        """Begin (is_on) or end driving from the page; the wheel is taken from a planner, too."""
        self._pad.switch(is_on, self.wall_time())
        if is_on:
            if self._askable.is_there(topics.CANCEL.name):
                self._askable.ask(topics.CANCEL.name, Trigger.Request(), self.wall_time())
            self._drive_timer.reset()

    def hold(self, direction: str, seconds: float) -> None:
        """A direction of the pad is held."""
        self._pad.hold(direction, self.wall_time(), seconds)

    def _command(self) -> None:
        command = self._pad.command(self.wall_time(), self.settings.fitted(self._equipment))
        if command is None:
            self._drive_timer.cancel()
            self.destroy_publisher(self._cmd_vel)
            self._cmd_vel = None
            return
        if self._cmd_vel is None:
            self._cmd_vel = self.advertise(topics.CMD_VEL, self._twist_type())
        twist = twist_to_msg((command.speed, 0.0, 0.0), (0.0, 0.0, command.yaw_rate))
        if self._cmd_vel.msg_type is Twist:
            self._cmd_vel.publish(twist)
        else:
            header = Header(stamp=ns_to_stamp(self._model.time_ns or 0), frame_id=self.settings.frames.base_frame)
            self._cmd_vel.publish(TwistStamped(header=header, twist=twist))

    def _twist_type(self) -> type:
        """The type that others publish or subscribe to: a topic can have one type only."""
        topic = self.resolve_topic_name(topics.CMD_VEL.name)
        others = [*self.get_publishers_info_by_topic(topic), *self.get_subscriptions_info_by_topic(topic)]
        chosen: type = Twist if {info.topic_type for info in others} == {type_name(Twist)} else TwistStamped
        return chosen


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(CockpitNode)


if __name__ == "__main__":
    raise SystemExit(main())
