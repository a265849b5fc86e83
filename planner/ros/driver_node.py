"""Base of the driver nodes: publishes commands at a rate and on demand, and watches for other publishers."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from geometry_msgs.msg import Twist, TwistStamped
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from planner.drive_command import DriveCommand, DriverSettings
from planner.idle import IdleGate
from proving_ground.interfaces import joints, topics
from proving_ground.ros_support.convert import twist_to_msg
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.names import type_name
from proving_ground.ros_support.node import SuiteNode, other_publishers
from vehicle_dynamics.equipment import Equipment
from vehicle_dynamics.vehicle_files import vehicle_file

TOPICS = {"cmd_vel": topics.CMD_VEL, "pedals": topics.PEDALS}
FINAL_STOP_WAIT = Duration(seconds=0.5)
ECHO_SLACK = 3  # own messages that may still be in flight when messages are counted
MOST_ON_DEMAND_HZ = 200.0  # a flood of input does not become a flood of commands


class Driver(Protocol):
    """A core that knows the command for an instant."""

    settings: Any

    def command(self, now: float) -> DriveCommand: ...

    def stop_command(self, now: float, reason: str) -> DriveCommand: ...


Settings = TypeVar("Settings", bound=DriverSettings)


class DriverNode(SuiteNode[Settings]):
    """Publishes the driver's command at publish_rate_hz, and at once when the input changes."""

    def __init__(self) -> None:
        super().__init__()
        self._equipment = Equipment.from_yaml(vehicle_file(self.settings.vehicle))
        self.driver = self.make_driver(self.settings.fitted(self._equipment))
        self._gate = IdleGate()
        topic = TOPICS[self.settings.output]
        self._topic = topic.name
        self._message_type = self._choose_message_type()
        self._publisher = self.advertise(topic, self._message_type)
        self._echo: Any = None  # subscribes to the topic once another node publishes it
        self._foreign_balance = 0  # messages of others since the last report
        self._published_at = float("-inf")
        self.last_command = self.driver.command(self.wall_time())
        self._is_fresh = False  # published on demand since the last tick
        self.create_timer(1.0 / self.settings.publish_rate_hz, self._tick, clock=self.wall_clock)

    def make_driver(self, settings: Settings) -> Driver:
        """The core that this node hosts."""
        raise TypeError(f"{type(self).__name__} must implement make_driver")

    def on_settings(self, old: Settings, new: Settings) -> None:
        """Hand new settings to the core."""
        self.driver.settings = new.fitted(self._equipment)

    def drive_now(self) -> None:
        """Publish on new input, unless a command has just gone out; a stop never waits."""
        now = self.wall_time()
        command = self.driver.command(now)
        is_new_stop = command.is_stop and not self.last_command.is_stop
        if is_new_stop or now - self._published_at >= 1.0 / MOST_ON_DEMAND_HZ:
            self._is_fresh = self._publish(now, command)

    def destroy_node(self) -> None:
        """Publish a stop as the last command."""
        if not self.last_command.is_stop:
            self._publisher.publish(self._to_msg(self.driver.stop_command(self.wall_time(), "the driver ends")))
            self._publisher.wait_for_all_acked(FINAL_STOP_WAIT)  # else the publisher is destroyed before it is sent
        super().destroy_node()

    def publish_health(self) -> None:
        """Add findings about other publishers of the topic, and about subscribers that expect another type."""
        others = other_publishers(self, self._topic)
        if others and self._echo is None:
            self._echo = self.listen(TOPICS[self.settings.output], self._on_echo, message_type=self._message_type)
        foreign, self._foreign_balance = self._foreign_balance, 0
        if others and foreign > ECHO_SLACK and not self.last_command.is_stop:
            self.report("publishers", Level.WARN, f"{self._topic} is also published by {', '.join(others)}")
        else:
            self.health.report(
                "publishers", Level.OK, f"other publishers of {self._topic}: {', '.join(others) or 'none'}"
            )
        self._check_listeners()
        super().publish_health()

    def _on_echo(self, message: Any) -> None:
        self._foreign_balance += 1

    def _check_listeners(self) -> None:
        own = type_name(self._message_type)
        endpoints = self.get_subscriptions_info_by_topic(self.resolve_topic_name(self._topic))
        deaf = sorted({endpoint.node_name for endpoint in endpoints if endpoint.topic_type != own})
        if deaf:
            words = f"{', '.join(deaf)} cannot receive {self._topic}: it is sent as {own}; see the parameter `stamped`"
            self.report("listeners", Level.WARN, words)
        else:
            self.health.report("listeners", Level.OK, f"all listeners of {self._topic} expect {own}")

    def _tick(self) -> None:
        if not self._is_fresh:
            now = self.wall_time()
            self._publish(now, self.driver.command(now))
        self._is_fresh = False

    def _publish(self, now: float, command: DriveCommand) -> bool:
        self.last_command = command
        others_publish = self.count_publishers(self._topic) > 1
        is_open = self._gate.is_open(now, command.is_stop, self.settings.idle_output, others_publish)
        self.report("drive", Level.OK, _drive_words(command, is_open, self._topic))
        if is_open:
            self._publisher.publish(self._to_msg(command))
            self._published_at = now
            self._foreign_balance -= self._echo is not None  # our own message will come back on the echo
        return is_open

    def _choose_message_type(self) -> type:
        if self.settings.output == "pedals":
            return JointState  # type: ignore[no-any-return]
        return TwistStamped if self.settings.stamped else Twist  # type: ignore[no-any-return]

    def _to_msg(self, command: DriveCommand) -> Any:
        header = Header(stamp=self.get_clock().now().to_msg(), frame_id=self.settings.frame_id)
        if self.settings.output == "pedals":
            position = [command.steering, command.throttle, command.brake]
            return JointState(header=header, name=list(joints.PEDALS), position=position)
        twist = twist_to_msg((command.speed, 0.0, 0.0), (0.0, 0.0, command.yaw_rate))
        return TwistStamped(header=header, twist=twist) if self.settings.stamped else twist


def _drive_words(command: DriveCommand, is_open: bool, topic: str) -> str:
    if not command.is_stop:
        return "driving"
    return f"stopped: {command.stop_reason}" + ("" if is_open else f"; {topic} is left to others")
