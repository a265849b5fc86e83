"""The teleop node: /joy to /cmd_vel or /vehicle/pedals. All behaviour is in planner.teleop.Teleop."""

from __future__ import annotations

from sensor_msgs.msg import Joy

from planner.driver_node import DriverNode
from planner.teleop import Teleop, TeleopSettings
from ros_support import qos
from ros_support.health import Level
from ros_support.node import run_node


class TeleopNode(DriverNode[TeleopSettings]):
    """Publishes on every /joy message, and at publish_rate_hz between them."""

    default_name = "teleop"
    settings_type = TeleopSettings

    def __init__(self) -> None:
        super().__init__()
        self.listen(Joy, "joy", self._on_joy, qos.RELIABLE)

    def make_driver(self) -> Teleop:
        """The game pad driver."""
        self._teleop = Teleop(self.settings)
        return self._teleop

    def _on_joy(self, message: Joy) -> None:
        refusal = self._teleop.receive(self.wall_time(), message.axes, message.buttons)
        if refusal:
            self.health.count("refused /joy messages")
            self.report("joy", Level.WARN, refusal)
        else:
            self.health.report("joy", Level.OK, "/joy received")
        self.drive_now()


def main() -> int:
    """Entry point."""
    return run_node(TeleopNode)


if __name__ == "__main__":
    raise SystemExit(main())
