"""Messages in bags, without ROS."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

from proving_ground.interfaces import message_types as types
from proving_ground.interfaces.fields import read_stamp
from proving_ground.recording.estimate_bag import EstimateBag
from proving_ground.recording.types import from_bytes
from proving_ground.recording.writing import BagWriter
from sensors.streams import stream
from some_samples import NOW_NS
from state_observer.vehicle.layout import ESTIMATE


def test_bytes_of_another_type_are_rejected() -> None:
    with pytest.raises(ValueError, match="not a sensor_msgs/msg/Imu"):
        from_bytes(b"\x00\x01\x00\x00abc", types.IMU)


def test_estimates_written_many_at_a_time_are_odometry_messages(tmp_path: Path) -> None:
    rows = np.zeros(3, ESTIMATE)
    rows["time_ns"] = NOW_NS + 4_000_000 * np.arange(3)
    numbers = stream(1, "test", "rows")
    for name in ("position", "attitude", "velocity", "angular_velocity", "covariance"):
        rows[name] = numbers.normal(size=rows[name].shape)

    with BagWriter(tmp_path / "estimate") as writer:
        EstimateBag(writer).write(rows)

    with Reader(tmp_path / "estimate") as reader:
        found = [
            from_bytes(data, types.ODOMETRY)
            for item, _, data in reader.messages()
            if item.topic == "/odometry/filtered"
        ]
    assert [read_stamp(message.header.stamp) for message in found] == rows["time_ns"].tolist()
    last = found[-1]
    assert (last.header.frame_id, last.child_frame_id) == ("map", "base_link")
    assert last.pose.pose.position.z == rows["position"][2, 2]
    np.testing.assert_array_equal(last.pose.covariance.reshape(6, 6), rows["covariance"][2, :6, :6])
    np.testing.assert_array_equal(last.twist.covariance.reshape(6, 6), rows["covariance"][2, 6:, 6:])
    assert last.twist.twist.angular.z == rows["angular_velocity"][2, 2]


def test_bags_need_no_ros() -> None:
    code = (
        "import sys, proving_ground.recording.observe, proving_ground.recording.recording\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('rclpy', 'sensor_msgs', 'nav_msgs')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
