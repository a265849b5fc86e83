"""A run in lock-step as a bag: all samples and the truth, on the topics of the nodes.

Stamps are the samples' own times, log times those of their arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from proving_ground.interfaces import topics
from proving_ground.interfaces.topic import Topic
from proving_ground.kernels.vector3 import vector
from proving_ground.recording.to_messages import (
    actuation_message,
    cloud_message,
    datum_message,
    fix_message,
    imu_message,
    mounts_message,
    scan_message,
    text_message,
    truth_accel,
    truth_actuation,
    truth_odometry,
    velocity_message,
    wheels_message,
)
from proving_ground.recording.types import to_rosbags
from proving_ground.recording.writing import BagWriter
from proving_ground.scenarios.lock_step import LockStep
from sensors.drive_truth import drive_truth
from sensors.encoders import Encoders
from sensors.gps import Gps
from sensors.gps.nmea import gga_from_sample, rmc_from_sample
from sensors.imu import Imu
from sensors.lidar.planar import planar_scan
from sensors.lidar.scene import Scene
from sensors.rig import SensorRig
from sensors.samples import EncoderSample, GpsSample, ImuSample, LidarScan
from vehicle_dynamics.base_motion import base_motion
from vehicle_dynamics.choices import BASE_FRAME
from vehicle_dynamics.driving.snapshot import SnapshotRecord

MAP = "map"
FRAMES = {"imu": "imu_link", "gps": "gps_link", "encoders": "inclinometer_link", "lidar": "lidar_link"}


class Recording:
    """Writes a run into a bag: `watch` its runner, and hand `sample` to it as its listener."""

    def __init__(self, bag: BagWriter) -> None:
        self._bag, self._now_ns = bag, 0
        self._rig: SensorRig | None = None

    def watch(self, runner: LockStep, start_ns: int) -> None:
        """From now on the truth of the runner is written at each of its instants; its sensors' mounts now."""
        base = vector(runner.vehicle.base_in_chassis)
        self._base, self._now_ns = base, start_ns
        rig = runner.rig or SensorRig((), seed=0, start_ns=start_ns, base_in_chassis=base, scene=Scene.flat())
        self._rig = rig
        runner.rig = cast(SensorRig, _WatchedRig(rig, self._instant))
        sensors = rig.sensors
        if sensors:
            mounts = [
                (_frame(name, sensor), sensor.settings.mount_xyz_m, sensor.settings.mount_rpy_deg)
                for name, sensor in sensors.items()
            ]
            self._write(topics.FIXED_TRANSFORMS, mounts_message(BASE_FRAME, mounts))
        for sensor in sensors.values():
            if isinstance(sensor, Gps):
                self._write(topics.DATUM, datum_message(start_ns, sensor.frame.origin, MAP))
                break

    def sample(self, name: str, sample: Any) -> None:
        """What arrives of a sensor; LockStep's listener."""
        assert self._rig is not None
        sensor = self._rig.sensors[name]
        frame = _frame(name, sensor)
        if isinstance(sample, ImuSample):
            self._write(topics.IMU_RAW.named(name), imu_message(sample, frame))
            if sensor.settings.has_attitude:
                self._write(topics.IMU_DATA.named(name), imu_message(sample, frame, has_attitude=True))
        elif isinstance(sample, GpsSample):
            self._write(topics.FIX.named(name), fix_message(sample, frame))
            if sample.quality != 0:
                self._write(topics.GPS_VELOCITY.named(name), velocity_message(sample, MAP))
            separation = sensor.settings.geoid_separation_m
            for sentence in (gga_from_sample(sample, separation), rmc_from_sample(sample)):
                self._write(topics.NMEA.named(name), text_message(sentence.sentence()))
        elif isinstance(sample, EncoderSample):
            self._write(topics.WHEELS.named(name), wheels_message(sample))
            self._write(topics.ACTUATION.named(name), actuation_message(sample))
        elif isinstance(sample, LidarScan):
            self._write(topics.POINTS.named(name), cloud_message(sample.time_ns, sample.points, frame))
            self._write(topics.SCAN.named(name), scan_message(planar_scan(sample, sensor.settings), frame))

    def _write(self, topic: Topic, message: Any) -> None:
        self._bag.write(topic.absolute, message, self._now_ns, to_rosbags(topic.qos))

    def _instant(self, time_ns: int, seen: SnapshotRecord) -> None:
        self._now_ns = time_ns
        motion = base_motion(seen, self._base)
        self._write(topics.TRUTH_ODOM, truth_odometry(time_ns, motion, MAP, BASE_FRAME))
        self._write(topics.TRUTH_ACCEL, truth_accel(time_ns, motion, BASE_FRAME))
        self._write(topics.TRUTH_ACTUATION, truth_actuation(time_ns, drive_truth(seen), seen["spin_rate"]))


class _WatchedRig:
    """A rig that tells of each instant before its samples; all else is the rig's own."""

    def __init__(self, rig: SensorRig, tell: Callable[[int, SnapshotRecord], None]) -> None:
        self._rig, self._tell = rig, tell

    def update(self, time_ns: int, seen: SnapshotRecord) -> list[tuple[str, Any]]:
        """As the rig."""
        self._tell(time_ns, seen)
        return self._rig.update(time_ns, seen)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rig, name)


def _frame(name: str, sensor: Any) -> str:
    """That of its kind, as the nodes have it; sensors with names of their own have frames of their own."""
    kind = "lidar"
    for known, made in (("imu", Imu), ("gps", Gps), ("encoders", Encoders)):
        if isinstance(sensor, made):
            kind = known
    return FRAMES[kind] if name == kind else f"{name}_link"
