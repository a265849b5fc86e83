"""Samples of a rig's sensors as messages in a bag, on the topics of their nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.motion_codec import new_transform, place
from proving_ground.interfaces.sensor_codec import (
    NO_FIX,
    fill_actuation,
    fill_cloud,
    fill_datum,
    fill_fix,
    fill_gps_velocity,
    fill_imu,
    fill_scan,
    fill_wheels,
    lidar_cloud,
)
from proving_ground.interfaces.topic import Topic
from proving_ground.recording.types import empty
from proving_ground.ros_support.transformations import quaternion_from_euler
from sensors.encoders import Encoders
from sensors.gps import Gps
from sensors.gps.nmea import gga_from_sample, rmc_from_sample
from sensors.imu import Imu
from sensors.lidar.planar import planar_scan
from sensors.rig import SensorRig
from sensors.samples import EncoderSample, GpsSample, ImuSample, LidarScan

FRAMES = {"imu": "imu_link", "gps": "gps_link", "encoders": "inclinometer_link", "lidar": "lidar_link"}
Write = Callable[[Topic, Any], None]


class SensorWriting:
    """One rig; messages are made once for each topic and filled again."""

    def __init__(self, rig: SensorRig, write: Write, map_frame: str, base_frame: str) -> None:
        self._rig, self._write_to_bag = rig, write
        self._map, self._base = map_frame, base_frame
        self._messages: dict[str, Any] = {}

    def write_fixed(self, time_ns: int) -> None:
        """Mounts of all sensors, and where on Earth the world is if a receiver knows it."""
        sensors = self._rig.sensors
        if sensors:
            transforms = empty(topics.FIXED_TRANSFORMS.type)
            transforms.transforms = [self._mount(name, sensor.settings) for name, sensor in sensors.items()]
            self._write_to_bag(topics.FIXED_TRANSFORMS, transforms)
        receiver = next((sensor for sensor in sensors.values() if isinstance(sensor, Gps)), None)
        if receiver is not None:
            datum = empty(topics.DATUM.type, self._map)
            fill_datum(datum, time_ns, receiver.frame.origin)
            self._write_to_bag(topics.DATUM, datum)

    def write(self, name: str, sample: Any) -> None:
        """A sample of the sensor with that name."""
        settings = self._rig.sensors[name].settings
        if isinstance(sample, ImuSample):
            self._fill(name, topics.IMU_RAW, lambda message: fill_imu(message, sample, has_attitude=False))
            if settings.has_attitude:
                self._fill(name, topics.IMU_DATA, lambda message: fill_imu(message, sample, has_attitude=True))
        elif isinstance(sample, GpsSample):
            self._gps(name, sample, settings.geoid_separation_m)
        elif isinstance(sample, EncoderSample):
            self._fill(name, topics.WHEELS, lambda message: fill_wheels(message, sample))
            self._fill(name, topics.ACTUATION, lambda message: fill_actuation(message, sample))
        elif isinstance(sample, LidarScan):
            self._fill(name, topics.POINTS, lambda message: fill_cloud(message, sample.time_ns, sample.points))
            planar = planar_scan(sample, settings)
            self._fill(name, topics.SCAN, lambda message: fill_scan(message, planar))

    def _gps(self, name: str, sample: GpsSample, separation: float) -> None:
        self._fill(name, topics.FIX, lambda message: fill_fix(message, sample))
        if sample.quality != NO_FIX:
            self._fill(name, topics.GPS_VELOCITY, lambda message: fill_gps_velocity(message, sample))
        for sentence in (gga_from_sample(sample, separation), rmc_from_sample(sample)):
            self._fill(name, topics.NMEA, partial(_set_text, text=sentence.sentence()))

    def _fill(self, name: str, topic: Topic, fill: Callable[[Any], None]) -> None:
        own = topic.named(name)
        message = self._messages.get(own.name)
        if message is None:
            message = self._messages[own.name] = self._new(own, name)
        fill(message)
        self._write_to_bag(own, message)

    def _new(self, topic: Topic, name: str) -> Any:
        message = empty(topic.type)
        if topic.frame:
            message.header.frame_id = self._map if topic.frame == topics.GPS_VELOCITY.frame else self._frame(name)
        if topic.type == topics.WHEELS.type:
            is_wheels = topic.name == topics.WHEELS.named(name).name
            message.name = list(joints.WHEELS if is_wheels else joints.ACTUATION)
        return lidar_cloud(message, empty) if topic.type == topics.POINTS.type else message

    def _mount(self, name: str, settings: Any) -> Any:
        link = new_transform(empty, self._base, self._frame(name))
        turn = quaternion_from_euler(*(math.radians(angle) for angle in settings.mount_rpy_deg))
        place(link, [float(value) for value in settings.mount_xyz_m], turn.tolist())
        return link

    def _frame(self, name: str) -> str:
        """That of its kind, as the nodes have it; sensors with names of their own have frames of their own."""
        sensor = self._rig.sensors[name]
        kinds = (("imu", Imu), ("gps", Gps), ("encoders", Encoders))
        kind = next((known for known, made in kinds if isinstance(sensor, made)), "lidar")
        return FRAMES[kind] if name == kind else f"{name}_link"


def _set_text(message: Any, text: str) -> None:
    message.data = text
