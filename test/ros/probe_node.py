"""A node on the suite's base that broadcasts frames and publishes what it sees of time; run by test_tf_and_clock.py."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from std_msgs.msg import String

from proving_ground.ros_support import qos
from proving_ground.ros_support.node import SuiteNode, run_node
from proving_ground.ros_support.tf import FrameTransform, StaticTransformBroadcaster, TransformBroadcaster
from proving_ground.ros_support.time import on_time_jump
from proving_ground.settings import setting
from proving_ground.settings.units import NS_PER_S

NO_ROTATION = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class ProbeSettings:
    period_s: float = setting(0.02, "Time between messages", unit="s", minimum=0.01, maximum=1.0)


class ProbeNode(SuiteNode[ProbeSettings]):
    default_name = "probe"
    settings_type = ProbeSettings

    def __init__(self) -> None:
        super().__init__()
        self._events = self.open_publisher(String, "events", qos.RELIABLE)
        self._jumps = on_time_jump(self, lambda: self._say("reset"), lambda: self._say("gap"))
        self._moving = TransformBroadcaster(self)
        self._static = StaticTransformBroadcaster(self)
        for child in ("imu_link", "gps_link"):
            self._static.send(
                self.get_clock().now().to_msg(), [FrameTransform("base_link", child, (0, 0, 1), NO_ROTATION)]
            )
        self.create_timer(self.settings.period_s, self._tick, clock=self.wall_clock)

    def _tick(self) -> None:
        now = self.get_clock().now()
        self._moving.send(now.to_msg(), [FrameTransform("odom", "base_link", (1, 2, 3), NO_ROTATION)])
        seconds = now.nanoseconds // NS_PER_S
        self._say(f"time {seconds}" if seconds else "started")

    def _say(self, text: str) -> None:
        self._events.publish(String(data=text))


if __name__ == "__main__":
    sys.exit(run_node(ProbeNode))
