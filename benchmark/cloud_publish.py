"""Cost of publishing a scan as a PointCloud2, beside publishing a ready message of the same size."""

from __future__ import annotations

import array
import os
import time
from collections.abc import Callable
from typing import Any

import rclpy
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import UInt8MultiArray

from proving_ground.interfaces.sensor_codec import fill_cloud, lidar_cloud
from proving_ground.interfaces.topics import POINTS
from proving_ground.ros_support import qos
from proving_ground.ros_support.domain import private_domain
from proving_ground.ros_support.messages import new_message
from sensors.samples import LidarScan

REPEATS = 50


def publish_figures(scan: LidarScan) -> dict[str, float]:
    """CPU times [ms] of publishing a scan on one core, the least of alternating repeats; without subscribers."""
    with private_domain() as domain:
        os.environ.update(domain)
        rclpy.init(args=[])
        try:
            node = rclpy.create_node("cloud_benchmark")
            clouds = node.create_publisher(PointCloud2, "points", qos.SENSOR)
            bytes_alone = node.create_publisher(UInt8MultiArray, "bytes", qos.SENSOR)
            message = lidar_cloud(new_message(POINTS.type, POINTS.frame), new_message)
            same = UInt8MultiArray(data=array.array("B", scan.points.tobytes()))
            own, bare = [], []
            for _ in range(REPEATS):
                own.append(_timed(lambda: _publish(clouds, message, scan)))
                bare.append(_timed(lambda: bytes_alone.publish(same)))
            node.destroy_node()
        finally:
            rclpy.try_shutdown()
    return {"publish_ms": min(own), "bare_publish_ms": min(bare)}


def _publish(publisher: Any, message: Any, scan: LidarScan) -> None:
    fill_cloud(message, scan.time_ns, scan.points)
    publisher.publish(message)


def _timed(work: Callable[[], None]) -> float:
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e3
