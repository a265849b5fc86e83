"""Motions of the vehicle, and samples of a receiver along them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from sensors.gps import Gps
from sensors.samples import GpsSample
from vehicle_dynamics.base_motion import BaseMotion

TICK_NS = 10_000_000  # of the truth
Vector3 = tuple[float, float, float]
Motion = BaseMotion | Callable[[float], BaseMotion]  # constant, or a function of time [s]


@pytest.fixture
def moving() -> Callable[..., BaseMotion]:
    """Motion of base_link: position [m], heading [rad], velocity [m/s] and angular velocity [rad/s] in its own axes."""

    def make(
        position: Vector3 = (0.0, 0.0, 0.0),
        *,
        heading: float = 0.0,
        velocity: Vector3 = (0.0, 0.0, 0.0),
        angular_velocity: Vector3 = (0.0, 0.0, 0.0),
    ) -> BaseMotion:
        attitude = (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading))
        return BaseMotion(position, attitude, velocity, angular_velocity, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    return make


@pytest.fixture
def drive() -> Callable[..., list[GpsSample]]:
    """Samples of a receiver between two times [s], at the ticks of the truth or every tick_ns."""

    def run(gps: Gps, motion: Motion, until_s: float, since_s: float = 0.0, tick_ns: int = TICK_NS) -> list[GpsSample]:
        samples: list[GpsSample] = []
        for time_ns in range(round(since_s * 1e9), round(until_s * 1e9), tick_ns):
            samples += gps.update(time_ns, motion if isinstance(motion, BaseMotion) else motion(time_ns * 1e-9))
        return samples

    return run


@pytest.fixture
def positions() -> Callable[[Gps, list[GpsSample]], NDArray[np.float64]]:
    """East, north and up [m] of samples in the receiver's world."""

    def convert(gps: Gps, samples: list[GpsSample]) -> NDArray[np.float64]:
        return gps.frame.enu_from_geodetic([sample[2:5] for sample in samples])

    return convert
