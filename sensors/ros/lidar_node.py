"""The LIDAR node: point clouds and a planar scan. All behaviour is in sensors.lidar."""

from __future__ import annotations

from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.sensor_codec import fill_cloud, fill_scan, lidar_cloud
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.kinds import LIDAR
from sensors.lidar.planar import planar_scan
from sensors.ros.sensor_node import SensorNode
from sensors.samples import LidarScan


class LidarNode(SensorNode[Any, LidarScan]):
    """Publishes lidar/points and lidar/scan."""

    default_name = "lidar"
    kind = LIDAR
    settings_type = LIDAR.node_settings
    sends_large_messages = True

    def prepare(self) -> None:
        """World and publishers."""
        self._cloud = lidar_cloud(new_message(topics.POINTS.type, self.frame), new_message)
        self._planar = new_message(topics.SCAN.type, self.frame)
        self._points = self.advertise(topics.POINTS)
        self._scan = self.advertise(topics.SCAN)

    def publish(self, sample: LidarScan) -> None:
        """All points, and the ring nearest to level."""
        fill_cloud(self._cloud, sample.time_ns, sample.points)
        self._points.publish(self._cloud)
        fill_scan(self._planar, planar_scan(sample, self.fitted))
        self._scan.publish(self._planar)


def main() -> int:
    """Entry point."""
    return run_node(LidarNode)


if __name__ == "__main__":
    raise SystemExit(main())
