"""One sample of each sensor, for tests of messages and bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from sensors.samples import EncoderSample, GpsSample, ImuSample
from sensors.streams import stream

NOW_NS = 1_767_225_600_123_456_789


def imu() -> ImuSample:
    values = stream(1, "test", "imu").normal(size=6)
    return ImuSample(NOW_NS, values[:3], values[3:], 1e-4, 1e-2, np.array([0.0, 0.0, 0.6, 0.8]), 1e-3, 2e-3, False)


def gps(quality: int = 4) -> GpsSample:
    variance, velocity = np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 0.1])
    course = 0.6435011087932844 if quality else None  # atan2(3, 4), clockwise from north
    return GpsSample(
        NOW_NS, quality, 43.1, -8.2, 12.5, variance, velocity, np.array([0.1, 0.2, 0.3]), 5.0, course, 0, 0.0
    )


def encoders() -> EncoderSample:
    wheels = stream(1, "test", "wheels").normal(size=(3, 4))
    return EncoderSample(NOW_NS, *wheels, -0.1, 0.4, 2e5, 150.0, np.array([0.01, -0.02]))


def assert_same(one: Any, other: Any) -> None:
    for name, a, b in zip(one._fields, one, other, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)
