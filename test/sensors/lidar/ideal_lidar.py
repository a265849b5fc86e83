"""A LIDAR without errors, walls around it, and drives past them, for tests of the LIDAR."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensors.lidar.lidar import Lidar
from sensors.lidar.scene import Scene
from sensors.lidar.settings import LidarSettings
from sensors.mounting import Mount
from sensors.samples import LidarScan
from terrain.obstacles import Box, Obstacles
from vehicle_dynamics.base_motion import BaseMotion

Array = NDArray[np.float64]
Path = Callable[[float], tuple[tuple[float, float, float], float]]  # position and heading at a time
EXACT = 1e-4  # [m]
TICK_NS = 10_000_000
PERIOD_NS = 100_000_000
START_NS = 1_700_000_000_000_000_000
ZERO = (0.0, 0.0, 0.0)
IDEAL: dict[str, Any] = {
    "range_noise_m": 0.0,
    "weak_signal": 0.0,
    "own_body": "absent",
    "mount": Mount(xyz_m=ZERO),
    "columns": 360,
    "elevations_deg": (-10.0, 0.0, 5.0),
    "min_range_m": 0.5,
    "max_range_m": 100.0,
}
NO_GROUND = -1e4


def ideal(**other: Any) -> LidarSettings:
    return LidarSettings(**(IDEAL | other))


def at(x: float = 0.0, y: float = 0.0, z: float = 2.0, heading: float = 0.0) -> BaseMotion:
    return BaseMotion((x, y, z), (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading)), ZERO, ZERO, ZERO, ZERO)


def standing(_: float) -> tuple[tuple[float, float, float], float]:
    return (0.0, 0.0, 2.0), 0.0


def driven(lidar: Lidar, path: Path, duration_s: float = 0.2, tick_ns: int = TICK_NS) -> list[LidarScan]:
    """All scans of a drive."""
    scans = []
    for time_ns in range(0, round(duration_s * 1e9) + 1, tick_ns):
        position, heading = path(time_ns * 1e-9)
        scans += lidar.update(START_NS + time_ns, at(*position, heading))
    return scans


def wall_at(x: float) -> Scene:
    """An infinite wall across the x axis, and nothing else."""
    wall = Box(x=x + 1.0, y=0.0, base=-500.0, length=2.0, width=4000.0, height=1000.0)
    return Scene.flat(NO_GROUND, obstacles=Obstacles(boxes=(wall,)))


def ring_around(radius: float) -> Scene:
    """Walls all around: a square with each side `radius` away."""
    long, off = 2.0 + 2.0 * radius, radius + 1.0
    ends = [Box(x=x, y=0.0, base=-200.0, length=2.0, width=long, height=400.0) for x in (off, -off)]
    sides = [Box(x=0.0, y=y, base=-200.0, length=long, width=2.0, height=400.0) for y in (off, -off)]
    return Scene.flat(NO_GROUND, obstacles=Obstacles(boxes=(*ends, *sides)))


def times_and_azimuths(settings: LidarSettings) -> tuple[Array, Array]:
    columns = np.arange(settings.columns)
    return columns * 0.1 / settings.columns, 2.0 * np.pi * columns / settings.columns - np.pi
