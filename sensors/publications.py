"""Topics of the sensors of the suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from proving_ground.interfaces import joints, topics
from proving_ground.interfaces.samples import EncoderSample, GpsSample, ImuSample
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
    name_joints,
)
from sensors.gps import LocalFrame
from sensors.gps.nmea import gga_from_sample, rmc_from_sample
from sensors.lidar.planar import planar_scan
from sensors.publication import Announcement, Fill, Make, Publication, Remark
from sensors.samples import LidarScan


def _imu(has_attitude: bool, sample: ImuSample, settings: Any) -> Iterable[Fill]:
    yield lambda message: fill_imu(message, sample, has_attitude=has_attitude)


IMU = (
    Publication(topics.IMU_RAW, partial(_imu, False), is_fixed=True),
    Publication(
        topics.IMU_DATA, partial(_imu, True), is_sent=lambda settings: bool(settings.has_attitude), is_fixed=True
    ),
)


def imu_remark(sample: ImuSample) -> Remark:
    """Health of the IMU from a sample: whether a reading is at the end of the sensor's range."""
    words = "an axis is at the limit of its range" if sample.is_clipped else "within its range"
    return Remark("range", not sample.is_clipped, words)


def _fix(sample: GpsSample, settings: Any) -> Iterable[Fill]:
    yield lambda message: fill_fix(message, sample)


def _velocity(sample: GpsSample, settings: Any) -> Iterable[Fill]:
    """Velocity, only with a fix; the position is sent without one too, with its status."""
    if sample.quality != NO_FIX:
        yield lambda message: fill_gps_velocity(message, sample)


def _nmea(sample: GpsSample, settings: Any) -> Iterable[Fill]:
    for sentence in (gga_from_sample(sample, settings.geoid_separation_m), rmc_from_sample(sample)):
        yield partial(_set_text, text=sentence.sentence())


def _set_text(message: Any, text: str) -> None:
    message.data = text


def _datum(message: Any, time_ns: int, seen: Any) -> None:
    fill_datum(message, time_ns, LocalFrame(seen.there.georeference).origin)


GPS = (
    Publication(topics.FIX, _fix, is_fixed=True),
    Publication(topics.GPS_VELOCITY, _velocity, in_map=True, is_fixed=True),
    Publication(topics.NMEA, _nmea),
)
DATUM = Announcement(topics.DATUM, _datum)


def gps_remark(sample: GpsSample) -> Remark:
    """Health of the GPS from a sample: whether it has a fix."""
    has_fix = sample.quality != NO_FIX
    return Remark("fix", has_fix, "has a fix" if has_fix else f"no fix, {sample.satellites} satellites in sight")


def _named(names: Sequence[str], message: Any, make: Make) -> Any:
    name_joints(message, names)
    return message


def _wheels(sample: EncoderSample, settings: Any) -> Iterable[Fill]:
    yield lambda message: fill_wheels(message, sample)


def _actuation(sample: EncoderSample, settings: Any) -> Iterable[Fill]:
    yield lambda message: fill_actuation(message, sample)


ENCODERS = (
    Publication(topics.WHEELS, _wheels, prepare=partial(_named, joints.WHEELS), is_fixed=True),
    Publication(topics.ACTUATION, _actuation, prepare=partial(_named, joints.ACTUATION), is_fixed=True),
)


def _points(sample: LidarScan, settings: Any) -> Iterable[Fill]:
    yield lambda message: fill_cloud(message, sample.time_ns, sample.points)


def _scan(sample: LidarScan, settings: Any) -> Iterable[Fill]:
    """The ring nearest to level."""
    yield lambda message: fill_scan(message, planar_scan(sample, settings))


LIDAR = (
    Publication(topics.POINTS, _points, prepare=lidar_cloud),
    Publication(topics.SCAN, _scan),
)
