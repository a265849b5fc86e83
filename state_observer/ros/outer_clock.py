"""Time without any sample, on the clock of the samples: a paused simulation is not silent."""

from __future__ import annotations

from typing import Any

from rosgraph_msgs.msg import Clock

from proving_ground.interfaces import topics
from proving_ground.interfaces.fields import read_stamp
from proving_ground.ros_support import qos
from proving_ground.ros_support.node import SuiteNode
from proving_ground.settings.units import NS_PER_S

QUIET_S = 0.5  # shorter pauses are not silence
ANSWER_S = 2.0  # a /clock without messages for this long has stopped
SAME_TIME_NS = 10 * NS_PER_S  # samples farther from /clock are on another time base


class OuterClock:
    """The node's clock if it is simulated; else /clock if it is published; else the machine's clock.

    A subscription to /clock costs CPU continuously, so without use_sim_time there is one only during silence.
    """

    def __init__(self, node: SuiteNode[Any]) -> None:
        self._node = node
        self._is_simulated = bool(node.get_parameter("use_sim_time").value)
        self._arrival_ns, self._arrival_s = self._now_ns(), node.wall_time()
        self._subscription: Any = None

    def on_arrival(self) -> None:
        """Record that a sample arrived."""
        self._arrival_s = self._node.wall_time()
        if self._is_simulated:
            self._arrival_ns = self._now_ns()

    def silent_s(self, newest_ns: int) -> float:
        """Seconds since the last sample; newest_ns: its stamp."""
        if self._is_simulated and self._arrival_ns:
            return max(self._now_ns() - self._arrival_ns, 0) / NS_PER_S
        passed = self._node.wall_time() - self._arrival_s
        has_clock = passed >= QUIET_S and self._node.count_publishers(topics.CLOCK.name) > 0
        if not has_clock:
            self._stop_listening()
            return passed if passed >= QUIET_S else 0.0
        self._listen()
        if self._clock_ns:
            first = newest_ns if abs(self._first_ns - newest_ns) < SAME_TIME_NS else self._first_ns
            if self._node.wall_time() - self._clock_s < ANSWER_S:
                return max(self._clock_ns - first, 0) / NS_PER_S
        return passed if self._node.wall_time() - self._asked_s > ANSWER_S else 0.0

    def _now_ns(self) -> int:
        return int(self._node.get_clock().now().nanoseconds)

    def _listen(self) -> None:
        if self._subscription is None:
            self._first_ns = self._clock_ns = 0
            self._clock_s = self._asked_s = self._node.wall_time()
            self._subscription = self._node.create_subscription(Clock, topics.CLOCK.name, self._on_clock, qos.SENSOR)

    def _stop_listening(self) -> None:
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _on_clock(self, message: Clock) -> None:
        self._clock_ns, self._clock_s = read_stamp(message.clock), self._node.wall_time()
        self._first_ns = self._first_ns or self._clock_ns
