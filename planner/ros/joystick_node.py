"""The joystick node: a game pad or wheel to /joy. All behaviour is in planner.joystick."""

from __future__ import annotations

import threading

from sensor_msgs.msg import Joy
from std_msgs.msg import Header

from planner.joystick import JoystickSettings, find_pad, read_pad
from proving_ground.interfaces import topics
from proving_ground.ros_support.health import Level
from proving_ground.ros_support.node import SuiteNode, run_node


class JoystickNode(SuiteNode[JoystickSettings]):
    """Reads the device in its own thread, because an executor's wake-up would add latency."""

    default_name = "joystick"
    settings_type = JoystickSettings

    def __init__(self) -> None:
        super().__init__()
        self._publisher = self.advertise(topics.JOY)
        self._stop = threading.Event()
        self._reader = threading.Thread(target=self._read, name="joystick reader", daemon=True)
        self._reader.start()

    def destroy_node(self) -> None:
        """Stop the reader before the publisher is destroyed."""
        self._stop.set()
        self._reader.join()
        super().destroy_node()

    def _read(self) -> None:
        while not self._stop.is_set():
            pad, finding = find_pad(self.settings.device, self.settings.dead_zone)
            self.report("device", Level.OK if pad else Level.WARN, finding)
            if pad is None:
                self._stop.wait(self.settings.search_period_s)
                continue
            try:
                read_pad(pad, lambda: self.settings, lambda: not self._stop.is_set(), self._publish, self.wall_time)
            except OSError:
                self.report("device", Level.WARN, f"{pad.label} was unplugged; /joy is silent until it is back")
            finally:
                pad.device.close()

    def _publish(self, axes: list[float], buttons: list[int]) -> None:
        header = Header(stamp=self.get_clock().now().to_msg(), frame_id=topics.JOY.frame)
        self._publisher.publish(Joy(header=header, axes=axes, buttons=buttons))


def main() -> int:
    """Run the node until it ends; returns the exit status of its process."""
    return run_node(JoystickNode)


if __name__ == "__main__":
    raise SystemExit(main())
