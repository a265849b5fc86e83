"""Samples of the sensors, from proving_ground.interfaces.samples."""

from proving_ground.interfaces.samples import (
    LIDAR_POINT,
    DriveTruth,
    EncoderSample,
    GpsSample,
    ImuSample,
    LidarScan,
)

__all__ = ["LIDAR_POINT", "DriveTruth", "EncoderSample", "GpsSample", "ImuSample", "LidarScan"]
