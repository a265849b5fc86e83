"""Inertial measurement unit: angular rate and specific force where it is mounted."""

from sensors.imu.imu import Imu
from sensors.imu.settings import ImuSettings

__all__ = ["Imu", "ImuSettings"]
