"""The monitor node: prints what drivers publish and what nodes report. All wording is in launching.monitor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState, Joy

from proving_ground.interfaces import topics
from proving_ground.interfaces.diagnostics_codec import HARDWARE_ID
from proving_ground.interfaces.topic import Topic
from proving_ground.launching.monitor import Monitor, TopicWatch
from proving_ground.ros_support import qos
from proving_ground.ros_support.diagnostics import level_from_msg
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.names import type_name
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.settings import setting


@dataclass(frozen=True, kw_only=True)
class MonitorSettings:
    """Settings of the monitor: how often it prints."""

    period_s: float = setting(
        1.0, "Time between lines printed to the terminal", unit="s", minimum=0.1, maximum=60.0, read_only=True
    )


def _joy_words(message: Joy) -> str:
    return f"{len(message.axes)} axes, buttons {[index for index, value in enumerate(message.buttons) if value]}"


def _twist_words(message: Twist) -> str:
    return f"speed {message.linear.x:+.2f} m/s, yaw rate {message.angular.z:+.2f} rad/s"


def _stamped_twist_words(message: TwistStamped) -> str:
    return _twist_words(message.twist)


def _pedals_words(message: JointState) -> str:
    return ", ".join(f"{name} {value:+.2f}" for name, value in zip(message.name, message.position, strict=False))


def _odometry_words(message: Odometry) -> str:
    position, velocity = message.pose.pose.position, message.twist.twist.linear
    return f"drives {_tidy(velocity.x, 2):+.2f} m/s at x {_tidy(position.x, 1):.1f}, y {_tidy(position.y, 1):.1f} m"


def _tidy(value: float, positions: int) -> float:
    return round(value, positions) + 0.0  # no -0.0


# Topic, type and function that describes a message; subscribed when a publisher of that type appears.
WATCHED: tuple[tuple[Topic, type, Callable[[Any], str]], ...] = (
    (topics.JOY, Joy, _joy_words),
    (topics.CMD_VEL, TwistStamped, _stamped_twist_words),
    (topics.CMD_VEL, Twist, _twist_words),
    (topics.PEDALS, JointState, _pedals_words),
    (topics.TRUTH_ODOM, Odometry, _odometry_words),
)


def _counting(watch: TopicWatch, words: Callable[[Any], str]) -> Callable[[Any], None]:
    return lambda message: watch.add(words(message))


class MonitorNode(SuiteNode[MonitorSettings]):
    """Subscribes to what others publish, best effort, so that it blocks no publisher."""

    default_name = "monitor"
    settings_type = MonitorSettings

    def __init__(self) -> None:
        super().__init__()
        self._monitor = Monitor()
        self._watched: dict[str, str] = {}  # message type of each topic
        self._printed_at = self.wall_time()
        self.listen(topics.DIAGNOSTICS, self._on_diagnostics)
        self.create_timer(self.settings.period_s, self._print, clock=self.wall_clock)

    def _print(self) -> None:
        self._look_for_publishers()
        now = self.wall_time()
        line = self._monitor.line(now, now - self._printed_at)
        self._printed_at = now
        if line:
            print(line, flush=True)

    def _look_for_publishers(self) -> None:
        for topic, message_type, words in WATCHED:
            kind = type_name(message_type)
            full_topic = self.resolve_topic_name(topic.name)
            offers = [info for info in self.get_publishers_info_by_topic(full_topic) if info.topic_type == kind]
            if not offers:
                continue
            # DDS allows one type per topic in a process: the first one is watched, the other is reported.
            watched_kind = self._watched.setdefault(full_topic, kind)
            if watched_kind != kind:
                names = ", ".join(sorted({info.node_name for info in offers}))
                self._monitor.record(full_topic, f"WARN {names} sends {kind}, others {watched_kind}", self.wall_time())
            elif full_topic not in self._monitor.watches:
                watch = self._monitor.watch(full_topic)
                self.listen(topic, _counting(watch, words), qos.SENSOR, message_type)

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = level_from_msg(status)
            is_ours = status.hardware_id == HARDWARE_ID and status.name != self.get_fully_qualified_name()
            if is_ours or level != Level.OK:
                words = status.message.partition(";")[0]
                self._monitor.record(
                    status.name, words if level == Level.OK else f"{level.name} {words}", self.wall_time()
                )


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(MonitorNode)


if __name__ == "__main__":
    raise SystemExit(main())
