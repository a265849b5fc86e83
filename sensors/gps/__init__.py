"""A simulated satellite receiver: position, Doppler velocity and NMEA sentences of its antenna."""

from proving_ground.interfaces.geodesy import Geodetic
from proving_ground.interfaces.samples import COURSE_SPEED
from sensors.gps.geodesy import DEFAULT_DATUM, LocalFrame
from sensors.gps.receiver import NO_FIX_VARIANCE, Gps
from sensors.gps.settings import GpsSettings
from sensors.gps.sky import SkyView

__all__ = [
    "COURSE_SPEED",
    "DEFAULT_DATUM",
    "NO_FIX_VARIANCE",
    "Geodetic",
    "Gps",
    "GpsSettings",
    "LocalFrame",
    "SkyView",
]
