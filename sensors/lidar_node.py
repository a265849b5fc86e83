"""The LIDAR node: point clouds and a planar scan. All behaviour is in sensors.lidar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sensor_msgs.msg import LaserScan, PointCloud2

from ros_support import qos
from ros_support.node import run_node
from ros_support.sensor_messages import CloudMessages, planar_to_msg
from sensors.lidar.lidar import Lidar
from sensors.lidar.planar import planar_scan
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.samples import DriveTruth, LidarScan
from sensors.sensor_node import SensorNode, SensorNodeSettings
from settings import setting
from terrain.flat_ground_settings import FlatGroundSettings
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion


@dataclass(frozen=True, kw_only=True)
class LidarNodeSettings(LidarSettings, SensorNodeSettings, FlatGroundSettings):
    """A laser scanner as a node."""

    world: str = setting(
        "", "Name in config/worlds, or a path to a YAML file; none: flat ground by its slopes", read_only=True
    )


class LidarNode(SensorNode[LidarNodeSettings, LidarScan]):
    """Publishes lidar/points and lidar/scan."""

    default_name = "lidar"
    default_frame = "lidar_link"
    settings_type = LidarNodeSettings
    sends_large_messages = True

    def prepare(self) -> None:
        """World and publishers."""
        s = self.settings
        self._scene = Scene.of(load_world(s.world)) if s.world else Scene.of_plane(s.flat_ground())
        self._messages = CloudMessages(self.frame)
        self._points = self.advertise(PointCloud2, "lidar/points", qos.SENSOR)
        self._scan = self.advertise(LaserScan, "lidar/scan", qos.SENSOR)

    def make_sensor(self, **common: Any) -> Lidar:
        """The scanner."""
        return Lidar(self.settings, self._scene, **common)

    def measure(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> Sequence[LidarScan]:
        """What arrives now."""
        assert isinstance(self.sensor, Lidar)
        return self.sensor.update(time_ns, motion)

    def publish(self, sample: LidarScan) -> None:
        """All points, and the ring nearest to level."""
        self._points.publish(self._messages.cloud(sample.time_ns, sample.points))
        self._scan.publish(planar_to_msg(planar_scan(sample, self.settings), self.frame))


def main() -> int:
    """Entry point."""
    return run_node(LidarNode)


if __name__ == "__main__":
    raise SystemExit(main())
