"""The most level ring of a LIDAR as a planar scan."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensors.lidar.settings import FLASH, LidarSettings
from sensors.samples import LidarScan


class PlanarScan(NamedTuple):
    """One row of a scan as in sensor_msgs/LaserScan: angles counter-clockwise from the sensor's x axis [rad]."""

    time_ns: int  # first ray
    angle_min: float
    angle_max: float
    angle_increment: float
    time_increment: float  # between rays [s]
    scan_time: float  # between scans [s]
    range_min: float  # [m]
    range_max: float
    ranges: NDArray[np.float32]  # [m], REP-117


def planar_scan(scan: LidarScan, settings: LidarSettings) -> PlanarScan:
    """Scan of the most level ring; ranges are projected into the sensor's plane, not deskewed."""
    elevations = settings.elevations()
    ring = min(range(len(elevations)), key=lambda number: abs(elevations[number]))
    flat = math.cos(elevations[ring])
    azimuths = settings.azimuths()
    period = 1.0 / settings.rate_hz
    return PlanarScan(
        scan.time_ns,
        azimuths[0],
        azimuths[-1],
        (azimuths[-1] - azimuths[0]) / (len(azimuths) - 1) if len(azimuths) > 1 else 0.0,
        0.0 if settings.kind == FLASH else period / settings.columns,
        period,
        settings.min_range_m * flat,
        settings.max_range_m * flat,
        scan.ranges[ring] * np.float32(flat),
    )
