"""The LIDAR node: point clouds and a planar scan. All behaviour is in sensors.lidar."""

from __future__ import annotations

from typing import Any

from sensor_msgs.msg import LaserScan, PointCloud2

from proving_ground.ros_support import qos
from proving_ground.ros_support.node import run_node
from sensors.kinds import LIDAR
from sensors.lidar.planar import planar_scan
from sensors.ros.sensor_messages import CloudMessages, planar_to_msg
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
        self._messages = CloudMessages(self.frame)
        self._points = self.advertise(PointCloud2, "lidar/points", qos.SENSOR)
        self._scan = self.advertise(LaserScan, "lidar/scan", qos.SENSOR)

    def publish(self, sample: LidarScan) -> None:
        """All points, and the ring nearest to level."""
        self._points.publish(self._messages.cloud(sample.time_ns, sample.points))
        self._scan.publish(planar_to_msg(planar_scan(sample, self.fitted), self.frame))


def main() -> int:
    """Entry point."""
    return run_node(LidarNode)


if __name__ == "__main__":
    raise SystemExit(main())
