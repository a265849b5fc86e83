"""The teleop node: /joy to /cmd_vel or /vehicle/pedals. All behaviour is in planner.teleop.Teleop."""

from __future__ import annotations

from sensor_msgs.msg import Joy

from planner.ros.driver_node import DriverNode
from planner.teleop import Teleop, TeleopSettings
from proving_ground.interfaces import topics
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import run_node


class TeleopNode(DriverNode[TeleopSettings]):
    """Publishes on every /joy message, and at publish_rate_hz between them."""

    default_name = "teleop"
    settings_type = TeleopSettings

    def __init__(self) -> None:
        super().__init__()
        # Restarted by every message, so that it fires when /joy has been silent for the timeout, whatever the rate.
        self._silence = self.create_timer(self.settings.joy_timeout_s, self.drive_now, clock=self.wall_clock)
        self.listen(topics.JOY, self._on_joy)

    def make_driver(self, settings: TeleopSettings) -> Teleop:
        """The driver of this node, which turns /joy messages into commands."""
        self._teleop = Teleop(settings)
        return self._teleop

    def on_settings(self, old: TeleopSettings, new: TeleopSettings) -> None:
        """Hand new settings to the driver, and adjust the watchdog over /joy."""
        super().on_settings(old, new)
        self._silence.timer_period_ns = round(new.joy_timeout_s * 1e9)

    def _on_joy(self, message: Joy) -> None:
        self._silence.reset()
        rejection = self._teleop.receive(self.wall_time(), message.axes, message.buttons)
        if rejection:
            self.health.count("rejected /joy messages")
            self.report("joy", Level.WARN, rejection)
        else:
            self.health.report("joy", Level.OK, "/joy received")
        self.drive_now()


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(TeleopNode)


if __name__ == "__main__":
    raise SystemExit(main())
