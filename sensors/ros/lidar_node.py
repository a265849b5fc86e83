"""The LIDAR node: point clouds and a planar scan. All behaviour is in sensors.lidar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proving_ground.interfaces import topics
from proving_ground.interfaces.sensor_codec import fill_cloud, fill_scan, lidar_cloud
from proving_ground.ros_support.messages import new_message
from proving_ground.ros_support.node import run_node
from sensors.lidar.lidar import Lidar
from sensors.lidar.planar import planar_scan
from sensors.lidar.settings import LidarSettings
from sensors.ros.node_scene import SceneSettings
from sensors.ros.sensor_node import SensorNode, SensorNodeSettings
from sensors.samples import DriveTruth, LidarScan
from terrain.worlds import load_world
from vehicle_dynamics.base_motion import BaseMotion


@dataclass(frozen=True, kw_only=True)
class LidarNodeSettings(LidarSettings, SensorNodeSettings, SceneSettings):
    """A laser scanner as a node."""


class LidarNode(SensorNode[LidarNodeSettings, LidarScan]):
    """Publishes lidar/points and lidar/scan."""

    default_name = "lidar"
    default_frame = "lidar_link"
    settings_type = LidarNodeSettings
    sends_large_messages = True

    def prepare(self) -> None:
        """World and publishers."""
        s = self.settings
        self._seen = s.scene(load_world(s.world) if s.world else None)
        self._cloud = lidar_cloud(new_message(topics.POINTS.type, self.frame), new_message)
        self._planar = new_message(topics.SCAN.type, self.frame)
        self._points = self.advertise(topics.POINTS)
        self._scan = self.advertise(topics.SCAN)

    def make_sensor(self, **common: Any) -> Lidar:
        """The scanner."""
        return Lidar(self.settings, self._seen.scene, **common)

    def measure(self, time_ns: int, motion: BaseMotion, drive: DriveTruth | None) -> Sequence[LidarScan]:
        """What arrives now."""
        assert isinstance(self.sensor, Lidar)
        self._seen.move_to(self.sensor.seconds(time_ns))
        return self.sensor.update(time_ns, motion)

    def publish(self, sample: LidarScan) -> None:
        """All points, and the ring nearest to level."""
        fill_cloud(self._cloud, sample.time_ns, sample.points)
        self._points.publish(self._cloud)
        fill_scan(self._planar, planar_scan(sample, self.settings))
        self._scan.publish(self._planar)


def main() -> int:
    """Entry point."""
    return run_node(LidarNode)


if __name__ == "__main__":
    raise SystemExit(main())
