"""Whether all sensor nodes keep their rates beside the vehicle node, with a LIDAR of 64 x 1024 rays, in real time.

Seven processes over DDS in the urban world, and this one, which subscribes to every topic. A rate is the number of
messages received over the simulated time between the first and the last.
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any

import rclpy
from geometry_msgs.msg import TwistWithCovarianceStamped
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Imu, JointState, LaserScan, NavSatFix, PointCloud2

from proving_ground.ros_support.domain import private_domain
from proving_ground.settings import SettingsError
from proving_ground.settings.text_table import text_table
from proving_ground.settings.units import NS_PER_S

SECONDS = 60.0
SETTLE_S = 5.0
START_WAIT_S = 120.0  # a cold cache: kernels are compiled
DEEP = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)
ARGUMENTS = ("world:=urban", "lidar:=spinning_64", "gps:=rtk", "imu:=industrial_mems", "encoders:=hall_40")
TOPICS = {  # type and rate [Hz]
    "/ground_truth/odom": (Odometry, 100.0),
    "/imu/data_raw": (Imu, 100.0),
    "/gps/fix": (NavSatFix, 50.0),
    "/gps/vel": (TwistWithCovarianceStamped, 50.0),
    "/wheels/joint_states": (JointState, 100.0),
    "/vehicle/actuation": (JointState, 100.0),
    "/lidar/points": (PointCloud2, 10.0),
    "/lidar/scan": (LaserScan, 10.0),
}
STAMP = struct.Struct("<iI")
STAMP_AT = 4  # after the encapsulation: every message here begins with its header


def run(say: Callable[[str], None], seconds: float = SECONDS) -> dict[str, float]:
    """Rates [Hz] by topic, the worst ratio of a rate to the configured one, and pace of the simulation."""
    with private_domain() as domain:
        os.environ.update(domain)
        os.environ.pop("FASTDDS_BUILTIN_TRANSPORTS")  # the users' default, with shared memory
        command = [sys.executable, "-m", "proving_ground", "launch", "sensors", *ARGUMENTS]
        with tempfile.TemporaryFile("w+") as output:
            launch = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
            try:
                return _measure(say, seconds, lambda: launch.poll() is not None)
            except SettingsError as error:
                output.seek(0)
                raise SettingsError(f"{error}; the launch printed: {output.read().strip()[-500:]}") from None
            finally:
                launch.send_signal(signal.SIGINT)
                launch.wait()


def show(figures: Mapping[str, float]) -> str:
    """Print configured and achieved rates of the sensor nodes."""
    rows = [[topic, f"{rate:g}", f"{figures[topic]:.2f}"] for topic, (_, rate) in TOPICS.items()]
    table = text_table(["topic", "configured Hz", "achieved Hz"], rows)
    words = f"worst ratio {figures['worst_ratio']:.4f}, real-time factor {figures['real_time_factor']:.4f}"
    return f"{table}\n{words}, measured for {figures['seconds']:g} s"


def _measure(say: Callable[[str], None], seconds: float, has_ended: Callable[[], bool]) -> dict[str, float]:
    rclpy.init(args=[])
    try:
        node = rclpy.create_node("sensor_benchmark")
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        stamps: dict[str, list[int]] = {topic: [] for topic in TOPICS}
        for topic, (kind, _) in TOPICS.items():
            node.create_subscription(kind, topic, _recording(stamps[topic]), DEEP, raw=True)
        say("waiting for all sensors")
        _spin(executor, START_WAIT_S, lambda: all(stamps.values()) or has_ended())
        silent = [topic for topic, received in stamps.items() if not received]
        if silent:
            raise SettingsError(f"bench sensors: nothing on {', '.join(silent)} within {START_WAIT_S:g} s")
        _spin(executor, SETTLE_S)
        for received in stamps.values():
            received.clear()
        say(f"listening for {seconds:g} s")
        began = time.monotonic()
        _spin(executor, seconds)
        elapsed = time.monotonic() - began
        executor.shutdown()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    truth = stamps["/ground_truth/odom"]
    simulated = (truth[-1] - truth[0]) / NS_PER_S
    figures = {topic: len(received) / simulated for topic, received in stamps.items()}
    # The window may contain one message more or less by chance.
    ratios = [(len(stamps[topic]) + 1.0) / (rate * simulated) for topic, (_, rate) in TOPICS.items()]
    return {"worst_ratio": min(1.0, *ratios), "real_time_factor": simulated / elapsed, "seconds": seconds, **figures}


def _recording(received: list[int]) -> Callable[[bytes], None]:
    def record(data: bytes) -> None:
        seconds, nanoseconds = STAMP.unpack_from(data, STAMP_AT)
        received.append(seconds * NS_PER_S + nanoseconds)

    return record


def _spin(executor: Any, seconds: float, is_done: Callable[[], bool] = lambda: False) -> None:
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0.0 and not is_done():
        executor.spin_once(timeout_sec=min(left, 0.1))
