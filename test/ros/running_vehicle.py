"""A running vehicle node with its messages, and commands to it."""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from std_srvs.srv import SetBool

from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos

PERIOD_NS = 10_000_000
START_WAIT_S = 90.0  # includes compilation with a cold cache
FAST = ("-p", "real_time_factor:=3.0")


class Car:
    """A running vehicle node and its messages."""

    def __init__(self, graph: Any, *arguments: str, prefix: str = "") -> None:
        self._graph, self._prefix = graph, prefix
        self.process = graph.start("vehicle", "--ros-args", *arguments)
        self.odometry = graph.collect(Odometry, f"{prefix}/ground_truth/odom")
        self.diagnostics = graph.collect(DiagnosticArray, "/diagnostics")
        graph.wait_until(lambda: self.odometry, "the vehicle", START_WAIT_S)

    @property
    def speed(self) -> float:
        return float(self.odometry[-1].twist.twist.linear.x)

    @property
    def time_ns(self) -> int:
        return read_stamp(self.odometry[-1].header.stamp)

    def figures(self) -> dict[str, str]:
        """Keys and values of the last diagnostics of the vehicle."""
        statuses = [status for message in self.diagnostics for status in message.status if "vehicle" in status.name]
        return {item.key: item.value for item in statuses[-1].values} if statuses else {}

    def pause(self) -> int:
        """Pause the simulation, wait until every message of before has arrived, and return the time [ns]."""
        clock = self._graph.collect(Clock, "/clock", qos.CLOCK)
        assert self.call(SetBool, "pause", SetBool.Request(data=True)).success
        self.wait_for(lambda: len(clock) > 1 and clock[-1] == clock[-2], "/clock to repeat the same time")
        stands_at = read_stamp(clock[-1].clock)
        self.wait_for(lambda: self.time_ns == stands_at, "the state at which time stands")
        return stands_at

    def wait_for(self, condition: Any, what: str) -> None:
        self._graph.wait_until(condition, what)

    def wait_for_words(self, words: str) -> None:
        self._graph.wait_until(lambda: words in str(self.figures()), f"a diagnostic with {words!r}")

    def call(self, service_type: type, name: str, request: Any) -> Any:
        client = self._graph.node.create_client(service_type, f"{self._prefix}/simulation/{name}")
        return self._graph.call(client, request)


class Sender:
    """Publishes a command at 50 Hz until silenced."""

    def __init__(self, graph: Any, topic: str, message: Any, profile: Any = qos.RELIABLE) -> None:
        self.message = message
        self._publisher = graph.node.create_publisher(type(message), topic, profile)
        self._timer = graph.node.create_timer(0.02, lambda: self._publisher.publish(self.message))

    def fall_silent(self) -> None:
        self._timer.cancel()


def twist(speed: float, yaw_rate: float = 0.0) -> Twist:
    message = Twist()
    message.linear.x, message.angular.z = speed, yaw_rate
    return message


def vector(message: Any) -> tuple[float, float, float]:
    return message.x, message.y, message.z
