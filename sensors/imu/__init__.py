"""Inertial measurement unit: angular velocity and specific force at its mount."""

from sensors.imu.imu import Imu
from sensors.imu.settings import ImuSettings

__all__ = ["Imu", "ImuSettings"]
