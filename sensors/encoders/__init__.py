"""Encoders of wheels and steering, and the other sensors of the drive on [Sanjurjo]'s vehicle (Table 5.1)."""

from sensors.encoders.encoders import Encoders
from sensors.encoders.settings import EncoderSettings

__all__ = ["EncoderSettings", "Encoders"]
